import { parseArgs } from 'node:util'

export interface UpgradeOptions {
  /** The commit to upgrade from; null for the release before. */
  readonly from: string | null
  readonly seed: number
  /** How long each state of the deployment is kept under load. */
  readonly phaseMs: number
  /** Submissions per second of each node. */
  readonly perSecond: number
  /** Leaves the directory behind even when all went well. */
  readonly keep: boolean
}

const USAGE = 'usage: chaos upgrade [--from COMMIT] [--seconds 8 per state] [--seed N] [--rate 60 per node] [--keep]'

/** What the command line asks for, or how it should have asked. */
export function parseOptions(args: readonly string[], chance: () => number = Math.random): UpgradeOptions | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      strict: true,
      options: {
        from: { type: 'string' },
        seconds: { type: 'string', default: '8' },
        seed: { type: 'string', default: String(Math.floor(chance() * 1_000_000)) },
        rate: { type: 'string', default: '60' },
        keep: { type: 'boolean', default: false },
      },
    })
    return {
      from: values.from ?? null,
      seed: above('seed', values.seed, -1),
      phaseMs: above('seconds', values.seconds, 0) * 1_000,
      perSecond: above('rate', values.rate, 0),
      keep: values.keep,
    }
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${USAGE}`
  }
}

/** Reads a number above a limit, or says what is wrong with it. */
export function above(name: string, text: string, least: number): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value <= least)
    throw new Error(`--${name} must be a number above ${least}, not "${text}"`)
  return value
}
