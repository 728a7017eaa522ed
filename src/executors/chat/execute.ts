import { amountsStated } from '../../core/budget/amounts.ts'
import { completionsUrl, type ChatOptions } from './options.ts'
import { conversationOf, type Conversation } from './conversation.ts'
import { roomFor } from '../../core/chat/tokens.ts'
import { CHAT } from './kind.ts'
import { fillJson, fillText, type TemplateValues } from '../template.ts'
import { createStreamMask } from '../../domain/secret/mask.ts'
import { runOfSession } from '../../core/session/run-session.ts'
import type { AnswerHeaders, OutboundAnswer, TakePortion } from '../../outbound/request.ts'
import type { Outbound } from '../../outbound/send.ts'
import { createCompletion, type Completion } from './completion.ts'
import { createChatStream } from './stream.ts'
import { isTooLong, reportOfCompletion, reportOfRefusal, saidSoFar, type Asked, type ChatAgent } from './answer.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor, ExposedSecrets } from '../executor.ts'
import { failure, reportOfSilence } from '../http/answer.ts'
import { asHeader, exposeFor, LARGEST_ANSWER, valuesOf } from '../http/execute.ts'
import type { Past, Perform } from '../host.ts'
import { traceparentOf } from '../traceparent.ts'

export interface ChatExecutorOptions {
  readonly send: Outbound['send']
  /** The model of an attempt; null: there is no such agent any more. */
  readonly agentOf: (attempt: Attempt) => Promise<ChatAgent | null>
  /** The conversation before this attempt, of about so many tokens at most. */
  readonly pastOf: (attempt: Attempt, mostTokens: number) => Promise<Past>
}

/** Asks a model behind an OpenAI-compatible server, and shows its words as they come. */
export const createChatExecutor =
  (ports: ChatExecutorOptions): Executor =>
  async (attempt, context) => {
    const agent = await ports.agentOf(attempt)
    if (agent === null)
      return failure('executor_offline', `agent ${attempt.agentId} is gone, so nobody knows whom to ask`, {
        retryable: false,
      })
    const past = await readPast(ports, attempt, agent)
    if (context.signal.aborted) return { outcome: { kind: 'stopped' } }
    const url = completionsUrl(agent.options)
    const { api_key: key, headers, body } = agent.options
    const carried = key === null ? headers : { ...headers, authorization: key }
    const exposed = (await exposeFor({ headers: carried, body }, url, context)) ?? NOTHING_EXPOSED
    if (!exposed.ok) return failure('secret_refused', exposed.message)
    const values = { ...valuesOf(attempt), secrets: exposed.values }
    for (let room = roomOf(agent); ;) {
      const conversation = converse(attempt, { agent, past, room })
      const { report, isTooLong: wasTooLong } = await ask(ports.send, context, {
        ...{ agent, tokens: conversation.tokens, url, secrets: Object.values(exposed.values) },
        headers: headersOf(attempt, agent.options, values),
        body: JSON.stringify({
          ...bodyOf(agent.options, conversation, values),
          ...limitOf(attempt, agent, conversation),
        }),
      })
      if (!wasTooLong || conversation.kept === 0) return report
      // Tokens are guessed, and windows are smaller than people say: with less of its past the message may still be answered.
      room = Math.floor(conversation.tokens / 2)
    }
  }

/** Asks the models of a process. */
export const performChat: Perform = (host) => createChatExecutor({ ...host, agentOf: host.agentOf(CHAT) })

const NOTHING_EXPOSED: ExposedSecrets = { ok: true, values: {} }

const NO_PAST: Past = { sender: null, retryOf: null, exchanges: [] }

const roomOf = ({ options, contextWindow }: ChatAgent): number => roomFor(contextWindow, options.max_tokens)

/** The past of the session, unless there is none or it is not wanted. */
async function readPast({ pastOf }: ChatExecutorOptions, attempt: Attempt, agent: ChatAgent): Promise<Past> {
  const { sessionKey, runId } = attempt
  // A session of its own begins with the run: there is nothing to read.
  const hasPast = sessionKey !== null && runOfSession(sessionKey)?.runId !== runId
  return hasPast && agent.options.history ? pastOf(attempt, roomOf(agent)) : NO_PAST
}

/** What the model is told. */
function converse(
  { payload }: Attempt,
  { agent, past, room }: { readonly agent: ChatAgent; readonly past: Past; readonly room: number },
): Conversation {
  const { sender, retryOf, exchanges } = past
  const { system_prompt: systemPrompt } = agent.options
  return conversationOf({ systemPrompt, past: exchanges, newest: { payload, sender, retryOf }, room })
}

