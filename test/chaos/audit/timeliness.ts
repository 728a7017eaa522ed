import type { Records, StoredRun } from '../records.ts'
import type { Finding } from './findings.ts'
import type { Evidence } from './spans.ts'

const early = (what: string, ...rows: readonly unknown[]): Finding => ({ wrong: 'early', what, rows })

/** What happened before its time: an occurrence that was decided, or begun, before the moment it is named after. */
export function findEarly({ records, handledByRun }: Evidence): readonly Finding[] {
  return records.runs.flatMap((run): readonly Finding[] => {
    const { nominal } = run
    if (nominal === null) return []
    const tooSoon = handledByRun.get(run.id)?.find(({ startedAt }) => startedAt < Math.floor(nominal))
    return [
      ...(run.createdAt < nominal ? [early('an occurrence was decided before its time', run)] : []),
      ...(tooSoon === undefined ? [] : [early('an occurrence began before its time', run, tooSoon)]),
    ]
  })
}

/** How late an occurrence was decided that fell due while a node had the wrong time. */
export interface Lateness {
  readonly run: string
  readonly ms: number
}

/** The latest of them; null when no node ever had the wrong time, or nothing fell due then. */
export function longestLateness({ runs, faults }: Pick<Records, 'runs' | 'faults'>): Lateness | null {
  const wrong = faults.filter(({ kind }) => kind === 'clock_step')
  const wasDueThen = ({ nominal }: StoredRun): boolean =>
    nominal !== null && wrong.some(({ from, until }) => from <= nominal && nominal <= until)
  let longest: Lateness | null = null
  for (const run of runs) {
    if (run.trigger !== 'schedule' || run.nominal === null || !wasDueThen(run)) continue
    const ms = run.createdAt - run.nominal
    if (longest === null || ms > longest.ms) longest = { run: run.id, ms }
  }
  return longest
}
