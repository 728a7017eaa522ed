import { amountsStated } from '../../domain/budget/amounts.ts'
import type { Attempt, AttemptContext, ExposedSecrets } from '../executor.ts'
import { traceparentOf } from '../executor.ts'
import { asHeader, openSecretsFor } from '../http/execute.ts'
import { fillJson, fillText, type TemplateValues } from '../template.ts'
import type { ChatAgent } from './answer.ts'
import type { Fields } from './completion.ts'
import type { Conversation } from './conversation.ts'
import { DIALECTS } from './dialects.ts'
import { API_FACTS, keyHeaderOf, type ChatOptions } from './options.ts'

const NOTHING_EXPOSED: ExposedSecrets = { ok: true, values: {} }

/** Opens the secrets in the key, the headers and the body of an agent. */
export async function openKeys(
  { api_key: key, headers, body, api }: ChatOptions,
  url: string,
  context: Pick<AttemptContext, 'expose'>,
): Promise<ExposedSecrets> {
  const carried = key === null ? headers : { ...headers, [keyHeaderOf({ api })]: key }
  return (await openSecretsFor({ headers: carried, body }, url, context)) ?? NOTHING_EXPOSED
}

const ANTHROPIC_VERSION = '2023-06-01'

/** The headers of a request. */
export function headersOf(
  attempt: Attempt,
  options: ChatOptions,
  values: TemplateValues,
): Readonly<Record<string, string>> {
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
export function bodyOf(attempt: Attempt, agent: ChatAgent, { conversation, values }: RequestParts): object {
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
