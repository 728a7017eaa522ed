import type { HandledAttempt, Records, StoredRun } from '../records.ts'
import { readLeases, type Leases } from './leases.ts'
import { readTails, type Tails } from './tails.ts'

/** Something that took room from one time to another. */
export interface Span {
  readonly from: number
  readonly to: number
  /** What to show when there were too many. */
  readonly row: unknown
}

/** The records with what every part of the audit asks of them. */
export interface Evidence {
  /** Without the attempts that a failover lost. */
  readonly records: Records
  readonly tails: Tails
  readonly runs: ReadonlyMap<string, StoredRun>
  readonly leases: Leases
  /** Attempts of each run in the handlers' journal, by number and time. */
  readonly handledByRun: ReadonlyMap<string, readonly HandledAttempt[]>
  /** While it counted: to its end, the death of its process, or the end of its holder's lease. */
  readonly spanOf: (attempt: HandledAttempt) => Span
}

/** Lays the records out. */
export function layOut(all: Records): Evidence {
  const tails = readTails(all)
  const records = { ...all, handled: all.handled.filter((attempt) => !tails.isLostAttempt(attempt)) }
  const leases = readLeases(records.leases, records.leaseMs)
  const processes = new Map(records.processes.map((process) => [process.name, process]))
  const runs = new Map(records.runs.map((run) => [run.id, run]))
  return {
    records,
    tails,
    runs,
    leases,
    handledByRun: groupBy(
      [...records.handled].sort((a, b) => a.number - b.number || a.startedAt - b.startedAt),
      (attempt) => attempt.run,
    ),
    spanOf: (attempt) => {
      const ends = [
        attempt.endedAt,
        processes.get(attempt.process)?.diedAt,
        leases.lapseAfter(attempt.node, attempt.startedAt),
        timedOutAt(attempt, runs.get(attempt.run)),
      ].filter((end) => end !== null && end !== undefined)
      return { from: attempt.startedAt, to: Math.max(attempt.startedAt, Math.min(...ends)), row: attempt }
    },
  }
}

/** A time limit ends an attempt without asking its handler, who hears of it a moment later. */
function timedOutAt(attempt: HandledAttempt, run: StoredRun | undefined): number | null {
  const stored = run?.attempts.find(({ id }) => id === attempt.id)
  if (stored === undefined) return null
  const byTime = stored.errorCode === 'timeout' || (run?.ending === 'timeout' && stored.finishedAt === run.finishedAt)
  return byTime ? stored.finishedAt : null
}

/** The items by a key; items without one are left out. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | null): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    if (key === null) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/**
 * The first time at which more spans than allowed were open, with their rows; null when there is none. What ends at a
 * time makes room for what begins at it.
 */
export function findCrowd(
  spans: readonly Span[],
  limit: number,
): { readonly at: number; readonly rows: readonly unknown[] } | null {
  const open = new Set<Span>()
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    for (const other of open) if (other.to <= span.from) open.delete(other)
    open.add(span)
    if (open.size > limit) return { at: span.from, rows: [...open].map(({ row }) => row) }
  }
  return null
}
