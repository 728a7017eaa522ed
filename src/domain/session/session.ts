import type { RunId } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { cancelAll, type Cancellation } from '../run/cancellation.ts'
import { isActive, isWaitingWork, type RunFacts, type Trigger } from '../run/run.ts'
import { ACCEPTED } from '../../core/usual-why.ts'
import { type Debounce, decideDebounce, type OpenWindow } from './debounce.ts'
import type { SessionMode, SessionRules } from '../../core/session/session-rules.ts'

export type SessionRun = Pick<RunFacts, 'id' | 'state' | 'seq' | 'createdAt' | 'attempt' | 'firstAttempt'>

type Placed = Pick<SessionRun, 'id' | 'seq' | 'createdAt'>

/** Runs that have a place keep it; those that have none yet (debouncing, delayed) follow by age. */
export function inSessionOrder(a: Placed, b: Placed): number {
  if (a.seq === b.seq) return byAge(a, b)
  if (a.seq === null) return 1
  if (b.seq === null) return -1
  // Not by subtraction: a place on record that is no exact number is read as a bigint, which compares but does not mix.
  return a.seq < b.seq ? -1 : a.seq > b.seq ? 1 : byAge(a, b)
}

function byAge(a: Placed, b: Placed): number {
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}

export interface SessionFacts {
  readonly rules: SessionRules
  /** Pending runs of the session. */
  readonly runs: readonly SessionRun[]
  /** Set by /stopall: what was sent strictly before it must not run. */
  readonly cutoff: Instant | null
  /** A message of the same sender that still waits for more. */
  readonly open: OpenWindow | null
}

/** A piece of work on its way into a session. */
export interface Arrival {
  readonly trigger: Trigger
  /** When it was sent: the receive time in database time, or the channel's own when it has milliseconds. */
  readonly stamp: Instant
  /** Null for whatever is never debounced: schedules, heartbeats, sub-agents, tasks, messages without a sender. */
  readonly sender: string | null
  readonly notBefore: Instant | null
}

export type SessionAdmission =
  | { readonly kind: 'stale'; readonly why: Why }
  | { readonly kind: 'merge'; readonly into: RunId; readonly closesAt: Instant; readonly why: Why }
  | { readonly kind: 'reject'; readonly why: Why }
  | {
      readonly kind: 'enter'
      /** Not before this it is queued. Null: queued at once. */
      readonly notBefore: Instant | null
      readonly debouncing: boolean
      /** What ends so that this may enter: interrupted or pushed out. */
      readonly interrupted: readonly Cancellation[]
      readonly dropped: RunId | null
      /** An open window of the same sender that closes now. */
      readonly closes: RunId | null
      /** Must not start while a run it interrupted is still stopping. */
      readonly interrupts: boolean
      readonly why: Why
    }

type Entry = Extract<SessionAdmission, { kind: 'enter' }>

/** Why a run was pushed out of a full queue; its sender is told. */
export const droppedWhy = (by: RunId): Why => because('dropped', 'session.drop=old', { by })

/** Session mode and session cap, in this order: stale → merge → interrupt → cap → enter. */
export function admitToSession(
  arrival: Arrival,
  facts: SessionFacts,
  clock: { readonly now: Instant; readonly stopGraceMs: number },
): SessionAdmission {
  const { rules, cutoff } = facts
  if (cutoff !== null && arrival.stamp < cutoff)
    return { kind: 'stale', why: because('stale', 'session.cutoff', { cutoff: formatInstant(cutoff) }) }
  const debounce = debounceOf(arrival, facts, clock.now)
  if (debounce.kind === 'merge')
    return { ...debounce, why: because('merged', 'session.debounce_ms', { into: debounce.into }) }
  const entry = enter(arrival, debounce, clock.now)
  if (isInterrupting(arrival, rules)) return interrupt(entry, facts, clock)
  const waiting = facts.runs.filter(isWaitingWork)
  if (waiting.length < rules.cap) return entry
  return giveWay(entry, rules, waiting)
}

/** The cap is reached: somebody has to give way. */
function giveWay(entry: Entry, { drop, cap }: SessionRules, waiting: readonly SessionRun[]): SessionAdmission {
  const full = { waiting: waiting.length, cap }
  switch (drop) {
    case 'new':
      return { kind: 'reject', why: because('session_queue_full', 'session.drop=new', full) }
    case 'old': {
      const oldest = waiting.toSorted(byAge)[0]?.id ?? null
      // What is pushed out has no more window to close.
      return { ...entry, dropped: oldest, closes: entry.closes === oldest ? null : entry.closes }
    }
  }
}

