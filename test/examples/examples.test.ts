import { readdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'
import { createExamplesWorld, type ExamplesWorld } from './world.ts'

// docs/guides/five-minutes.md names them at its end.

let world: ExamplesWorld

beforeAll(() => {
  world = createExamplesWorld()
}, 60_000)
afterAll(() => world.end())

/** Runs an example on a fresh data directory, and answers with the lines it printed. */
async function linesOf(example: string): Promise<readonly string[]> {
  const { stdout, ...ended } = await world.run(`examples/${example}.mjs`, [world.data(example)])
  expect(ended).toEqual({ code: 0, signal: null, stderr: '' })
  return stdout.trimEnd().split('\n')
}

const tested: string[] = []
const example = (name: string, check: (lines: readonly string[]) => void): void => {
  tested.push(`${name}.mjs`)
  it(name, async () => check(await linesOf(name)), 60_000)
}

describe('the example', () => {
  example('cron-in-ten-lines', ([head, ...fired]) => {
    expect(head).toBe('Every second (UTC), at most 3 times:')
    const line = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z) success because it was due, \d+ ms late: report: written$/
    const moments = fired.map((text) => Date.parse(line.exec(text)?.[1] ?? text))
    const [first = Number.NaN] = moments
    expect(moments).toEqual([first, first + 1_000, first + 2_000])
  })

  example('chat-with-stop', (lines) => {
    expect(lines).toEqual([
      'Three messages arrive together. They run one after the other, in the order they came:',
      '  poet begins: spring',
      '/stop ends what is running now. The rest goes on:',
      '  { stopped: 1, drained: 0 }',
      '  poet begins: rain',
      '  cancelled (stopped): no output',
      '  poet begins: snow',
      '  success (completed): an ode about rain',
      '/stopall ends what is running and what waits:',
      '  { stopped: 1, drained: 1 }',
      '  cancelled (stopped_all): no output',
      '  cancelled (stopped_all): no output',
      'A message after that is answered as ever:',
      '  poet begins: the sun',
      '  success: an ode about the sun',
    ])
  })

  example('fair-tasks', (lines) => {
    expect(lines).toContain('  QUEUE_FULL, status 429: the task is rejected')
    expect(lines.filter((line) => line.startsWith('  too-much: '))).not.toEqual([])
    const order = (lines.at(-1) ?? '').trim().split(' ')
    const busy = Array.from({ length: 12 }, (_, index) => `busy-${index + 1}`)
    const own = order.filter((action) => action !== 'too-much')
    const quiet = ['quiet-1', 'quiet-2', 'quiet-3']
    expect(own.filter((action) => busy.includes(action))).toEqual(busy)
    expect(own.filter((action) => quiet.includes(action))).toEqual(quiet)
    expect(own).toHaveLength(busy.length + quiet.length + 1)
    // Twelve tasks were there before them; behind a single queue the quiet ones would be the last.
    expect(own.indexOf('quiet-3')).toBeLessThan(10)
    expect(own.indexOf('busy-urgent')).toBeLessThan(8)
  })
})

it('every example is run', () => {
  // What is no program is a schedule that the tests of the command line simulate.
  const programs = readdirSync(path.join(ROOT, 'examples')).filter((name) => name.endsWith('.mjs'))
  expect(tested.toSorted()).toEqual(programs.toSorted())
})
