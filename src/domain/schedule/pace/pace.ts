import type { RunId } from '../../ids.ts'
import { durationMs, type DurationMs, type Instant, later, SECOND_MS } from '../../instant.ts'
import { because, type Evidence, type Why } from '../../reasons.ts'
import { type IntervalPlan, nextTick, previousTick } from '../../time/interval.ts'
import type { EveryTiming, Timing } from '../../time/timing.ts'
import type { Cadence } from './settings.ts'
import type { News } from '../../../core/cadence/news.ts'
import type { Proposal } from './proposal.ts'

/**
 * Where a schedule with a cadence stands: how far its interval has moved, and from which moment on it counts. All of it
 * is on record, so that any node goes on where another one has stopped.
 */
export interface Pace {
  /** Steps away from the interval of the schedule: above 0 it comes less often, below 0 more often. */
  readonly level: number
  /** Runs in a row that found nothing new, and those that found something; one of them is always 0. */
  readonly quiet: number
  readonly changed: number
  /** The moment from which the interval is counted: the next one when it was last planned. */
  readonly anchor: Instant
  /** The last moment that was decided before the anchor was set; null: none at this pace. */
  readonly last: Instant | null
  /** Runs of moments before this one were planned otherwise, and say nothing about this pace. */
  readonly since: Instant
  /** By which an answer that was given before is known again; null: there is none. */
  readonly digest: string | null
  readonly why: Why
  /** How it came to be where it is, newest first. */
  readonly recent: readonly PaceStep[]
}

/** One run that had a say in the pace. */
export interface PaceStep {
  readonly at: Instant
  readonly runId: RunId
  readonly intervalSeconds: number
  readonly reason: Why['reason']
  /** What came after it. */
  readonly next: Instant
}

/** So many steps are kept to be shown. */
export const MOST_STEPS = 12

/** A timing that has a cadence. */
export type PacedTiming = EveryTiming & { readonly cadence: Cadence }

/** The timing, if its interval moves by itself. */
export const pacedOf = (timing: Timing): PacedTiming | null =>
  timing.kind === 'every' && timing.cadence !== undefined ? { ...timing, cadence: timing.cadence } : null

/** How a schedule begins: with the interval it was given, on the grid of its own anchor. Null: its interval never moves. */
export function startPace(timing: Timing, now: Instant): Pace | null {
  const paced = pacedOf(timing)
  if (paced === null) return null
  const why = because('pace_started', 'cadence', boundsOf(paced, 0))
  return {
    ...{ level: 0, quiet: 0, changed: 0, anchor: paced.anchor, last: null },
    ...{ since: now, digest: null, why, recent: [] },
  }
}

/** When a schedule really fires: by its timing, or by what has become of its interval. */
export function plannedTiming(schedule: { readonly timing: Timing; readonly pace: Pace | null }): Timing {
  const { timing, pace } = schedule
  if (pace === null || timing.kind !== 'every' || timing.cadence === undefined) return timing
  return { ...timing, ...planOf(timing, pace) }
}

const planOf = (timing: EveryTiming, { level, anchor }: Pick<Pace, 'level' | 'anchor'>): IntervalPlan => ({
  intervalMs: paceInterval(timing, level),
  anchor,
})

/** How long the interval is at a level: whole seconds, inside the bounds. */
export function paceInterval({ intervalMs, cadence }: EveryTiming, level: number): DurationMs {
  if (cadence === undefined || level === 0) return intervalMs
  const bounds = { min: cadence.minSeconds, max: cadence.maxSeconds, stretch: cadence.stretch }
  return durationMs(Math.round(intervalAt({ base: intervalMs / SECOND_MS, ...bounds }, level)) * SECOND_MS)
}

/** A run of the plan that has ended with success. */
export interface EndedRun {
  readonly id: RunId
  readonly nominal: Instant
  readonly news: News
  readonly proposal: Proposal | null
}

interface At {
  readonly now: Instant
  /** Everything up to here has been decided. */
  readonly watermark: Instant
  /** The next moment by the pace so far; null: there is none. */
  readonly nextRunAt: Instant | null
}

/**
 * The pace after a run of the plan has ended with success. Quiet runs make the interval longer, step by step; the first
 * that finds something brings it back, and each further one in a row makes it shorter. What the agent proposes decides
 * the next moment whatever was found. Never answers with a moment that has passed, nor with one that was decided.
 */
