import { parseArgs } from 'node:util'
import { formatInstant } from '../../../src/domain/instant.ts'
import { Violation } from '../../support/violation.ts'
import { INVARIANTS } from '../invariants.ts'
import { simulateDay, type DayOptions } from './day.ts'
import type { Figures } from './figures.ts'
import { dayOf } from './plan.ts'

const USAGE = 'usage: chaos virtual-day [--occurrences 1000000] [--seed N]'

/** Real time between two lines about how far the day has come. */
const TELL_EVERY_MS = 10_000

const print = (line: string): void => void process.stdout.write(`${line}\n`)

type Asked = Pick<DayOptions, 'seed' | 'occurrences' | 'hours'>

/** What the command line asks for, or how it should have asked. */
export function parseDayOptions(args: readonly string[], chance: () => number = Math.random): Asked | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      strict: true,
      options: {
        occurrences: { type: 'string', default: '1000000' },
        seed: { type: 'string', default: String(Math.floor(chance() * 1_000_000)) },
      },
    })
    return { seed: whole('seed', values.seed, 0), occurrences: whole('occurrences', values.occurrences, 10_000) }
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${USAGE}`
  }
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < least)
    throw new Error(`--${name} must be a whole number from ${least} on, not "${text}"`)
  return value
}

const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([word, count]) => `${word} ${count}`)
    .join(', ')

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0)

/** The figures of a day, line by line. */
export function describeDay(figures: Figures, { seed, hours = 24 }: Asked, tookMs: number): readonly string[] {
  const { start, zone, way } = dayOf(seed)
  return [
    `seed ${seed}: ${hours} h of virtual time from ${formatInstant(start)}, in which clocks in ${zone} go ${way} an hour, in ${(tookMs / 1_000).toFixed(1)} s`,
    `${figures.occurrences} occurrences decided, ${figures.outages} outages of all nodes`,
    `${figures.runs} runs (${listed(figures.triggers)}), ${figures.attempts} attempts, ${figures.submissions} submissions`,
    `ended: ${listed(figures.endings)}`,
    `skipped: ${sum(figures.skips)} (${listed(figures.skips)}), of them misfires: ${figures.skips.get('misfire') ?? 0}`,
    `${figures.checked} events held to ${INVARIANTS.length} invariants, ${figures.mostRows} rows in memory at most`,
  ]
}

/** Simulates the day and prints what came of it. */
export async function main(args: readonly string[]): Promise<number> {
  const asked = parseDayOptions(args)
  if (typeof asked === 'string') {
    process.stderr.write(`${asked}\n`)
    return 2
  }
  // The first line is out before the day begins, which leaves no room for anything else.
  print(`a virtual day with about ${asked.occurrences} occurrences, seed ${asked.seed}`)
  await new Promise(setImmediate)
  const from = performance.now()
  let told = from
  const progress: DayOptions['progress'] = (now, day, figures) => {
    if (performance.now() - told < TELL_EVERY_MS) return
    told = performance.now()
    const share = ((now - day.start) * 100) / (day.end - day.start)
    print(`  ${share.toFixed(0).padStart(3)} % of the day, ${figures.occurrences} occurrences, ${figures.runs} runs`)
  }
  try {
    const figures = simulateDay({ ...asked, progress })
    for (const line of describeDay(figures, asked, performance.now() - from)) print(line)
    print('0 violations')
    return 0
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    print(`violation: ${error.message}`)
    print(`again: npm run chaos -- virtual-day --occurrences ${asked.occurrences} --seed ${asked.seed}`)
    return 1
  }
}
