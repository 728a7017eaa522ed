import { expect, it, vi } from 'vitest'
import { simulate } from '../../src/features/simulation/simulator.ts'
import type { SimulationTask } from '../../src/features/simulation/task.ts'
import type * as turns from '../../src/features/simulation/transactions.ts'
import type { SimulationState } from '../../src/features/simulation/world.ts'
import type { Changes } from '../../src/engine/org-state/org-state.ts'
import { nextDueTime } from '../../src/engine/transaction/pass-time.ts'
import { askedSeed, seedsFrom } from '../support/seeds.ts'
import { drawHistory } from './random-history.ts'

/** How often a node was asked for nothing while it expected nothing, and what it did in the first history where it acted. */
const asked = vi.hoisted(() => ({ times: 0, acted: null as string | null }))

vi.mock('../../src/features/simulation/transactions.ts', async (original) => {
  const real = await original<typeof turns>()
  const askAgain = (world: SimulationState): void => {
    if ((nextDueTime(world.memory) ?? Infinity) <= world.now) return
    asked.times += 1
    const before = world.runningAttempts.size
    real.runSimulatedTransaction(world, [])
    asked.acted ??= actedIn(world.memory.state.changes, world.runningAttempts.size - before)
  }
  const runSimulatedTransaction: typeof real.runSimulatedTransaction = (world, works) => {
    real.runSimulatedTransaction(world, works)
    askAgain(world)
  }
  const reportEndings: typeof real.reportEndings = (world) => {
    real.reportEndings(world)
    askAgain(world)
  }
  return { ...real, runSimulatedTransaction, reportEndings } satisfies typeof real
})

function actedIn(changes: Changes, started: number): string | null {
  const runs = [...changes.created, ...changes.changed].map((run) => `${run.id} is ${run.state}`)
  if (started > 0) runs.push(`${started} started`)
  if (changes.schedules.size > 0) runs.push(`${changes.schedules.size} schedules changed`)
  return runs.length === 0 ? null : runs.join(', ')
}

/** Histories in which this once made a difference. */
const PINNED = [1_287, 8_550]

/** More is missed, and less of it may run at once, than in the histories that are compared with the tables. */
function crowded(seed: number): SimulationTask {
  const task = drawHistory(seed)
  const catchup = { misfire_policy: 'CATCH_UP_LIMITED', catchup_limit: 4 } as const
  const window = { ...(task.settings?.['schedules'] as object), catchup_max_active: 1, catchup_window_seconds: 900 }
  return {
    ...task,
    agents: task.agents.map((agent) => ({ ...agent, max_concurrent: 1 })),
    schedules: task.schedules.map((one) => ({ ...one, input: { ...one.input, ...catchup } })),
    settings: { ...task.settings, schedules: window },
  }
}

const firstActed = (): string | null => asked.acted

/** Several schedules that miss something. */
const hasCrowd = ({ schedules, outages }: SimulationTask): boolean => schedules.length > 1 && (outages ?? []).length > 0

// The engine also wakes an org in vain, at times that depend on how fast the server answers. That must make no difference.
it.skipIf(askedSeed() !== null)('a transaction of a node that expects nothing changes nothing', () => {
  const acted = new Map<number, string>()
  for (const task of [...PINNED.map(drawHistory), ...seedsFrom(1, 600).map(crowded).filter(hasCrowd)]) {
    asked.acted = null
    simulate(task)
    const found = firstActed()
    if (found !== null) acted.set(task.seed, found)
  }
  expect([...acted]).toEqual([])
  expect(asked.times).toBeGreaterThan(10_000)
})
