import { NO_REPLY } from '../../delivery/delivery.ts'
import { trimBlank } from '../../heartbeat/acknowledgement.ts'
import { HEARTBEAT_DEFAULTS } from '../../heartbeat/heartbeat-config.ts'
import { isAcknowledged } from '../../heartbeat/heartbeat-reply.ts'
import type { RunId } from '../../ids.ts'
import { durationMs, type DurationMs, type Instant, later, SECOND_MS } from '../../instant.ts'
import { because, type Evidence, type Reason, type Why } from '../../reasons.ts'
import { type Proposal, withoutProposal } from './proposal.ts'
import type { Cadence } from './settings.ts'
import { type IntervalPlan, nextTick, previousTick } from '../../time/interval.ts'
import type { EveryTiming, Timing } from '../../time/timing.ts'

/** The result of a successful run, as far as the pace is concerned. */
interface RunAnswer {
  /** Why it ended; a probe that found nothing counts as quiet. */
  readonly reason: Reason
  readonly output: unknown
  readonly summary: unknown
}

/** How a run counts for the pace, and the digest for recognizing a repeated answer. */
interface RunNews {
  readonly isQuiet: boolean
  /** Why it counts so: the probe said no, the answer was empty, nothing needed attention, or nothing was new. */
  readonly found: 'probe_no' | 'empty' | 'no_reply' | 'acknowledged' | 'same' | 'new'
  readonly digest: string | null
}

/** Decides whether a run found something new; `before` is the digest of the last counted answer. */
export function decideNews({ reason, output, summary }: RunAnswer, before: string | null): RunNews {
  // A run ended by its probe has no answer, so the last answer remains the one to compare with.
  if (reason === 'probe_no') return { isQuiet: true, found: 'probe_no', digest: before }
  const text = trimBlank(textOf(withoutProposal(output)) || textOf(summary))
  const quiet = (found: RunNews['found']): RunNews => ({ isQuiet: true, found, digest: before })
  if (text === '') return quiet('empty')
  if (text === NO_REPLY) return quiet('no_reply')
  if (isAcknowledged(text, HEARTBEAT_DEFAULTS.ackMaxChars)) return quiet('acknowledged')
  const digest = digestOf(text)
  return digest === before ? { isQuiet: true, found: 'same', digest } : { isQuiet: false, found: 'new', digest }
}

function textOf(output: unknown): string {
  if (output === null || output === undefined) return ''
  return typeof output === 'string' ? output : JSON.stringify(output)
}

/** Enough bits to tell an answer from the previous one; the answer cannot be recovered from them. */
function digestOf(text: string): string {
  let [first, second] = [0x811c_9dc5, 0x9747_b28c]
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    first = Math.imul(first ^ unit, 0x0100_0193)
    second = Math.imul((second << 5) ^ (second >>> 27) ^ unit, 0x85eb_ca6b)
  }
  return [first, second, text.length].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('')
}

/**
 * The pace of a schedule with a cadence: how far its interval has moved, and the anchor it counts from. All of it is
 * stored, so that any node can continue.
 */
export interface Pace {
  /** Steps away from the configured interval: above 0 it runs less often, below 0 more often. */
  readonly level: number
  /** Consecutive runs that found nothing new, and consecutive runs that found something; one of them is always 0. */
  readonly quiet: number
  readonly changed: number
  /** The time from which the interval counts: the next occurrence when it was last planned. */
  readonly anchor: Instant
  /** The last occurrence that was decided before the anchor was set; null: none at this pace. */
  readonly last: Instant | null
  /** Runs for occurrences before this time were planned differently and do not count for this pace. */
  readonly since: Instant
  /** The digest of the last counted answer; null: there is none. */
  readonly digest: string | null
  readonly why: Why
  /** The most recent changes, newest first. */
  readonly recent: readonly PaceStep[]
}

