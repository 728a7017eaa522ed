import { Refusal } from '../../api/refusals.ts'
import { runId, scheduleId, sessionKey } from '../../domain/ids.ts'
import { breach } from '../../core/rails/breach.ts'
import { confinedTo, isOwnSession, ownSessionsOf, type Railed } from '../../core/rails/railed.ts'
import type { Connection } from '../../store/database.ts'
import { loadRunOwner, loadScheduleOwner } from '../../features/access/restrictions-store.ts'
import type { RunChoice } from '../../store/run-reads.ts'
import type { Caller } from '../caller.ts'
import { railRefusal } from './refusals.ts'

/** One thing that somebody wants to look at or touch. */
export interface AskedThing {
  readonly kind: 'schedule' | 'run' | 'session'
  readonly id: string
}

/**
 * Refuses what is not somebody's own, before anything is done with it. What belongs to whom never changes, so whoever was
 * let in stays in. What is not theirs is not there for them; conversations are told apart by their names alone, and
 * saying so gives nothing away.
 */
export async function requireOwn(
  ports: { readonly database: Connection },
  caller: { readonly orgId: Caller['orgId']; readonly railed: Railed },
  { kind, id }: AskedThing,
): Promise<void> {
  if (kind === 'session') refuseOthersSession(caller.railed, id)
  else if (!(await isOwn(ports, caller, { kind, id }))) throw new Refusal('NOT_FOUND', `There is no ${kind} ${id}`)
}

/** Whether a schedule or a run is open to the caller: its own where its guard rails confine it to those. */
export async function isOwn(
  { database }: { readonly database: Connection },
  { orgId, railed }: Pick<Caller, 'orgId' | 'railed'>,
  { kind, id }: { readonly kind: 'schedule' | 'run'; readonly id: string },
): Promise<boolean> {
  const owner = confinedTo(railed)
  if (owner === null || (kind === 'run' && id === railed?.attempt?.runId)) return true
  // PostgreSQL takes no NUL in a text, and no id has one.
  const found = id.includes('\u0000')
    ? undefined
    : kind === 'schedule'
      ? await loadScheduleOwner(database, { orgId, id: scheduleId(id) })
      : await loadRunOwner(database, { orgId, id: runId(id) })
  return found === owner
}

/** Which runs somebody's lists are confined to; null: none are. */
export function ownRuns(railed: Railed | undefined): RunChoice['owned'] {
  const owner = confinedTo(railed)
  return owner === null ? null : { owner, alsoRun: railed?.attempt?.runId ?? null }
}

/** Refuses a conversation that is not somebody's own. */
export function refuseOthersSession(railed: Railed, key: string): void {
  if (isOwnSession(railed, sessionKey(key))) return
  const own = ownSessionsOf(railed)
  throw railRefusal(
    breach('session', `This conversation is not its own; its own are ${own} and those below it`, { own }),
  )
}