function headersOf(attempt: Attempt, options: ChatOptions, values: TemplateValues): Readonly<Record<string, string>> {
  const own = Object.entries(options.headers).map(([name, text]): readonly [string, string] => [
    name.toLowerCase(),
    fillText(text, values, asHeader),
  ])
  return {
    'content-type': 'application/json',
    accept: options.stream ? 'text/event-stream, application/json' : 'application/json',
    ...Object.fromEntries(own),
    ...(options.api_key === null ? {} : { authorization: `Bearer ${fillText(options.api_key, values, asHeader)}` }),
    'idempotency-key': attempt.attemptId,
    traceparent: traceparentOf(attempt),
  }
}

function bodyOf(options: ChatOptions, { messages }: Conversation, values: TemplateValues): object {
  const { model, temperature, max_tokens, stream } = options
  const own = fillJson(options.body, values) as Readonly<Record<string, unknown>>
  // What a server counts comes at the end of a stream, and only to whoever asks for it. Null leaves it out.
  const { stream_options: said = { include_usage: true }, ...rest } = own
  return {
    ...{ model, messages },
    ...(temperature === null ? {} : { temperature }),
    ...(max_tokens === null ? {} : { max_tokens }),
    ...rest,
    ...(stream ? { stream, ...(said === null ? {} : { stream_options: said }) } : {}),
  }
}

/**
 * How long the answer may be where the run states it, which lowers what the agent says and never raises it. A server that
 * has `max_completion_tokens` in its agent's body refuses `max_tokens` beside it.
 */
function limitOf(
  { payload }: Attempt,
  { options, contextWindow }: ChatAgent,
  { tokens }: Conversation,
): Readonly<Record<string, number>> {
  const stated = amountsStated(payload).tokens
  if (stated === null || stated === 0) return {}
  const newer = options.body['max_completion_tokens']
  const own = newer ?? options.max_tokens
  // More than the window has left is refused by servers, whatever the run may use in all.
  const left = contextWindow === null ? stated : Math.max(1, contextWindow - tokens)
  const limit = Math.min(stated, typeof own === 'number' ? own : left)
  return newer === undefined ? { max_tokens: limit } : { max_completion_tokens: limit }
}

interface Question extends Asked {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** What must not be seen, not even in pieces. */
  readonly secrets: readonly string[]
}

interface Asking {
  readonly report: AttemptReport
  /** The server takes less than it was sent. */
  readonly isTooLong: boolean
}

async function ask(send: Outbound['send'], context: AttemptContext, question: Question): Promise<Asking> {
  const { url, headers, body, agent, secrets } = question
  const mask = createStreamMask(secrets)
  const say = (words: string): void => {
    if (words !== '') context.progress(words)
  }
  let streamed: Completion | null = null
  const take = (answer: { readonly status: number; readonly headers: AnswerHeaders }): TakePortion | null => {
    if (!isStream(answer)) return null
    const stream = createChatStream((words) => say(mask.push(words)))
    streamed = stream.completion
    return stream.take
  }
  const answer = await send({
    ...{ url, method: 'POST', headers, body, take, signal: context.signal, maxBytes: LARGEST_ANSWER },
    ...{ purpose: 'agent', ...(secrets.length === 0 ? {} : { bound: true }) },
  })
  const completion = streamed as Completion | null
  const plain = (report: AttemptReport): Asking => ({ report, isTooLong: false })
  if (answer.kind !== 'answered') return plain({ ...reportOfSilence(answer), ...saidSoFar(completion, question) })
  if (completion !== null) {
    say(mask.end())
    return plain(reportOfCompletion(completion, question))
  }
  const report = reportOfWhole(answer, question, agent.options)
  return { report, isTooLong: isTooLong(answer.status, answer.body.toString('utf8')) }
}

const isStream = ({ status, headers }: { readonly status: number; readonly headers: AnswerHeaders }): boolean =>
  status >= 200 && status < 300 && /^text\/event-stream\b/i.test(String(headers['content-type'] ?? '').trim())

/** There are servers that answer at once, whatever they are asked. */
function reportOfWhole(
  answer: Extract<OutboundAnswer, { readonly kind: 'answered' }>,
  asked: Asked,
  options: ChatOptions,
): AttemptReport {
  const { status, headers } = answer
  const text = answer.body.toString('utf8')
  if (status < 200 || status >= 300) return reportOfRefusal({ status, headers, text }, options)
  const completion = createCompletion(() => undefined)
  completion.take(text)
  // An answer at once is whole by itself; one without any answer in it is something else.
  const isAnswer = completion.flaw() !== null || completion.error() !== null || /"choices"\s*:\s*\[/.test(text)
  if (!isAnswer) return failure('malformed_answer', 'the answer is JSON, and no chat completion: it has no choices')
  return reportOfCompletion({ ...completion, isWhole: () => true }, asked)
}
