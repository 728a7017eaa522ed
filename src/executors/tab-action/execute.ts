import { outcomeOfHttpStatus } from '../../domain/run/outcome.ts'
import { createMask } from '../../domain/secret/mask.ts'
import { type OutboundResponse, retryAfterMs } from '../../platform/outbound/request.ts'
import type { Outbound } from '../../platform/outbound/send.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor } from '../executor.ts'
import { failureReport, readBody, reportOfFailedRequest } from '../http/answer.ts'
import type { CreateExecutor } from '../host.ts'
import { createInstanceFinder, type InstanceFound, type InstanceLookup } from './instances.ts'

export interface TabActionOptions {
  readonly send: Outbound['send']
  /** Finds the instance of a tab. */
  readonly find: (lookup: InstanceLookup, signal: AbortSignal) => Promise<InstanceFound>
  /** The operator's current instances. */
  readonly lookup: () => InstanceLookup
}

/** The maximum size of an instance's answer, the same as that of a delivered output. */
const MAX_TAB_ANSWER_BYTES = 1 << 20

/** The action of a task. */
interface TabAction {
  readonly action: string
  readonly tabId: string
  readonly selector: string | null
  readonly ref: string | null
  readonly params: Readonly<Record<string, unknown>>
}

/** The fields of the action itself, which params must not override. */
const RESERVED = new Set(['kind', 'ref', 'tabId', 'selector'])

/** The executor for actions in browser tabs, through the instance of the tab. */
export const createTabAction =
  (options: TabActionOptions): Executor =>
  async (attempt, context) => {
    const action = actionOf(attempt.payload)
    if (action.tabId === '') return failureReport('tab_missing', 'tabId is required for execution')
    const lookup = options.lookup()
    const report = await performAction(options, { attempt, action, lookup, context })
    // The result is visible to the sender of the task, and the token belongs to the operator, so it is masked.
    return lookup.token === null ? report : (createMask([lookup.token]).value(report) as AttemptReport)
  }

/** Creates the tab-action executor, if the operator configured instances. */
export const createTabActionFor: CreateExecutor = ({ send, tabs }) =>
  tabs === null
    ? null
    : createTabAction({ send, find: createInstanceFinder(send, () => performance.now()), lookup: tabs })

interface ActionContext {
  readonly attempt: Attempt
  readonly action: TabAction
  readonly lookup: InstanceLookup
  readonly context: AttemptContext
}

async function performAction(
  { find, send }: TabActionOptions,
  { attempt, action, lookup, context }: ActionContext,
): Promise<AttemptReport> {
  const { signal } = context
  const found = await find({ ...lookup, tabId: action.tabId }, signal)
  if (found.kind === 'aborted') return { outcome: { kind: 'stopped' }, errorMessage: found.message }
  if (found.kind === 'unresolved')
    return failureReport('tab_unresolved', `could not resolve tab "${action.tabId}": ${found.message}`, {
      retryable: found.retryable,
    })
  const answer = await send({
    url: `${found.url}/tabs/${encodeURIComponent(action.tabId)}/action`,
    method: 'POST',
    headers: headersOf(attempt, { action, token: lookup.token }),
    body: JSON.stringify(bodyOf(action)),
    ...{ maxBytes: MAX_TAB_ANSWER_BYTES, signal, purpose: 'operator' },
  })
  return answer.kind === 'answered' ? reportOf(answer) : reportOfNoAnswer(answer, context)
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

/** Agent and tab names are free text; those with characters that a header cannot contain are URL-encoded. */
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

function reportOfNoAnswer(
  answer: Exclude<OutboundResponse, { kind: 'answered' }>,
  { signal }: AttemptContext,
): AttemptReport {
  const report = reportOfFailedRequest(answer)
  return signal.aborted ? report : { ...report, errorMessage: `executor request failed: ${answer.message}` }
}

function reportOf({ status, headers, body }: Extract<OutboundResponse, { kind: 'answered' }>): AttemptReport {
  const text = body.toString('utf8')
  const outcome = outcomeOfHttpStatus(status, retryAfterMs(headers))
  if (outcome.kind !== 'succeeded') return { outcome, errorMessage: `executor returned ${status}: ${text.trim()}` }
  const read = readBody(body, headers)
  if ('flaw' in read) return failureReport('malformed_answer', `executor request failed: ${read.flaw}`)
  const errorText = instanceErrorIn(read.value)
  return errorText === null
    ? { outcome, output: read.value }
    : { ...failureReport('agent_error', errorText), output: read.value }
}

/** An instance may report `success: false` with a 200; its own message is the error. */
function instanceErrorIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('success' in value) || value.success !== false) return null
  for (const name of ['error', 'message', 'reason']) {
    const words = (value as Readonly<Record<string, unknown>>)[name]
    if (typeof words === 'string' && words !== '') return words
  }
  return JSON.stringify(value)
}
