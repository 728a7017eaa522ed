import { readShape } from '../../contract/read-shape.ts'
import { scheduleInput, schedulePatch, type ScheduleInput } from '../../contract/schedule.ts'
import {
  type FirstRun,
  momentOf,
  NOBODYS_ORG,
  type SimulatedScheduleInput,
  type SimulatedStanding,
  type SimulationTask,
  type Stretch,
  under,
} from '../../features/simulation/task.ts'
import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { inlineAgentId } from '../../core/executor/inline-agent.ts'
import { agentId, runId, scheduleId, sessionKey } from '../../domain/ids.ts'
import { earlier, type Instant } from '../../domain/instant.ts'
import type { Flaw } from '../../domain/input.ts'
import { lifeAfter } from '../../domain/schedule/lifecycle.ts'
import type { Zone } from '../../core/time/zone.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { Collector } from '../../domain/input-fields.ts'
import { executorIn, parseSchedule, type ReadSchedule, type WokenAgent } from '../schedule-input.ts'
import { editedStanding } from '../schedule-plan.ts'
import { newSchedule } from '../../features/schedules/new-schedule.ts'

interface Reading {
  readonly window: Stretch
  readonly zone: Zone
  readonly collector: Collector
}

/** The schedules that take part as they stand when the window begins, with changed policies, and what they have pending. */
export function readSchedules(
  task: SimulationTask,
  reading: Reading,
): { readonly rows: readonly ScheduleRow[]; readonly firstRuns: readonly FirstRun[] } {
  const rows: ScheduleRow[] = []
  const firstRuns: FirstRun[] = []
  const seen = new Set<string>()
  task.schedules.forEach((one, index) => {
    const place = `schedules.${index}`
    if (seen.has(one.id))
      reading.collector.flaws.push({ field: `${place}.id`, value: one.id, message: 'is there twice' })
    seen.add(one.id)
    const row = readOne(task, { ...reading, one, place })
    if (row === null) return
    rows.push(row)
    for (const run of one.standing?.pending ?? [])
      firstRuns.push({
        row,
        nominal: run.nominal === null ? null : momentOf(run.nominal),
        createdAt: momentOf(run.created_at),
        startedAt: run.status === 'running' ? momentOf(run.started_at ?? run.created_at) : null,
        attempts: { attempt: run.attempt ?? 1, firstAttempt: run.first_attempt ?? run.attempt ?? 1 },
      })
  })
  return { rows, firstRuns }
}

interface ReadingOne extends Reading {
  readonly one: SimulatedScheduleInput
  readonly place: string
}

function readOne(task: SimulationTask, reading: ReadingOne): ScheduleRow | null {
  const { one, place, window, zone, collector } = reading
  const id = scheduleId(one.id)
  const createdAt = one.created_at === undefined ? window.from : momentOf(one.created_at)
  const input = collector.keep(readShape(scheduleInput, one.input, place))
  const agent = input === null ? null : agentFor(task, { ...reading, input })
  if (input === null || agent === null) return null
  const parsed = parseSchedule(input, { now: createdAt, defaultZone: zone, agent, existing: null })
  const read = collector.keep(under(place, parsed))
  if (read === null) return null
  const made = newSchedule(read, { caller: { orgId: NOBODYS_ORG, principal: null }, now: createdAt, id })
  const standing = standingAt(made, { standing: one.standing, from: window.from, createdAt })
  return changed({ ...made, ...standing }, task, { ...reading, agent })
}

/** Where it stands when the window begins: as on record, or as a schedule that has just been made. */
function standingAt(
  row: ScheduleRow,
  at: { readonly standing: SimulatedStanding | undefined; readonly from: Instant; readonly createdAt: Instant },
): Partial<ScheduleRow> {
  const { standing, from, createdAt } = at
  const fires = standing?.fires ?? 0
  const ending = standing?.last_ending
  const pace = row.pace === null ? null : (standing?.pace ?? row.pace)
  const timing = plannedTiming({ timing: row.timing, pace })
  const plan = { timing, maxFires: row.rules.maxFires, fires }
  // What was made before the window has its first moment in it, too; what is made with it has not.
  const before = standing?.watermark === undefined ? null : momentOf(standing.watermark)
  const watermark = before ?? (createdAt < from ? earlier(from, 1) : createdAt)
  const state = standing?.state ?? row.state
  const life = state === 'active' || state === 'finished' ? lifeAfter(plan, watermark) : { state, nextRunAt: null }
  return {
    ...life,
    pace,
    watermark,
    fires,
    failureStreak: standing?.failure_streak ?? 0,
    lastEnding:
      ending === undefined
        ? null
        : {
            id: runId(`${row.id} before`),
            status: ending.status,
            attempt: ending.attempt,
            endedAt: momentOf(ending.ended_at),
          },
  }
}

function agentFor(
  task: SimulationTask,
  { one, input, place, collector }: ReadingOne & { readonly input: ScheduleInput },
): WokenAgent | null {
  const { keep, flaws } = collector
  const executor = executorIn(input, null)
  if (!executor.ok) {
    keep(under(place, executor))
    return null
  }
  if (executor.value !== null)
    return {
      id: inlineAgentId(executor.value.kind, scheduleId(one.id)),
      executor: executor.value,
      defaultSession: null,
    }
  const named = input.agent_id ?? task.default_agent_id ?? null
  const agent = task.agents.find(({ id }) => id === named)
  const field = `${place}.agent_id`
  if (agent === undefined) {
    const flaw: Flaw =
      named === null
        ? { field, value: undefined, message: 'is missing, and there is no default agent' }
        : { field, value: named, message: 'names no agent' }
    flaws.push(flaw)
    return null
  }
  const { default_session: session } = agent
  return {
    id: agentId(agent.id),
    executor: { kind: agent.executor_kind },
    defaultSession: typeof session === 'string' ? sessionKey(session) : null,
  }
}

/** With everything that `changes` sets for it, one after the other, as edits at the beginning of the window. */
function changed(
  row: ScheduleRow,
  task: SimulationTask,
  { window, zone, collector, agent }: ReadingOne & { readonly agent: WokenAgent },
): ScheduleRow | null {
  let current = row
  for (const [index, { schedules, set }] of (task.changes ?? []).entries()) {
    if (schedules !== undefined && !schedules.includes(row.id) && !schedules.includes(row.name)) continue
    const place = `changes.${index}.set`
    if (set.agent_id !== undefined || set.executor !== undefined) {
      const message = 'cannot be changed here; simulate another schedule instead'
      const field = set.agent_id === undefined ? 'executor' : 'agent_id'
      collector.flaws.push({ field: `${place}.${field}`, value: set[field], message })
      return null
    }
    const change = collector.keep(readShape(schedulePatch, set, place))
    if (change === null) return null
    const parsed = parseSchedule(change, { now: window.from, defaultZone: zone, agent, existing: current })
    const read = collector.keep(under(place, parsed))
    if (read === null) return null
    current = edited(current, read, window.from)
  }
  return current
}

function edited(row: ScheduleRow, read: ReadSchedule, from: Instant): ScheduleRow {
  const { timingChanged: _timing, enabled: _enabled, ...fields } = read
  return { ...row, ...fields, ...editedStanding(row, read, from) }
}
