import { expect, it } from 'vitest'
import { stopwatch } from './waits.ts'

const turns = (ran: number, waited: number): ReadonlyMap<string, { ran: number; waited: number }> =>
  new Map([
    ['1', { ran, waited }],
    ['2', { ran: 0, waited: 0 }],
  ])

it.each([
  ['others had the processor', turns(500, 5_000), 1_000],
  ['it computed', turns(6_000, 0), 6_000],
  ['it computed while another thread wanted to', turns(5_900, 5_000), 5_900],
  ['it slept, or waited for another process', turns(10, 0), 6_000],
])('time on the clock counts as it should: %s', (_, after, expected) => {
  const [looks, times] = [[turns(0, 0), after].values(), [0, 6_000].values()]
  const elapsed = stopwatch(
    () => looks.next().value ?? new Map(),
    () => times.next().value ?? 0,
  )
  expect(elapsed()).toBe(expected)
})

it('is told by this system: what is computed here is counted', () => {
  const elapsed = stopwatch()
  while (elapsed() < 20);
  expect(elapsed()).toBeGreaterThanOrEqual(20)
})
