import { Refusal } from '../../api/refusals.ts'
import type { Grant } from '../../domain/access/access.ts'
import { checkRate } from '../../domain/access/decide-creation.ts'
import {
  breach,
  visibleOwner,
  type Restrictions,
  isOwnSession,
  type Lineage,
  lineageBelow,
  ownSessionsOf,
  DEFAULT_RESTRICTIONS,
  type RestrictionBreach,
  type RestrictedKey,
} from '../../domain/access/restrictions.ts'
import { type OrgId, type RunId, runId, scheduleId, sessionKey } from '../../domain/ids.ts'
import { earlier, HOUR_MS, type Instant } from '../../domain/instant.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { isInFlight } from '../../domain/run/run.ts'
import type { Command } from '../../engine/commands-port.ts'
import type { TransactionReads } from '../../engine/transaction/reads.ts'
import type { Caller } from './caller.ts'
import type { GuardRailsInput, GuardRailsView } from './restrictions-schema.ts'
import {
  insertRestrictedActions,
  loadCurrentAttempt,
  loadRestrictedActions,
  loadRunOwner,
  loadScheduleOwner,
  type RestrictedAction,
} from './restrictions-store.ts'
import type { RunQuery } from '../runs/read-store.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'

/** The error for a breach of a key's restrictions. */
export const restrictionRefusal = ({
  code,
  restriction: rail,
  message,
  facts,
  retryAfterMs,
}: RestrictionBreach): Refusal => new Refusal(code, message, { details: { rail, ...facts }, retryAfterMs })

/** Throws if there is a breach. */
export function refuseBreach(breach: RestrictionBreach | null): void {
  if (breach !== null) throw restrictionRefusal(breach)
}

/** The owner and the origin of an object that is being created. */
export interface Provenance {
  readonly owner: string | null
  readonly parentRunId: RunId | null
  readonly lineage: Lineage | null
}

const NO_PROVENANCE: Provenance = { owner: null, parentRunId: null, lineage: null }

/** The owner and the origin of what the caller creates. */
export function provenanceOf(restricted: RestrictedKey | undefined): Provenance {
  if (restricted === undefined) return NO_PROVENANCE
  const { owner, attempt } = restricted
  if (attempt === null) return { owner, parentRunId: null, lineage: null }
  return { owner, parentRunId: attempt.runId, lineage: lineageBelow(attempt) }
}

/** A request of a restricted key, in the transaction that checks it. */
export interface RestrictedRequest {
  readonly tx: Transaction
  readonly orgId: OrgId
  readonly restricted: RestrictedKey
  readonly now: Instant
}

/**
 * Refuses an attempt that is not the current one of its run any more. Authentication may be up to one second old, so a
 * change checks again under the lock.
 */
export async function requireCurrentAttempt({ tx, orgId, restricted: { attempt } }: RestrictedRequest): Promise<void> {
  if (attempt === null) return
  const current = await loadCurrentAttempt(tx, { orgId, runId: attempt.runId })
  if (current?.attemptId === attempt.id && isInFlight(current.state as RunState)) return
  throw new Refusal('UNAUTHENTICATED', 'The attempt of this key has ended')
}

/** Refuses actions above the hourly limit of the key. */
export async function requireRate({ tx, orgId, restricted, now }: RestrictedRequest, more: number): Promise<void> {
  const done = await loadRestrictedActions(tx, { orgId, owner: restricted.owner, since: earlier(now, HOUR_MS) })
  refuseBreach(checkRate(restricted.restrictions, { done, more }, now))
}

/** The checks of a command under restrictions, and what it counts. */
interface RestrictionChecks<Answer> {
  /** Refuses the command before anything is read or decided. */
  readonly judge: (request: RestrictedRequest, reads: TransactionReads) => Promise<void>
  /** The actions to count after the command. */
  readonly acts: (answer: Answer) => readonly RestrictedAction[]
}

/**
 * Applies the restrictions of a key to a command. It is checked under the lock and alone in its transaction, so that
 * two concurrent commands cannot both use the last free position. Commands of other callers are returned unchanged.
 */
export function restrictCommand<Answer>(
  command: Command<Answer>,
  caller: Pick<Caller, 'restricted'>,
  checks: RestrictionChecks<Answer>,
): Command<Answer> {
  const { restricted: restrictedKey } = caller
  if (restrictedKey === undefined) return command
  const { orgId, load: look, prepare, afterApply: conclude, ...rest } = command
  return {
    ...rest,
    orgId,
    prepare: async (tx, now, reads) => {
      const request: RestrictedRequest = { tx, orgId, restricted: restrictedKey, now }
      await requireCurrentAttempt(request)
      await checks.judge(request, reads)
      return prepare?.(tx, now, reads) ?? look?.(reads, now)
    },
    afterApply: async (tx, answer, now) => {
      const actions = checks.acts(answer)
      if (actions.length > 0)
        await insertRestrictedActions(tx, { orgId, owner: restrictedKey.owner, at: now, acts: actions })
      await conclude?.(tx, answer, now)
    },
  }
}

/** A caller that may not reach every executor. */
type CheckedCaller = Pick<Caller, 'restricted' | 'through'>

