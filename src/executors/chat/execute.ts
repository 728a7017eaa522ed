import { parseJsonText } from '../../domain/json.ts'
import { amountsStated } from '../../domain/budget/amounts.ts'
import { API_FACTS, keyHeaderOf, requestUrl, type ChatOptions } from './options.ts'
import { fillJson, fillText, type TemplateValues } from '../template.ts'
import { conversationOf, type Conversation } from './conversation.ts'
import { maxConversationTokens } from '../../domain/input-fields.ts'
import { CHAT } from './kind.ts'
import { createStreamMask } from '../../domain/secret/mask.ts'
import { runOfSession } from '../../domain/session/session.ts'
import type { ResponseHeaders, OutboundResponse, ReceiveChunk } from '../../platform/outbound/request.ts'
import type { Outbound } from '../../platform/outbound/send.ts'
import { createCompletion, type Fields, fieldsOf } from './completion.ts'
import { DIALECTS } from './dialects.ts'
import {
  type ModelRequest,
  type ChatAgent,
  createChatStream,
  isTooLong,
  quotaIn,
  reportOfCompletion,
  reportOfRefusal,
  partialReport,
} from './answer.ts'
import {
  type Attempt,
  type AttemptContext,
  type AttemptReport,
  type BackgroundAttempt,
  type BackgroundClient,
  type Executor,
  type ExposedSecrets,
  traceparentOf,
} from '../executor.ts'
import { failureReport, reportOfFailedRequest } from '../http/answer.ts'
import { asHeader, MAX_AGENT_ANSWER_BYTES, openSecretsFor, templateValuesOf } from '../http/execute.ts'
import type { SessionHistory, CreateExecutor } from '../host.ts'

export interface ChatExecutorOptions {
  readonly send: Outbound['send']
  /** The model agent of an attempt; null when it no longer exists. */
  readonly agentOf: (attempt: Attempt) => Promise<ChatAgent | null>
  /** The model that a retry was created with; null, or left out: that of the agent. */
  readonly modelOf?: (attempt: Attempt) => Promise<string | null>
  /** The conversation before this attempt, of about `mostTokens` tokens at most. */
  readonly historyOf: (attempt: Attempt, maxTokens: number) => Promise<SessionHistory>
}

/** The executor for models; it streams the answer as progress. */
export const createChatExecutor = (ports: ChatExecutorOptions): Executor =>
  Object.assign(executeChat(ports), { background: createBackgroundClient(ports) })

const executeChat =
  (ports: ChatExecutorOptions) =>
  async (attempt: Attempt, context: AttemptContext): Promise<AttemptReport> => {
    const agent = await agentFor(ports, attempt)
    if (agent === null)
      return failureReport('executor_offline', `agent ${attempt.agentId} no longer exists`, {
        retryable: false,
      })
    const past = await loadHistory(ports, attempt, agent)
    if (context.signal.aborted) return { outcome: { kind: 'stopped' } }
    const url = requestUrl(agent.options)
    const exposed = await openKeys(agent.options, url, context)
    if (!exposed.ok) return failureReport('secret_refused', exposed.message)
    const values = { ...templateValuesOf(attempt), secrets: exposed.values }
    for (let room = maxInputTokens(agent); ;) {
      const conversation = buildConversation(attempt, { agent, past, room })
      const request: ChatRequest = {
        ...{ agent, tokens: conversation.tokens, url, secrets: Object.values(exposed.values) },
        headers: headersOf(attempt, agent.options, values),
        body: JSON.stringify(bodyOf(attempt, agent, { conversation, values })),
      }
      const { report, isTooLong: wasTooLong, responseId } = await sendChatRequest(ports.send, context, request)
      if (responseId !== null) return deferToResponse(ports.send, { context, request, responseId })
      if (!wasTooLong || conversation.kept === 0) return report
      // Token counts are estimates, and real context windows can be smaller than configured: with less history the
      // request may still succeed.
      room = Math.floor(conversation.tokens / 2)
    }
  }

