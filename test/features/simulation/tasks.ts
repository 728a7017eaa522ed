import type { SimulatedRunView, SimulationView } from '../../../src/features/simulation/result-schema.ts'
import type { ScheduleInput } from '../../../src/features/schedules/schema.ts'
import type { SimulationTask } from '../../../src/features/simulation/task.ts'

export const FROM = '2026-03-02T00:00:00.000Z'

/** So many seconds after the window begins. */
export const at = (seconds: number): string => new Date(Date.parse(FROM) + seconds * 1_000).toISOString()

/** A simulation of one schedule over some seconds. */
export const aTask = (input: ScheduleInput, more: Partial<SimulationTask> = {}, seconds = 60): SimulationTask => ({
  from: FROM,
  to: at(seconds),
  timezone: 'UTC',
  seed: 1,
  agents: [{ id: 'writer', executor_kind: 'in-process' }],
  default_agent_id: 'writer',
  schedules: [{ id: 'sch_1', input }],
  ...more,
})

/** The seconds after the window begins. */
const secondsOf = (moment: string | null): number | null =>
  moment === null ? null : (Date.parse(moment) - Date.parse(FROM)) / 1_000

/** What matters of a row: when it was planned for, how it stands, its first attempt, when it began and ended. */
export const short = (run: SimulatedRunView): readonly unknown[] => [
  secondsOf(run.nominal_time),
  run.status,
  run.first_attempt,
  secondsOf(run.started_at),
  secondsOf(run.finished_at),
]

export const shortRows = ({ rows }: SimulationView): readonly unknown[] => rows.map(short)
