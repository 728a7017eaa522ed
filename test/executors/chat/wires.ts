import type Anthropic from '@anthropic-ai/sdk'
import type { ChatResponse } from 'ollama'
import type OpenAI from 'openai'
import type { ChatApi } from '../../../src/executors/chat/options.ts'

// What a model server sends, in the words of each API. The types are those of the official packages.

/** Tokens of an answer; cached ones are part of the input, reasoning is part of the output. */
export interface Tokens {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

/** Why an answer ended. */
export type Ending = 'stop' | 'length' | 'blocked'

/** How a server says things in one API. */
export interface Wire {
  readonly path: string
  readonly contentType: string
  /** What comes before the first word, for an answer that says these words in all. */
  readonly begin: (tokens: Tokens) => string
  readonly word: (word: string) => string
  readonly end: (text: string, tokens: Tokens, ending: Ending) => string
  /** An error in the middle of a stream: the server is overloaded. */
  readonly overload: string
  readonly whole: (text: string, tokens: Tokens, ending: Ending) => object
  readonly error: (message: string) => object
}

export const TOKENS: Tokens = { input: 1_000, cached: 800, output: 50, reasoning: 30 }

const event = (data: { readonly type: string }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const data = (piece: object): string => `data: ${JSON.stringify(piece)}\n\n`
const line = (piece: object): string => `${JSON.stringify(piece)}\n`

const chatUsage = ({ input, cached, output, reasoning }: Tokens): OpenAI.CompletionUsage => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
})

const CHAT_ENDINGS = { stop: 'stop', length: 'length', blocked: 'content_filter' } as const

function chunk(
  choices: OpenAI.ChatCompletionChunk['choices'],
  usage: OpenAI.CompletionUsage | null = null,
): OpenAI.ChatCompletionChunk {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices, usage }
}

const openaiChat: Wire = {
  path: '/v1/chat/completions',
  contentType: 'text/event-stream; charset=utf-8',
  begin: () => data(chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])),
  word: (content) => data(chunk([{ index: 0, delta: { content }, finish_reason: null }])),
  end: (_text, tokens, ending) =>
    data(chunk([{ index: 0, delta: {}, finish_reason: CHAT_ENDINGS[ending] }])) +
    data(chunk([], chatUsage(tokens))) +
    'data: [DONE]\n\n',
  overload: data({ error: { message: 'Overloaded', type: 'server_error', code: 503 } }),
  whole: (content, tokens, ending) =>
    ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'gpt-x',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content, refusal: null },
          finish_reason: CHAT_ENDINGS[ending],
          logprobs: null,
        },
      ],
      usage: chatUsage(tokens),
    }) satisfies OpenAI.ChatCompletion,
  error: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
}

/** The package adds `output_text` itself. */
type Response = Omit<OpenAI.Responses.Response, 'output_text'>
type ResponseItem = OpenAI.Responses.ResponseOutputMessage

const responseItem = (text: string, status: ResponseItem['status']): ResponseItem => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status,
  content: status === 'in_progress' ? [] : [{ type: 'output_text', text, annotations: [] }],
})

/** A response as it is created, fetched and completed. */
export function responseOf(
  status: NonNullable<Response['status']>,
  more: Partial<Response> & { readonly background?: boolean } = {},
): Response {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: 'gpt-x',
    output: [],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    ...more,
  }
}

export function endedResponse(text: string, tokens: Tokens, ending: Ending): Response {
  const { input, cached, output, reasoning } = tokens
  return responseOf(ending === 'stop' ? 'completed' : 'incomplete', {
    output: [responseItem(text, ending === 'stop' ? 'completed' : 'incomplete')],
    incomplete_details:
      ending === 'stop' ? null : { reason: ending === 'length' ? 'max_output_tokens' : 'content_filter' },
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  })
}

type ResponseEvent = OpenAI.Responses.ResponseStreamEvent
type Sent<Piece> = Piece extends { readonly response: unknown }
  ? Omit<Piece, 'response'> & { readonly response: Response }
  : Piece
const responseEvent = (piece: Sent<ResponseEvent>): string => event(piece)
const AT = { item_id: 'msg_1', output_index: 0, content_index: 0, sequence_number: 1 }

