import type { SimulationTask } from '../../src/features/simulation/task.ts'

/** A simulator that is wrong about one thing: it does not know, or knows something else. */
export interface Mutant {
  readonly name: string
  readonly mistake: (task: SimulationTask) => SimulationTask
}

/** What a simulator that forgets something makes of a history. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'nothing is lost with a node',
    mistake: (task) => ({
      ...task,
      outages: (task.outages ?? []).map((one) => (one.kind === 'engine' ? { ...one, kind: 'stall' } : one)),
    }),
  },
  {
    name: 'a lane is never full',
    mistake: (task) => ({ ...task, settings: { ...task.settings, lanes: { main: 100, cron: 100 } } }),
  },
  {
    name: 'sessions have no order',
    mistake: (task) => ({
      ...task,
      schedules: task.schedules.map((one) => ({ ...one, input: { ...one.input, session: 'isolated' } })),
    }),
  },
  {
    name: 'whoever is told to stop has stopped',
    mistake: (task) => ({
      ...task,
      assume: { ...task.assume, stops_in_ms: 0 },
      schedules: task.schedules.map((one) => ({
        ...one,
        assume: one.assume === undefined ? undefined : { ...one.assume, stops_in_ms: 0 },
      })),
    }),
  },
  {
    name: 'missed occurrences are made up for all at once',
    mistake: (task) => ({
      ...task,
      settings: {
        ...task.settings,
        schedules: { ...(task.settings?.['schedules'] as object), catchup_spacing_ms: 0, catchup_max_active: 100 },
      },
    }),
  },
  { name: 'budgets are endless', mistake: (task) => ({ ...task, budgets: [] }) },
  { name: 'nobody does anything on the way', mistake: (task) => ({ ...task, interventions: [] }) },
]
