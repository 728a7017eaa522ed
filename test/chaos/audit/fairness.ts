import type { Limits, StoredRun } from '../records.ts'
import type { Finding } from './findings.ts'
import { groupBy, type Evidence } from './spans.ts'

/** How long runs of small orgs waited for a start while other orgs started work in the same lane. */
export interface Fairness {
  readonly findings: readonly Finding[]
  /** Orgs without a limit of their own that waited at all, and their runs. */
  readonly orgs: number
  readonly runs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
}

/** No run that could start waits longer than this while others start in its lane. */
export const MAX_WAIT_MS = 5_000

/** Starts that are no further apart show that the lane moves; a longer pause is an outage, which hits all orgs. */
const MOVES_WITHIN_MS = 250

interface Start {
  readonly at: number
  readonly org: string
}

interface Wait {
  readonly run: StoredRun
  readonly ms: number
}

/**
 * Looks at messages to sessions that let one run in at a time, in orgs without a limit: such a run can start as soon as it
 * is there and those before it in its session have ended. What it waits then is the share that its org gets of the lane.
 */
export function measureFairness({ records }: Evidence): Fairness {
  const { runs, limits } = records
  const lanes = new Map([...groupBy(runs, ({ lane }) => lane)].map(([lane, group]) => [lane, startsOf(group)]))
  const waits = [...groupBy(runs, (run) => sessionOf(run, limits))].flatMap(([, group]) => waitsIn(group, lanes))
  const sorted = waits.map(({ ms }) => ms).sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    findings: waits
      .filter(({ ms }) => ms > MAX_WAIT_MS)
      .map(({ run, ms }) => ({ wrong: 'unfair', what: `a run of ${run.org} waited ${ms.toFixed(0)} ms`, rows: [run] })),
    ...{ orgs: new Set(waits.map(({ run }) => run.org)).size, runs: waits.length },
    ...{ p50Ms: at(0.5), p99Ms: at(0.99), longestMs: at(1) },
  }
}

const sessionOf = ({ org, session, trigger }: StoredRun, limits: Limits): string | null =>
  session !== null && trigger === 'message' && !limits.orgs.has(org) && limits.sessions.get(session) === 1
    ? session
    : null

const firstStart = ({ attempts }: StoredRun): number | undefined => attempts[0]?.startedAt

const startsOf = (runs: readonly StoredRun[]): readonly Start[] =>
  runs
    .flatMap(({ org, attempts }) => attempts.map(({ startedAt }) => ({ at: startedAt, org })))
    .sort((a, b) => a.at - b.at)

function waitsIn(session: readonly StoredRun[], lanes: ReadonlyMap<string, readonly Start[]>): readonly Wait[] {
  let freeAt = 0
  return [...session]
    .sort((a, b) => a.createdAt - b.createdAt || (firstStart(a) ?? 0) - (firstStart(b) ?? 0))
    .flatMap((run): readonly Wait[] => {
      const ready = Math.max(run.createdAt, freeAt)
      const started = firstStart(run)
      freeAt = Math.max(freeAt, run.finishedAt ?? Infinity)
      if (started === undefined || !Number.isFinite(ready)) return []
      const others = { starts: lanes.get(run.lane) ?? [], org: run.org }
      return [{ run, ms: movingTime(others, ready, started) }]
    })
}

/** How much of a time other orgs started work in the lane. */
function movingTime(
  { starts, org }: { readonly starts: readonly Start[]; readonly org: string },
  from: number,
  to: number,
): number {
  let ms = 0
  let last = -Infinity
  for (let index = firstAfter(starts, from - MOVES_WITHIN_MS); index < starts.length; index += 1) {
    const start = starts[index]
    if (start === undefined || last >= to) break
    if (start.org === org) continue
    if (start.at - last <= MOVES_WITHIN_MS) ms += Math.max(0, Math.min(start.at, to) - Math.max(last, from))
    last = start.at
  }
  return ms
}

/** The first of the starts, which are in order, at this time or later. */
function firstAfter(starts: readonly Start[], at: number): number {
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle]?.at ?? Infinity) < at) low = middle + 1
    else high = middle
  }
  return low
}