/** One run that counted for the pace. */
interface PaceStep {
  readonly at: Instant
  readonly runId: RunId
  readonly intervalSeconds: number
  readonly reason: Why['reason']
  /** The next occurrence after it. */
  readonly next: Instant
}

/** The number of steps that are stored for display. */
export const MAX_PACE_STEPS = 12

/** A timing that has a cadence. */
export type PacedTiming = EveryTiming & { readonly cadence: Cadence }

/** The timing, if it has a cadence. */
export const pacedOf = (timing: Timing): PacedTiming | null =>
  timing.kind === 'every' && timing.cadence !== undefined ? { ...timing, cadence: timing.cadence } : null

/** The initial pace: the configured interval with its own anchor; null without a cadence. */
export function startPace(timing: Timing, now: Instant): Pace | null {
  const paced = pacedOf(timing)
  if (paced === null) return null
  const why = because('pace_started', 'cadence', boundsOf(paced, 0))
  return {
    ...{ level: 0, quiet: 0, changed: 0, anchor: paced.anchor, last: null },
    ...{ since: now, digest: null, why, recent: [] },
  }
}

/** The effective timing of a schedule, with the current interval of its pace. */
export function plannedTiming(schedule: { readonly timing: Timing; readonly pace: Pace | null }): Timing {
  const { timing, pace } = schedule
  if (pace === null || timing.kind !== 'every' || timing.cadence === undefined) return timing
  return { ...timing, ...intervalPlanOf(timing, pace) }
}

const intervalPlanOf = (timing: EveryTiming, { level, anchor }: Pick<Pace, 'level' | 'anchor'>): IntervalPlan => ({
  intervalMs: paceInterval(timing, level),
  anchor,
})

/** The interval at a level, in whole seconds within the bounds. */
export function paceInterval({ intervalMs, cadence }: EveryTiming, level: number): DurationMs {
  if (cadence === undefined || level === 0) return intervalMs
  const bounds = { min: cadence.minSeconds, max: cadence.maxSeconds, stretch: cadence.stretch }
  return durationMs(Math.round(intervalAt({ base: intervalMs / SECOND_MS, ...bounds }, level)) * SECOND_MS)
}

/** A successful planned run. */
export interface EndedPacedRun {
  readonly id: RunId
  readonly nominal: Instant
  readonly news: RunNews
  readonly proposal: Proposal | null
}

interface PaceContext {
  readonly now: Instant
  /** Everything up to this time has been decided. */
  readonly watermark: Instant
  /** The next occurrence at the current pace; null: there is none. */
  readonly nextRunAt: Instant | null
}

/**
 * The pace after a successful planned run. Quiet runs lengthen the interval step by step; the first run that finds
 * something resets it, and each further one in a row shortens it. A proposal of the agent decides the next occurrence
 * regardless. The next occurrence is never in the past and never one that was already decided.
 */
export function paceAfter(pace: Pace, timing: PacedTiming, ended: EndedPacedRun & PaceContext): Pace {
  const { now, news, nextRunAt } = ended
  if (ended.nominal < pace.since) return pace
  const quiet = news.isQuiet ? pace.quiet + 1 : 0
  const changed = news.isQuiet ? 0 : pace.changed + 1
  const level = levelAfter(pace.level, timing, { quiet, changed })
  const intervalMs = paceInterval(timing, level)
  const last = previousTick(intervalPlanOf(timing, pace), later(ended.watermark, 1)) ?? pace.last ?? ended.nominal
  const counted = nextTick({ intervalMs, anchor: later(last, intervalMs) }, now)
  // A due but undecided occurrence stays: it is processed shortly, and its run counts again.
  const isDue = nextRunAt !== null && nextRunAt <= now
  const proposed = isDue ? null : proposedIn(ended.proposal, timing.cadence)
  const anchor = isDue ? nextRunAt : proposed === null ? counted : later(now, proposed)
  const facts = { ...boundsOf(timing, level), quiet_streak: quiet, change_streak: changed, found: news.found }
  const why = whyPaceChanged(ended.proposal, { facts, proposed, isQuiet: news.isQuiet })
  const seconds = intervalMs / SECOND_MS
  const step = { at: now, runId: ended.id, intervalSeconds: seconds, reason: why.reason, next: anchor }
  return {
    ...{ level, quiet, changed, anchor, last, since: pace.since, digest: news.digest, why },
    recent: [step, ...pace.recent].slice(0, MAX_PACE_STEPS),
  }
}

