import { anthropicMessages } from './anthropic.ts'
import {
  type AnswerPart,
  type CountedTokens,
  type Dialect,
  errorIn,
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  type ServerError,
  tokenCount,
} from './completion.ts'
import { attachmentText, type ChatMessage } from './conversation.ts'
import type { ChatApi } from './options.ts'

const typeIn = (value: unknown): unknown => (isObject(value) ? value['type'] : null)
const isJsonType = (type: unknown): boolean => type === 'json_object' || type === 'json_schema'

const chatCompletions: Dialect = {
  framing: 'events',
  body: ({ options, messages, extra, maxTokens }) => {
    const { model, temperature, stream } = options
    // Servers report the usage of a stream only when asked to; null leaves the option out.
    const { stream_options: streamOptions = { include_usage: true }, ...rest } = extra
    const newer = rest['max_completion_tokens']
    return {
      model,
      messages,
      ...(temperature === null ? {} : { temperature }),
      ...rest,
      ...(maxTokens === null
        ? {}
        : newer === undefined
          ? { max_tokens: maxTokens }
          : { max_completion_tokens: maxTokens }),
      ...(stream ? { stream, ...(streamOptions === null ? {} : { stream_options: streamOptions }) } : {}),
    }
  },
  read: (piece, event) => {
    if (event === 'error' || (piece['error'] ?? null) !== null) return { error: errorIn(piece['error'] ?? piece) }
    const usage = chatUsage(piece['usage'])
    const choice: unknown = listOf(piece['choices']).find(isFirst)
    return isObject(choice) ? { ...readChoice(choice), usage } : { usage }
  },
  notAnAnswer: (body) =>
    Array.isArray(fieldsOf(body)['choices']) ? null : 'the answer is not a chat completion: it has no choices',
  wantsJson: (extra) => isJsonType(typeIn(extra['response_format'])),
}

/** Only one choice is ever requested; if there are several, the first counts. */
const isFirst = (choice: unknown): boolean => isObject(choice) && (choice['index'] ?? 0) === 0

function readChoice(choice: Fields): AnswerPart {
  const piece = isObject(choice['delta']) ? choice['delta'] : fieldsOf(choice['message'])
  const calls = piece['tool_calls'] ?? piece['function_call']
  return {
    text: contentText(piece['content']),
    wantsTools: Array.isArray(calls) ? calls.length > 0 : isObject(calls),
    finish: typeof choice['finish_reason'] === 'string' ? choice['finish_reason'] : null,
  }
}

/** The content is a text, or a list of parts of which some are texts. */
const contentText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
        .join('')

function chatUsage(usage: unknown): CountedTokens | null {
  if (!isObject(usage)) return null
  const input = tokenCount(usage['prompt_tokens'])
  if (input === null) return null
  const { cost } = usage
  return {
    input,
    output: tokenCount(usage['completion_tokens']) ?? 0,
    cached: tokenCount(fieldsOf(usage['prompt_tokens_details'])['cached_tokens']) ?? 0,
    cacheWritten: 0,
    reasoning: tokenCount(fieldsOf(usage['completion_tokens_details'])['reasoning_tokens']) ?? 0,
    cost: typeof cost === 'number' && cost >= 0 ? cost : null,
  }
}

const responses: Dialect = {
  framing: 'events',
  body: ({ options, messages, extra, maxTokens }) => {
    const { model, temperature, background } = options
    const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
    return {
      model,
      ...(system.length === 0 ? {} : { instructions: system.join('\n\n') }),
      input: messages
        .filter(({ role }) => role !== 'system')
        .map(({ role, content }) => ({
          role,
          content: typeof content === 'string' ? content : content.map(inputPart),
        })),
      ...(temperature === null ? {} : { temperature }),
      ...(maxTokens === null ? {} : { max_output_tokens: maxTokens }),
      // Escapement keeps the conversation itself. Only a response in the background has to be stored to be fetched.
      store: false,
      ...extra,
      ...(background ? { background, store: true } : options.stream ? { stream: true } : {}),
    }
  },
  read: (piece, event, hasText) => {
    const type = piece['type'] ?? event
    switch (type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta': {
        const { delta } = piece
        return { text: typeof delta === 'string' ? delta : '' }
      }
      case 'response.output_item.added':
        return { wantsTools: isCall(piece['item']) }
      case 'error':
        return { error: responseError(isObject(piece['error']) ? piece['error'] : piece) }
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return readResponse(fieldsOf(piece['response']), hasText)
      default:
        return piece['object'] === 'response' || (piece['error'] ?? null) !== null ? readResponse(piece, hasText) : {}
    }
  },
  notAnAnswer: (body) =>
    fieldsOf(body)['object'] === 'response' ? null : 'the answer is not a response: its field object is not "response"',
  wantsJson: (extra) => isJsonType(typeIn(fieldsOf(extra['text'])['format'])),
}

/** A content part as the Responses API names it; what it does not support is described as text. */
function inputPart(part: unknown): object {
  const fields = fieldsOf(part)
  switch (fields['type']) {
    case 'text':
      return { type: 'input_text', text: fields['text'] }
    case 'image_url': {
      const image = fieldsOf(fields['image_url'])
      return { type: 'input_image', image_url: image['url'], detail: image['detail'] ?? 'auto' }
    }
    case 'file':
      return { type: 'input_file', ...fieldsOf(fields['file']) }
    default:
      return { type: 'input_text', text: attachmentText(part) }
  }
}

