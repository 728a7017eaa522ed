import { inlineKindOf } from '../agent.ts'
import { type AgentId, runId, type RunId, scheduleId, type ScheduleId, sessionKey, type SessionKey } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { cancelAll, type Cancellation } from '../run/cancellation.ts'
import type { RunState } from '../run/run-machine.ts'
import { isActive, isWaitingRun, type RunFacts, type Trigger, ACCEPTED } from '../run/run.ts'
import { type Debounce, decideDebounce, type OpenWindow } from './debounce.ts'

/** The scheduled run that a session belongs to. */
interface RunOfSession {
  readonly runId: RunId
  readonly scheduleId: ScheduleId
}

/** The pattern of such session keys; JavaScript and PostgreSQL interpret it the same. */
export const RUN_SESSION_PATTERN = '^(?:agent:[^:]+:cron|schedule):([^:]+):run:(run_[^:]+)$'

const RUN_SESSION = new RegExp(RUN_SESSION_PATTERN)

/** The session of a run: the one it was created in, or its own for a schedule with isolated runs. */
export function sessionOfRun(run: {
  readonly id: RunId
  readonly agentId: AgentId
  readonly scheduleId: ScheduleId | null
  readonly sessionKey: SessionKey | null
}): SessionKey | null {
  const { id, agentId, scheduleId: schedule } = run
  if (run.sessionKey !== null || schedule === null) return run.sessionKey
  return sessionKey(
    inlineKindOf(agentId) === null ? `agent:${agentId}:cron:${schedule}:run:${id}` : `schedule:${schedule}:run:${id}`,
  )
}

/** The session as events and responses show it: a skipped occurrence has none. */
export const shownSessionOf = (
  run: Parameters<typeof sessionOfRun>[0] & { readonly state: RunState },
): SessionKey | null => (run.state === 'skipped' ? run.sessionKey : sessionOfRun(run))

/** The run that a session key belongs to; null: it is not the session of a run. */
export function runOfSession(key: string): RunOfSession | null {
  const [, schedule, run] = RUN_SESSION.exec(key) ?? []
  return schedule === undefined || run === undefined ? null : { scheduleId: scheduleId(schedule), runId: runId(run) }
}

export const SESSION_MODES = ['queue', 'followup', 'interrupt'] as const
export type SessionMode = (typeof SESSION_MODES)[number]

export const DROP_POLICIES = ['old', 'new'] as const
export type DropPolicy = (typeof DROP_POLICIES)[number]

/**
 * How a session handles messages. Each setting can be set for the deployment, the session and, in part, the message.
 */
export interface SessionRules {
  readonly mode: SessionMode
  /** The maximum number of waiting runs; active runs do not count. */
  readonly cap: number
  readonly drop: DropPolicy
  /** 0 disables merging. */
  readonly debounceMs: number
  readonly maxConcurrent: number
}

export const DEFAULT_SESSION_RULES: SessionRules = {
  mode: 'queue',
  cap: 10,
  drop: 'old',
  debounceMs: 800,
  maxConcurrent: 1,
}

/** A longer wait is a delay, which has its own field. */
export const MAX_DEBOUNCE_MS = 60_000

export const MAX_CAP = 100_000

export const MAX_SESSION_CONCURRENT = 10_000

export type SessionRun = Pick<RunFacts, 'id' | 'state' | 'seq' | 'createdAt' | 'attempt' | 'firstAttempt'>

type OrderedRun = Pick<SessionRun, 'id' | 'seq' | 'createdAt'>

/** Orders by position; runs without one (debouncing, delayed) follow by age. */
export function inSessionOrder(a: OrderedRun, b: OrderedRun): number {
  if (a.seq === b.seq) return byAge(a, b)
  if (a.seq === null) return 1
  if (b.seq === null) return -1
  // Not by subtraction: a stored position that is not an exact number is read as a bigint, which can be compared but
  // not mixed.
  return a.seq < b.seq ? -1 : a.seq > b.seq ? 1 : byAge(a, b)
}