/** The agent of an attempt, with the model that a retry was created with. The prices of another model are not known. */
async function agentFor(
  { agentOf, modelOf }: Pick<ChatExecutorOptions, 'agentOf' | 'modelOf'>,
  attempt: Attempt,
): Promise<ChatAgent | null> {
  const agent = await agentOf(attempt)
  const model = attempt.trigger === 'retry' ? ((await modelOf?.(attempt)) ?? null) : null
  if (agent === null || model === null || model === agent.options.model) return agent
  return { ...agent, options: { ...agent.options, model, prices: null } }
}

/** Creates the chat executor of a process. */
export const createChatExecutorFor: CreateExecutor = (host) =>
  createChatExecutor({ ...host, agentOf: host.agentOf(CHAT) })

const EMPTY_HISTORY: SessionHistory = { sender: null, retryOf: null, exchanges: [] }

const maxInputTokens = ({ options, contextWindow }: ChatAgent): number =>
  maxConversationTokens(contextWindow, options.max_tokens)

/** The history of the session, unless there is none or it is not wanted. */
async function loadHistory(
  { historyOf }: ChatExecutorOptions,
  attempt: Attempt,
  agent: ChatAgent,
): Promise<SessionHistory> {
  const { sessionKey, runId } = attempt
  // A session of the run's own starts with the run, so it has no history.
  const hasPast = sessionKey !== null && runOfSession(sessionKey)?.runId !== runId
  return hasPast && agent.options.history ? historyOf(attempt, maxInputTokens(agent)) : EMPTY_HISTORY
}

function buildConversation(
  { payload }: Attempt,
  { agent, past, room }: { readonly agent: ChatAgent; readonly past: SessionHistory; readonly room: number },
): Conversation {
  const { sender, retryOf, exchanges } = past
  const { system_prompt: systemPrompt } = agent.options
  return conversationOf({ systemPrompt, past: exchanges, newest: { payload, sender, retryOf }, maxTokens: room })
}

const NOTHING_EXPOSED: ExposedSecrets = { ok: true, values: {} }

/** Opens the secrets in the key, the headers and the body of an agent. */
async function openKeys(
  { api_key: key, headers, body, api }: ChatOptions,
  url: string,
  context: Pick<AttemptContext, 'expose'>,
): Promise<ExposedSecrets> {
  const carried = key === null ? headers : { ...headers, [keyHeaderOf({ api })]: key }
  return (await openSecretsFor({ headers: carried, body }, url, context)) ?? NOTHING_EXPOSED
}

const ANTHROPIC_VERSION = '2023-06-01'

/** The headers of a request. */
function headersOf(attempt: Attempt, options: ChatOptions, values: TemplateValues): Readonly<Record<string, string>> {
  const { api, api_key: key, stream, background } = options
  const own = Object.entries(options.headers).map(([name, text]): readonly [string, string] => [
    name.toLowerCase(),
    fillText(text, values, asHeader),
  ])
  const filled = key === null ? null : fillText(key, values, asHeader)
  const streamed = DIALECTS[api].framing === 'lines' ? 'application/x-ndjson' : 'text/event-stream'
  return {
    'content-type': 'application/json',
    accept: stream && !background ? `${streamed}, application/json` : 'application/json',
    ...(api === 'anthropic-messages' ? { 'anthropic-version': ANTHROPIC_VERSION } : {}),
    ...Object.fromEntries(own),
    ...(filled === null
      ? {}
      : { [keyHeaderOf(options)]: API_FACTS[api].keyHeader === 'bearer' ? `Bearer ${filled}` : filled }),
    'idempotency-key': attempt.attemptId,
    traceparent: traceparentOf(attempt),
  }
}

interface RequestParts {
  readonly conversation: Conversation
  readonly values: TemplateValues
}

/** The body of a request in the words of the agent's API. */
function bodyOf(attempt: Attempt, agent: ChatAgent, { conversation, values }: RequestParts): object {
  const { options } = agent
  return DIALECTS[options.api].body({
    options,
    messages: conversation.messages,
    extra: fillJson(options.body, values) as Fields,
    maxTokens: limitOf(attempt, agent, conversation),
  })
}

