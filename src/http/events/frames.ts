import { EVENT_KINDS, type EventKind, type ResetView } from '../../contract/event.ts'
import type { OrgId } from '../../core/ids.ts'
import { formatInstant } from '../../core/instant.ts'
import type { Happened, ToldTurn } from '../../service/events.ts'

/** An event that is told outside. */
export interface Frame {
  readonly kind: EventKind
  readonly subject: string
  readonly data: Happened[2]
  /** Its place in the turn. */
  readonly index: number
  /** As it goes over the wire; made when somebody first wants it, and then once for all of them. */
  readonly text: () => string
}

/** A turn with those of its events that are told outside. */
export interface TurnFrames {
  readonly no: number
  readonly frames: readonly Frame[]
}

const KINDS: ReadonlySet<string> = new Set(EVENT_KINDS)

export function framesOf(orgId: OrgId, turn: ToldTurn): TurnFrames {
  const write = createWriter(orgId, turn)
  const frames: Frame[] = []
  for (const [index, [kind, subject, data]] of turn.events.entries()) {
    if (!KINDS.has(kind)) continue
    let text: string | null = null
    frames.push({
      ...{ kind: kind as EventKind, subject, data, index },
      text: () => (text ??= write(index, [kind, subject, data])),
    })
  }
  return { no: turn.no, frames }
}

/** By hand: there are three events for every run. Nothing that JSON writes has a line break in it. */
function createWriter(orgId: OrgId, { no, at }: ToldTurn): (index: number, event: Happened) => string {
  const about = `"org_id":${JSON.stringify(orgId)},"at":"${formatInstant(at)}","subject":`
  let last: Happened[2] | null = null
  let said = ''
  return (index, [kind, subject, data]) => {
    // What many events say alike they say with one object.
    if (data !== last) said = JSON.stringify(data)
    last = data
    const id = `${no}-${index}`
    const body = `{"id":"${id}","kind":"${kind}",${about}${JSON.stringify(subject)},"data":${said}}`
    return `id: ${id}\nevent: ${kind}\ndata: ${body}\n\n`
  }
}

/** Tells that events were missed, and where it goes on. */
export const resetFrame = (reset: ResetView): string =>
  `id: ${reset.id}\nevent: reset\ndata: ${JSON.stringify(reset)}\n\n`

/** Says that we are there, and how far things have come: an id without data moves the reader on and tells it nothing. */
export const heartbeatFrame = (no: number): string => `: ${no}\nid: ${no}\n\n`

/** How a stream begins: browsers wait so long before they come back after an interruption. */
export const firstFrame = (retryMs: number): string => `retry: ${retryMs}\n\n`