const isCall = (item: unknown): boolean => /_call$/.test(String(typeIn(item)))

/** Reads a whole response: it is the answer, or what ends a stream. */
function readResponse(response: Fields, hasText: boolean): AnswerPart {
  const { status, error } = response
  const output = listOf(response['output'])
  const parts = output.filter((item) => typeIn(item) === 'message').flatMap((item) => listOf(fieldsOf(item)['content']))
  const text = parts.map((part) => wordsIn(part)).join('')
  const reason = fieldsOf(response['incomplete_details'])['reason']
  const isRefusal = parts.some((part) => typeIn(part) === 'refusal')
  const read: AnswerPart = {
    ...(hasText ? {} : { text }),
    usage: responseUsage(response['usage']),
    wantsTools: output.some(isCall),
    finish: typeof reason === 'string' ? reason : isRefusal ? 'refusal' : status === 'completed' ? 'stop' : null,
    isLast: true,
  }
  if ((error ?? null) !== null) return { ...read, error: responseError(error) }
  if (status === 'failed') return { ...read, error: { message: 'the response failed without an error', status: null } }
  return status === 'cancelled' ? { ...read, error: { message: 'the response was cancelled', status: null } } : read
}

function wordsIn(part: unknown): string {
  const { text, refusal } = fieldsOf(part)
  const words = text ?? refusal
  return typeof words === 'string' ? words : ''
}

function responseUsage(usage: unknown): CountedTokens | null {
  if (!isObject(usage)) return null
  return {
    input: tokenCount(usage['input_tokens']),
    output: tokenCount(usage['output_tokens']) ?? 0,
    cached: tokenCount(fieldsOf(usage['input_tokens_details'])['cached_tokens']) ?? 0,
    cacheWritten: 0,
    reasoning: tokenCount(fieldsOf(usage['output_tokens_details'])['reasoning_tokens']) ?? 0,
    cost: null,
  }
}

const RESPONSE_ERRORS: Readonly<Record<string, number>> = { server_error: 500, rate_limit_exceeded: 429 }

/** Errors that are neither temporary nor known are about the request. */
function responseError(error: unknown): ServerError {
  const read = errorIn(error)
  const { code } = fieldsOf(error)
  if (read.status !== null || typeof code !== 'string') return read
  return { ...read, status: RESPONSE_ERRORS[code] ?? 400 }
}

/** Ollama's own API. */
const ollamaChat: Dialect = {
  framing: 'lines',
  body: ({ options, messages, extra, maxTokens }) => {
    const { model, temperature, stream } = options
    const { options: own, ...rest } = extra
    const given = fieldsOf(own)
    const limit = tokenCount(given['num_predict'])
    const settings = {
      ...(temperature === null ? {} : { temperature }),
      ...given,
      ...(maxTokens === null ? {} : { num_predict: Math.min(maxTokens, limit ?? maxTokens) }),
    }
    return {
      model,
      messages: messages.map(ollamaMessage),
      ...rest,
      ...(Object.keys(settings).length === 0 ? {} : { options: settings }),
      // Without it the server streams.
      stream,
    }
  },
  read: (piece) => {
    if ((piece['error'] ?? null) !== null) return { error: errorIn(piece['error']) }
    const message = fieldsOf(piece['message'])
    const { content } = message
    const part = {
      text: typeof content === 'string' ? content : '',
      wantsTools: listOf(message['tool_calls']).length > 0,
    }
    if (piece['done'] !== true) return part
    const reason = piece['done_reason']
    return { ...part, usage: ollamaUsage(piece), finish: typeof reason === 'string' ? reason : 'stop', isLast: true }
  },
  notAnAnswer: (body) =>
    isObject(fieldsOf(body)['message']) ? null : 'the answer is not a chat of Ollama: it has no message',
  wantsJson: ({ format = null }) => format === 'json' || isObject(format),
}

function ollamaUsage(piece: Fields): Partial<CountedTokens> | null {
  const output = tokenCount(piece['eval_count'])
  if (output === null) return null
  return { input: tokenCount(piece['prompt_eval_count']), output }
}

/** Images are base64 without a prefix beside the text; other attachments are described in it. */
function ollamaMessage({ role, content }: ChatMessage): object {
  if (typeof content === 'string') return { role, content }
  const images: string[] = []
  const texts: string[] = []
  for (const part of content) {
    const { type, text, image_url: image } = fieldsOf(part)
    const { url } = fieldsOf(image)
    const data = typeof url === 'string' ? /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1] : undefined
    if (type === 'text') texts.push(String(text))
    else if (data === undefined) texts.push(attachmentText(part))
    else images.push(data)
  }
  return { role, content: texts.join('\n'), ...(images.length === 0 ? {} : { images }) }
}

export const DIALECTS: Readonly<Record<ChatApi, Dialect>> = {
  'openai-chat': chatCompletions,
  'openai-responses': responses,
  'anthropic-messages': anthropicMessages,
  ollama: ollamaChat,
}
