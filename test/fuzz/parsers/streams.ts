import { createStreamReader, type StreamMessage } from '../../../src/client/events.ts'
import { DIALECTS } from '../../../src/executors/chat/dialects.ts'
import { createChatStream } from '../../../src/executors/chat/answer.ts'
import type { Random } from '../../simulation/random.ts'
import { asText, isWellFormed, must, mustAgree, type Target } from './target.ts'

/** Where a text is cut: in one piece, in the middle of everything, and character by character as far as that is quick. */
function cutsOf(text: string): readonly (readonly string[])[] {
  const third = Math.floor(text.length / 3)
  const thirds = [text.slice(0, third), text.slice(third, 2 * third), text.slice(2 * third)]
  const size = Math.max(1, Math.ceil(text.length / 5_000))
  const small = Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size))
  return [[text], thirds, small]
}

function readEvents(pieces: readonly string[]): { readonly messages: readonly StreamMessage[]; readonly last: string } {
  const reader = createStreamReader('')
  const messages = pieces.flatMap((piece) => [...reader.push(piece)])
  const retry = reader.retryMs()
  must(retry === null || retry >= 0, 'a wait is no less than nothing')
  return { messages, last: reader.lastId() }
}

const EVENTS = [
  'id: 5-1\nevent: run.changed\ndata: {"a":1}\n\n',
  'data: a\r\ndata: b\r\n\r\n',
  ': ping\n\n',
  'retry: 500\n\n',
]

const events: Target = {
  name: 'event stream',
  words: [
    'data: ',
    'data:',
    'id: ',
    'event: ',
    'retry: ',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    ':',
    ': ping',
    '\ufeff',
    '\u0000',
  ],
  draw: (random) => Array.from({ length: random.int(1, 6) }, () => random.one(EVENTS)).join(''),
  mostMs: 2_000,
  attempt: (input) => {
    const text = asText(input)
    const [whole, ...others] = cutsOf(text).map(readEvents)
    for (const other of others) mustAgree(other, whole, 'a stream is the same however it is cut')
    return `${Math.min(whole?.messages.length ?? 0, 3)} messages`
  },
}

const piece = (random: Random): string =>
  random.one([
    ...[
      'data: {"choices":[{"delta":{"content":"Hello"}}]}\n\n',
      'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n',
    ],
    ...['data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n', 'data: [DONE]\n\n', ': keep\n'],
    ...['data: {"usage":{"prompt_tokens":1,"completion_tokens":2}}\n', 'event: error\ndata: {"message":"no"}\n\n'],
    ...[
      'data: {"error":{"message":"x","code":"429"}}\n\n',
      'data: {"choices":[{"delta":{"content":[{"text":"a"}]}}]}\r\n\r\n',
    ],
    ...['data: {"error":{"code":{"toString":1}}}\n\n', 'data: {"choices":[{"delta":{"tool_calls":[{}]}}]}\n\n'],
  ])

function readChat(pieces: readonly Buffer[]): unknown {
  let told = ''
  const stream = createChatStream(DIALECTS['openai-chat'], (words) => (told += words))
  for (const one of pieces) if (stream.take(one) !== 'more') break
  const { completion } = stream
  must(completion.text().startsWith(told), 'what is told while it comes is the beginning of the whole')
  must(isWellFormed(completion.text()), 'an answer has no half of a character in it')
  return [completion.text(), completion.usage(), completion.error(), completion.isTooLarge()]
}

const chat: Target = {
  name: 'chat stream',
  words: [
    'data: ',
    '\n\n',
    '\r',
    '{"choices":[',
    '{"delta":{"content":"',
    '"}}]}',
    '[DONE]',
    'event: error\n',
    'null',
    '"usage":',
  ],
  draw: (random) => Array.from({ length: random.int(1, 8) }, () => piece(random)).join(''),
  mostMs: 2_000,
  attempt: (input) => {
    const bytes = Buffer.from(asText(input))
    const size = Math.max(1, Math.ceil(bytes.length / 5_000))
    const small = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    )
    const [text, usage, error] = readChat([bytes]) as [string, unknown, unknown]
    // Behind an end nothing is read any more, and in one piece more may lie behind it than in many: only the words agree.
    const [slowly] = readChat(small) as [string]
    must(text.startsWith(slowly) || slowly.startsWith(text), 'an answer is the same however it is cut')
    return `${text === '' ? 'silent' : 'words'}, ${usage === null ? 'not counted' : 'counted'}, ${error === null ? 'well' : 'error'}`
  },
}

/** Everything that reads streams. */
export const STREAM_TARGETS: readonly Target[] = [events, chat]
