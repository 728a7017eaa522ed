import type { HandledAttempt, Records, Submission } from '../records.ts'
import type { Finding } from './findings.ts'

/** What failovers took back. What was acknowledged between a copy and the end of its server may be missing, nothing else. */
export interface Tails {
  /** Whether there was a failover before this time. */
  readonly isOver: (at: number) => boolean
  /** Begun before the copy answered, and not on record. */
  readonly isLostAttempt: (attempt: HandledAttempt) => boolean
  /** Answered by the server that was lost, after the copy of it was made. */
  readonly mayBeLost: (submission: Submission) => boolean
  /** Whether the report of an attempt that had ended may have been lost before another of its run began. */
  readonly mayLackEnd: (attempt: HandledAttempt, next: HandledAttempt) => boolean
  /** Attempts that began although the record that gave a right to them was gone. */
  readonly findUnrecorded: () => readonly Finding[]
}

/** The report of an attempt takes at most this long, unless something was done to its node or to the server. */
const REPORTED_WITHIN_MS = 2_000

/** What was done to a node keeps its reports back for so many leases at most: then it has noticed, and connects anew. */
const DISTURBED_LEASES = 3

/** Reads them from the faults. */
export function readTails({ faults, runs, handled, leaseMs }: Records): Tails {
  const tails = faults.flatMap(({ tail }) => tail ?? [])
  const recorded = new Set(runs.flatMap(({ attempts }) => attempts.map(({ id }) => id)))
  const isLostAttempt = ({ id, startedAt }: HandledAttempt): boolean =>
    !recorded.has(id) && tails.some(({ from, back }) => from <= startedAt && startedAt <= back)
  const reportedWithin = (name: string, at: number): number => {
    const since = at - DISTURBED_LEASES * leaseMs
    const disturbed = faults.filter(
      ({ process, from, until }) => (process ?? name) === name && from < at && until > since,
    )
    return Math.max(REPORTED_WITHIN_MS, ...disturbed.map(({ from }) => at - from + REPORTED_WITHIN_MS))
  }
  const isOver = (at: number): boolean => tails.some(({ back }) => back < at)
  return {
    isOver,
    isLostAttempt,
    mayBeLost: ({ sentAt, answeredAt }) =>
      tails.some(({ from, until }) => sentAt <= until && answeredAt !== null && answeredAt >= from),
    mayLackEnd: ({ endedAt, process }, next) =>
      endedAt !== null &&
      endedAt <= next.startedAt &&
      tails.some(({ from, until }) => endedAt >= from - reportedWithin(process, from) && next.startedAt >= until),
    findUnrecorded: () =>
      handled
        .filter((attempt) => isOver(attempt.startedAt) && !recorded.has(attempt.id) && !isLostAttempt(attempt))
        .map((attempt) => ({ wrong: 'unrecorded', what: 'an attempt began that is not on record', rows: [attempt] })),
  }
}
