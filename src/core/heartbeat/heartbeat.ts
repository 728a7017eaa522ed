import { activeFrom, outsideActiveHours } from './active-hours.ts'
import { hasMeaningfulContent } from './checklist.ts'
import { formatHeartbeatTarget, type HeartbeatConfig, type HeartbeatTarget } from './heartbeat-config.ts'
import type { RunId } from '../ids.ts'
import { instant, later, SECOND_MS, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'

/** A busy agent is asked again this soon; the law is "within a minute", and the engine needs part of it to notice. */
export const BUSY_RETRY_MS = 30_000

/** Somebody in a channel; `none` runs and logs, and sends nothing. */
export type HeartbeatRoute =
  { readonly kind: 'none' } | { readonly kind: 'chat'; readonly channel: string; readonly recipient: string }

export interface HeartbeatFacts {
  readonly config: HeartbeatConfig
  readonly now: Instant
  /** The moment this heartbeat was planned for; the plan goes on from it, so that lateness does not add up. */
  readonly dueAt: Instant
  /** What the checklist says now, or null if there is none or its file is missing. */
  readonly checklist: string | null
  /** Where the agent was last spoken to. */
  readonly lastRoute: { readonly channel: string; readonly recipient: string } | null
  /** Whom the target's channel writes to when nobody is named. */
  readonly channelRecipient: string | null
  /** Any active run of the agent. */
  readonly busyWith: RunId | null
  /** Acknowledgements in a row. */
  readonly okStreak: number
}

export type HeartbeatDecision =
  | { readonly kind: 'run'; readonly route: HeartbeatRoute; readonly nextAt: Instant; readonly why: Why }
  | { readonly kind: 'skip'; readonly nextAt: Instant; readonly why: Why }
  /** The same heartbeat again, soon: being busy is no reason to lose a whole interval. */
  | { readonly kind: 'retry'; readonly retryAt: Instant; readonly why: Why }
  | { readonly kind: 'off'; readonly why: Why }

/** Goes through the steps before a model is called, in their order; the first that says no gives the reason. */
export function decideHeartbeat(facts: HeartbeatFacts): HeartbeatDecision {
  const { config, now } = facts
  if (!config.enabled) return { kind: 'off', why: because('heartbeat_disabled', 'heartbeat.enabled') }
  const nextAt = nextHeartbeatAt(config, facts)
  const skip = (why: Why): HeartbeatDecision => ({ kind: 'skip', nextAt, why })

  const outside = outsideActiveHours(config.activeHours, now)
  if (outside !== null) {
    // The window's opening counts too: a plan of once a day at night would otherwise never meet office hours.
    const opensAt = activeFrom(config.activeHours, now)
    return { kind: 'skip', nextAt: instant(Math.min(nextAt, opensAt)), why: outside }
  }
  if (facts.checklist === null) return skip(because('no_checklist', 'heartbeat.checklist'))
  if (!hasMeaningfulContent(facts.checklist)) return skip(because('empty_checklist', 'heartbeat.checklist'))
  const route = routeOf(config.target, facts)
  if (route === null)
    return skip(because('no_route', 'heartbeat.target', { target: formatHeartbeatTarget(config.target) }))
  if (facts.busyWith !== null) {
    const retryAt = instant(Math.min(later(now, BUSY_RETRY_MS), nextAt))
    return { kind: 'retry', retryAt, why: because('agent_busy', 'heartbeat.busy', { run: facts.busyWith }) }
  }
  return { kind: 'run', route, nextAt, why: because('heartbeat_due', 'heartbeat.interval_seconds') }
}

function routeOf(
  target: HeartbeatTarget,
  known: Pick<HeartbeatFacts, 'lastRoute' | 'channelRecipient'>,
): HeartbeatRoute | null {
  switch (target.kind) {
    case 'none':
      return { kind: 'none' }
    case 'last':
      return known.lastRoute === null ? null : { kind: 'chat', ...known.lastRoute }
    case 'channel': {
      const recipient = target.recipient ?? known.channelRecipient
      return recipient === null ? null : { kind: 'chat', channel: target.channel, recipient }
    }
  }
}

/** The first moment of the plan after now: no backlog after downtime, no drift after a late start. */
export function nextHeartbeatAt(
  config: Pick<HeartbeatConfig, 'intervalSeconds' | 'adaptive'>,
  plan: { readonly dueAt: Instant; readonly now: Instant; readonly okStreak: number },
): Instant {
  const intervalMs = heartbeatInterval(config, plan.okStreak) * SECOND_MS
  const passed = Math.max(0, Math.floor((plan.now - plan.dueAt) / intervalMs))
  return later(plan.dueAt, (passed + 1) * intervalMs)
}

/** Seconds between two heartbeats after a number of acknowledgements in a row. */
export function heartbeatInterval(
  config: Pick<HeartbeatConfig, 'intervalSeconds' | 'adaptive'>,
  okStreak: number,
): number {
  if (config.adaptive === null) return config.intervalSeconds
  const stretched = config.intervalSeconds * 2 ** Math.floor(okStreak / config.adaptive.okStep)
  // A bound below the interval, left over from an edit, must not make heartbeats more frequent.
  return Math.max(config.intervalSeconds, Math.min(stretched, config.adaptive.maxIntervalSeconds))
}

/** How a heartbeat that was due came out, as far as the streak of acknowledgements is concerned. */
export type HeartbeatOutcome = 'acknowledged' | 'empty_reply' | 'duplicate' | 'news' | 'failed' | 'skipped'

/** The streak after one more heartbeat: only an acknowledgement adds to it, and anything worth knowing ends it. */
export function nextOkStreak(streak: number, outcome: HeartbeatOutcome): number {
  switch (outcome) {
    case 'acknowledged':
      return streak + 1
    case 'empty_reply':
    case 'skipped':
      return streak
    // A repeated alert is still an alert, and an agent that fails may be hiding one.
    case 'duplicate':
    case 'news':
    case 'failed':
      return 0
  }
}