/** Which modes end what is there before the newcomer starts. */
const INTERRUPTS: Readonly<Record<SessionMode, boolean>> = { queue: false, followup: false, interrupt: true }

/** Only somebody speaking interrupts or is debounced: a schedule that reports into a chat must not cut a person off. */
const isMessage = (trigger: Trigger): boolean => trigger === 'message' || trigger === 'webhook'

const isInterrupting = (arrival: Arrival, rules: SessionRules): boolean =>
  INTERRUPTS[rules.mode] && isMessage(arrival.trigger)

/** Work with its own not-before is delayed, not debounced: merging it would move a time somebody chose. */
function debounceOf(arrival: Arrival, facts: SessionFacts, now: Instant): Debounce {
  if (arrival.notBefore !== null || !isMessage(arrival.trigger)) return { kind: 'off', closes: null }
  const { debounceMs } = facts.rules
  // Joining a window that interrupted nothing would let what is active go on: it is drained like all that waits.
  const mayJoin = facts.open?.interrupts === true || !isInterrupting(arrival, facts.rules)
  return decideDebounce({ at: now, sender: arrival.sender, debounceMs, open: mayJoin ? facts.open : null })
}

/** How work enters that belongs to no session. */
export const enterAlone = (arrival: Arrival, now: Instant): Entry => enter(arrival, { kind: 'off', closes: null }, now)

function enter(arrival: Arrival, debounce: Exclude<Debounce, { kind: 'merge' }>, now: Instant): Entry {
  const plain = { kind: 'enter', interrupted: [], dropped: null, closes: null, interrupts: false } as const
  if (debounce.kind === 'open') {
    const why = because('debouncing', 'session.debounce_ms', { until: formatInstant(debounce.closesAt) })
    return { ...plain, notBefore: debounce.closesAt, debouncing: true, why }
  }
  const { notBefore } = arrival
  const delayed = notBefore !== null && notBefore > now
  const why = delayed ? because('delayed', 'not_before', { not_before: formatInstant(notBefore) }) : ACCEPTED
  return { ...plain, notBefore: delayed ? notBefore : null, debouncing: false, closes: debounce.closes, why }
}

/** The newcomer goes in whatever the cap says; everything before it is cancelled. */
function interrupt(
  entry: Entry,
  facts: SessionFacts,
  clock: { readonly now: Instant; readonly stopGraceMs: number },
): Entry {
  const rule = 'session.mode=interrupt'
  const cancel = { ...clock, why: because('interrupted', rule) }
  const active = cancelAll(facts.runs.filter(isActive), cancel)
  const waiting = cancelAll(facts.runs.filter(isWaitingWork), cancel)
  const why = because('interrupting', rule, { cancelled: active.length, drained: waiting.length })
  // A window of the same sender has just been drained, so there is nothing left to close.
  return { ...entry, interrupted: [...active, ...waiting], closes: null, interrupts: true, why }
}

/**
 * Turns up to this one give a million places each, as version 0.1.0 did: nodes of both versions order sessions alike.
 * Later turns give fewer, so that places stay exact numbers for 38 more years of 1,000 turns a second.
 */
const WIDE_TURNS = 4_000_000_000
const WIDE = 1_000_000
const NARROW = 4_096

/**
 * The place in its session of the run that enters the queue as the `given`-th of a turn, counted from 1. Places need no
 * counter on record: every place of a later turn is higher. When a turn has none left the last place is shared, and age
 * decides between those who share it.
 */
export function placeIn(turnNo: number, given: number): number {
  const later = turnNo - WIDE_TURNS
  if (later <= 0) return turnNo * WIDE + Math.min(given, WIDE - 1)
  return WIDE_TURNS * WIDE + (WIDE - NARROW) + later * NARROW + Math.min(given, NARROW - 1)
}

/** From this share of the context window on, a session starts one run at a time. */
const THROTTLE_SHARE = 0.6

/** How full a session's context is, as its executor last reported or its estimator says. */
export interface ContextUse {
  readonly tokens: number
  readonly contextWindow: number
}

/** True from exactly 60 % on. Without an estimate, or with a window that makes no sense, nothing is throttled. */
export const isThrottled = (use: ContextUse | null): boolean =>
  use !== null && use.contextWindow > 0 && use.tokens / use.contextWindow >= THROTTLE_SHARE

/** How many runs of the session may be active for another to start. Running work is never touched by it. */
export const sessionLimit = (maxConcurrent: number, use: ContextUse | null): number =>
  isThrottled(use) ? 1 : maxConcurrent
