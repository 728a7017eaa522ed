import { NO_REPLY } from '../../domain/delivery/delivery.ts'
import type { TerminalState } from '../../domain/run/run-machine.ts'

/** What a chat is told about a run that has ended; nothing clears what stands for an answer that does not come. */
export interface ChatReply {
  readonly text: string
}

const NOTHING: ChatReply = { text: '' }

/** Says the ending of a run to the people who wait for it. */
export function replyOf(run: {
  readonly state: TerminalState
  readonly output: unknown
  readonly errorMessage: string | null
}): ChatReply {
  switch (run.state) {
    case 'success':
      return sayOutput(run.output)
    case 'failed':
      return { text: `I could not answer: ${run.errorMessage ?? 'something went wrong'}` }
    case 'timeout':
      return { text: 'I could not answer in time.' }
    case 'expired':
      return { text: 'Your message waited too long; I have not answered it.' }
    case 'dropped':
      return { text: 'Too many messages were waiting, so I have dropped this one. Please send it again.' }
    case 'cancelled':
    case 'skipped':
    case 'rejected':
      return NOTHING
  }
}

function sayOutput(output: unknown): ChatReply {
  if (output === null || output === undefined) return NOTHING
  const text = typeof output === 'string' ? output : textIn(output)
  return text.trim() === NO_REPLY ? NOTHING : { text: text.trim() }
}

/** Agents that answer with an object usually mean one field of it. */
function textIn(output: unknown): string {
  const fields = output as Readonly<Record<string, unknown>>
  for (const name of ['text', 'reply', 'message', 'output']) {
    const found = typeof output === 'object' ? fields[name] : undefined
    if (typeof found === 'string') return found
  }
  return JSON.stringify(output, null, 2)
}

/**
 * Cuts a text into pieces of at most `most` UTF-16 units, which is what messengers count. It cuts at the end of a
 * paragraph, else of a line, else of a word, if that leaves a piece at least half full, and never inside a character.
 * Nothing is lost but the blank space at a cut.
 */
export function splitText(text: string, most: number): readonly string[] {
  const pieces: string[] = []
  let rest = text.trimEnd()
  while (rest.length > most) {
    const at = cutOf(rest, most)
    pieces.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at).replace(/^[^\S\n]*\n+|^[^\S\n]+/, '')
  }
  if (rest !== '' || pieces.length === 0) pieces.push(rest)
  return pieces.filter((piece, index) => piece !== '' || (index === 0 && pieces.length === 1))
}

function cutOf(text: string, most: number): number {
  const head = text.slice(0, most)
  for (const end of ['\n\n', '\n', ' ']) {
    const at = head.lastIndexOf(end)
    if (at >= most / 2) return at
  }
  // Half a pair at the end belongs to the next piece.
  const last = head.charCodeAt(most - 1)
  return last >= 0xd800 && last <= 0xdbff && most > 1 ? most - 1 : most
}
