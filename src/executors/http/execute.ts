import type { AttemptApiAccess } from '../../domain/access/restrictions.ts'
import type { HttpOptions } from './options.ts'
import { HTTP } from './kind.ts'
import { asText, fillJson, fillText, fillUrl, type TemplateValues } from '../template.ts'
import { formatInstant } from '../../domain/instant.ts'
import { secretNamesIn } from '../../domain/secret/secret-names.ts'
import { isAcceptance } from '../../domain/run/outcome.ts'
import type { OutboundRequest } from '../../platform/outbound/request.ts'
import type { Outbound } from '../../platform/outbound/send.ts'
import { dispatchOf, payloadOf, type CallbackTarget } from '../dispatch.ts'
import {
  type Attempt,
  type AttemptContext,
  type AttemptReport,
  type Executor,
  type ExposedSecrets,
  traceparentOf,
} from '../executor.ts'
import type { CreateExecutor } from '../host.ts'
import { failureReport, readBody, reportOfAnswer, reportOfFailedRequest, type ReadAgentResult } from './answer.ts'

/** The maximum size of an agent's answer, the same as that of a delivered output. */
export const MAX_AGENT_ANSWER_BYTES = 1 << 20

export interface HttpExecutorOptions {
  readonly send: Outbound['send']
  /** The options of an attempt's agent; null when it no longer exists. */
  readonly optionsOf: (attempt: Attempt) => Promise<HttpOptions | null>
  /** The callback URL of a token; null when this process does not listen. */
  readonly callbackUrl: (token: string) => string | null
  readonly readResult: ReadAgentResult
}

/** The executor for HTTP agents; it reports every kind of response. */
export const createHttpExecutor =
  (options: HttpExecutorOptions): Executor =>
  async (attempt, context) => {
    const agent = await options.optionsOf(attempt)
    if (agent === null)
      return failureReport('executor_offline', `agent ${attempt.agentId} no longer exists`, {
        retryable: false,
      })
    const token = await context.offer()
    const callback = { token, url: options.callbackUrl(token) }
    const url = fillUrl(agent.url, templateValuesOf(attempt))
    if (url === null)
      return failureReport(
        'agent_error',
        `the template values of this run would change the host or the path structure of ${agent.url}`,
        {
          retryable: false,
        },
      )
    const exposed = await openSecretsFor(agent, url, context)
    if (exposed !== null && !exposed.ok) return failureReport('secret_refused', exposed.message)
    const secrets = exposed?.values
    const invitation = agent.body === null && agent.method !== 'GET' ? await context.invite() : null
    const answer = await options.send({
      ...requestOf(attempt, { agent, url, secrets, callback, invitation }),
      sameOriginOnly: secrets !== undefined || invitation !== null,
      maxBytes: MAX_AGENT_ANSWER_BYTES,
      signal: context.signal,
      purpose: 'agent',
    })
    if (answer.kind !== 'answered') return reportOfFailedRequest(answer)
    const body = readBody(answer.body, answer.headers)
    if ('flaw' in body) {
      // An error status counts regardless of an invalid body.
      const isFine = answer.status >= 200 && answer.status < 300
      if (isFine && !(answer.status === 202 && agent.async)) return failureReport('malformed_answer', body.flaw)
    }
    const read = { ...answer, body: 'flaw' in body ? answer.body.toString('utf8') : body.value }
    if (isAcceptance(read, agent.async)) return accept(context, token)
    return reportOfAnswer(read, { when: agent.success_when, attempt, read: options.readResult })
  }

/** Creates the HTTP executor of a process. */
export const createHttpExecutorFor: CreateExecutor = (host) => {
  const agentOf = host.agentOf(HTTP)
  return createHttpExecutor({ ...host, optionsOf: async (attempt) => (await agentOf(attempt))?.options ?? null })
}

/**
 * The result comes by callback. It may have arrived already, in which case deferring fails and nothing is left to
 * wait for.
 */
async function accept(context: AttemptContext, token: string): Promise<AttemptReport> {
  await context.defer(token).catch(() => undefined)
  return { outcome: { kind: 'accepted' } }
}

/** Opens the secrets that the agent references; null: none. A value that a header cannot contain is an error. */
export async function openSecretsFor(
  { headers, body }: Pick<HttpOptions, 'headers' | 'body'>,
  url: string,
  context: Pick<AttemptContext, 'expose'>,
): Promise<ExposedSecrets | null> {
  const inHeaders = secretNamesIn(headers)
  const names = [...new Set([...inHeaders, ...secretNamesIn(body)])]
  if (names.length === 0) return null
  const exposed = await context.expose({ names, url })
  if (!exposed.ok) return exposed
  const wrong = inHeaders.find((name) => INVALID_IN_HEADER.test(exposed.values[name] ?? ''))
  return wrong === undefined
    ? exposed
    : { ok: false, message: `secret ${wrong} contains characters that a header cannot, such as a line break` }
}

interface HttpRequestParts {
  readonly agent: HttpOptions
  readonly url: string
  readonly secrets: TemplateValues['secrets']
  readonly callback: CallbackTarget
  readonly invitation: AttemptApiAccess | null
}

type HttpRequest = Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'body'>

function requestOf(attempt: Attempt, sending: HttpRequestParts): HttpRequest {
  const { agent, url, secrets, callback, invitation } = sending
  const values = { ...templateValuesOf(attempt), secrets }
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

/** The template values of an attempt. */
export const templateValuesOf = (attempt: Attempt): TemplateValues => ({
  run_id: attempt.runId,
  job_run_id: attempt.jobRunId,
  scheduled_time: attempt.nominalTime === null ? '' : formatInstant(attempt.nominalTime),
  attempt: attempt.attempt,
  payload: payloadOf(attempt.payload),
})

/**
 * Replaces characters that a header cannot contain by question marks, because a line break would start another
 * header.
 */
export const asHeader = (value: unknown): string => asText(value).replaceAll(/[^\t\u0020-\u007e\u00a0-\u00ff]/g, '?')
const INVALID_IN_HEADER = /[^\t\u0020-\u007e\u00a0-\u00ff]/

function bodyOf(template: unknown, values: TemplateValues, type: string): string | null {
  if (template === null) return null
  if (typeof template !== 'string') return JSON.stringify(fillJson(template, values))
  if (/json\b/i.test(type)) return fillText(template, values, insideJson)
  if (/^application\/x-www-form-urlencoded\b/i.test(type.trim()))
    return fillText(template, values, (value) => encodeURIComponent(asText(value)))
  return fillText(template, values, asText)
}

/** Escapes a text for use inside a JSON string; other values are inserted as JSON. */
const insideJson = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : JSON.stringify(value ?? null)