/** Only users may start programs on this machine: never a model through MCP, and never a restricted key. */
export function refuseCommandExecutor(
  { restricted: restrictedKey, through }: CheckedCaller,
  executorKind: string | undefined,
): void {
  if (executorKind !== 'command' || (restrictedKey === undefined && through !== 'mcp')) return
  throw restrictionRefusal(
    breach(
      'executor',
      restrictedKey === undefined
        ? 'Agents with the command executor cannot be used through MCP'
        : 'A restricted key cannot use the command executor; choose another agent',
      { executor: 'command' },
    ),
  )
}

/** Whether the executor behind a request has to be checked for this caller. */
export const needsExecutorCheck = ({ restricted: restrictedKey, through }: CheckedCaller): boolean =>
  restrictedKey !== undefined || through === 'mcp'

/** An object that the caller wants to read or change. */
interface ObjectRef {
  readonly kind: 'schedule' | 'run' | 'session'
  readonly id: string
}

/**
 * Refuses objects that are not the caller's own. The owner of an object never changes, so one check is enough.
 * Schedules and runs of others are reported as not found. A session is recognized by its key alone, so refusing it
 * reveals nothing.
 */
export async function requireOwn(
  ports: { readonly database: Connection },
  caller: { readonly orgId: Caller['orgId']; readonly restricted: RestrictedKey },
  { kind, id }: ObjectRef,
): Promise<void> {
  if (kind === 'session') refuseOthersSession(caller.restricted, id)
  else if (!(await isOwn(ports, caller, { kind, id }))) throw new Refusal('NOT_FOUND', `There is no ${kind} ${id}`)
}

/** Whether the caller may access a schedule or a run: any, unless its restrictions confine it to its own. */
export async function isOwn(
  { database }: { readonly database: Connection },
  { orgId, restricted }: Pick<Caller, 'orgId' | 'restricted'>,
  { kind, id }: { readonly kind: 'schedule' | 'run'; readonly id: string },
): Promise<boolean> {
  const owner = visibleOwner(restricted)
  if (owner === null || (kind === 'run' && id === restricted?.attempt?.runId)) return true
  // PostgreSQL cannot store NUL in text, so no id contains one.
  const found = id.includes('\u0000')
    ? undefined
    : kind === 'schedule'
      ? await loadScheduleOwner(database, { orgId, id: scheduleId(id) })
      : await loadRunOwner(database, { orgId, id: runId(id) })
  return found === owner
}

/** The owner that run lists of this key are confined to; null: not confined. */
export function ownRuns(restricted: RestrictedKey | undefined): RunQuery['owned'] {
  const owner = visibleOwner(restricted)
  return owner === null ? null : { owner, alsoRun: restricted?.attempt?.runId ?? null }
}

/** Refuses a session that is not the key's own. */
export function refuseOthersSession(restricted: RestrictedKey, key: string): void {
  if (isOwnSession(restricted, sessionKey(key))) return
  const own = ownSessionsOf(restricted)
  throw restrictionRefusal(
    breach('session', `Session ${key} does not belong to this key; its own sessions are ${own} and those below it`, {
      own,
    }),
  )
}

/** All permissions on the key's own objects. The restrictions refuse the rest, whatever the role permits. */
export const RESTRICTED_SCOPES: readonly Grant[] = [
  'schedules:*',
  'tasks:*',
  'runs:*',
  'sessions:read',
  'sessions:write',
]

/** Restrictions from API input, with the defaults. */
export const restrictionsFrom = (given: GuardRailsInput): Restrictions => ({
  ownSchedulesOnly: given.own_schedules_only ?? DEFAULT_RESTRICTIONS.ownSchedulesOnly,
  maxSchedules: given.max_schedules ?? DEFAULT_RESTRICTIONS.maxSchedules,
  minIntervalSeconds: given.min_interval_seconds ?? DEFAULT_RESTRICTIONS.minIntervalSeconds,
  maxRunsPerHour: given.max_runs_per_hour ?? DEFAULT_RESTRICTIONS.maxRunsPerHour,
  maxLifetimeSeconds: given.max_lifetime_seconds ?? DEFAULT_RESTRICTIONS.maxLifetimeSeconds,
  budget: given.budget ? { ...given.budget, period: given.budget.period ?? 'day' } : DEFAULT_RESTRICTIONS.budget,
  approval: given.approval ?? DEFAULT_RESTRICTIONS.approval,
})

/** Restrictions in API form. */
export const viewRestrictions = (restrictions: Restrictions): GuardRailsView => ({
  own_schedules_only: restrictions.ownSchedulesOnly,
  max_schedules: restrictions.maxSchedules,
  min_interval_seconds: restrictions.minIntervalSeconds,
  max_runs_per_hour: restrictions.maxRunsPerHour,
  max_lifetime_seconds: restrictions.maxLifetimeSeconds,
  budget: restrictions.budget,
  approval: restrictions.approval,
})

/** The same for restrictions that may be null. */
export const viewRestrictionsOrNull = (restrictions: Restrictions | null): GuardRailsView | null =>
  restrictions === null ? null : viewRestrictions(restrictions)
