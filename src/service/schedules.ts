import { Refusal } from '../api/refusals.ts'
import type { ScheduleInput, ScheduleView } from '../contract/schedule.ts'
import type { ScheduleNote } from '../contract/schedule-note.ts'
import { inlineKindOf } from '../core/executor/inline-agent.ts'
import { scheduleId, type RunId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { because } from '../domain/reasons.ts'
import type { Transaction } from '../store/database.ts'
import { forgetMoments, insertRailActs } from '../features/access/restrictions-store.ts'
import { loadSchedules } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import { bringsAddress, judgeExecutor } from './agent-executor.ts'
import { actorOf, created, deleted } from '../features/audit/entry.ts'
import { applyKept } from './kept-budget.ts'
import type { Caller } from './caller.ts'
import { forgetAlerts } from './desk/alerts.ts'
import { dropBudgetsOf } from './desk/budget-standing.ts'
import { cancelWaiting } from './desk/clearing.ts'
import { pendingOfSchedule, type Desk } from './desk/desk.ts'
import { endHeld } from './desk/held.ts'
import { bound } from './idempotent.ts'
import type { Ports } from './ports.ts'
import { precededBy, type Preceding } from './preceded.ts'
import { bringsProbe, judgeProbe } from './probe/judge.ts'
import { countsOfSchedule } from '../features/probes/view.ts'
import { isWatched, railedWork, refuseCommand, requireCurrent, type AtWork } from './rails/making.ts'
import { isSeen, madeAct, railedInput, refusePending, underRails } from './rails/schedules.ts'
import { accepted, agentFor, known, zoneOf } from './schedule-agent.ts'
import { madeFrom } from './schedule-origin.ts'
import { parseSchedule } from './schedule-input.ts'
import { keepOwnBudget, requireBudgets, termsIn, type KeptOwn } from './schedule-budget.ts'
import { disabledTargets, targetFor } from './schedule-delivery.ts'
import { edit, editWork, noSchedule, tell, type Asked } from './schedule-editing.ts'
import { newSchedule } from '../features/schedules/new-schedule.ts'
import { noted, notesOn } from './schedule-notes.ts'
import { disabledStanding, editedStanding, enabledStanding } from './schedule-plan.ts'
import { viewInForce } from './schedule-view.ts'
import { refuseLongTimeout } from './timeout-limit.ts'
import type { Work } from './turn-port.ts'
import type { TurnReads } from './turn/turn-reads.ts'

/** Makes a schedule. */
export const createSchedule = (ports: Ports, caller: Caller, input: ScheduleInput): Promise<ScheduleView> =>
  createScheduleFrom(ports, caller, { input })

/** What a schedule is created with. */
interface Creating {
  readonly input: ScheduleInput
  /** The run whose work it repeats. */
  readonly fromRun?: string | undefined
  /** Creates the target that it delivers to, in the same transaction. */
  readonly target?: Preceding | null | undefined
}

/** Makes a schedule that does what a run did, where one is named, and keeps which one. */
export async function createScheduleFrom(
  ports: Ports,
  caller: Caller,
  { input, fromRun, target = null }: Creating,
): Promise<ScheduleView> {
  // Others that come at the same moment share a turn: only whoever has to be asked about is kept waiting.
  const run = fromRun === undefined ? null : await madeFrom(ports, caller, fromRun)
  if (isAskedAbout(input)) await judgeInput(ports, caller, input)
  const work = creationWork(ports, caller, { input, run, isAlone: target !== null })
  return ports.turns.take(bound(precededBy(target, work), caller))
}

const isAskedAbout = (input: ScheduleInput): boolean => bringsAddress(input) || bringsProbe(input)

async function judgeInput(ports: Ports, caller: Caller, input: ScheduleInput): Promise<void> {
  if (bringsAddress(input)) await judgeExecutor(ports, input)
  if (bringsProbe(input)) await judgeProbe(ports, caller, input)
}

/** A schedule to be made. */
interface MakingSchedule {
  readonly input: ScheduleInput
  /** The run it is made from. */
  readonly run: RunId | null
  /** Made unless given. */
  readonly id?: string | undefined
  /** Whoever hands it in has seen to it that the org may have one more. */
  readonly hasRoom?: true | undefined
  /** It has a turn to itself. */
  readonly isAlone?: boolean | undefined
}

/** The work of making a schedule, judged as far as it can be before it is handed in. */
export async function scheduleCreation(
  ports: Ports,
  caller: Caller,
  making: MakingSchedule,
): Promise<Work<ScheduleView>> {
  await judgeInput(ports, caller, making.input)
  return creationWork(ports, caller, making)
}

function creationWork(ports: Ports, caller: Caller, making: MakingSchedule): Work<ScheduleView> {
  const { input } = making
  requireBudgets(caller, input)
  const { railed, orgId } = caller
  const look = (reads: TurnReads, now: Instant) => readNew(reads, { ports, caller, making, now })
  const alone = async (tx: Transaction, now: Instant, reads: TurnReads): Promise<NewSchedule> => {
    const read = await look(reads, now)
    refuseFull(read.room, 0)
    return withBudget(tx, railed === undefined ? read : await asRailed({ tx, orgId, railed, now }, read))
  }
  return {
    orgId,
    // Who brings a budget writes it, and who has guard rails is counted: each has a turn to itself.
    ...(making.isAlone === true || railed !== undefined || (input.budget ?? null) !== null
      ? { prepare: alone }
      : { look }),
    apply: (desk, prepared) => {
      const { made, room, disabled, own, notes } = prepared as NewSchedule
      refuseBeyond(room, desk)
      desk.changes.newSchedules.add(made)
      if (own !== null) applyKept(desk, actorOf(caller), own)
      tell(desk, made, made.state === 'pending_approval' ? 'proposed' : 'created')
      const view = viewInForce(made, desk.settings.retry, disabled)
      desk.changes.audits.push(created(actorOf(caller), { kind: 'schedule', id: made.id }, view))
      return noted(view, [...notes, ...notesOn(made, made.createdAt)])
    },
    ...(railed === undefined
      ? {}
      : { conclude: (tx, view, at) => insertRailActs(tx, { orgId, owner: railed.owner, at, acts: [madeAct(view)] }) }),
  }
}

interface Creation {
  readonly ports: Ports
  readonly caller: Caller
  readonly making: MakingSchedule
  readonly now: Instant
}

/** A schedule that can be made, if there is room: how many the org may have, and had before this turn. */
interface NewSchedule {
  readonly made: ScheduleRow
  readonly disabled: ReadonlySet<string>
  readonly room: { readonly most: number; readonly had: number } | null
  readonly own: KeptOwn | null
  /** What guard rails have filled in. */
  readonly notes: readonly ScheduleNote[]
}

async function asRailed(at: AtWork, read: NewSchedule): Promise<NewSchedule> {
  await requireCurrent(at)
  return { ...read, made: await underRails(at, read.made) }
}

async function withBudget(tx: Transaction, read: NewSchedule): Promise<NewSchedule> {
  const { made } = read
  return {
    ...read,
    own: await keepOwnBudget(tx, { schedule: made, before: null, after: termsIn(made), now: made.createdAt }),
  }
}

async function readNew(reads: TurnReads, { ports, caller, making, now }: Creation): Promise<NewSchedule> {
  const [{ input: sent, run }, { railed }] = [making, caller]
  const { input, notes } = railed === undefined ? { input: sent, notes: [] } : railedInput(railed, sent, now)
  const org = known(await reads.org(), caller.orgId)
  const id = scheduleId(making.id ?? ports.newId('schedule', now))
  const agent = await agentFor(reads.agent, { org, input, existing: null, id })
  const read = accepted(parseSchedule(input, { now, defaultZone: zoneOf(org), agent, existing: null }))
  refuseLongTimeout(input, org)
  refuseCommand(caller, agent.executor.kind)
  // Whether a target is there is not told to a key that may name none.
  const target = railed === undefined ? await targetFor(reads, input) : null
  const most = making.hasRoom === true ? null : org.maxSchedules
  return {
    disabled: new Set(target === null || target.disabledAt === null ? [] : [target.id]),
    made: { ...newSchedule(read, { caller, now, id }), createdByRun: run },
    room: most === null ? null : { most, had: await reads.schedules() },
    own: null,
    notes,
  }
}

/** Others may make and delete schedules in the same turn. */
const refuseBeyond = (room: NewSchedule['room'], { changes }: Desk): void =>
  refuseFull(room, changes.newSchedules.size - changes.deletedSchedules.size)

function refuseFull(room: NewSchedule['room'], more: number): void {
  if (room === null || room.had + more < room.most) return
  const details = { max_schedules: room.most }
  throw new Refusal('CONFLICT', `The org may have ${room.most} schedules and has as many`, { details })
}

/** The schedule. */
export async function getSchedule(ports: Ports, { orgId }: Caller, id: string): Promise<ScheduleView> {
  const [row] = await loadSchedules(ports.database, { orgId, ids: [scheduleId(id)] })
  if (row === undefined) throw noSchedule(id)
  const disabled = await disabledTargets(ports.database, orgId, [row])
  const view = noted(viewInForce(row, ports.settings().retry, disabled), notesOn(row, ports.clock.now()))
  return view.probe === null ? view : { ...view, probe_counts: await countsOfSchedule(ports, orgId, row.id) }
}

type AskedChange = Asked & { readonly change: ScheduleInput; readonly target?: Creating['target'] }

/** Changes a schedule. Editing anything but timing never moves the next occurrence. */
export const changeSchedule = async (ports: Ports, caller: Caller, asked: AskedChange): Promise<ScheduleView> =>
  ports.turns.take(precededBy(asked.target ?? null, await scheduleChange(ports, caller, asked)))

/** The work of changing a schedule, judged as far as it can be before it is handed in. */
export async function scheduleChange(
  ports: Ports,
  caller: Caller,
  { change, target: _target, ...asked }: AskedChange,
): Promise<Work<ScheduleView>> {
  await judgeInput(ports, caller, change)
  requireBudgets(caller, change)
  return editWork(caller, {
    ...asked,
    word: 'updated',
    verb: 'update',
    decide: async (reads, row, now) => {
      const org = known(await reads.org(), caller.orgId)
      const agent = await agentFor(reads.agent, { org, input: change, existing: row, id: row.id })
      const read = accepted(parseSchedule(change, { now, defaultZone: zoneOf(org), agent, existing: row }))
      refuseLongTimeout(change, org)
      refuseCommand(caller, agent.executor.kind)
      if (caller.railed === undefined) await targetFor(reads, change)
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
    decide: async (reads, row, now) => {
      refusePending(row)
      if (isWatched(caller))
        refuseCommand(caller, inlineKindOf(row.agentId) ?? (await reads.agent(row.agentId))?.executor.kind)
      return (current) => ({ ...current, ...enabledStanding(current, now) })
    },
  })

/** Disables a schedule: no further occurrences, held ones end, and what runs goes on. */
export const disableSchedule = (ports: Ports, caller: Caller, asked: Asked): Promise<ScheduleView> =>
  edit(ports, caller, {
    ...asked,
    word: 'disabled',
    verb: 'disable',
    decide: () => (current) => ({ ...current, ...disabledStanding(current) }),
  })

/**
 * Deletes a schedule. What runs goes on and stays in the history; runs that only waited for a slot of the schedule are
 * cancelled, because nothing would keep them from running all at once.
 */
export const deleteSchedule = async (ports: Ports, caller: Caller, asked: Asked): Promise<void> =>
  ports.turns.take(scheduleRemoval(caller, asked))

/** The work of deleting a schedule. */
export function scheduleRemoval(caller: Caller, asked: Asked): Work<void> {
  const [{ orgId }, id] = [caller, scheduleId(asked.id)]
  const work: Work<void> = {
    orgId,
    needs: { schedules: [id] },
    apply: (desk) => {
      const row = desk.schedules.get(id)
      if (row === undefined || !isSeen(caller.railed, row)) throw noSchedule(asked.id)
      if (asked.version !== undefined && asked.version !== row.version)
        throw new Refusal('STALE_VERSION', `Schedule ${id} is at version ${row.version}`, {
          details: { version: row.version },
        })
      endHeld(desk, id, 'schedule.delete')
      const parked = pendingOfSchedule(desk, id).filter(({ slot }) => slot === 'parked')
      cancelWaiting(desk, parked, { subject: 'schedule', key: id, why: because('cancelled', 'schedule.delete') })
      forgetAlerts(desk, row)
      dropBudgetsOf(desk, id)
      desk.changes.deletedSchedules.add(id)
      desk.schedules.delete(id)
      const before = viewInForce(row, desk.settings.retry)
      desk.changes.audits.push(deleted(actorOf(caller), { kind: 'schedule', id }, before))
    },
    conclude: async (tx, _answer, now) => {
      if (caller.railed !== undefined) await forgetMoments(tx, { orgId, id, after: now })
    },
  }
  return railedWork(work, caller, { judge: () => Promise.resolve(), acts: () => [] })
}
