import { parseArgs } from 'node:util'
import type { Demands } from './report.ts'

export interface ChaosOptions {
  readonly seed: number
  readonly loadMs: number
  /** Submissions per second of all nodes together, while all are well. */
  readonly perSecond: number
  readonly demands: Demands
  readonly verbose: boolean
  /** Leaves the directory behind even when all went well. */
  readonly keep: boolean
}

const USAGE =
  'usage: chaos [--minutes 3] [--seed N] [--rate 330] [--least-rate 200] [--least-faults 10 per minute] [--verbose] [--keep]'

/** What the command line asks for, or how it should have asked. */
export function parseOptions(args: readonly string[], chance: () => number = Math.random): ChaosOptions | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      strict: true,
      options: {
        minutes: { type: 'string', default: '3' },
        seed: { type: 'string', default: String(Math.floor(chance() * 1_000_000)) },
        rate: { type: 'string', default: '330' },
        'least-rate': { type: 'string', default: '200' },
        'least-faults': { type: 'string' },
        verbose: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
      },
    })
    const minutes = positive('minutes', values.minutes)
    return {
      seed: whole('seed', values.seed),
      loadMs: minutes * 60_000,
      perSecond: positive('rate', values.rate),
      demands: {
        faults: whole('least-faults', values['least-faults'] ?? String(Math.ceil(minutes * 10))),
        acceptedPerSecond: whole('least-rate', values['least-rate']),
        longestGapMs: 5_000,
      },
      verbose: values.verbose,
      keep: values.keep,
    }
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${USAGE}`
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} must be a number above 0, not "${text}"`)
  return value
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} must be a whole number, not "${text}"`)
  return value
}
