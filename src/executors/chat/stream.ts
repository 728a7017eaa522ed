import { StringDecoder } from 'node:string_decoder'
import type { TakePortion } from '../../outbound/request.ts'
import { completionsIn, createCompletion, type Completion } from './completion.ts'
import { LARGEST_ANSWER } from '../http/execute.ts'

/** However little is in what is sent around the words, nobody sends this much of it. */
const LARGEST_STREAM = 64 * LARGEST_ANSWER

/** Reads an answer that comes in pieces. */
export interface ChatStream {
  readonly take: TakePortion
  /** What there is of the answer so far. */
  readonly completion: Completion
}

/**
 * Reads a stream of server-sent events with one piece of an answer in each. Portions may end anywhere, in the middle of a
 * character too; lines may end in each of the three ways; comments and unknown fields are passed over. `said` is told the
 * words of each portion.
 */
export function createChatStream(said: (words: string) => void): ChatStream {
  const decoder = new StringDecoder('utf8')
  const completion = createCompletion(said)
  const events = createEvents((data, event) => completion.take(data, event))
  let bytes = 0
  return {
    completion,
    take: (portion) => {
      bytes += portion.length
      events.push(decoder.write(portion))
      completion.tell()
      if (bytes > LARGEST_STREAM || events.held() > LARGEST_ANSWER || completion.bytes() > LARGEST_ANSWER) {
        completion.refuse()
        return 'cut'
      }
      return completion.isOver() ? 'enough' : 'more'
    },
  }
}

interface Events {
  readonly push: (text: string) => void
  /** How much is kept of what is not complete yet. */
  readonly held: () => number
}

/**
 * Takes a stream apart. Data of several lines is one piece, as the standard says; but a line that is complete by itself is
 * taken at once, because there are servers that leave out the empty lines in between.
 */
function createEvents(take: (data: string, event: string) => void): Events {
  let [rest, event] = ['', '']
  // A return that ended a line may have been the first half of its end.
  let isHalf = false
  let lines: string[] = []
  let heldInLines = 0
  const finish = (): void => {
    if (lines.length > 0) take(lines.join('\n'), event)
    lines = []
    heldInLines = 0
    event = ''
  }
  const line = (text: string): void => {
    if (text === '') {
      finish()
      return
    }
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(text) ?? []
    if (name === 'event') event = value
    if (name !== 'data') return
    if (lines.length === 0 && completionsIn(value)) take(value, event)
    else {
      lines.push(value)
      heldInLines += value.length
    }
  }
  return {
    held: () => rest.length + heldInLines,
    push: (text) => {
      // A line may come in very many portions: what has come of it before is not looked at again.
      const fresh = isHalf && text.startsWith('\n') ? text.slice(1) : text
      if (text !== '') isHalf = text.endsWith('\r')
      const [first = '', ...others] = fresh.split(/\r\n|\n|\r/)
      const all = [rest + first, ...others]
      rest = all.pop() ?? ''
      for (const one of all) line(one.startsWith('\uFEFF') ? one.slice(1) : one)
    },
  }
}
