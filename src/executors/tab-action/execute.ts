import { outcomeOfHttpStatus } from '../../domain/run/outcome.ts'
import { createMask } from '../../domain/secret/mask.ts'
import type { OutboundAnswer } from '../../outbound/request.ts'
import type { Outbound } from '../../outbound/send.ts'
import { retryAfterMs } from '../../outbound/retry-after.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor } from '../executor.ts'
import { failure, readBody, reportOfSilence } from '../http/answer.ts'
import type { Perform } from '../host.ts'
import { createInstanceFinder, type InstanceFound, type InstancePlace } from './instances.ts'

export interface TabActionOptions {
  readonly send: Outbound['send']
  /** The instance a tab lives in. */
  readonly find: (place: InstancePlace, signal: AbortSignal) => Promise<InstanceFound>
  /** Where instances are, as the operator has it at this moment. */
  readonly place: () => InstancePlace
}

/** The largest answer of an instance: what is delivered of an output is no larger. */
const LARGEST_ANSWER = 1 << 20

/** What a task asks of a browser tab. */
interface TabAction {
  readonly action: string
  readonly tabId: string
  readonly selector: string | null
  readonly ref: string | null
  readonly params: Readonly<Record<string, unknown>>
}

/** They say what is done and to what, and no parameter may say otherwise. */
const RESERVED = new Set(['kind', 'ref', 'tabId', 'selector'])

/** Performs actions in browser tabs, through the instance that a tab lives in. */
export const createTabAction =
  (options: TabActionOptions): Executor =>
  async (attempt, context) => {
    const action = actionOf(attempt.payload)
    if (action.tabId === '') return failure('tab_missing', 'tabId is required for execution')
    const place = options.place()
    const report = await perform(options, { attempt, action, place, context })
    // Whoever asks for a task sees what came of it; the token is the operator's.
    return place.token === null ? report : (createMask([place.token]).value(report) as AttemptReport)
  }

/** Acts in the tabs of an operator, if tasks are performed in tabs. */
export const performTabAction: Perform = ({ send, tabs }) =>
  tabs === null
    ? null
    : createTabAction({ send, find: createInstanceFinder(send, () => performance.now()), place: tabs })

interface Performing {
  readonly attempt: Attempt
  readonly action: TabAction
  readonly place: InstancePlace
  readonly context: AttemptContext
}

async function perform(
  { find, send }: TabActionOptions,
  { attempt, action, place, context }: Performing,
): Promise<AttemptReport> {
  const { signal } = context
  const found = await find({ ...place, tabId: action.tabId }, signal)
  if (found.kind === 'aborted') return { outcome: { kind: 'stopped' }, errorMessage: found.message }
  if (found.kind === 'unresolved')
    return failure('tab_unresolved', `could not resolve tab "${action.tabId}": ${found.message}`, {
      retryable: found.retryable,
    })
  const answer = await send({
    url: `${found.url}/tabs/${encodeURIComponent(action.tabId)}/action`,
    method: 'POST',
    headers: headersOf(attempt, { action, token: place.token }),
    body: JSON.stringify(bodyOf(action)),
    ...{ maxBytes: LARGEST_ANSWER, signal, purpose: 'operator' },
  })
  return answer.kind === 'answered' ? reportOf(answer) : silent(answer, context)
}

function actionOf(payload: unknown): TabAction {
  const given: Readonly<Record<string, unknown>> =
    typeof payload === 'object' && payload !== null ? (payload as Readonly<Record<string, unknown>>) : {}
  const text = (name: string): string | null => {
    const value = given[name]
    return typeof value === 'string' && value !== '' ? value : null
  }
  const { params } = given
  return {
    action: text('action') ?? '',
    tabId: text('tabId') ?? '',
    selector: text('selector'),
    ref: text('ref'),
    params: typeof params === 'object' && params !== null ? (params as TabAction['params']) : {},
  }
}

const bodyOf = ({ action, ref, selector, params }: TabAction): Readonly<Record<string, unknown>> => ({
  kind: action,
  ...(ref === null ? {} : { ref }),
  ...(selector === null ? {} : { selector }),
  ...Object.fromEntries(Object.entries(params).filter(([name]) => !RESERVED.has(name))),
})

/** Names of agents and tabs are free text; what no header can hold is written as in a URL. */
const asHeader = (text: string): string => (/^[\u0020-\u007e]*$/.test(text) ? text : encodeURIComponent(text))

const headersOf = (
  attempt: Attempt,
  { action, token }: { readonly action: TabAction; readonly token: string | null },
): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  'X-Agent-Id': asHeader(attempt.agentId),
  'X-PinchTab-Source': 'scheduler',
  'X-PinchTab-Tab-Id': asHeader(action.tabId),
  'Idempotency-Key': attempt.attemptId,
  ...(token === null ? {} : { authorization: `Bearer ${token}` }),
})

function silent(answer: Exclude<OutboundAnswer, { kind: 'answered' }>, { signal }: AttemptContext): AttemptReport {
  const report = reportOfSilence(answer)
  return signal.aborted ? report : { ...report, errorMessage: `executor request failed: ${answer.message}` }
}

function reportOf({ status, headers, body }: Extract<OutboundAnswer, { kind: 'answered' }>): AttemptReport {
  const text = body.toString('utf8')
  const outcome = outcomeOfHttpStatus(status, retryAfterMs(headers))
  if (outcome.kind !== 'succeeded') return { outcome, errorMessage: `executor returned ${status}: ${text.trim()}` }
  const read = readBody(body, headers)
  if ('flaw' in read) return failure('malformed_answer', `executor request failed: ${read.flaw}`)
  const said = refusalIn(read.value)
  return said === null ? { outcome, output: read.value } : { ...failure('agent_error', said), output: read.value }
}

/** An instance may say `success: false` with a 200; its own words are the error. */
function refusalIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('success' in value) || value.success !== false) return null
  for (const name of ['error', 'message', 'reason']) {
    const words = (value as Readonly<Record<string, unknown>>)[name]
    if (typeof words === 'string' && words !== '') return words
  }
  return JSON.stringify(value)
}
