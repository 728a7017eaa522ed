import type { AttemptId } from '../ids.ts'
import type { Instant } from '../instant.ts'
import { because, type Reason, type Why } from '../reasons.ts'
import { ERROR_CODES, type ErrorCode } from './error-codes.ts'
import { isTerminal, type RunState } from './run-machine.ts'
import { isInFlight } from './run.ts'

/** The agent runtime's own session id, message id and error code of an attempt. */
export interface RuntimeReport {
  readonly sessionId?: string
  readonly messageId?: string
  readonly errorCode?: string
}

/** Longer ids are truncated. */
const MAX_RUNTIME_ID_LENGTH = 512
export const MAX_AGENT_ERROR_CODE_LENGTH = 100

/** Whether a code is one of ours; a runtime may use those too. */
export const isErrorCode = (code: string | undefined): code is ErrorCode =>
  code !== undefined && Object.hasOwn(ERROR_CODES, code)

/** Reads the runtime's ids and its error code, unless that is one of ours; null when there are none. */
export function readRuntimeReport(given: {
  readonly sessionId?: string | undefined
  readonly messageId?: string | undefined
  readonly errorCode?: string | undefined
}): RuntimeReport | null {
  const reported = {
    ...runtimeField('sessionId', given.sessionId, MAX_RUNTIME_ID_LENGTH),
    ...runtimeField('messageId', given.messageId, MAX_RUNTIME_ID_LENGTH),
    ...(isErrorCode(given.errorCode) ? {} : runtimeField('errorCode', given.errorCode, MAX_AGENT_ERROR_CODE_LENGTH)),
  }
  return Object.keys(reported).length === 0 ? null : reported
}

const runtimeField = (name: keyof RuntimeReport, text: string | undefined, max: number): RuntimeReport =>
  text === undefined || text === '' ? {} : { [name]: truncateText(text, max) }

/** Truncates without splitting a character, and replaces NUL, which the database cannot store. */
function truncateText(text: string, max: number): string {
  const clean = text.replaceAll('\0', '\u2400')
  return clean.length <= max ? clean : Array.from(clean).slice(0, max).join('')
}

/**
 * A run as the report fence sees it. External reports name their attempt; a report for an attempt that is no longer
 * current changes nothing and is only recorded.
 */
export interface ReportedRun {
  readonly state: RunState
  readonly attemptId: AttemptId | null
  /** The session's generation when the attempt started. */
  readonly attemptGeneration: number
  readonly sessionGeneration: number
}

export type ReportDecision =
  | { readonly kind: 'apply' }
  /** The session was reset meanwhile: the caller gets an answer, but no slot is freed and nothing starts. */
  | { readonly kind: 'old_generation' }
  | { readonly kind: 'stale_report'; readonly why: Why }

/** Decides whether a report about an attempt counts. */
export function decideReport(run: ReportedRun, reported: AttemptId): ReportDecision {
  if (run.attemptId !== reported || !isInFlight(run.state)) {
    const evidence = { reported, current: run.attemptId ?? 'none', state: run.state }
    return { kind: 'stale_report', why: because('stale_report', 'attempt_fence', evidence) }
  }
  return run.attemptGeneration < run.sessionGeneration ? { kind: 'old_generation' } : { kind: 'apply' }
}

export type CallbackDecision =
  | { readonly kind: 'settle' }
  /** Answered with 200, the current state and `ignored: true`: the sender made no mistake and need not retry. */
  | { readonly kind: 'ignored' }
  /** The deadline has passed but was not processed yet: the run ends as `timeout`, and the callback is ignored. */
  | { readonly kind: 'too_late' }

/** Decides what a callback with a valid token does; unknown tokens get a 404 before this. */
export function decideCallback(
  run: { readonly state: RunState; readonly attemptId: AttemptId | null; readonly callbackUntil: Instant | null },
  token: { readonly attemptId: AttemptId },
  now: Instant,
): CallbackDecision {
  if (isTerminal(run.state) || run.attemptId !== token.attemptId) return { kind: 'ignored' }
  // A fast agent can call back before its 202 has been read: the token is valid as soon as it is sent.
  if (run.state !== 'awaiting_callback' && run.state !== 'running') return { kind: 'ignored' }
  return run.callbackUntil !== null && now >= run.callbackUntil ? { kind: 'too_late' } : { kind: 'settle' }
}

/** What the holder of an attempt is told: whether the attempt is still current, and whether to stop. */
export interface HolderStatus {
  readonly isCurrent: boolean
  readonly cancel: boolean
  readonly reason: Reason | null
}

/** Tells the holder of an attempt about its run; null: the run is no longer stored. */
export function holderStatus(
  run: { readonly state: RunState; readonly attemptId: AttemptId | null; readonly reason: Reason | null } | null,
  held: AttemptId,
): HolderStatus {
  if (run === null || run.attemptId !== held || !isInFlight(run.state))
    return { isCurrent: false, cancel: true, reason: 'stale_report' }
  if (run.state !== 'stopping') return { isCurrent: true, cancel: false, reason: null }
  return { isCurrent: true, cancel: true, reason: run.reason ?? 'cancelled' }
}
