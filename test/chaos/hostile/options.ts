import { parseArgs } from 'node:util'
import { above } from '../upgrade/options.ts'

export interface HostileOptions {
  /** How long the attack lasts. */
  readonly attackMs: number
  readonly seed: number
  /** Requests of the attacker at the same time. */
  readonly attackers: number
  /** Messages and tasks per second of the org that is not to notice. */
  readonly perSecond: number
  /** 99 % of all starts of that org are less late than this. */
  readonly maxP99Ms: number
  /** Leaves the directory behind even when all went well. */
  readonly keep: boolean
}

const USAGE = 'usage: chaos hostile [--minutes 5] [--seed N] [--attackers 6] [--rate 10] [--max-p99 250] [--keep]'

/** What the command line asks for, or how it should have asked. */
export function parseOptions(args: readonly string[], chance: () => number = Math.random): HostileOptions | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      strict: true,
      options: {
        minutes: { type: 'string', default: '5' },
        seed: { type: 'string', default: String(Math.floor(chance() * 1_000_000)) },
        attackers: { type: 'string', default: '6' },
        rate: { type: 'string', default: '10' },
        'max-p99': { type: 'string', default: '250' },
        keep: { type: 'boolean', default: false },
      },
    })
    return {
      attackMs: above('minutes', values.minutes, 0) * 60_000,
      seed: above('seed', values.seed, -1),
      attackers: above('attackers', values.attackers, 0),
      perSecond: above('rate', values.rate, 0),
      maxP99Ms: above('max-p99', values['max-p99'], 0),
      keep: values.keep,
    }
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${USAGE}`
  }
}
