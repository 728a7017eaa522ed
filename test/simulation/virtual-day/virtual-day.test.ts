import { describe, expect, it, vi } from 'vitest'
import type { ScheduleToPlan } from '../../../src/domain/schedule/occurrences.ts'
import { Violation } from '../../support/violation.ts'
import { FIRING_MUTANTS } from '../mutants/firing.ts'
import { mutant, type Mutant } from '../mutants/mutant.ts'
import { simulateDay, type DayOptions } from './day.ts'
import { describeDay, parseDayOptions } from './main.ts'

const { mistakable, withMistakes } = await vi.hoisted(() => import('../mutants/at-work.ts'))

vi.mock('../../../src/domain/schedule/concurrency.ts', mistakable)
vi.mock('../../../src/domain/schedule/occurrences.ts', mistakable)
vi.mock('../../../src/domain/schedule/overlap.ts', mistakable)

// A few hours around a change of the clock, with few occurrences. `npm run chaos -- virtual-day` has the whole day.

const FEW: Omit<DayOptions, 'seed'> = { occurrences: 10_000, hours: 4 }

const withDst = (schedule: ScheduleToPlan): ScheduleToPlan =>
  schedule.timing.kind === 'cron' && schedule.timing.dst === 'shift'
    ? { ...schedule, timing: { ...schedule.timing, dst: 'skip' } }
    : schedule

/** Mistakes in deciding occurrences: one of each invariant, and one that only clocks that change bring to light. */
const MUTANTS: readonly Mutant[] = [
  ...FIRING_MUTANTS.filter(
    ({ breaks }, index) => FIRING_MUTANTS.findIndex((other) => other.breaks === breaks) === index,
  ),
  mutant('an hour that clocks leave out is taken for lost', 'every_occurrence_decided', {
    planOccurrences: (right) => (schedule, planning) => right(withDst(schedule), planning),
  }),
]

function breakBy({ mistakes }: Mutant, seed: number): string | null {
  try {
    withMistakes(mistakes, () => simulateDay({ ...FEW, seed }))
    return null
  } catch (error) {
    if (error instanceof Violation) return error.invariant
    throw error
  }
}

describe('a virtual day', () => {
  it.each([
    ['forward', 0],
    ['back', 1],
  ])('in which clocks go %s breaks no invariant, decides everything and keeps few rows', (way, seed) => {
    const figures = simulateDay({ ...FEW, seed })
    const lines = describeDay(figures, { ...FEW, seed }, 0)
    console.log(lines.join('\n'))
    expect(lines[0]).toContain(`go ${way} an hour`)
    // The quick ones among the cron schedules come more often in the night than later.
    expect(figures.occurrences).toBeGreaterThan(1_500)
    expect(figures.occurrences).toBeLessThan(2_300)
    expect(figures.outages).toBeGreaterThan(15)
    expect(figures.mostRows).toBeLessThan(4_000)
    for (const reason of ['misfire', 'overlap', 'failure']) expect(figures.skips.get(reason), reason).toBeGreaterThan(0)
    for (const trigger of ['schedule', 'catchup', 'message', 'task'])
      expect(figures.triggers.get(trigger), trigger).toBeGreaterThan(0)
  })

  it.each(MUTANTS.map((wrong) => [wrong.name, wrong.breaks, wrong] as const))(
    'of a product in which %s is caught by %s',
    (_, breaks, wrong) => {
      expect(breakBy(wrong, 0)).toBe(breaks)
    },
  )

  it('is asked for in whole numbers', () => {
    expect(parseDayOptions(['--seed', '7'])).toEqual({ seed: 7, occurrences: 1_000_000 })
    expect(parseDayOptions(['--occurrences', '9'])).toContain('usage: chaos virtual-day')
    expect(parseDayOptions(['--hours', '9'])).toContain('usage: chaos virtual-day')
  })
})
