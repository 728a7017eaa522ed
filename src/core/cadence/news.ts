import { NO_REPLY } from '../../domain/delivery/delivery.ts'
import { trimBlank } from '../../domain/heartbeat/acknowledgement.ts'
import { HEARTBEAT_DEFAULTS } from '../../domain/heartbeat/heartbeat-config.ts'
import { isAcknowledged } from '../../domain/heartbeat/heartbeat-reply.ts'
import type { Reason } from '../../domain/reasons.ts'
import { withoutProposal } from '../../domain/schedule/pace/proposal.ts'

/** What a run that succeeded said, as far as the pace is concerned. */
export interface Said {
  /** Why it ended; a probe that saw nothing to do is quiet. */
  readonly reason: Reason
  readonly output: unknown
  readonly summary: unknown
}

/** How a run counts for the pace, and what is remembered of what it said to know a repetition. */
export interface News {
  readonly isQuiet: boolean
  /** In a word why: nothing was asked, nothing was said, nothing needs attention, or nothing new. */
  readonly found: 'probe_no' | 'empty' | 'no_reply' | 'acknowledged' | 'same' | 'new'
  readonly digest: string | null
}

/** Whether a run has found something new. `before` is the digest of what the last one that counted said. */
export function judgeNews({ reason, output, summary }: Said, before: string | null): News {
  // What a probe has spared says nothing about the last answer: that stays what others are compared with.
  if (reason === 'probe_no') return { isQuiet: true, found: 'probe_no', digest: before }
  const text = trimBlank(textOf(withoutProposal(output)) || textOf(summary))
  const quiet = (found: News['found']): News => ({ isQuiet: true, found, digest: before })
  if (text === '') return quiet('empty')
  if (text === NO_REPLY) return quiet('no_reply')
  if (isAcknowledged(text, HEARTBEAT_DEFAULTS.ackMaxChars)) return quiet('acknowledged')
  const mark = digestOf(text)
  return mark === before
    ? { isQuiet: true, found: 'same', digest: mark }
    : { isQuiet: false, found: 'new', digest: mark }
}

function textOf(output: unknown): string {
  if (output === null || output === undefined) return ''
  return typeof output === 'string' ? output : JSON.stringify(output)
}

/** Sixty-four bits are enough to tell an answer from the one before it, and an answer cannot be read from them. */
function digestOf(text: string): string {
  let [first, second] = [0x811c_9dc5, 0x9747_b28c]
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    first = Math.imul(first ^ unit, 0x0100_0193)
    second = Math.imul((second << 5) ^ (second >>> 27) ^ unit, 0x85eb_ca6b)
  }
  return [first, second, text.length].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('')
}
