import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Refusal } from '../../../src/api/refusals.ts'
import type { SimulationTask } from '../../../src/features/simulation/task.ts'
import { orgId } from '../../../src/domain/ids.ts'
import { createSimulations, SIMULATION_BOUNDS, type Simulations } from '../../../src/engine/threads/threads.ts'
import { computeSimulation } from '../../../src/features/simulation/compute.ts'
import { compileProgram, type CompiledProgram } from '../../support/compile-program.ts'

const [ACME, OTHER] = [orgId('acme'), orgId('other')]
let program: CompiledProgram
let simulations: Simulations

beforeAll(() => {
  program = compileProgram('src/engine/threads/simulation-thread.ts')
})
afterAll(() => program.remove())
afterEach(() => simulations.close())

const open = (bounds: Partial<typeof SIMULATION_BOUNDS> = {}): Simulations =>
  (simulations = createSimulations(pathToFileURL(program.entry), { ...SIMULATION_BOUNDS, threads: 1, ...bounds }))

/** So many days of a schedule that fires every second: a few milliseconds, or for as long as anybody lets it. */
const task = (days: number, more: Partial<SimulationTask> = {}): SimulationTask => ({
  ...{ from: '2026-11-16T00:00:00.000Z', to: new Date(Date.UTC(2026, 10, 16) + days * 86_400_000).toISOString() },
  ...{ timezone: 'UTC', seed: 1, agents: [{ id: 'echo', executor_kind: 'echo' }], default_agent_id: 'echo' },
  schedules: [{ id: 'new_1', input: { every_seconds: 1, anchor: '2026-11-16T00:00:00.000Z' } }],
  max_rows: 10,
  ...more,
})
const SHORT = { task: task(1 / 1_440), against: null }
const ENDLESS = { task: task(90), against: null }

describe('simulations in a thread', () => {
  it('come to what they come to in this one, compared with other policies where that is asked', async () => {
    const job = { ...SHORT, against: [{ set: { overlap_action: 'SKIP' } }] } as const
    const outcome = await open().compute(ACME, job)
    expect(outcome).toEqual(computeSimulation(job))
    expect(outcome.view.totals.occurrences).toBe(59)
    expect(outcome.diff).not.toBeNull()
  })

  it('say how far they are, end when nobody wants them any more, and make room for the next', async () => {
    const gone = new AbortController()
    const heard: number[] = []
    const ended = open().compute(ACME, ENDLESS, {
      signal: gone.signal,
      progress: ({ done, total }) => {
        // On a busy machine the first word may come before the first day is done.
        if (done === 0) return
        heard.push(done / total)
        gone.abort(new Error('enough'))
      },
    })
    const waiting = simulations.compute(OTHER, SHORT)
    await expect(ended).rejects.toThrow('enough')
    expect(heard[0]).toBeGreaterThan(0)
    expect(heard[0]).toBeLessThan(1)
    expect((await waiting).view.totals.occurrences).toBe(59)
  })

  it('are refused when enough of the org wait, and given up while they wait', async () => {
    const gone = new AbortController()
    const first = open({ waiting: 1 }).compute(ACME, ENDLESS, { signal: gone.signal })
    const second = simulations.compute(ACME, SHORT, { signal: gone.signal })
    await expect(simulations.compute(ACME, SHORT)).rejects.toMatchObject({ code: 'SIMULATION_BUSY' })
    gone.abort(new Error('gone'))
    await expect(first).rejects.toThrow('gone')
    await expect(second).rejects.toThrow('gone')
  })

  it('may not take longer than they may', async () => {
    const late = open({ timeLimitMs: 150 }).compute(ACME, ENDLESS)
    await expect(late).rejects.toMatchObject({ code: 'SIMULATION_LIMIT' })
    await expect(late).rejects.toThrow('use a shorter window')
  })

  it('are refused field by field where something cannot be read', async () => {
    const bad = { ...SHORT, against: [{ set: { overlap_action: 'NEVER' as 'SKIP' } }] }
    const refused = await open()
      .compute(ACME, bad)
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Refusal)
    expect((refused as Refusal).flaws).toMatchObject([{ field: 'against.0.set.overlap_action' }])
  })
})