function byAge(a: OrderedRun, b: OrderedRun): number {
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}

export interface SessionFacts {
  readonly rules: SessionRules
  /** Pending runs of the session that are in memory. */
  readonly runs: readonly SessionRun[]
  /** Waiting ones that are not; left out: none. */
  readonly behind?: number
  /** Set by /stopall: messages sent strictly before it must not run. */
  readonly cutoff: Instant | null
  /** A message that still waits for more from the same sender. */
  readonly open: OpenWindow | null
}

/** A submission to a session. */
export interface Arrival {
  readonly trigger: Trigger
  /** When it was sent: the receive time on the database clock, or the channel's own time when it has milliseconds. */
  readonly sentAt: Instant
  /**
   * Null for everything that is never debounced: schedules, heartbeats, sub-agents, tasks, messages without a sender.
   */
  readonly sender: string | null
  readonly notBefore: Instant | null
}

export type SessionAdmission =
  | { readonly kind: 'stale'; readonly why: Why }
  | { readonly kind: 'merge'; readonly into: RunId; readonly closesAt: Instant; readonly why: Why }
  | { readonly kind: 'reject'; readonly why: Why }
  | {
      readonly kind: 'enter'
      /** When it is queued; null: at once. */
      readonly notBefore: Instant | null
      readonly debouncing: boolean
      /** The runs that it cancels: interrupted or dropped. */
      readonly interrupted: readonly Cancellation[]
      readonly dropped: RunId | null
      /** An open window of the same sender that closes now. */
      readonly closes: RunId | null
      /** It must not start while a run that it interrupted is still stopping. */
      readonly interrupts: boolean
      readonly why: Why
    }

type SessionEntry = Extract<SessionAdmission, { kind: 'enter' }>

/** Why a run was dropped from a full queue; its sender is notified. */
export const droppedWhy = (by: RunId): Why => because('dropped', 'session.drop=old', { by })

/** Applies session mode and session cap in this order: stale → merge → interrupt → cap → enter. */
export function admitToSession(
  arrival: Arrival,
  facts: SessionFacts,
  clock: { readonly now: Instant; readonly stopGraceMs: number },
): SessionAdmission {
  const { rules, cutoff } = facts
  if (cutoff !== null && arrival.sentAt < cutoff)
    return { kind: 'stale', why: because('stale', 'session.cutoff', { cutoff: formatInstant(cutoff) }) }
  const debounce = debounceOf(arrival, facts, clock.now)
  if (debounce.kind === 'merge')
    return { ...debounce, why: because('merged', 'session.debounce_ms', { into: debounce.into }) }
  const entry = enterSession(arrival, debounce, clock.now)
  if (isInterrupting(arrival, rules)) return interrupt(entry, facts, clock)
  const waiting = facts.runs.filter(isWaitingRun)
  const count = waiting.length + (facts.behind ?? 0)
  if (count < rules.cap) return entry
  return applyDropPolicy(entry, rules, { waiting, count })
}

/** Applies the drop policy when the cap is reached. */
function applyDropPolicy(
  entry: SessionEntry,
  { drop, cap }: SessionRules,
  { waiting, count }: { readonly waiting: readonly SessionRun[]; readonly count: number },
): SessionAdmission {
  const full = { waiting: count, cap }
  switch (drop) {
    case 'new':
      return { kind: 'reject', why: because('session_queue_full', 'session.drop=new', full) }
    case 'old': {
      const oldest = waiting.toSorted(byAge)[0]?.id ?? null
      // A dropped run has no window left to close.
      return { ...entry, dropped: oldest, closes: entry.closes === oldest ? null : entry.closes }
    }
  }
}

/** Which modes cancel existing runs before a new one starts. */
const INTERRUPTS: Readonly<Record<SessionMode, boolean>> = { queue: false, followup: false, interrupt: true }

/** Only messages interrupt or are debounced: a schedule that reports into a chat must not cancel a person's request. */
const isMessage = (trigger: Trigger): boolean => trigger === 'message' || trigger === 'webhook'