const openaiResponses: Wire = {
  path: '/v1/responses',
  contentType: 'text/event-stream; charset=utf-8',
  begin: () =>
    responseEvent({ type: 'response.created', response: responseOf('in_progress'), sequence_number: 0 }) +
    responseEvent({ type: 'response.in_progress', response: responseOf('in_progress'), sequence_number: 1 }) +
    responseEvent({
      type: 'response.output_item.added',
      output_index: 0,
      item: responseItem('', 'in_progress'),
      sequence_number: 2,
    }) +
    responseEvent({
      ...AT,
      type: 'response.content_part.added',
      part: { type: 'output_text', text: '', annotations: [] },
    }),
  word: (delta) => responseEvent({ ...AT, type: 'response.output_text.delta', delta, logprobs: [] }),
  end: (text, tokens, ending) =>
    responseEvent({ ...AT, type: 'response.output_text.done', text, logprobs: [] }) +
    responseEvent({
      type: ending === 'stop' ? 'response.completed' : 'response.incomplete',
      response: endedResponse(text, tokens, ending),
      sequence_number: 9,
    }),
  overload: responseEvent({
    type: 'response.failed',
    response: responseOf('failed', { error: { code: 'server_error', message: 'Overloaded' } }),
    sequence_number: 9,
  }),
  whole: (text, tokens, ending) => endedResponse(text, tokens, ending),
  error: openaiChat.error,
}

const MESSAGE_ENDINGS = { stop: 'end_turn', length: 'max_tokens', blocked: 'refusal' } as const

/** What was read from the cache is not part of `input_tokens` here. */
const messageUsage = ({ input, cached, output, reasoning }: Tokens): Anthropic.Usage => ({
  input_tokens: input - cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  cache_creation: null,
  output_tokens: output,
  output_tokens_details: { thinking_tokens: reasoning },
  inference_geo: null,
  server_tool_use: null,
  service_tier: 'standard',
  speed: null,
})

const messageOf = (more: Partial<Anthropic.Message> & Pick<Anthropic.Message, 'usage'>): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  ...more,
})

const anthropicMessages: Wire = {
  path: '/v1/messages',
  contentType: 'text/event-stream; charset=utf-8',
  begin: (tokens) =>
    data({
      type: 'message_start',
      message: messageOf({ usage: { ...messageUsage(tokens), output_tokens: 1, output_tokens_details: null } }),
    }).replace('data:', 'event: message_start\ndata:') +
    event({ type: 'ping' }) +
    event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } } as never) +
    event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } } as never) +
    event({ type: 'content_block_stop', index: 0 } as never) +
    event({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } } as never),
  word: (text) => event({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text } } as never),
  end: (_text, tokens, ending) =>
    event({ type: 'content_block_stop', index: 1 } as never) +
    event({
      type: 'message_delta',
      delta: { stop_reason: MESSAGE_ENDINGS[ending], stop_sequence: null },
      usage: {
        output_tokens: tokens.output,
        output_tokens_details: { thinking_tokens: tokens.reasoning },
        input_tokens: null,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        server_tool_use: null,
      } satisfies Anthropic.MessageDeltaUsage,
    } as never) +
    event({ type: 'message_stop' }),
  overload: event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } as never),
  whole: (text, tokens, ending) =>
    messageOf({
      content: [{ type: 'text', text, citations: null }],
      stop_reason: MESSAGE_ENDINGS[ending],
      usage: messageUsage(tokens),
    }),
  error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
}

type OllamaPiece = Omit<ChatResponse, 'created_at'> & { readonly created_at: string }

const ollamaPiece = (content: string, more: Partial<OllamaPiece> = {}): Partial<OllamaPiece> => ({
  model: 'llama-x',
  created_at: '2026-01-01T00:00:00.000000Z',
  message: { role: 'assistant', content },
  done: false,
  ...more,
})

/** Ollama counts neither cached nor reasoning tokens, and cannot withhold an answer. */
const ollamaEnd = ({ input, output }: Tokens, ending: Ending): Partial<OllamaPiece> => ({
  done: true,
  done_reason: ending,
  total_duration: 1,
  load_duration: 1,
  prompt_eval_count: input,
  prompt_eval_duration: 1,
  eval_count: output,
  eval_duration: 1,
})

const ollama: Wire = {
  path: '/api/chat',
  contentType: 'application/x-ndjson',
  begin: () => line(ollamaPiece('', { message: { role: 'assistant', content: '', thinking: 'Hm.' } })),
  word: (word) => line(ollamaPiece(word)),
  end: (_text, tokens, ending) => line(ollamaPiece('', ollamaEnd(tokens, ending))),
  overload: line({ error: 'Overloaded' }),
  whole: (text, tokens, ending) => ollamaPiece(text, ollamaEnd(tokens, ending)),
  error: (error) => ({ error }),
}

export const WIRES: Readonly<Record<ChatApi, Wire>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  ollama,
}
