import type { FaultRecord, FaultKind } from '../faults.ts'
import type { ProcessRecord, Records } from '../records.ts'
import { groupBy } from './spans.ts'

/** A time during which a healthy node started nothing. */
export interface Gap {
  readonly process: string
  readonly from: number
  readonly ms: number
}

const STOPS: readonly FaultKind[] = ['stop_short', 'stop_long']

/** The longest time that a healthy node started nothing while another was stopped; null when none ever was. */
export function longestGap(records: Records): Gap | null {
  const starts = groupBy(records.handled, (attempt) => attempt.process)
  let longest: Gap | null = null
  for (const stop of records.faults.filter(({ kind }) => STOPS.includes(kind)))
    for (const process of records.processes) {
      const gap = gapDuring(stop, process, {
        load: records.load,
        starts: (starts.get(process.name) ?? []).map(({ startedAt }) => startedAt).sort((a, b) => a - b),
      })
      if (gap !== null && (longest === null || gap.ms > longest.ms)) longest = gap
    }
  return longest
}

interface Watched {
  readonly load: Records['load']
  readonly starts: readonly number[]
}

/** Healthy is whoever was ready before and has not died; a gap is cut off where the health or the load ends. */
function gapDuring(stop: FaultRecord, process: ProcessRecord, { load, starts }: Watched): Gap | null {
  if (process.name === stop.process || process.readyAt === null) return null
  const from = Math.max(stop.from, process.readyAt, load.from)
  const until = Math.min(stop.until, process.diedAt ?? stop.until, load.until)
  if (until <= from) return null
  let gap: Gap = { process: process.name, from, ms: 0 }
  let last = from
  for (const start of [...starts.filter((at) => at > from && at < until), until]) {
    if (start - last > gap.ms) gap = { process: process.name, from: last, ms: start - last }
    last = start
  }
  return gap
}