/** The output limit: the agent's, or what the run states, which can only lower it. */
function limitOf({ payload }: Attempt, { options, contextWindow }: ChatAgent, { tokens }: Conversation): number | null {
  const stated = amountsStated(payload).tokens
  const own = options.body['max_completion_tokens'] ?? options.max_tokens
  if (stated === null || stated === 0) return options.max_tokens
  // Servers refuse a limit above the rest of the context window, whatever the run may use in total.
  const left = contextWindow === null ? stated : Math.max(1, contextWindow - tokens)
  return Math.min(stated, typeof own === 'number' ? own : left)
}

interface ChatRequest extends ModelRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Secrets that must not appear in the progress, not even split. */
  readonly secrets: readonly string[]
}

interface ChatResponse {
  readonly report: AttemptReport
  /** Whether the server refused the request as too long. */
  readonly isTooLong: boolean
  /** The response that the server works on in the background; null: it does not. */
  readonly responseId: string | null
}

async function sendChatRequest(
  send: Outbound['send'],
  context: AttemptContext,
  question: ChatRequest,
): Promise<ChatResponse> {
  const { url, headers, body, agent, secrets } = question
  const mask = createStreamMask(secrets)
  const publish = (words: string): void => {
    if (words !== '') context.progress(words)
  }
  let streamed: ReturnType<typeof createChatStream> | null = null
  const take = (answer: { readonly status: number; readonly headers: ResponseHeaders }): ReceiveChunk | null => {
    if (!isStream(answer)) return null
    streamed = createChatStream(DIALECTS[agent.options.api], (words) => publish(mask.push(words)))
    return streamed.take
  }
  const answer = await send({
    ...{ url, method: 'POST', headers, body, receive: take, signal: context.signal, maxBytes: MAX_AGENT_ANSWER_BYTES },
    ...{ purpose: 'agent', ...(secrets.length === 0 ? {} : { sameOriginOnly: true }) },
  })
  const stream = streamed as ReturnType<typeof createChatStream> | null
  const plain = (report: AttemptReport): ChatResponse => ({ report, isTooLong: false, responseId: null })
  if (answer.kind !== 'answered')
    return plain({ ...reportOfFailedRequest(answer), ...partialReport(stream?.completion ?? null, question) })
  if (stream !== null) {
    stream.end()
    publish(mask.end())
    return plain(withQuota(reportOfCompletion(stream.completion, question), answer.headers))
  }
  const report = withQuota(reportOfWhole(answer, question, agent.options), answer.headers)
  const text = answer.body.toString('utf8')
  const responseId = agent.options.background && isFine(answer) ? pendingResponseId(text) : null
  return { report, isTooLong: isTooLong(answer.status, text), responseId }
}

const isFine = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300

/** The response that a server works on in the background; null: it does not, or its id cannot be part of a URL. */
function pendingResponseId(text: string): string | null {
  const { id, status } = fieldsOf(parsedBody(text))
  return isPending(status) && typeof id === 'string' && /^[\w.-]{1,200}$/.test(id) && !id.startsWith('.') ? id : null
}

const isPending = (status: unknown): boolean => status === 'queued' || status === 'in_progress'

interface DeferredResponse {
  readonly context: AttemptContext
  readonly request: ChatRequest
  readonly responseId: string
}

/** Lets the run wait for the response. If it cannot, such as after a cancellation, the response is cancelled. */
async function deferToResponse(
  send: Outbound['send'],
  { context, request, responseId }: DeferredResponse,
): Promise<AttemptReport> {
  try {
    await context.deferToService({ responseId, tokens: request.tokens })
  } catch (error) {
    const { url, headers, secrets } = request
    await send({ ...cancelRequest(url, responseId), headers, sameOriginOnly: secrets.length > 0 })
    throw error
  }
  return { outcome: { kind: 'accepted' } }
}

const CANCEL_MS = 5_000

const cancelRequest = (url: string, responseId: string) =>
  ({
    url: `${url}/${responseId}/cancel`,
    method: 'POST',
    timeoutMs: CANCEL_MS,
    maxBytes: MAX_AGENT_ANSWER_BYTES,
    purpose: 'agent',
  }) as const

