import type { OrgId } from '../../domain/ids.ts'
import { formatInstant } from '../../domain/instant.ts'
import type { ResetView } from '../../features/events/schema.ts'
import type { EventEntry, TransactionEvents } from '../../features/events/service.ts'

/**
 * A position in the event history of an org. An event has the id `<turn>-<index>`; the number of a transaction alone
 * means all of its events, for a client whose filter matched none of them.
 */
export interface Position {
  readonly no: number
  /** The last event that was sent; Infinity for all of them. */
  readonly index: number
}

const EVENT_ID = /^(\d{1,15})(?:-(\d{1,9}))?$/

/** The position after a whole transaction. */
export const afterTransaction = (no: number): Position => ({ no, index: Infinity })

/** Parses an event id; null if it is invalid. */
export function readPosition(id: string): Position | null {
  const match = EVENT_ID.exec(id)
  if (match === null) return null
  return { no: Number(match[1]), index: match[2] === undefined ? Infinity : Number(match[2]) }
}

/** A transaction with the SSE text of its events. */
export interface TransactionFrames extends Pick<TransactionEvents, 'no' | 'events'> {
  /** The text of one event; created on first use and then shared. */
  readonly text: (index: number) => string
}

/** Built by hand for speed, because every run has about three events. JSON contains no line breaks. */
export function framesOf(orgId: OrgId, { no, at, events }: TransactionEvents): TransactionFrames {
  const texts: string[] = []
  let commonFields: string | null = null
  let last: EventEntry[2] | null = null
  let dataText = ''
  const write = (index: number): string => {
    const event = events[index]
    if (event === undefined) return ''
    const [kind, subject, data] = event
    commonFields ??= `"org_id":${JSON.stringify(orgId)},"at":"${formatInstant(at)}","subject":`
    // Consecutive events often share the same data object.
    if (data !== last) dataText = JSON.stringify(data)
    last = data
    const id = `${no}-${index}`
    const body = `{"id":"${id}","kind":"${kind}",${commonFields}${JSON.stringify(subject)},"data":${dataText}}`
    return `id: ${id}\nevent: ${kind}\ndata: ${body}\n\n`
  }
  return { no, events, text: (index) => (texts[index] ??= write(index)) }
}

/** The frame that reports missed events and the id to continue from. */
export const resetFrame = (reset: ResetView): string =>
  `id: ${reset.id}\nevent: reset\ndata: ${JSON.stringify(reset)}\n\n`

/** A heartbeat. An id without data advances the client's last event id without an event. */
export const heartbeatFrame = (no: number): string => `: ${no}\nid: ${no}\n\n`

/** The first frame: the delay before browsers reconnect. */
export const retryFrame = (retryMs: number): string => `retry: ${retryMs}\n\n`
