import type { Refusal } from '../../api/refusals.ts'
import { checkDepth } from '../../domain/access/decide-creation.ts'
import { breach, type Restrictions } from '../../domain/access/restrictions.ts'
import { inlineKindOf } from '../../domain/agent.ts'
import { toMicros } from '../../domain/budget/budget.ts'
import { budgetId, type OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { parseProbe, type ProbeKind } from '../../domain/probe/probe.ts'
import { parseZone, UTC } from '../../domain/time/zone.ts'
import type { Command } from '../../engine/commands-port.ts'
import type { Caller } from './caller.ts'
import { loadOrg } from './orgs-store.ts'
import type { RestrictedAction } from './restrictions-store.ts'
import {
  type RestrictedRequest,
  restrictCommand,
  restrictionRefusal,
  refuseBreach,
  refuseOthersSession,
  requireOwn,
  requireRate,
} from './restrictions.ts'
import { type BudgetRow, loadBudgets } from '../budgets/store.ts'
import { type OwnBudgetResult, writeBudget } from '../schedules/budget.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import type { Transaction } from '../../platform/db/database.ts'

interface RestrictionBudgetChange {
  readonly orgId: OrgId
  readonly owner: string
  readonly before: Restrictions | null
  readonly after: Restrictions | null
  readonly now: Instant
}

/** Creates, updates or deletes the budget of an owner to match its restrictions. Null: there is nothing to do. */
export async function saveRestrictionBudget(
  tx: Transaction,
  change: RestrictionBudgetChange,
): Promise<OwnBudgetResult | null> {
  const { orgId, owner, now } = change
  const [was, is] = [change.before?.budget ?? null, change.after?.budget ?? null]
  if (JSON.stringify(was) === JSON.stringify(is)) return null
  const id = budgetId(`bud_rails_${owner}`)
  const found = (await loadBudgets(tx, { orgId })).find((row) => row.id === id) ?? null
  const zone = parseZone('default_timezone', (await loadOrg(tx, orgId))?.defaultTimezone)
  const wanted: BudgetRow | null =
    is === null
      ? null
      : {
          ...{ orgId, id, scope: { kind: 'owner', owner }, unit: is.unit, period: is.period },
          amount: is.unit === 'money' ? toMicros(is.amount) : is.amount,
          timezone: found?.timezone ?? (zone.ok ? zone.value : UTC),
          ...{ onExceed: 'skip', defaultReserve: 0, pausedAt: null, alerts: null, createdAt: now },
        }
  const kept = await writeBudget(tx, { existing: found, wanted, now })
  return kept === null ? null : { kept: { id, ...kept }, budgets: await loadBudgets(tx, { orgId }) }
}

/** Checks work that starts at once, before an approval could be given. */
async function checkImmediateStart(request: RestrictedRequest, more: number): Promise<void> {
  const { restricted } = request
  if (restricted.restrictions.approval)
    throw restrictionRefusal(
      breach(
        'approval',
        'Everything this key creates has to be approved, and this would start at once; create a schedule instead',
      ),
    )
  refuseBreach(checkDepth(restricted))
  await requireRate(request, more)
}

const restrictedActionOf = (kind: 'task' | 'message'): RestrictedAction => ({ kind, scheduleId: null, moment: null })

/** Applies the restrictions of the caller's key to new tasks; other callers are not restricted. */
export const restrictTasks = <Answer>(
  command: Command<Answer>,
  caller: Pick<Caller, 'restricted'>,
  count = 1,
): Command<Answer> =>
  restrictCommand(command, caller, {
    judge: (request) => checkImmediateStart(request, count),
    acts: () => Array.from({ length: count }, () => restrictedActionOf('task')),
  })

/** The same for messages. `count` is the number that are not commands: stopping is always allowed and never counted. */
export const restrictMessages = <Answer>(
  command: Command<Answer>,
  caller: Pick<Caller, 'restricted'>,
  count = 1,
): Command<Answer> =>
  restrictCommand(command, caller, {
    judge: (request) => (count === 0 ? Promise.resolve() : checkImmediateStart(request, count)),
    acts: () => Array.from({ length: count }, () => restrictedActionOf('message')),
  })

/** A schedule before and after a change by a restricted key; `before` is null if it is new. */
interface RestrictedScheduleChange {
  readonly before: ScheduleRow | null
  readonly after: ScheduleRow
}

/**
 * Refuses references that a schedule of a restricted key may not have. Every way to create or update a schedule ends
 * here, so references to the objects of others are checked in this one place. References that the schedule had before
 * were checked then.
 */
export async function refuseReferences(
  request: RestrictedRequest,
  { before, after }: RestrictedScheduleChange,
): Promise<void> {
  const { restricted: restrictedKey } = request
  if (inlineKindOf(after.agentId) !== null && after.agentId !== before?.agentId)
    throw restrictionRefusal(
      breach('executor', 'A restricted key can only run agents; it cannot set an inline executor'),
    )
  if (after.sessionKey !== null && after.sessionKey !== before?.sessionKey)
    refuseOthersSession(restrictedKey, after.sessionKey)
  const isNew = (field: string): boolean => {
    const given = (after.input[field] ?? null) as unknown
    return given !== null && JSON.stringify(given) !== JSON.stringify(before?.input[field] ?? null)
  }
  if (isNew('budget')) throw restrictionRefusal(breach('operation', 'A restricted key cannot set budgets'))
  // Only users create targets, so a restricted key has none of its own.
  if (isNew('delivery')) throw deliveryRefusal()
  if (isNew('probe')) await refuseProbe(request, after.input['probe'])
}

/**
 * A probe runs with the server's permissions, so it may only read the caller's own schedules and sessions, and must not
 * send anything.
 */
async function refuseProbe({ tx, orgId, restricted }: RestrictedRequest, given: unknown): Promise<void> {
  const read = parseProbe('probe', given)
  if (!read.ok) return
  refuseProbeKind(read.value.kind)
  if (read.value.kind !== 'state') return
  const { scheduleId, session } = read.value.of
  if (scheduleId !== null)
    await requireOwn({ database: tx }, { orgId, restricted }, { kind: 'schedule', id: scheduleId })
  if (session !== null) refuseOthersSession(restricted, session)
}

/** Refuses a restricted key a probe that sends a request or starts a program. */
export function refuseProbeKind(kind: ProbeKind): void {
  if (kind === 'state') return
  const message = `A restricted key cannot use a probe of kind ${kind}; use kind state`
  throw restrictionRefusal(breach('executor', message, { probe: kind }))
}

/** Refuses restricted keys a run of a schedule that a user rejected. */
export function refuseRejected({ id, state, approval }: ScheduleRow): void {
  const rejected = approval?.rejected ?? null
  if (rejected === null || state === 'active') return
  throw restrictionRefusal(
    breach('approval', `Schedule ${id} was rejected: ${rejected.reason}; update the schedule to propose it again`),
  )
}

/** Refuses a delivery that a restricted key requests. */
export const deliveryRefusal = (): Refusal =>
  restrictionRefusal(breach('operation', 'A restricted key cannot set deliveries; ask an owner to set `delivery`'))
