import type { ResetView } from '../../contract/event.ts'
import type { OrgId } from '../../domain/ids.ts'
import { formatInstant } from '../../domain/instant.ts'
import type { Happened, ToldTurn } from '../../service/events.ts'

/** A turn, with the text of its events for the wire. */
export interface TurnFrames extends Pick<ToldTurn, 'no' | 'events'> {
  /** The text of the event of this index; made when somebody first wants it, and then once for all of them. */
  readonly text: (index: number) => string
}

/** By hand: there are three events for every run. Nothing that JSON writes has a line break in it. */
export function framesOf(orgId: OrgId, { no, at, events }: ToldTurn): TurnFrames {
  const texts: string[] = []
  let about: string | null = null
  let last: Happened[2] | null = null
  let said = ''
  const write = (index: number): string => {
    const event = events[index]
    if (event === undefined) return ''
    const [kind, subject, data] = event
    about ??= `"org_id":${JSON.stringify(orgId)},"at":"${formatInstant(at)}","subject":`
    // What many events say alike they say with one object.
    if (data !== last) said = JSON.stringify(data)
    last = data
    const id = `${no}-${index}`
    const body = `{"id":"${id}","kind":"${kind}",${about}${JSON.stringify(subject)},"data":${said}}`
    return `id: ${id}\nevent: ${kind}\ndata: ${body}\n\n`
  }
  return { no, events, text: (index) => (texts[index] ??= write(index)) }
}

/** Tells that events were missed, and where it goes on. */
export const resetFrame = (reset: ResetView): string =>
  `id: ${reset.id}\nevent: reset\ndata: ${JSON.stringify(reset)}\n\n`

/** Says that we are there, and how far things have come: an id without data moves the reader on and tells it nothing. */
export const heartbeatFrame = (no: number): string => `: ${no}\nid: ${no}\n\n`

/** How a stream begins: browsers wait so long before they come back after an interruption. */
export const firstFrame = (retryMs: number): string => `retry: ${retryMs}\n\n`