/** Fetches and cancels responses that a server works on in the background. */
function createBackgroundClient({ send, agentOf }: ChatExecutorOptions): BackgroundClient {
  const prepare = async ({ attempt, reference, expose }: BackgroundAttempt) => {
    const { responseId, tokens } = reference
    const agent = await agentOf(attempt)
    if (agent === null) return failureReport('executor_offline', `agent ${attempt.agentId} no longer exists`)
    const url = requestUrl(agent.options)
    const exposed = await openKeys(agent.options, url, { expose })
    if (!exposed.ok) return failureReport('secret_refused', exposed.message)
    const values = { ...templateValuesOf(attempt), secrets: exposed.values }
    const { 'content-type': _type, 'idempotency-key': _key, ...headers } = headersOf(attempt, agent.options, values)
    const sameOriginOnly = Object.keys(exposed.values).length > 0
    return {
      request: { agent, tokens: Number(tokens) },
      url,
      id: String(responseId),
      sending: { headers, sameOriginOnly },
    }
  }
  return {
    fetch: async (work) => {
      const prepared = await prepare(work)
      if (!('request' in prepared)) return prepared
      const { request, url, id, sending } = prepared
      const { signal } = work
      const answer = await send({
        ...{ ...sending, url: `${url}/${id}`, method: 'GET', signal },
        ...{ maxBytes: MAX_AGENT_ANSWER_BYTES, purpose: 'agent' },
      })
      return reportOfFetch(answer, request)
    },
    cancel: async (work) => {
      const prepared = await prepare(work)
      if (!('request' in prepared)) return
      const { url, id, sending } = prepared
      await send({ ...sending, ...cancelRequest(url, id), signal: work.signal })
    },
  }
}

/** A server that cannot be asked now is asked again, until the run's wait is over. */
function reportOfFetch(answer: OutboundResponse, request: ModelRequest): AttemptReport | null {
  const isTemporary = ['network', 'timeout', 'aborted'].includes(answer.kind)
  if (answer.kind !== 'answered') return isTemporary ? null : reportOfFailedRequest(answer)
  const { status } = answer
  if (status >= 500 || TEMPORARY_STATUSES.includes(status)) return null
  if (isFine(answer) && isPending(fieldsOf(parsedBody(answer.body.toString('utf8')))['status'])) return null
  return reportOfWhole(answer, request, request.agent.options)
}

const TEMPORARY_STATUSES: readonly number[] = [408, 425, 429]

/** Adds what the server reports as left of its quotas. */
function withQuota(report: AttemptReport, headers: ResponseHeaders): AttemptReport {
  const { inputTokens = 0, outputTokens = 0 } = report.usage ?? {}
  const quota = quotaIn(headers, inputTokens + outputTokens)
  return quota === null ? report : { ...report, quota }
}

const isStream = ({ status, headers }: { readonly status: number; readonly headers: ResponseHeaders }): boolean =>
  status >= 200 &&
  status < 300 &&
  /^(?:text\/event-stream|application\/x-ndjson)\b/i.test(String(headers['content-type'] ?? '').trim())

/** Some servers do not stream even when asked to. */
function reportOfWhole(
  answer: Extract<OutboundResponse, { readonly kind: 'answered' }>,
  request: ModelRequest,
  options: ChatOptions,
): AttemptReport {
  const { status, headers } = answer
  const text = answer.body.toString('utf8')
  if (!isFine(answer)) return reportOfRefusal({ status, headers, text }, options)
  const { read, notAnAnswer } = DIALECTS[options.api]
  const completion = createCompletion(() => undefined, read)
  completion.add(text)
  // A non-streamed answer is complete; otherwise it is not an answer of this API.
  const isRead = completion.flaw() !== null || completion.error() !== null
  const flaw = isRead ? null : notAnAnswer(parsedBody(text))
  if (flaw !== null) return failureReport('malformed_answer', flaw)
  return reportOfCompletion({ ...completion, isWhole: () => true }, request)
}

function parsedBody(text: string): unknown {
  const read = parseJsonText(text)
  return 'flaw' in read ? null : read.value
}
