import { isTerminal } from '../../../src/domain/run/run-machine.ts'
import type { RunRow } from '../../../src/features/runs/store.ts'
import type { Observer, World } from '../world.ts'

/** What a day came to. */
export interface Figures {
  occurrences: number
  /** Rows that were made, occurrences that were skipped among them. */
  runs: number
  attempts: number
  submissions: number
  /** Events that were held to the invariants. */
  checked: number
  outages: number
  readonly skips: Map<string, number>
  readonly endings: Map<string, number>
  readonly triggers: Map<string, number>
  /** The most rows that were there at a time. */
  mostRows: number
}

export const noFigures = (): Figures => ({
  ...{ occurrences: 0, runs: 0, attempts: 0, submissions: 0, checked: 0, outages: 0, mostRows: 0 },
  ...{ skips: new Map(), endings: new Map(), triggers: new Map() },
})

const add = (counts: Map<string, number>, word: string, count = 1): void => {
  if (count > 0) counts.set(word, (counts.get(word) ?? 0) + count)
}

/** Counts what happens once the observer has judged it. */
export function withFigures(observer: Observer, figures: Figures): Observer {
  const ended = (run: RunRow): void => {
    if (isTerminal(run.state)) add(figures.endings, run.state)
  }
  return {
    submitted: (world, submitted) => {
      observer.submitted(world, submitted)
      figures.submissions += 1
      figures.checked += 1
    },
    created: (world, run) => {
      observer.created(world, run)
      figures.runs += 1
      figures.checked += 1
      add(figures.triggers, run.trigger)
      ended(run)
    },
    fired: (schedule, firing) => {
      observer.fired(schedule, firing)
      figures.occurrences += firing.nominals.length + firing.ranged
      figures.checked += 1
      for (const { state, decision } of firing.made) if (state === 'skipped') add(figures.skips, decision.reason)
      add(figures.skips, 'misfire', firing.ranged)
    },
    released: (world, run) => {
      observer.released(world, run)
      figures.checked += 1
      if (run.state === 'skipped') add(figures.skips, (run.why ?? run.decision).reason)
    },
    moved: (world, run, from) => {
      observer.moved(world, run, from)
      figures.checked += 1
      if (from.state !== run.state) ended(run)
    },
    started: (world, run, node) => {
      observer.started(world, run, node)
      figures.attempts += 1
      figures.checked += 1
    },
    reported: (execution, isCurrent, decision) => {
      observer.reported(execution, isCurrent, decision)
      figures.checked += 1
    },
    cleared: observer.cleared,
    forgotten: (run) => {
      observer.forgotten(run)
      figures.checked += 1
    },
    settledDown: (world: World) => {
      observer.settledDown(world)
      figures.checked += 1
      figures.mostRows = Math.max(figures.mostRows, world.runs.size)
    },
    finished: observer.finished,
  }
}
