import {
  EVENT_KINDS,
  EVENT_PERMISSIONS,
  type EventFilter,
  type EventKind,
  SCHEDULE_RUN_EVENTS,
} from '../../features/events/schema.ts'
import type { Permission } from '../../domain/access/access.ts'
import { invalid } from '../../api/refusals.ts'
import { runId } from '../../domain/ids.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { visibleOwner, type RestrictedKey } from '../../domain/access/restrictions.ts'
import { sessionOfRun } from '../../domain/session/session.ts'
import type { EventEntry } from '../../features/events/service.ts'
import type { RunOwners } from '../../engine/live-port.ts'

/** The events that a client receives. */
export interface Subscription {
  readonly kinds: ReadonlySet<string>
  readonly runId: string | null
  readonly scheduleId: string | null
  readonly session: string | null
  readonly agentId: string | null
  /** The restricted key that may only see its own objects, and the run of the attempt that it belongs to. */
  readonly owner: string | null
  readonly ownRun: string | null
  /** Of events about runs and deliveries, only those of scheduled runs. */
  readonly onlyOfSchedules: boolean
  /** Equal for equal filters, so that their events are serialized once. */
  readonly name: string
}

/** The requested kinds; null for all. */
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

/** The filter of a client, limited to the kinds it may see. */
export function subscriptionOf(
  filter: EventFilter,
  kinds: readonly EventKind[],
  {
    restricted,
    onlyOfSchedules,
  }: { readonly restricted?: RestrictedKey | undefined; readonly onlyOfSchedules: boolean },
): Subscription {
  const { run_id: run = null, schedule_id: scheduleId = null, session = null, agent_id: agentId = null } = filter
  const owner = visibleOwner(restricted)
  const ownRun = owner === null ? null : (restricted?.attempt?.runId ?? null)
  const sorted = [...new Set(kinds)].toSorted()
  return {
    ...{ kinds: new Set(sorted), runId: run, scheduleId, session, agentId, owner, ownRun, onlyOfSchedules },
    name: JSON.stringify([sorted, run, scheduleId, session, agentId, owner, ownRun, onlyOfSchedules]),
  }
}

/** The permission to receive events of a kind; readers of schedules receive some events of scheduled runs. */
export const permissionFor = (kind: EventKind, may: (permission: Permission) => boolean): Permission =>
  SCHEDULE_RUN_EVENTS.has(kind) && !may(EVENT_PERMISSIONS[kind]) && may('schedules:read')
    ? 'schedules:read'
    : EVENT_PERMISSIONS[kind]

/** Whether a filter depends on the owners of runs, which most events do not contain. */
export const needsOwners = ({ scheduleId, session, agentId, owner, onlyOfSchedules }: Subscription): boolean =>
  scheduleId !== null || session !== null || agentId !== null || owner !== null || onlyOfSchedules

const ABOUT_RUNS: ReadonlySet<string> = new Set<EventKind>([
  ...(['run.changed', 'run.output', 'message.merged', 'message.dropped', 'outbound'] as const),
])

/** The run an event is about: its subject, or the run whose result is delivered. Null if it is not about a run. */
export function runOfEvent([kind, subject, data]: EventEntry): string | null {
  if (ABOUT_RUNS.has(kind)) return subject
  return kind === 'delivery.changed' ? (data['run_id'] as string) : null
}

/** The session an event is about. An outbound message names it, because it may come from a run of another session. */
export function sessionOfEvent(event: EventEntry, owners: RunOwners | undefined): string | null {
  const [kind, , data] = event
  if (kind !== 'outbound') {
    const run = runOfEvent(event)
    return owners === undefined || run === null ? null : sessionOfRun({ id: runId(run), ...owners })
  }
  return typeof data['session'] === 'string' ? data['session'] : null
}

/** Whether an event is about an object of the key; events without an owner are not. */
function isOwnEvent({ owner, ownRun }: Subscription, event: EventEntry, owners: RunOwners | undefined): boolean {
  const [kind, , data] = event
  if (kind === 'schedule.changed') return data['owner'] === owner
  const run = runOfEvent(event)
  return run !== null && (run === ownRun || owners?.owner === owner)
}

/** Whether events of a kind are about objects that a key can own. */
export const isOwnable = (kind: EventKind): boolean =>
  kind === 'schedule.changed' || kind === 'delivery.changed' || ABOUT_RUNS.has(kind)

/** Whether an event matches a filter. `owners` are those of its run; undefined if they are not known. */
export function matchesSubscription(
  subscription: Subscription,
  event: EventEntry,
  owners: RunOwners | undefined,
): boolean {
  const [kind, subject] = event
  if (!subscription.kinds.has(kind)) return false
  if (subscription.onlyOfSchedules && SCHEDULE_RUN_EVENTS.has(kind) && (owners?.scheduleId ?? null) === null)
    return false
  if (subscription.owner !== null && !isOwnEvent(subscription, event, owners)) return false
  if (subscription.runId !== null && runOfEvent(event) !== subscription.runId) return false
  const agent = kind === 'heartbeat.changed' ? subject : owners?.agentId
  if (subscription.agentId !== null && agent !== subscription.agentId) return false
  if (subscription.session !== null && sessionOfEvent(event, owners) !== subscription.session) return false
  if (subscription.scheduleId === null) return true
  return kind === 'schedule.changed'
    ? subject === subscription.scheduleId
    : owners?.scheduleId === subscription.scheduleId
}
