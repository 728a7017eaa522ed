import { parseArgs } from 'node:util'
import { FAULT_KINDS, kindsNamed, type FaultKind } from './fault-kinds.ts'
import { ORGS } from './orgs.ts'
import type { Demands } from './report.ts'

export interface ChaosOptions {
  readonly seed: number
  readonly loadMs: number
  /** Submissions per second of all nodes together, while all are well. */
  readonly perSecond: number
  readonly orgs: number
  readonly kinds: readonly FaultKind[]
  readonly demands: Demands
  readonly verbose: boolean
  /** Leaves the directory behind even when all went well. */
  readonly keep: boolean
}

const USAGE = `usage: npm run chaos -- faults [options]
  --minutes 10       how long there is load; at least every kind of fault happens once
  --seed N           the plan of faults and the traffic; printed by every run
  --only kind,kind   only these kinds, or all that begin with a word: ${FAULT_KINDS.join(', ')}
  --rate 330         submissions per second of all nodes together
  --orgs 200         how many orgs there are; the first one has half of the load
  --least-rate 100   acknowledged submissions per second that are demanded
  --least-faults N   faults that are demanded; 10 per minute, with --only one of each kind
  --verbose          prints each fault
  --keep             leaves journals, logs and database behind`

/** What the command line asks for, or how it should have asked. */
export function parseOptions(args: readonly string[], chance: () => number = Math.random): ChaosOptions | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      strict: true,
      options: {
        minutes: { type: 'string', default: '10' },
        seed: { type: 'string', default: String(Math.floor(chance() * 1_000_000)) },
        rate: { type: 'string', default: '330' },
        orgs: { type: 'string', default: String(ORGS.length) },
        'least-rate': { type: 'string', default: '100' },
        only: { type: 'string' },
        'least-faults': { type: 'string' },
        verbose: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
      },
    })
    const minutes = positive('minutes', values.minutes)
    const kinds = values.only === undefined ? FAULT_KINDS : kindsOf(values.only)
    const leastFaults = values.only === undefined ? Math.ceil(minutes * 10) : kinds.length
    return {
      seed: whole('seed', values.seed),
      loadMs: minutes * 60_000,
      perSecond: positive('rate', values.rate),
      orgs: orgsOf(values.orgs),
      kinds,
      demands: {
        faults: whole('least-faults', values['least-faults'] ?? String(leastFaults)),
        acceptedPerSecond: whole('least-rate', values['least-rate']),
        ...{ longestGapMs: 5_000, longestSilenceMs: 20_000, longestLatenessMs: 5_000, longestWaitMs: 2_500 },
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

function orgsOf(text: string): number {
  const count = whole('orgs', text)
  if (count === 0 || count > ORGS.length) throw new Error(`--orgs must be from 1 to ${ORGS.length}, not "${text}"`)
  return count
}

function kindsOf(text: string): readonly FaultKind[] {
  const kinds = kindsNamed(text.split(','))
  if (kinds === null) throw new Error(`--only must name kinds of faults, not "${text}"`)
  return kinds
}
