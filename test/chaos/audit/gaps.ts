import { hitsEverybody, type FaultKind } from '../fault-kinds.ts'
import type { FaultRecord } from '../faults.ts'
import type { ProcessRecord, Records } from '../records.ts'
import { groupBy } from './spans.ts'

/** A time during which a node started nothing. */
export interface Gap {
  readonly process: string
  readonly from: number
  readonly ms: number
}

/** Kinds during which one node is away and the others have to go on. */
export const AWAY_KINDS: readonly FaultKind[] = ['stop_short', 'stop_long', 'net_silent_short', 'net_silent_long']

/** The longest time that a healthy node started nothing while another was away; null when none ever was. */
export function longestGap(records: Records): Gap | null {
  const away = records.faults.filter(({ kind }) => AWAY_KINDS.includes(kind))
  return longestOf(
    observe(records).flatMap((node) => {
      // Whoever was hurt is not healthy before it is back at work; that is another measure.
      const hurt = node.hurt.map(({ from, until }) => ({
        from,
        until: node.starts.find((at) => at >= until) ?? Infinity,
      }))
      return away.filter(({ process }) => process !== node.name).map((window) => quietIn(node, { window, hurt }))
    }),
  )
}

/**
 * The longest time that a node started nothing although nothing was done to it or to the server just then: how long
 * whoever was hurt takes to be back at work, at the most. Null when there is nothing to tell it from.
 */
export const longestSilence = (records: Records): Gap | null =>
  longestOf(observe(records).map((node) => quietIn(node, { window: records.load, hurt: node.hurt })))

type Span = Pick<FaultRecord, 'from' | 'until'>

/** A process while there was load and it lived. */
interface Observed extends Span {
  readonly name: string
  /** When it started something, in order. */
  readonly starts: readonly number[]
  /** What was done to it, or to everybody. */
  readonly hurt: readonly FaultRecord[]
}

function observe({ processes, handled, faults, load }: Records): readonly Observed[] {
  const handledBy = groupBy(handled, (attempt) => attempt.process)
  return processes.flatMap(({ name, readyAt, diedAt }: ProcessRecord): readonly Observed[] => {
    if (readyAt === null) return []
    const starts = (handledBy.get(name) ?? []).map(({ startedAt }) => startedAt).sort((a, b) => a - b)
    const hurt = faults.filter((fault) => hitsEverybody(fault.kind) || fault.process === name)
    return [
      { name, starts, hurt, from: Math.max(readyAt, load.from), until: Math.min(diedAt ?? load.until, load.until) },
    ]
  })
}

/** The longest time in a window between two starts; what was done to the node meanwhile does not count. */
function quietIn(
  node: Observed,
  { window, hurt }: { readonly window: Span; readonly hurt: readonly Span[] },
): Gap | null {
  const until = Math.min(window.until, node.until)
  let quietSince = Math.max(window.from, node.from)
  if (until <= quietSince) return null
  const marks = [...node.starts.map((at) => ({ from: at, until: at })), ...hurt, { from: until, until }]
  let gap: Gap | null = null
  for (const mark of marks.sort((a, b) => a.from - b.from)) {
    const ms = Math.min(mark.from, until) - quietSince
    if (ms > 0 && (gap === null || ms > gap.ms)) gap = { process: node.name, from: quietSince, ms }
    quietSince = Math.max(quietSince, mark.until)
  }
  return gap
}

function longestOf(gaps: readonly (Gap | null)[]): Gap | null {
  let longest: Gap | null = null
  for (const gap of gaps) if (gap !== null && (longest === null || gap.ms > longest.ms)) longest = gap
  return longest
}