/** One more step, unless the interval is already at its bound, where steps would only have to be undone. */
function levelAfter(
  level: number,
  timing: PacedTiming,
  { quiet, changed }: { readonly quiet: number; readonly changed: number },
): number {
  const { cadence } = timing
  if (cadence.stretch === 1) return 0
  const seconds = paceInterval(timing, level) / SECOND_MS
  if (quiet > 0) return quiet >= cadence.quietAfter && seconds < cadence.maxSeconds ? level + 1 : level
  if (level > 0) return 0
  return changed >= 2 && seconds > cadence.minSeconds ? level - 1 : level
}

/** The proposed wait, clamped to the bounds. */
function proposedIn(proposal: Proposal | null, cadence: Cadence): number | null {
  if (proposal?.inMs === undefined || proposal.inMs === null) return null
  return Math.max(cadence.minSeconds * SECOND_MS, Math.min(cadence.maxSeconds * SECOND_MS, proposal.inMs))
}

interface PaceBounds extends Evidence {
  readonly interval_seconds: number
  readonly min_seconds: number
  readonly max_seconds: number
}

const boundsOf = (timing: PacedTiming, level: number): PaceBounds => ({
  interval_seconds: paceInterval(timing, level) / SECOND_MS,
  min_seconds: timing.cadence.minSeconds,
  max_seconds: timing.cadence.maxSeconds,
})

function whyPaceChanged(
  proposal: Proposal | null,
  known: {
    readonly facts: PaceBounds & { readonly quiet_streak: number; readonly change_streak: number }
    readonly proposed: number | null
    readonly isQuiet: boolean
  },
): Why {
  const { facts, proposed, isQuiet } = known
  if (proposal !== null && proposed !== null)
    return because('pace_proposed', 'cadence.next_check', {
      ...{ ...facts, asked: proposal.text, asked_seconds: wholeSeconds(proposal.inMs ?? 0) },
      ...{ got_seconds: wholeSeconds(proposed), clamped: proposed !== proposal.inMs },
    })
  // An unreadable or late proposal is recorded in the evidence.
  const evidence = proposal === null ? facts : { ...facts, passed_over: proposal.text }
  return isQuiet ? because('pace_quiet', 'cadence', evidence) : because('pace_changed', 'cadence', evidence)
}

/** Adding 0 turns -0 into 0, because -0 would be stored as 0 and then differ. */
const wholeSeconds = (ms: number): number => Math.round(ms / SECOND_MS) + 0

/** Why an occurrence has its time. Occurrences after the planned one keep the interval. */
export function whyOccurrence(pace: Pace, timing: Timing, nominal: Instant): Why {
  const paced = pacedOf(timing)
  if (paced === null || nominal <= pace.anchor || pace.why.reason === 'pace_started') return pace.why
  return because('pace_kept', 'cadence', { ...boundsOf(paced, pace.level), quiet_streak: pace.quiet })
}

/** An interval that changes in steps within bounds, all in the same unit. */
interface IntervalBounds {
  /** The interval at level 0. */
  readonly base: number
  readonly min: number
  readonly max: number
  /** The factor per level. */
  readonly stretch: number
}

/** The interval at a level: longer above 0, shorter below 0, never out of bounds. */
export function intervalAt({ base, min, max, stretch }: IntervalBounds, level: number): number {
  return level === 0 ? base : Math.max(min, Math.min(max, base * stretch ** level))
}
