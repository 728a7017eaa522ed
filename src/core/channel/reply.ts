import { NO_REPLY } from '../delivery/delivery.ts'
import type { TerminalState } from '../run/run-machine.ts'

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
