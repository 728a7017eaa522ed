import { invalid, Refusal } from '../contract/refusals.ts'
import type { ScheduleInput, ScheduleView } from '../contract/schedule.ts'
import { inlineAgentId, inlineKindOf } from '../core/executor/inline-agent.ts'
import { agentId, scheduleId, type OrgId, type ScheduleId } from '../core/ids.ts'
import type { Parsed } from '../core/input.ts'
import type { Instant } from '../core/instant.ts'
import { because } from '../core/reasons.ts'
import { parseZone, UTC, type Zone } from '../core/time/zone.ts'
import type { Transaction } from '../store/database.ts'
import type { OrgRow } from '../store/orgs.ts'
import { loadSchedules, updateSchedule } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import { bringsAddress, judgeExecutor } from './agent-executor.ts'
import { actorOf, changed, created, deleted } from './audit-entry.ts'
import { applyKept } from './budgets.ts'
import type { Caller } from './caller.ts'
import { forgetAlerts } from './desk/alerts.ts'
import { dropBudgetsOf } from './desk/budget-standing.ts'
import { cancelRun } from './desk/cancel.ts'
import { pendingOfSchedule, type Desk } from './desk/desk.ts'
import { grant } from './desk/runs.ts'
import { bound } from './idempotent.ts'
import type { Ports } from './ports.ts'
import { agentNamedIn, executorIn, parseSchedule, type ReadSchedule, type WokenAgent } from './schedule-input.ts'
import { keepOwnBudget, requireBudgets, termsIn, type KeptOwn } from './schedule-budget.ts'
import { disabledTargets, targetFor } from './schedule-delivery.ts'
import { disabledStanding, editedStanding, enabledStanding, firstStanding } from './schedule-plan.ts'
import { viewSchedule } from './schedule-view.ts'
import type { Work } from './turn-port.ts'
import type { TurnReads } from './turn/turn-reads.ts'

