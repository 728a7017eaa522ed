import { EVENT_KINDS, EVENT_PERMISSIONS, SCHEDULE_RUN_EVENTS, type EventKind } from '../../contract/event-kinds.ts'
import type { EventFilter } from '../../contract/event.ts'
import type { Permission } from '../../domain/access/access.ts'
import { invalid } from '../../api/refusals.ts'
import { runId } from '../../domain/ids.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { confinedTo, type Railed } from '../../core/rails/railed.ts'
import { sessionOfRun } from '../../core/session/run-session.ts'
import type { Happened } from '../../service/events.ts'
import type { RunOwners } from '../../service/live-port.ts'

/** Which events somebody is told of. */
export interface Wanted {
  readonly kinds: ReadonlySet<string>
  readonly runId: string | null
  readonly scheduleId: string | null
  readonly session: string | null
  readonly agentId: string | null
  /** Whoever sees nothing but their own, and the run besides that their attempt is of. */
  readonly owner: string | null
  readonly ownRun: string | null
  /** Of runs and what they deliver, only those of schedules. */
  readonly onlyOfSchedules: boolean
  /** The same for all who want the same: what they are told is made once. */
  readonly name: string
}

/** The kinds that were asked for; null when it does not matter. */
export function readKinds({ kinds }: EventFilter): readonly EventKind[] | null {
  if (kinds === undefined) return null
  const words = kinds.split(',').map((word) => word.trim())
  const unknown = words.filter((word) => !isKind(word))
  if (unknown.length > 0)
    throw invalid(
      unknown.map((word) => {
        const near = nearestWord(word, EVENT_KINDS)
        const hint = near === null ? '' : `; did you mean ${near}?`
        return {
          ...{ field: 'kinds', value: word, message: `has ${word}, which is not a kind of event${hint}` },
          allowed: EVENT_KINDS.join(', '),
        }
      }),
    )
  return words.filter(isKind)
}

const isKind = (word: string): word is EventKind => (EVENT_KINDS as readonly string[]).includes(word)

/** What a filter lets through of the kinds that its owner may see. */
export function wantedOf(
  filter: EventFilter,
  kinds: readonly EventKind[],
  { railed, onlyOfSchedules }: { readonly railed?: Railed | undefined; readonly onlyOfSchedules: boolean },
): Wanted {
  const { run_id: run = null, schedule_id: scheduleId = null, session = null, agent_id: agentId = null } = filter
  const owner = confinedTo(railed)
  const ownRun = owner === null ? null : (railed?.attempt?.runId ?? null)
  const sorted = [...new Set(kinds)].toSorted()
  return {
    ...{ kinds: new Set(sorted), runId: run, scheduleId, session, agentId, owner, ownRun, onlyOfSchedules },
    name: JSON.stringify([sorted, run, scheduleId, session, agentId, owner, ownRun, onlyOfSchedules]),
  }
}

/** What a caller must hold to receive events of a kind; readers of schedules receive some about runs of schedules. */
export const permissionFor = (kind: EventKind, may: (permission: Permission) => boolean): Permission =>
  SCHEDULE_RUN_EVENTS.has(kind) && !may(EVENT_PERMISSIONS[kind]) && may('schedules:read')
    ? 'schedules:read'
    : EVENT_PERMISSIONS[kind]

/** Whether a filter looks at whose a run is, which most events do not say. */
export const asksForOwners = ({ scheduleId, session, agentId, owner, onlyOfSchedules }: Wanted): boolean =>
  scheduleId !== null || session !== null || agentId !== null || owner !== null || onlyOfSchedules

const ABOUT_RUNS: ReadonlySet<string> = new Set<EventKind>([
  ...(['run.changed', 'run.output', 'message.merged', 'message.dropped', 'outbound'] as const),
])

/** The run an event is about: its subject, or the one whose result is delivered. Null: about no run. */
export function runIn([kind, subject, data]: Happened): string | null {
  if (ABOUT_RUNS.has(kind)) return subject
  return kind === 'delivery.changed' ? (data['run_id'] as string) : null
}

/** The session an event is about. What is said to a conversation need not come from a run of that conversation. */
export function sessionIn(event: Happened, owners: RunOwners | undefined): string | null {
  const [kind, , data] = event
  if (kind !== 'outbound') {
    const run = runIn(event)
    return owners === undefined || run === null ? null : sessionOfRun({ id: runId(run), ...owners })
  }
  return typeof data['session'] === 'string' ? data['session'] : null
}

/** What belongs to nobody in particular is nothing to whoever sees only their own. */
function isOwn({ owner, ownRun }: Wanted, event: Happened, owners: RunOwners | undefined): boolean {
  const [kind, , data] = event
  if (kind === 'schedule.changed') return data['owner'] === owner
  const run = runIn(event)
  return run !== null && (run === ownRun || owners?.owner === owner)
}

/** The kinds of events that can be somebody's own. */
export const isOwnable = (kind: EventKind): boolean =>
  kind === 'schedule.changed' || kind === 'delivery.changed' || ABOUT_RUNS.has(kind)

/** Whether somebody is told of an event. `owners` are those of the run it is about; undefined when nobody knows them. */
export function isWanted(wanted: Wanted, event: Happened, owners: RunOwners | undefined): boolean {
  const [kind, subject] = event
  if (!wanted.kinds.has(kind)) return false
  if (wanted.onlyOfSchedules && SCHEDULE_RUN_EVENTS.has(kind) && (owners?.scheduleId ?? null) === null) return false
  if (wanted.owner !== null && !isOwn(wanted, event, owners)) return false
  if (wanted.runId !== null && runIn(event) !== wanted.runId) return false
  const agent = kind === 'heartbeat.changed' ? subject : owners?.agentId
  if (wanted.agentId !== null && agent !== wanted.agentId) return false
  if (wanted.session !== null && sessionIn(event, owners) !== wanted.session) return false
  if (wanted.scheduleId === null) return true
  return kind === 'schedule.changed' ? subject === wanted.scheduleId : owners?.scheduleId === wanted.scheduleId
}
