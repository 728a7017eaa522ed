import type { Invitation } from '../../core/rails/invitation.ts'
import type { HttpOptions } from './options.ts'
import { HTTP } from './kind.ts'
import { asText, fillJson, fillText, fillUrl, type TemplateValues } from '../template.ts'
import { formatInstant } from '../../domain/instant.ts'
import { secretNamesIn } from '../../core/secret/secret-names.ts'
import { isAcceptance } from '../../domain/run/outcome.ts'
import type { OutboundRequest } from '../../outbound/request.ts'
import type { Outbound } from '../../outbound/send.ts'
import { dispatchOf, payloadOf, type CallbackPlace } from '../dispatch.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor, ExposedSecrets } from '../executor.ts'
import type { Perform } from '../host.ts'
import { traceparentOf } from '../traceparent.ts'
import { failure, readBody, reportOfAnswer, reportOfSilence, type ReadAgentResult } from './answer.ts'

/** The largest answer of an agent: what is delivered of an output is no larger. */
export const LARGEST_ANSWER = 1 << 20

export interface HttpExecutorOptions {
  readonly send: Outbound['send']
  /** How the agent of an attempt is called; null: there is no such agent any more. */
  readonly optionsOf: (attempt: Attempt) => Promise<HttpOptions | null>
  /** Where a result can be reported with a token; null: nobody listens. */
  readonly callbackUrl: (token: string) => string | null
  readonly readResult: ReadAgentResult
}

/** Calls agents over HTTP. Whatever the other side does, something can be said about the attempt. */
export const createHttpExecutor =
  (options: HttpExecutorOptions): Executor =>
  async (attempt, context) => {
    const agent = await options.optionsOf(attempt)
    if (agent === null)
      return failure('executor_offline', `agent ${attempt.agentId} is gone, so nobody knows where to call`, {
        retryable: false,
      })
    const token = await context.offer()
    const callback = { token, url: options.callbackUrl(token) }
    const url = fillUrl(agent.url, valuesOf(attempt))
    if (url === null)
      return failure('agent_error', `the values of this run would change the path of ${agent.url}`, {
        retryable: false,
      })
    const exposed = await exposeFor(agent, url, context)
    if (exposed !== null && !exposed.ok) return failure('secret_refused', exposed.message)
    const secrets = exposed?.values
    const invitation = agent.body === null && agent.method !== 'GET' ? await context.invite() : null
    const answer = await options.send({
      ...requestOf(attempt, { agent, url, secrets, callback, invitation }),
      bound: secrets !== undefined || invitation !== null,
      maxBytes: LARGEST_ANSWER,
      signal: context.signal,
      purpose: 'agent',
    })
    if (answer.kind !== 'answered') return reportOfSilence(answer)
    const body = readBody(answer.body, answer.headers)
    if ('flaw' in body) {
      // A failure stays what it is, whatever its text is.
      const isFine = answer.status >= 200 && answer.status < 300
      if (isFine && !(answer.status === 202 && agent.async)) return failure('malformed_answer', body.flaw)
    }
    const read = { ...answer, body: 'flaw' in body ? answer.body.toString('utf8') : body.value }
    if (isAcceptance(read, agent.async)) return accept(context, token)
    return reportOfAnswer(read, { when: agent.success_when, attempt, read: options.readResult })
  }

/** Calls the agents of a process. */
export const performHttp: Perform = (host) => {
  const agentOf = host.agentOf(HTTP)
  return createHttpExecutor({ ...host, optionsOf: async (attempt) => (await agentOf(attempt))?.options ?? null })
}

/** The result comes later. It may have come already: then there is nothing left to wait for. */
async function accept(context: AttemptContext, token: string): Promise<AttemptReport> {
  await context.defer(token).catch(() => undefined)
  return { outcome: { kind: 'accepted' } }
}

/** Opens what the agent names; null: it names nothing. A value that no header can hold is not sent in one. */
export async function exposeFor(
  { headers, body }: Pick<HttpOptions, 'headers' | 'body'>,
  url: string,
  context: AttemptContext,
): Promise<ExposedSecrets | null> {
  const inHeaders = secretNamesIn(headers)
  const names = [...new Set([...inHeaders, ...secretNamesIn(body)])]
  if (names.length === 0) return null
  const exposed = await context.expose({ names, url })
  if (!exposed.ok) return exposed
  const wrong = inHeaders.find((name) => UNFIT_FOR_HEADER.test(exposed.values[name] ?? ''))
  return wrong === undefined
    ? exposed
    : { ok: false, message: `secret ${wrong} has characters that no header can hold, such as a line break` }
}

interface Sending {
  readonly agent: HttpOptions
  readonly url: string
  readonly secrets: TemplateValues['secrets']
  readonly callback: CallbackPlace
  readonly invitation: Invitation | null
}

type Sent = Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'body'>

function requestOf(attempt: Attempt, sending: Sending): Sent {
  const { agent, url, secrets, callback, invitation } = sending
  const values = { ...valuesOf(attempt), secrets }
  const own = Object.entries(agent.headers).map(([name, text]): readonly [string, string] => [
    name.toLowerCase(),
    fillText(text, values, asHeader),
  ])
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/plain;q=0.9, */*;q=0.5',
    ...Object.fromEntries(own),
    'idempotency-key': attempt.attemptId,
    traceparent: traceparentOf(attempt),
  }
  if (agent.method !== 'GET') {
    const body = bodyOf(agent.body, values, headers['content-type'])
    return {
      url,
      method: agent.method,
      headers,
      body: body ?? JSON.stringify(dispatchOf(attempt, callback, invitation)),
    }
  }
  const { 'content-type': _, ...bodiless } = headers
  return { url, method: agent.method, headers: bodiless }
}

/** What the names in templates stand for in an attempt. */
export const valuesOf = (attempt: Attempt): TemplateValues => ({
  run_id: attempt.runId,
  job_run_id: attempt.jobRunId,
  scheduled_time: attempt.nominalTime === null ? '' : formatInstant(attempt.nominalTime),
  attempt: attempt.attempt,
  payload: payloadOf(attempt.payload),
})

/** What no header can hold is shown as a question mark: a line break would be another header. */
export const asHeader = (value: unknown): string => asText(value).replaceAll(/[^\t\u0020-\u007e\u00a0-\u00ff]/g, '?')
const UNFIT_FOR_HEADER = /[^\t\u0020-\u007e\u00a0-\u00ff]/

function bodyOf(template: unknown, values: TemplateValues, type: string): string | null {
  if (template === null) return null
  if (typeof template !== 'string') return JSON.stringify(fillJson(template, values))
  if (/json\b/i.test(type)) return fillText(template, values, insideJson)
  if (/^application\/x-www-form-urlencoded\b/i.test(type.trim()))
    return fillText(template, values, (value) => encodeURIComponent(asText(value)))
  return fillText(template, values, asText)
}

/** A text as it stands between quotation marks in JSON; what is no text stands there as it is. */
const insideJson = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : JSON.stringify(value ?? null)
