import {
  type AnswerPart,
  type CountedTokens,
  type Dialect,
  errorIn,
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  tokenCount,
} from './completion.ts'
import { attachmentText } from './conversation.ts'

/** The API requires a limit; this is what every model accepts. */
const DEFAULT_MAX_TOKENS = 4_096

/** The statuses of errors in the middle of a stream, which have none of their own. */
const ERROR_STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

/** Anthropic's Messages API. */
export const anthropicMessages: Dialect = {
  framing: 'events',
  body: ({ options, messages, extra, maxTokens }) => {
    const { model, temperature, stream } = options
    const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
    return {
      model,
      max_tokens: maxTokens ?? DEFAULT_MAX_TOKENS,
      ...(system.length === 0 ? {} : { system: system.join('\n\n') }),
      messages: messages
        .filter(({ role }) => role !== 'system')
        .map(({ role, content }) => ({ role, content: typeof content === 'string' ? content : content.map(block) })),
      ...(temperature === null ? {} : { temperature }),
      ...extra,
      ...(stream ? { stream } : {}),
    }
  },
  read: (piece, event) => {
    switch (piece['type'] ?? event) {
      case 'message':
        return readMessage(piece)
      case 'message_start':
        return { usage: usageIn(fieldsOf(piece['message'])['usage']) }
      case 'content_block_start':
        return { wantsTools: isToolUse(piece['content_block']), text: textIn(piece['content_block']) }
      case 'content_block_delta':
        return { text: textIn(piece['delta']) }
      case 'message_delta': {
        const reason = fieldsOf(piece['delta'])['stop_reason']
        return { usage: usageIn(piece['usage']), ...finishOf(reason) }
      }
      case 'message_stop':
        return { isLast: true }
      case 'error': {
        const { error } = piece
        const status = ERROR_STATUSES[String(fieldsOf(error)['type'])] ?? null
        return { error: { ...errorIn(error ?? piece), status } }
      }
      default:
        return {}
    }
  },
  notAnAnswer: (body) =>
    fieldsOf(body)['type'] === 'message' ? null : 'the answer is not a message: its field type is not "message"',
  wantsJson: (extra) =>
    [extra['output_format'], fieldsOf(extra['output_config'])['format']].some(
      (format) => fieldsOf(format)['type'] === 'json_schema',
    ),
}

function readMessage(message: Fields): AnswerPart {
  const content = listOf(message['content'])
  return {
    text: content.map(textIn).join(''),
    usage: usageIn(message['usage']),
    ...finishOf(message['stop_reason']),
    ...(content.some(isToolUse) ? { wantsTools: true } : {}),
    isLast: true,
  }
}

/** `pause_turn` asks the client to continue a turn with tools of the server. */
const finishOf = (reason: unknown): AnswerPart => ({
  finish: typeof reason === 'string' ? reason : null,
  wantsTools: reason === 'tool_use' || reason === 'pause_turn',
})

/** The text of a block or of a delta; thinking and signatures are no part of the answer. */
function textIn(block: unknown): string {
  const { type, text } = fieldsOf(block)
  return (type === 'text' || type === 'text_delta') && typeof text === 'string' ? text : ''
}

const isToolUse = (block: unknown): boolean => /tool_use$/.test(String(fieldsOf(block)['type']))

/** Only what was reported, because the last event of a stream repeats some of the counts of the first. */
function usageIn(usage: unknown): Partial<CountedTokens> | null {
  if (!isObject(usage)) return null
  const fresh = tokenCount(usage['input_tokens'])
  const cached = tokenCount(usage['cache_read_input_tokens']) ?? 0
  const cacheWritten = tokenCount(usage['cache_creation_input_tokens']) ?? 0
  const output = tokenCount(usage['output_tokens'])
  const reasoning = tokenCount(fieldsOf(usage['output_tokens_details'])['thinking_tokens'])
  return {
    // Unlike elsewhere, input_tokens does not include what was read from or written to the cache.
    ...(fresh === null ? {} : { input: fresh + cached + cacheWritten, cached, cacheWritten }),
    ...(output === null ? {} : { output }),
    ...(reasoning === null ? {} : { reasoning }),
  }
}

/** A content part as the API names it; what it does not support is described as text. */
function block(part: unknown): object {
  const fields = fieldsOf(part)
  const source = (url: unknown): object | null => {
    if (typeof url !== 'string') return null
    const [, type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
    return data === undefined ? { type: 'url', url } : { type: 'base64', media_type: type, data }
  }
  switch (fields['type']) {
    case 'text':
      return { type: 'text', text: fields['text'] }
    case 'image_url': {
      const image = source(fieldsOf(fields['image_url'])['url'])
      return image === null ? { type: 'text', text: attachmentText(part) } : { type: 'image', source: image }
    }
    case 'file': {
      const document = source(fieldsOf(fields['file'])['file_data'])
      return document === null ? { type: 'text', text: attachmentText(part) } : { type: 'document', source: document }
    }
    default:
      return { type: 'text', text: attachmentText(part) }
  }
}
