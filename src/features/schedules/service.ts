import { invalid, Refusal } from '../../api/refusals.ts'
import { breach } from '../../domain/access/restrictions.ts'
import { inlineKindOf } from '../../domain/agent.ts'
import { runId, type RunId, scheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import { precededBy, type PrecedingCommand, type Command } from '../../engine/commands-port.ts'
import { endScheduleAlerts } from '../../engine/commands/alerts.ts'
import { cancelWaiting } from '../../engine/commands/cancel.ts'
import { endHeld } from '../../engine/commands/held.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import { deleteBudgetsOf } from '../../engine/org-state/budget-balance.ts'
import { type OrgState, pendingOfSchedule } from '../../engine/org-state/org-state.ts'
import type { Ports } from '../../engine/ports.ts'
import type { TransactionReads } from '../../engine/transaction/reads.ts'
import type { Caller } from '../access/caller.ts'
import { clearFutureOccurrences, insertRestrictedActions } from '../access/restrictions-store.ts'
import {
  type RestrictedRequest,
  needsExecutorCheck,
  restrictCommand,
  restrictionRefusal,
  refuseCommandExecutor,
  requireCurrentAttempt,
} from '../access/restrictions.ts'
import { setsExecutor, checkExecutorUrl } from '../agents/input.ts'
import { actorOf, created, deleted } from '../audit/entry.ts'
import { refuseLongTimeout } from '../budgets/limits.ts'
import { applyBudgetChange } from '../budgets/stored-budget.ts'
import { hasProbeInput, requireAllowedProbeInput } from '../probes/decide.ts'
import { probeCountsOfSchedule } from '../probes/view.ts'
import { loadRun } from '../runs/read-store.ts'
import {
  valueOrRefuse,
  agentForSchedule,
  disabledTargets,
  existingOrg,
  deliveryTargetFor,
  orgZone,
} from './agent-and-target.ts'
import { saveOwnBudget, type OwnBudgetResult, requireBudgetPermission, ownBudgetTerms } from './budget.ts'
import { type ScheduleRef, editSchedule, editScheduleCommand, scheduleNotFound, emitScheduleChange } from './editing.ts'
import { parseSchedule } from './input.ts'
import { newScheduleRow } from './new-schedule.ts'
import { disabledPlanState, editedPlanState, enabledPlanState } from './next-run.ts'
import {
  isScheduleVisible,
  createAction,
  restrictScheduleInput,
  refusePendingApproval,
  restrictNewSchedule,
} from './restrictions.ts'
import type { ScheduleNote } from './rules-schema.ts'
import type { ScheduleInput, ScheduleView } from './schema.ts'
import { loadSchedules, type ScheduleRow } from './store.ts'
import { addNotes, notesOnSchedule, viewEffectiveSchedule } from './view.ts'
import type { BulkAnswer, BulkInput } from './views-schema.ts'
import type { Transaction } from '../../platform/db/database.ts'

/** The run that `from_run` names; null: not given. */
async function loadSourceRun(
  { database }: Pick<Ports, 'database'>,
  { orgId, restricted }: Pick<Caller, 'orgId' | 'restricted'>,
  given: string | undefined,
): Promise<RunId | null> {
  if (given === undefined) return null
  if (restricted !== undefined)
    throw restrictionRefusal(
      breach(
        'operation',
        'from_run cannot be used with a restricted key, because the key already records the run; omit from_run',
      ),
    )
  // PostgreSQL rejects NUL in text, and no id contains one.
  const run = given.includes('\u0000') ? undefined : await loadRun(database, { orgId, id: runId(given) })
  if (run === undefined)
    throw invalid([
      { field: 'from_run', value: given, message: 'is not a run of this org', allowed: 'the id of a run' },
    ])
  return run.id
}

/** Creates a schedule. */
export const createSchedule = (ports: Ports, caller: Caller, input: ScheduleInput): Promise<ScheduleView> =>
  createScheduleFrom(ports, caller, { input })

/** What a schedule is created with. */
interface CreateScheduleRequest {
  readonly input: ScheduleInput
  /** The run that the schedule repeats. */
  readonly fromRun?: string | undefined
  /** Creates its delivery target in the same transaction. */
  readonly target?: PrecedingCommand | null | undefined
}

/** Creates a schedule and records the run it was created from, if one is given. */
export async function createScheduleFrom(
  ports: Ports,
  caller: Caller,
  { input, fromRun, target = null }: CreateScheduleRequest,
): Promise<ScheduleView> {
  // Concurrent requests share a transaction, so slow checks run before it and only for inputs that need them.
  const run = fromRun === undefined ? null : await loadSourceRun(ports, caller, fromRun)
  if (needsChecks(input)) await checkScheduleInput(ports, caller, input)
  const command = buildCreateCommand(ports, caller, { input, run, usesOwnTransaction: target !== null })
  return ports.commands.execute(bindToKey(precededBy(target, command), caller))
}

const needsChecks = (input: ScheduleInput): boolean => setsExecutor(input) || hasProbeInput(input)

async function checkScheduleInput(ports: Ports, caller: Caller, input: ScheduleInput): Promise<void> {
  if (setsExecutor(input)) await checkExecutorUrl(ports, input)
  if (hasProbeInput(input)) await requireAllowedProbeInput(ports, caller, input)
}

/** A schedule to create. */
interface ScheduleToCreate {
  readonly input: ScheduleInput
  /** The run it is created from. */
  readonly run: RunId | null
  /** Generated unless given. */
  readonly id?: string | undefined
  /** The caller has already checked the org's schedule limit. */
  readonly isLimitChecked?: true | undefined
  /** It runs in its own transaction. */
  readonly usesOwnTransaction?: boolean | undefined
}

/** The command that creates a schedule. Checks that need no transaction run before it is returned. */
export async function createScheduleCommand(
  ports: Ports,
  caller: Caller,
  creation: ScheduleToCreate,
): Promise<Command<ScheduleView>> {
  await checkScheduleInput(ports, caller, creation.input)
  return buildCreateCommand(ports, caller, creation)
}

function buildCreateCommand(ports: Ports, caller: Caller, creation: ScheduleToCreate): Command<ScheduleView> {
  const { input } = creation
  requireBudgetPermission(caller, input)
  const { restricted, orgId } = caller
  const load = (reads: TransactionReads, now: Instant) => prepareSchedule(reads, { ports, caller, creation, now })
  const prepareAlone = async (tx: Transaction, now: Instant, reads: TransactionReads): Promise<PreparedSchedule> => {
    const read = await load(reads, now)
    refuseAtLimit(read.room, 0)
    return withOwnBudget(
      tx,
      restricted === undefined ? read : await checkNewSchedule({ tx, orgId, restricted, now }, read),
    )
  }
  return {
    orgId,
    // Budgets are written and restricted keys are counted during preparation, so each runs in its own transaction.
    ...(creation.usesOwnTransaction === true || restricted !== undefined || (input.budget ?? null) !== null
      ? { prepare: prepareAlone }
      : { load }),
    apply: (state, prepared) => {
      const { schedule, room, disabled, ownBudget, notes } = prepared as PreparedSchedule
      refuseOverLimit(room, state)
      state.changes.newSchedules.add(schedule)
      if (ownBudget !== null) applyBudgetChange(state, actorOf(caller), ownBudget)
      emitScheduleChange(state, schedule, schedule.state === 'pending_approval' ? 'proposed' : 'created')
      const view = viewEffectiveSchedule(schedule, state.settings.retry, disabled)
      state.changes.audits.push(created(actorOf(caller), { kind: 'schedule', id: schedule.id }, view))
      return addNotes(view, [...notes, ...notesOnSchedule(schedule, schedule.createdAt)])
    },
    ...(restricted === undefined
      ? {}
      : {
          afterApply: (tx, view, at) =>
            insertRestrictedActions(tx, { orgId, owner: restricted.owner, at, acts: [createAction(view)] }),
        }),
  }
}

interface NewScheduleContext {
  readonly ports: Ports
  readonly caller: Caller
  readonly creation: ScheduleToCreate
  readonly now: Instant
}

/** A schedule to create. `room` has the org's schedule limit and its count before this transaction; null: unchecked. */
interface PreparedSchedule {
  readonly schedule: ScheduleRow
  readonly disabled: ReadonlySet<string>
  readonly room: { readonly most: number; readonly had: number } | null
  readonly ownBudget: OwnBudgetResult | null
  /** Notes about values filled in by the key's restrictions. */
  readonly notes: readonly ScheduleNote[]
}

async function checkNewSchedule(at: RestrictedRequest, read: PreparedSchedule): Promise<PreparedSchedule> {
  await requireCurrentAttempt(at)
  return { ...read, schedule: await restrictNewSchedule(at, read.schedule) }
}

async function withOwnBudget(tx: Transaction, read: PreparedSchedule): Promise<PreparedSchedule> {
  const { schedule } = read
  return {
    ...read,
    ownBudget: await saveOwnBudget(tx, {
      schedule,
      before: null,
      after: ownBudgetTerms(schedule),
      now: schedule.createdAt,
    }),
  }
}

async function prepareSchedule(
  reads: TransactionReads,
  { ports, caller, creation, now }: NewScheduleContext,
): Promise<PreparedSchedule> {
  const [{ input: given, run }, { restricted }] = [creation, caller]
  const { input, notes } =
    restricted === undefined ? { input: given, notes: [] } : restrictScheduleInput(restricted, given, now)
  const org = existingOrg(await reads.org(), caller.orgId)
  const id = scheduleId(creation.id ?? ports.newId('schedule', now))
  const agent = await agentForSchedule(reads.agent, { org, input, existing: null, id })
  const read = valueOrRefuse(parseSchedule(input, { now, defaultZone: orgZone(org), agent, existing: null }))
  refuseLongTimeout(input, org)
  refuseCommandExecutor(caller, agent.executor.kind)
  // A restricted key may not name a target, so it must not learn whether one exists.
  const target = restricted === undefined ? await deliveryTargetFor(reads, input) : null
  const limit = creation.isLimitChecked === true ? null : org.maxSchedules
  return {
    disabled: new Set(target === null || target.disabledAt === null ? [] : [target.id]),
    schedule: { ...newScheduleRow(read, { caller, now, id }), createdByRun: run },
    room: limit === null ? null : { most: limit, had: await reads.schedules() },
    ownBudget: null,
    notes,
  }
}

/** Includes schedules created and deleted by other commands of the same transaction. */
const refuseOverLimit = (room: PreparedSchedule['room'], { changes }: OrgState): void =>
  refuseAtLimit(room, changes.newSchedules.size - changes.deletedSchedules.size)

function refuseAtLimit(room: PreparedSchedule['room'], more: number): void {
  if (room === null || room.had + more < room.most) return
  const details = { max_schedules: room.most }
  throw new Refusal('CONFLICT', `The org has reached its limit of ${room.most} schedules`, { details })
}

/** Returns a schedule with its notes and probe counts. */
export async function getSchedule(ports: Ports, { orgId }: Caller, id: string): Promise<ScheduleView> {
  const [row] = await loadSchedules(ports.database, { orgId, ids: [scheduleId(id)] })
  if (row === undefined) throw scheduleNotFound(id)
  const disabled = await disabledTargets(ports.database, orgId, [row])
  const view = addNotes(
    viewEffectiveSchedule(row, ports.settings().retry, disabled),
    notesOnSchedule(row, ports.clock.now()),
  )
  return view.probe === null ? view : { ...view, probe_counts: await probeCountsOfSchedule(ports, orgId, row.id) }
}

type ScheduleChangeRequest = ScheduleRef & {
  readonly change: ScheduleInput
  readonly target?: CreateScheduleRequest['target']
}

/** Updates a schedule. Only a change of timing moves the next occurrence. */
export const updateSchedule = async (
  ports: Ports,
  caller: Caller,
  request: ScheduleChangeRequest,
): Promise<ScheduleView> =>
  ports.commands.execute(precededBy(request.target ?? null, await updateScheduleCommand(ports, caller, request)))

/** The command that updates a schedule. Checks that need no transaction run before it is returned. */
export async function updateScheduleCommand(
  ports: Ports,
  caller: Caller,
  { change, target: _target, ...request }: ScheduleChangeRequest,
): Promise<Command<ScheduleView>> {
  await checkScheduleInput(ports, caller, change)
  requireBudgetPermission(caller, change)
  return editScheduleCommand(caller, {
    ...request,
    word: 'updated',
    verb: 'update',
    decide: async (reads, row, now) => {
      const org = existingOrg(await reads.org(), caller.orgId)
      const agent = await agentForSchedule(reads.agent, { org, input: change, existing: row, id: row.id })
      const read = valueOrRefuse(parseSchedule(change, { now, defaultZone: orgZone(org), agent, existing: row }))
      refuseLongTimeout(change, org)
      refuseCommandExecutor(caller, agent.executor.kind)
      if (caller.restricted === undefined) await deliveryTargetFor(reads, change)
      const { timingChanged: _timing, enabled: _enabled, ...fields } = read
      return (current) => ({ ...current, ...fields, ...editedPlanState(current, read, now) })
    },
  })
}

/** Enables a schedule. Its next occurrence is the first after now; missed occurrences are not caught up. */
export const enableSchedule = (ports: Ports, caller: Caller, request: ScheduleRef): Promise<ScheduleView> =>
  editSchedule(ports, caller, {
    ...request,
    word: 'enabled',
    verb: 'enable',
    decide: async (reads, row, now) => {
      refusePendingApproval(row)
      if (needsExecutorCheck(caller))
        refuseCommandExecutor(caller, inlineKindOf(row.agentId) ?? (await reads.agent(row.agentId))?.executor.kind)
      return (current) => ({ ...current, ...enabledPlanState(current, now) })
    },
  })

/** Disables a schedule: no further occurrences, held ones end, and active runs continue. */
export const disableSchedule = (ports: Ports, caller: Caller, request: ScheduleRef): Promise<ScheduleView> =>
  editSchedule(ports, caller, {
    ...request,
    word: 'disabled',
    verb: 'disable',
    decide: () => (current) => ({ ...current, ...disabledPlanState(current) }),
  })

/**
 * Deletes a schedule. Active runs continue and stay in the history; runs that waited for a slot of the schedule are
 * cancelled, because without the schedule's limit they would all start at once.
 */
export const deleteSchedule = async (ports: Ports, caller: Caller, request: ScheduleRef): Promise<void> =>
  ports.commands.execute(deleteScheduleCommand(caller, request))

/** The command that deletes a schedule. */
export function deleteScheduleCommand(caller: Caller, request: ScheduleRef): Command<void> {
  const [{ orgId }, id] = [caller, scheduleId(request.id)]
  const command: Command<void> = {
    orgId,
    needs: { schedules: [id] },
    apply: (state) => {
      const row = state.schedules.get(id)
      if (row === undefined || !isScheduleVisible(caller.restricted, row)) throw scheduleNotFound(request.id)
      if (request.version !== undefined && request.version !== row.version)
        throw new Refusal('STALE_VERSION', `Schedule ${id} is at version ${row.version}`, {
          details: { version: row.version },
        })
      endHeld(state, id, 'schedule.delete')
      const parked = pendingOfSchedule(state, id).filter(({ slot }) => slot === 'parked')
      cancelWaiting(state, parked, { subject: 'schedule', key: id, why: because('cancelled', 'schedule.delete') })
      endScheduleAlerts(state, row)
      deleteBudgetsOf(state, id)
      state.changes.deletedSchedules.add(id)
      state.schedules.delete(id)
      const before = viewEffectiveSchedule(row, state.settings.retry)
      state.changes.audits.push(deleted(actorOf(caller), { kind: 'schedule', id }, before))
    },
    afterApply: async (tx, _answer, now) => {
      if (caller.restricted !== undefined) await clearFutureOccurrences(tx, { orgId, id, after: now })
    },
  }
  return restrictCommand(command, caller, { judge: () => Promise.resolve(), acts: () => [] })
}

type BulkItem = BulkAnswer['items'][number]

/** Applies one action to many schedules. Each is decided on its own: one failure does not stop the others. */
export async function bulkUpdateSchedules(ports: Ports, caller: Caller, input: BulkInput): Promise<BulkAnswer> {
  // Submitted together, they share a transaction. A repeated id is changed once and reported for each mention.
  const ids = [...new Set(input.ids)]
  const outcomes = new Map(
    await Promise.all(
      ids.map(async (id) => [id, await applyBulkAction(ports, caller, { id, action: input.action })] as const),
    ),
  )
  const items = input.ids.flatMap((id) => outcomes.get(id) ?? [])
  const done = items.filter(({ ok }) => ok).length
  return { items, done, refused: items.length - done }
}

async function applyBulkAction(
  ports: Ports,
  caller: Caller,
  { id, action }: { readonly id: string; readonly action: BulkInput['action'] },
): Promise<BulkItem> {
  try {
    if (action === 'delete') {
      await deleteSchedule(ports, caller, { id })
      return { id, ok: true }
    }
    const change = action === 'enable' ? enableSchedule : disableSchedule
    return { id, ok: true, state: (await change(ports, caller, { id })).state }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { id, ok: false, code: error.code, message: error.message }
  }
}
