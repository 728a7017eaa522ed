import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { orgId } from '../../../src/domain/ids.ts'
import { DAY_MS, instant, later } from '../../../src/domain/instant.ts'
import { restoreTiming } from '../../../src/domain/time/parse-timing.ts'
import { type Computations, COMPUTE_BOUNDS, createComputations } from '../../../src/engine/threads/threads.ts'
import { computeCounts, computePreview } from '../../../src/engine/compute.ts'
import { compileProgram, type CompiledProgram } from '../../support/compile-program.ts'

const [ACME, OTHER] = [orgId('acme'), orgId('other')]
const NOW = instant(Date.UTC(2026, 10, 16))
let program: CompiledProgram
let computations: Computations

beforeAll(() => {
  program = compileProgram('src/engine/threads/computation-thread.ts')
})
afterAll(() => program.remove())
afterEach(() => computations.close())

const open = (bounds: Partial<typeof COMPUTE_BOUNDS> = {}): Computations =>
  (computations = createComputations(pathToFileURL(program.entry), { ...COMPUTE_BOUNDS, threads: 1, ...bounds }))

const timing = (rrule: string) =>
  restoreTiming({ rrule, anchor: '2026-11-01T02:30:00.000Z', timezone: 'Europe/Berlin' })
const HOURLY = timing('FREQ=HOURLY;BYMINUTE=0,30;BYHOUR=9,10')
/** Two thousand of them are seconds of work wherever it is done. */
const LONG = timing('FREQ=HOURLY;BYMINUTE=0,1,2,3,4,5,6,7,8,9;BYSECOND=0,10,20,30,40,50')
const days = Array.from({ length: 92 }, (_, day) => ({
  ...{ date: String(day), from: later(NOW, day * DAY_MS), to: later(NOW, (day + 1) * DAY_MS) },
}))
const planned = (of: typeof LONG) => ({ timing: of, maxFires: null, fires: 0, watermark: NOW })
const view = { now: NOW, count: 20 }

describe('rules worked out in a thread', () => {
  it('come to what they come to in this one', async () => {
    const computing = { orgId: ACME, computations: open() }
    expect(await computePreview(computing, HOURLY, view)).toEqual(await computePreview({ orgId: ACME }, HOURLY, view))
    const some = days.slice(0, 3)
    expect(await computeCounts(computing, [planned(HOURLY)], some)).toEqual(
      await computeCounts({ orgId: ACME }, [planned(HOURLY)], some),
    )
  })

  it('wait for one another within an org, and are refused when enough of them wait', async () => {
    const computing = { orgId: ACME, computations: open({ waiting: 1 }) }
    const first = computePreview(computing, HOURLY, view)
    const second = computePreview(computing, HOURLY, view)
    await expect(computePreview(computing, HOURLY, view)).rejects.toMatchObject({ code: 'COMPUTE_BUSY', status: 429 })
    const ofAnother = computePreview({ ...computing, orgId: OTHER }, HOURLY, view)
    expect((await Promise.all([first, second, ofAnother])).map(({ next }) => next.length)).toEqual([20, 20, 20])
  })

  it('end when they take too long, and make room for the next', async () => {
    const computing = { orgId: ACME, computations: open({ timeLimitMs: 50 }) }
    const many = Array.from({ length: 2_000 }, () => planned(LONG))
    await expect(computeCounts(computing, many, days)).rejects.toMatchObject({ code: 'RULE_TOO_DENSE', status: 422 })
    await computations.close()
    expect((await computePreview({ orgId: ACME, computations: open() }, HOURLY, view)).next).toHaveLength(20)
  })
})