const isInterrupting = (arrival: Arrival, rules: SessionRules): boolean =>
  INTERRUPTS[rules.mode] && isMessage(arrival.trigger)

/** A run with its own not-before is delayed, not debounced: merging it would change an explicit time. */
function debounceOf(arrival: Arrival, facts: SessionFacts, now: Instant): Debounce {
  if (arrival.notBefore !== null || !isMessage(arrival.trigger)) return { kind: 'off', closes: null }
  const { debounceMs } = facts.rules
  // Merging into a window that has not interrupted anything would keep active runs alive, so the window is cancelled
  // instead.
  const mayJoin = facts.open?.interrupts === true || !isInterrupting(arrival, facts.rules)
  return decideDebounce({ at: now, sender: arrival.sender, debounceMs, open: mayJoin ? facts.open : null })
}

/** Admission of a run outside any session. */
export const admitWithoutSession = (arrival: Arrival, now: Instant): SessionEntry =>
  enterSession(arrival, { kind: 'off', closes: null }, now)

function enterSession(arrival: Arrival, debounce: Exclude<Debounce, { kind: 'merge' }>, now: Instant): SessionEntry {
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

/** Why the runs before an interrupting one are cancelled. */
export const INTERRUPTED = because('interrupted', 'session.mode=interrupt')

/** The new run enters regardless of the cap, and all runs before it are cancelled. */
function interrupt(
  entry: SessionEntry,
  facts: SessionFacts,
  clock: { readonly now: Instant; readonly stopGraceMs: number },
): SessionEntry {
  const cancel = { ...clock, why: INTERRUPTED }
  const active = cancelAll(facts.runs.filter(isActive), cancel)
  const waiting = cancelAll(facts.runs.filter(isWaitingRun), cancel)
  const drained = waiting.length + (facts.behind ?? 0)
  const why = because('interrupting', INTERRUPTED.rule, { cancelled: active.length, drained })
  // A window of the same sender was just cancelled, so there is none to close.
  return { ...entry, interrupted: [...active, ...waiting], closes: null, interrupts: true, why }
}

/**
 * Transactions up to this number use a million positions each, as in version 0.1.0, so that nodes of both versions
 * order sessions the same. Later ones use fewer, so that positions stay exact numbers for 38 more years at 1,000
 * transactions a second.
 */
const WIDE_TRANSACTIONS = 4_000_000_000
const WIDE_POSITIONS = 1_000_000
const NARROW_POSITIONS = 4_096

/**
 * The session position of the `given`-th run that a transaction enqueues, counted from 1. Positions need no stored
 * counter: those of a later transaction are always higher. A transaction that runs out shares its last position among
 * the remaining runs, which are then ordered by age.
 */
export function sessionPosition(transactionNo: number, ordinal: number): number {
  const later = transactionNo - WIDE_TRANSACTIONS
  if (later <= 0) return transactionNo * WIDE_POSITIONS + Math.min(ordinal, WIDE_POSITIONS - 1)
  return (
    WIDE_TRANSACTIONS * WIDE_POSITIONS +
    (WIDE_POSITIONS - NARROW_POSITIONS) +
    later * NARROW_POSITIONS +
    Math.min(ordinal, NARROW_POSITIONS - 1)
  )
}

/** From this fraction of the context window on, a session starts one run at a time. */
const THROTTLE_SHARE = 0.6

/** How full a session's context is, as its executor last reported or as estimated. */
export interface ContextUse {
  readonly tokens: number
  readonly contextWindow: number
}

/** True from exactly 60 % on; without an estimate or with an invalid window nothing is throttled. */
export const isThrottled = (use: ContextUse | null): boolean =>
  use !== null && use.contextWindow > 0 && use.tokens / use.contextWindow >= THROTTLE_SHARE

/** The number of runs at which the session starts no further one; running ones are not affected. */
export const sessionLimit = (maxConcurrent: number, use: ContextUse | null): number =>
  isThrottled(use) ? 1 : maxConcurrent
