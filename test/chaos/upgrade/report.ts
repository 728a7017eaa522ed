import type { Audit } from '../audit/audit.ts'
import type { HandledAttempt, Submission } from '../records.ts'
import { describeFindings, verdictOf } from '../report.ts'

/** A span of time by the machine's clock. */
export interface Window {
  readonly from: number
  readonly until: number
}

/** What one upgrade left behind. */
export interface Upgraded {
  /** From where to where, in migrations. */
  readonly from: number
  readonly to: number
  readonly audit: Audit
  readonly handled: readonly HandledAttempt[]
  readonly submissions: readonly Submission[]
  readonly load: Window
  /** While nodes of both builds were at work. */
  readonly mixed: Window
  readonly migratedInMs: number
  /** Errors that nodes logged, by their message. */
  readonly errors: ReadonlyMap<string, number>
  readonly troubles: readonly string[]
}

/** Nobody may be kept waiting longer than this, whoever migrates, leaves or is killed. */
const LONGEST_PAUSE_MS = 5_000

/** Each build has to do this much while both are there: otherwise nothing was shown about the two together. */
const LEAST_STARTS = 100

/** What a node answers that has been told to leave; everything else without an outcome is an error of the program. */
const OF_LEAVING = new Set(['NOT_STARTED'])

/** Whether a process is one of the earlier build, by its name. */
const isOld = (process: string): boolean => process.startsWith('old')

const within = ({ from, until }: Window, at: number): boolean => from <= at && at <= until

/** Attempts that each build started while both were at work. */
function startsTogether({ handled, mixed }: Upgraded): { readonly old: number; readonly new: number } {
  const together = handled.filter(({ startedAt }) => within(mixed, startedAt))
  const old = together.filter(({ process }) => isOld(process)).length
  return { old, new: together.length - old }
}

/** The longest time under load in which no node started anything. */
export function longestPause({ handled, load }: Upgraded): number {
  const starts = handled.map(({ startedAt }) => startedAt).filter((at) => within(load, at))
  let last = load.from
  let longest = 0
  for (const at of [...starts.sort((a, b) => a - b), load.until]) {
    longest = Math.max(longest, at - last)
    last = at
  }
  return longest
}

/** Runs that one build began and the other went on with. */
export function crossings({ handled }: Upgraded): { readonly toNew: number; readonly toOld: number } {
  const last = new Map<string, HandledAttempt>()
  let toNew = 0
  let toOld = 0
  for (const attempt of [...handled].sort((a, b) => a.startedAt - b.startedAt)) {
    const before = last.get(attempt.run)
    last.set(attempt.run, attempt)
    if (before === undefined || isOld(before.process) === isOld(attempt.process)) continue
    if (isOld(before.process)) toNew += 1
    else toOld += 1
  }
  return { toNew, toOld }
}

/** Answers that were errors of the program, by code. A process that was killed gave none at all. */
function failures({ submissions }: Upgraded): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { outcome, code } of submissions)
    if (outcome === 'unknown' && code !== null && !OF_LEAVING.has(code)) counts.set(code, (counts.get(code) ?? 0) + 1)
  return counts
}

/** Why the result is not good enough, one line each; none when it is. */
export function complaintsOf(upgraded: Upgraded): readonly string[] {
  const starts = startsTogether(upgraded)
  const pause = longestPause(upgraded)
  const crossed = crossings(upgraded)
  return [
    ...upgraded.troubles,
    ...[...failures(upgraded)].map(([code, count]) => `${count} submissions failed with ${code}`),
    ...[...upgraded.errors].map(([message, count]) => `nodes logged ${count} times: ${message}`),
    ...(starts.old < LEAST_STARTS ? [`the earlier build started only ${starts.old} attempts beside this one`] : []),
    ...(starts.new < LEAST_STARTS ? [`this build started only ${starts.new} attempts beside the earlier one`] : []),
    ...(crossed.toNew === 0 ? ['no run of an old node was taken over by a new one'] : []),
    ...(pause > LONGEST_PAUSE_MS ? [`nothing was started for ${pause} ms, ${LONGEST_PAUSE_MS} are allowed`] : []),
    ...describeFindings(upgraded.audit),
  ]
}

/** The whole result, line by line; the verdict is the last. */
export function describeUpgrade(upgraded: Upgraded): readonly string[] {
  const { audit, load, mixed } = upgraded
  const { accepted, refused, unknown } = audit.outcomes
  const starts = startsTogether(upgraded)
  const crossed = crossings(upgraded)
  const seconds = ({ from, until }: Window): string => `${((until - from) / 1_000).toFixed(0)} s`
  return [
    `migration ${upgraded.from} to ${upgraded.to} in ${upgraded.migratedInMs} ms under load`,
    `${seconds(load)} of load, ${seconds(mixed)} of them with both builds, ${audit.acceptedPerSecond.toFixed(1)} submissions/s acknowledged (${accepted} acknowledged, ${refused} refused, ${unknown} unknown)`,
    `attempts started side by side: ${starts.old} by the earlier build, ${starts.new} by this one; taken over: ${crossed.toNew} by this one, ${crossed.toOld} by the earlier one`,
    `runs: ${[...audit.endings]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([ending, count]) => `${ending} ${count}`)
      .join(', ')}`,
    `longest time without a start on any node: ${longestPause(upgraded).toFixed(0)} ms`,
    verdictOf(audit),
  ]
}
