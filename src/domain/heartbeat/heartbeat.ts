import { intervalAt } from '../schedule/pace/pace.ts'
import { activeFrom, outsideActiveHours } from '../../core/heartbeat/active-hours.ts'
import { hasMeaningfulContent } from '../../core/heartbeat/checklist.ts'
import { formatHeartbeatTarget, type HeartbeatConfig, type HeartbeatTarget } from './heartbeat-config.ts'
import type { RunId, SessionKey, TargetId } from '../ids.ts'
import { instant, later, SECOND_MS, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'

/** A busy agent is asked again this soon; the law is "within a minute", and the engine needs part of it to notice. */
const BUSY_RETRY_MS = 30_000

/** A chat in a channel, with the session it belongs to where that is known. */
export interface ChatRoute {
  readonly kind: 'chat'
  readonly channel: string
  readonly recipient: string
  readonly session?: SessionKey
}

/** A conversation in no channel: of the console or the API. */
export interface SessionRoute {
  readonly kind: 'session'
  readonly session: SessionKey
}

/** Where an answer goes: to a conversation, or to a target of the org; `none` runs and logs, and sends nothing. */
export type HeartbeatRoute =
  { readonly kind: 'none' } | ChatRoute | SessionRoute | { readonly kind: 'saved'; readonly target: TargetId }

export interface HeartbeatFacts {
  readonly config: HeartbeatConfig
  readonly now: Instant
  /** The moment this heartbeat was planned for; the plan goes on from it, so that lateness does not add up. */
  readonly dueAt: Instant
  /** What the checklist says now, or null if there is none or its file is missing. */
  readonly checklist: string | null
  /** Why its file cannot be read, for whoever has to mend it. */
  readonly checklistProblem: string | null
  /** The conversation in which the agent was sent a message last; for a channel without recipient, in that channel. */
  readonly lastRoute: ChatRoute | SessionRoute | null
  /** Whether the channel that the target names is there and switched on. */
  readonly channelIsOpen: boolean
  /** The recipient of the target's channel when none is named and no message has come there yet. */
  readonly channelRecipient: string | null
  /** The target of the org whose id the heartbeat names instead of a channel. */
  readonly savedTarget: TargetId | null
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
  const outside = outsideActiveHours(config.activeHours, now)
  if (outside !== null) {
    // The window's opening counts too: a plan of once a day at night would otherwise never meet office hours.
    const opensAt = activeFrom(config.activeHours, now)
    return { kind: 'skip', nextAt: instant(Math.min(nextAt, opensAt)), why: outside }
  }
  const ready = decideReady(facts)
  switch (ready.kind) {
    case 'stop':
      return { kind: 'skip', nextAt, why: ready.why }
    case 'busy':
      return { kind: 'retry', retryAt: instant(Math.min(later(now, BUSY_RETRY_MS), nextAt)), why: ready.why }
    case 'run':
      return { ...ready, nextAt, why: because('heartbeat_due', 'heartbeat.interval_seconds') }
  }
}

export type AskedHeartbeat =
  | { readonly kind: 'run'; readonly route: HeartbeatRoute; readonly why: Why }
  | { readonly kind: 'stop' | 'busy'; readonly why: Why }

/** A person wants to see it now: neither the switch nor the hours stand in the way, and the plan stays as it is. */
export function decideAskedHeartbeat(facts: Omit<HeartbeatFacts, 'dueAt' | 'okStreak'>): AskedHeartbeat {
  const ready = decideReady(facts)
  return ready.kind === 'run' ? { ...ready, why: because('heartbeat_asked', 'request') } : ready
}

type Ready =
  { readonly kind: 'run'; readonly route: HeartbeatRoute } | { readonly kind: 'stop' | 'busy'; readonly why: Why }

/** The route of the target, or why there is none. */
export function findRoute(
  target: HeartbeatTarget,
  known: KnownRoutes,
): { readonly ok: true; readonly route: HeartbeatRoute } | { readonly ok: false; readonly why: Why } {
  const route = routeOf(target, known)
  if (route !== null) return { ok: true, route }
  return { ok: false, why: because('no_route', 'heartbeat.target', { target: formatHeartbeatTarget(target) }) }
}

/** The steps that hold for everybody: there is something to check, somewhere to say it, and the agent is free. */
function decideReady(facts: Omit<HeartbeatFacts, 'dueAt' | 'okStreak'>): Ready {
  const { config, checklist, checklistProblem: problem, busyWith } = facts
  if (checklist === null) {
    const evidence = problem === null ? {} : { problem }
    return { kind: 'stop', why: because('no_checklist', 'heartbeat.checklist', evidence) }
  }
  if (!hasMeaningfulContent(checklist)) return { kind: 'stop', why: because('empty_checklist', 'heartbeat.checklist') }
  const found = findRoute(config.target, facts)
  if (!found.ok) return { kind: 'stop', why: found.why }
  return busyWith === null
    ? { kind: 'run', route: found.route }
    : { kind: 'busy', why: because('agent_busy', 'heartbeat.busy', { run: busyWith }) }
}

export type KnownRoutes = Pick<HeartbeatFacts, 'lastRoute' | 'channelIsOpen' | 'channelRecipient' | 'savedTarget'>

function routeOf(target: HeartbeatTarget, known: KnownRoutes): HeartbeatRoute | null {
  switch (target.kind) {
    case 'none':
      return { kind: 'none' }
    case 'last':
      return known.lastRoute
    case 'channel': {
      if (known.savedTarget !== null) return { kind: 'saved', target: known.savedTarget }
      if (!known.channelIsOpen) return null
      if (target.recipient === null && known.lastRoute !== null) return known.lastRoute
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
  const { intervalSeconds: base } = config
  // A bound below the interval, left over from an edit, must not make heartbeats more frequent.
  const bounds = { base, min: base, max: config.adaptive.maxIntervalSeconds, stretch: 2 }
  return intervalAt(bounds, Math.floor(okStreak / config.adaptive.okStep))
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