export function paceAfter(pace: Pace, timing: PacedTiming, ended: EndedRun & At): Pace {
  const { now, news, nextRunAt } = ended
  if (ended.nominal < pace.since) return pace
  const quiet = news.isQuiet ? pace.quiet + 1 : 0
  const changed = news.isQuiet ? 0 : pace.changed + 1
  const level = levelAfter(pace.level, timing, { quiet, changed })
  const intervalMs = paceInterval(timing, level)
  const last = previousTick(planOf(timing, pace), later(ended.watermark, 1)) ?? pace.last ?? ended.nominal
  const counted = nextTick({ intervalMs, anchor: later(last, intervalMs) }, now)
  // A moment that has come and is not decided yet stays: it is looked at in a moment, and its run has a say again.
  const isDue = nextRunAt !== null && nextRunAt <= now
  const proposed = isDue ? null : proposedIn(ended.proposal, timing.cadence)
  const anchor = isDue ? nextRunAt : proposed === null ? counted : later(now, proposed)
  const facts = { ...boundsOf(timing, level), quiet_streak: quiet, change_streak: changed, found: news.found }
  const why = whyPaced(ended.proposal, { facts, proposed, isQuiet: news.isQuiet })
  const seconds = intervalMs / SECOND_MS
  const step = { at: now, runId: ended.id, intervalSeconds: seconds, reason: why.reason, next: anchor }
  return {
    ...{ level, quiet, changed, anchor, last, since: pace.since, digest: news.digest, why },
    recent: [step, ...pace.recent].slice(0, MOST_STEPS),
  }
}

/** One step further, unless the interval is at its bound already: then nothing is added that would have to be undone. */
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

/** What was proposed, as far as the bounds allow it. */
function proposedIn(proposal: Proposal | null, cadence: Cadence): number | null {
  if (proposal?.inMs === undefined || proposal.inMs === null) return null
  return Math.max(cadence.minSeconds * SECOND_MS, Math.min(cadence.maxSeconds * SECOND_MS, proposal.inMs))
}

interface Bounds extends Evidence {
  readonly interval_seconds: number
  readonly min_seconds: number
  readonly max_seconds: number
}

const boundsOf = (timing: PacedTiming, level: number): Bounds => ({
  interval_seconds: paceInterval(timing, level) / SECOND_MS,
  min_seconds: timing.cadence.minSeconds,
  max_seconds: timing.cadence.maxSeconds,
})

function whyPaced(
  proposal: Proposal | null,
  known: {
    readonly facts: Bounds & { readonly quiet_streak: number; readonly change_streak: number }
    readonly proposed: number | null
    readonly isQuiet: boolean
  },
): Why {
  const { facts, proposed, isQuiet } = known
  if (proposal !== null && proposed !== null)
    return because('pace_proposed', 'cadence.next_check', {
      ...{ ...facts, asked: proposal.asked, asked_seconds: wholeSeconds(proposal.inMs ?? 0) },
      ...{ got_seconds: wholeSeconds(proposed), clamped: proposed !== proposal.inMs },
    })
  // What could not be read or came too late is on record: whoever wonders finds it here.
  const told = proposal === null ? facts : { ...facts, passed_over: proposal.asked }
  return isQuiet ? because('pace_quiet', 'cadence', told) : because('pace_changed', 'cadence', told)
}

/** Not -0: it is written as 0, and what is read again must be the same. */
const wholeSeconds = (ms: number): number => Math.round(ms / SECOND_MS) + 0

/** Why an occurrence has the moment it has. Those behind the one that was planned keep the interval. */
export function whyThen(pace: Pace, timing: Timing, nominal: Instant): Why {
  const paced = pacedOf(timing)
  if (paced === null || nominal <= pace.anchor || pace.why.reason === 'pace_started') return pace.why
  return because('pace_kept', 'cadence', { ...boundsOf(paced, pace.level), quiet_streak: pace.quiet })
}

/** An interval that steps make longer or shorter, inside bounds, all in one unit of time. */
interface Stretchable {
  /** How long it is at level 0. */
  readonly base: number
  readonly min: number
  readonly max: number
  /** How much longer one level makes it. */
  readonly stretch: number
}

/** How long the interval is so many steps away from where it starts: above 0 longer, below 0 shorter, never out of bounds. */
export function intervalAt({ base, min, max, stretch }: Stretchable, level: number): number {
  return level === 0 ? base : Math.max(min, Math.min(max, base * stretch ** level))
}