const noSchedule = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no schedule ${id}`)

/** Makes a schedule. */
export async function createSchedule(ports: Ports, caller: Caller, input: ScheduleInput): Promise<ScheduleView> {
  // Others that come at the same moment share a turn: only whoever has to be asked about is kept waiting.
  if (bringsAddress(input)) await judgeExecutor(ports, input)
  requireBudgets(caller, input)
  const look = (reads: TurnReads, now: Instant) => readNew(reads, { ports, caller, input, now })
  const work: Work<ScheduleView> = {
    orgId: caller.orgId,
    // Who brings a budget writes it, and has a turn to itself.
    ...((input.budget ?? null) !== null
      ? { prepare: async (tx, now, reads) => withBudget(tx, await look(reads, now)) }
      : { look }),
    apply: (desk, prepared) => {
      const { made, room, disabled, own } = prepared as NewSchedule
      refuseBeyond(room, desk)
      desk.changes.newSchedules.add(made)
      if (own !== null) applyKept(desk, actorOf(caller), own)
      tell(desk, made, 'created')
      const view = viewSchedule(made, disabled)
      desk.changes.audits.push(created(actorOf(caller), { kind: 'schedule', id: made.id }, view))
      return view
    },
  }
  return ports.turns.take(bound(work, caller))
}

interface Creation {
  readonly ports: Ports
  readonly caller: Caller
  readonly input: ScheduleInput
  readonly now: Instant
}

/** A schedule that can be made, if there is room: how many the org may have, and had before this turn. */
interface NewSchedule {
  readonly made: ScheduleRow
  readonly disabled: ReadonlySet<string>
  readonly room: { readonly most: number; readonly had: number } | null
  readonly own: KeptOwn | null
}

async function withBudget(tx: Transaction, read: NewSchedule): Promise<NewSchedule> {
  const { made, room } = read
  if (room !== null && room.had >= room.most) return read
  return {
    ...read,
    own: await keepOwnBudget(tx, { schedule: made, before: null, after: termsIn(made), now: made.createdAt }),
  }
}

async function readNew(reads: TurnReads, { ports, caller, input, now }: Creation): Promise<NewSchedule> {
  const org = known(await reads.org(), caller.orgId)
  const id = scheduleId(ports.newId('schedule', now))
  const agent = await agentFor(reads.agent, { org, input, existing: null, id })
  const read = accepted(parseSchedule(input, { now, defaultZone: zoneOf(org), agent, existing: null }))
  const target = await targetFor(reads, input)
  const most = org.maxSchedules
  return {
    disabled: new Set(target === null || target.disabledAt === null ? [] : [target.id]),
    made: newSchedule(read, { caller, now, id }),
    room: most === null ? null : { most, had: await reads.schedules() },
    own: null,
  }
}

/** Others may make and delete schedules in the same turn. */
function refuseBeyond(room: NewSchedule['room'], { changes }: Desk): void {
  if (room === null || room.had + changes.newSchedules.size - changes.deletedSchedules.size < room.most) return
  throw new Refusal('CONFLICT', `The org may have ${room.most} schedules and has as many`, {
    details: { max_schedules: room.most },
  })
}

/** A schedule that nothing has happened to yet. */
export function newSchedule(
  { timingChanged: _timing, enabled: _enabled, ...read }: ReadSchedule,
  made: { readonly caller: Pick<Caller, 'orgId' | 'principal'>; readonly now: Instant; readonly id: ScheduleId },
): ScheduleRow {
  const { caller, now, id } = made
  return {
    ...read,
    ...firstStanding({ ...read, timingChanged: _timing, enabled: _enabled }, now),
    id,
    orgId: caller.orgId,
    createdBy: caller.principal,
    failureStreak: 0,
    failureCount: 0,
    skippedFor: null,
    fires: 0,
    previousRunId: null,
    lastEnding: null,
    lastRunAt: null,
    lastStatus: null,
    lastError: null,
    alerts: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  }
}

function known(org: OrgRow | undefined, id: OrgId): OrgRow {
  if (org === undefined) throw new Refusal('NOT_FOUND', `There is no org ${id}`)
  return org
}

/** The zone was checked when it was set; a server that has forgotten it is no reason to refuse a schedule. */
function zoneOf(org: OrgRow): Zone {
  const zone = parseZone('default_timezone', org.defaultTimezone)
  return zone.ok ? zone.value : UTC
}

async function agentFor(
  load: TurnReads['agent'],
  asked: {
    readonly org: OrgRow
    readonly input: ScheduleInput
    readonly existing: ScheduleRow | null
    readonly id: ScheduleId
  },
): Promise<WokenAgent> {
  const { org, input, existing } = asked
  const executor = accepted(executorIn(input, existing))
  if (executor !== null) return { id: inlineAgentId(executor.kind, asked.id), executor, defaultSession: null }
  const named = accepted(agentNamedIn(input))
  const before = existing === null || inlineKindOf(existing.agentId) !== null ? null : existing.agentId
  const id = named ?? before ?? org.defaultAgentId
  const field = 'agent_id'
  if (id === null) throw invalid([{ field, value: undefined, message: 'is missing, and the org has no default agent' }])
  const agent = await load(agentId(id))
  if (agent === undefined) throw invalid([{ field, value: id, message: 'names no agent of the org' }])
  return agent
}

function accepted<T>(read: Parsed<T>): T {
  if (!read.ok) throw invalid(read.flaws)
  return read.value
}

/** The schedule. */
export async function getSchedule(ports: Ports, { orgId }: Caller, id: string): Promise<ScheduleView> {
  const [row] = await loadSchedules(ports.database, { orgId, ids: [scheduleId(id)] })
  if (row === undefined) throw noSchedule(id)
  return viewSchedule(row, await disabledTargets(ports.database, orgId, [row]))
}

/** What is asked of a schedule that exists, and of which version if that matters. */
export interface Asked {
  readonly id: string
  readonly version?: number | undefined
}

/** Changes a schedule. Editing anything but timing never moves the next occurrence. */
export async function changeSchedule(
  ports: Ports,
  caller: Caller,
  { change, ...asked }: Asked & { readonly change: ScheduleInput },
): Promise<ScheduleView> {
  if (bringsAddress(change)) await judgeExecutor(ports, change)
  requireBudgets(caller, change)
  return edit(ports, caller, {
    ...asked,
    word: 'updated',
    verb: 'update',
    decide: async (reads, row, now) => {
      const org = known(await reads.org(), caller.orgId)
      const agent = await agentFor(reads.agent, { org, input: change, existing: row, id: row.id })
      const read = accepted(parseSchedule(change, { now, defaultZone: zoneOf(org), agent, existing: row }))
      await targetFor(reads, change)
      const { timingChanged: _timing, enabled: _enabled, ...fields } = read
      return (current) => ({ ...current, ...fields, ...editedStanding(current, read, now) })
    },
  })
}

/** Switches a schedule on: its next occurrence is the next one from now, and nothing is made up for. */
export const enableSchedule = (ports: Ports, caller: Caller, asked: Asked): Promise<ScheduleView> =>
  edit(ports, caller, {
    ...asked,
    word: 'enabled',
    verb: 'enable',
    decide: (_reads, row, now) => {
      if (row.state === 'pending_approval') throw new Refusal('CONFLICT', `Schedule ${row.id} waits for approval`)
      return (current) => ({ ...current, ...enabledStanding(current, now) })
    },
  })

/** Switches a schedule off: no further occurrences, and what runs goes on. */
export const disableSchedule = (ports: Ports, caller: Caller, asked: Asked): Promise<ScheduleView> =>
  edit(ports, caller, {
    ...asked,
    word: 'disabled',
    verb: 'disable',
    decide: () => (current) => ({ ...current, ...disabledStanding(current) }),
  })

type Edit = (current: ScheduleRow) => ScheduleRow

interface Editing extends Asked {
  readonly word: string
  readonly verb: string
  readonly decide: (reads: TurnReads, row: ScheduleRow, now: Instant) => Edit | Promise<Edit>
}

interface Edited {
  readonly disabled: ReadonlySet<string>
  readonly before: ScheduleRow
  readonly after: ScheduleRow
  readonly own: KeptOwn | null
}

function edit(ports: Ports, caller: Caller, editing: Editing): Promise<ScheduleView> {
  const { orgId } = caller
  return ports.turns.take({
    orgId,
    prepare: async (tx, now, reads): Promise<Edited> => {
      const [found] = await loadSchedules(tx, { orgId, ids: [scheduleId(editing.id)] })
      if (found === undefined) throw noSchedule(editing.id)
      if (editing.version !== undefined && editing.version !== found.version)
        throw new Refusal('STALE_VERSION', `Schedule ${found.id} is at version ${found.version}`, {
          details: { version: found.version },
        })
      const change = await editing.decide(reads, found, now)
      const edited = { ...change(found), updatedAt: now }
      await updateSchedule(tx, edited)
      const disabled = await disabledTargets(tx, orgId, [found, edited])
      const own = await keepOwnBudget(tx, { schedule: found, before: termsIn(found), after: termsIn(edited), now })
      return { before: found, after: { ...edited, version: found.version + 1 }, disabled, own }
    },
    apply: (desk, prepared) => {
      const { before, after, disabled, own } = prepared as Edited
      replaceSchedule(desk, after)
      if (own !== null) applyKept(desk, actorOf(caller), own)
      tell(desk, after, editing.word)
      const views = {
        ...{ before: viewSchedule(before, disabled), after: viewSchedule(after, disabled) },
        verb: editing.verb,
      }
      desk.changes.audits.push(changed(actorOf(caller), { kind: 'schedule', id: after.id }, views))
      return views.after
    },
  })
}

/** What is remembered of the schedule becomes what it is now; more room lets parked runs go on. */
export function replaceSchedule(desk: Desk, edited: ScheduleRow): void {
  if (!desk.schedules.has(edited.id)) return
  desk.schedules.set(edited.id, edited)
  grant(desk, edited.id)
}

/**
 * Deletes a schedule. What runs goes on and stays in the history; runs that only waited for a slot of the schedule are
 * cancelled, because nothing would keep them from running all at once.
 */
export async function deleteSchedule(ports: Ports, caller: Caller, asked: Asked): Promise<void> {
  const { orgId } = caller
  const id = scheduleId(asked.id)
  await ports.turns.take({
    orgId,
    needs: { schedules: [id] },
    apply: (desk) => {
      const row = desk.schedules.get(id)
      if (row === undefined) throw noSchedule(asked.id)
      if (asked.version !== undefined && asked.version !== row.version)
        throw new Refusal('STALE_VERSION', `Schedule ${id} is at version ${row.version}`, {
          details: { version: row.version },
        })
      for (const run of pendingOfSchedule(desk, id))
        if (run.slot === 'parked') cancelRun(desk, run.id, because('cancelled', 'schedule.delete'))
      forgetAlerts(desk, row)
      dropBudgetsOf(desk, id)
      desk.changes.deletedSchedules.add(id)
      desk.schedules.delete(id)
      desk.changes.audits.push(deleted(actorOf(caller), { kind: 'schedule', id }, viewSchedule(row)))
    },
  })
}

function tell(desk: Desk, row: ScheduleRow, change: string): void {
  desk.changes.events.push({ kind: 'schedule.changed', subject: row.id, data: { change, state: row.state } })
}
