import {
  activeFrom,
  formatHeartbeatTarget,
  type HeartbeatConfig,
  type HeartbeatTarget,
  outsideActiveHours,
} from './heartbeat-config.ts'
import type { RunId, SessionKey, TargetId } from '../ids.ts'
import { instant, type Instant, later, SECOND_MS } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { intervalAt } from '../schedule/pace/pace.ts'

/**
 * The parser state after a line of a checklist. A file with only leftovers of an editor or template (headings, empty
 * boxes, comments) must not cost a model call; anything that a reader sees as text must.
 *
 * The parser follows the block structure of Markdown as far as needed, line by line without looking back, so its time
 * is linear in the length of the text.
 */
type MarkdownContext =
  | { readonly kind: 'text' }
  /** Inside an HTML comment. */
  | { readonly kind: 'comment' }
  | { readonly kind: 'fence'; readonly mark: string }

const IN_TEXT: MarkdownContext = { kind: 'text' }
const COMMENT_START = '<!--'
const COMMENT_END = '-->'

// Invisible characters count as whitespace; editors and chat programs leave them behind.
const BLANK_LINE = /^[\s\u00ad\u200b-\u200d\u2060]*$/
const FENCE = /^\s*(`{3,}(?=[^`]*$)|~{3,})/
const HEADING = /^\s*#{1,6}(?:\s|$)/
const HORIZONTAL_RULE = /^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|=+\s*)$/
/** One bullet, number, quotation mark or check box, checked or not, at the start of the rest of a line. */
const ITEM_MARK = /^\s*(?:>|(?:[-*+]|\d{1,9}[.)]|\[[ xX]?\])(?=\s|$|[>[]))/
/** Makes the line above a heading. Dashes are not included, because they mostly mean a rule. */
const HEADING_UNDERLINE = /^\s*=+\s*$/

/** Whether a checklist has any text besides headings, empty items, comments, rules and bare fences. */
export function hasMeaningfulContent(text: string): boolean {
  let context: MarkdownContext = IN_TEXT
  const lines = text.split(/\r\n|\n|\r/)
  for (const [index, line] of lines.entries()) {
    // An empty line changes nothing here.
    if (line === '') continue
    const read = readChecklistLine(line, context)
    const isHeading =
      context.kind === 'text' && read.context.kind === 'text' && HEADING_UNDERLINE.test(lines[index + 1] ?? '')
    if (read.isMeaningful && !isHeading) return true
    context = read.context
  }
  return false
}

interface ChecklistLine {
  readonly isMeaningful: boolean
  readonly context: MarkdownContext
}

function readChecklistLine(line: string, context: MarkdownContext): ChecklistLine {
  if (context.kind === 'fence') {
    return closesFence(line, context.mark) ? noContent(IN_TEXT) : { isMeaningful: !BLANK_LINE.test(line), context }
  }
  const visible = withoutComments(line, context.kind === 'comment')
  const rest = visible.isOpen ? { kind: 'comment' as const } : IN_TEXT
  if (HEADING.test(visible.text) || HORIZONTAL_RULE.test(visible.text)) return noContent(rest)
  const item = withoutItemMarks(visible.text)
  const fence = FENCE.exec(item)?.[1]
  if (fence !== undefined) return noContent({ kind: 'fence', mark: fence })
  if (BLANK_LINE.test(item) || HEADING.test(item)) return noContent(rest)
  return { isMeaningful: true, context: rest }
}

const noContent = (context: MarkdownContext): ChecklistLine => ({ isMeaningful: false, context })

function closesFence(line: string, mark: string): boolean {
  const shown = line.trim()
  return shown.length >= mark.length && shown === mark.charAt(0).repeat(shown.length)
}

/** The visible part of a line. An unclosed comment hides the rest of the text, as in a browser. */
function withoutComments(line: string, isInComment: boolean): { readonly text: string; readonly isOpen: boolean } {
  const shown: string[] = []
  let from = 0
  let isOpen = isInComment
  for (;;) {
    const found = line.indexOf(isOpen ? COMMENT_END : COMMENT_START, from)
    if (!isOpen) shown.push(line.slice(from, found === -1 ? line.length : found))
    if (found === -1) return { text: shown.join(''), isOpen }
    from = found + (isOpen ? COMMENT_END.length : COMMENT_START.length)
    isOpen = !isOpen
  }
}

function withoutItemMarks(line: string): string {
  let rest = line
  for (let mark = ITEM_MARK.exec(rest); mark !== null; mark = ITEM_MARK.exec(rest)) rest = rest.slice(mark[0].length)
  return rest
}

/** The retry interval for a busy agent; the requirement is 1 minute, of which the engine needs part to notice. */
const BUSY_RETRY_MS = 30_000

/** A chat in a channel, with its session if known. */
export interface ChatRoute {
  readonly kind: 'chat'
  readonly channel: string
  readonly recipient: string
  readonly session?: SessionKey
}

/** A session outside channels: of the console or the API. */
export interface SessionRoute {
  readonly kind: 'session'
  readonly session: SessionKey
}

/** Where a report goes: a session or a target of the org; `none` runs and records without sending. */
export type HeartbeatRoute =
  { readonly kind: 'none' } | ChatRoute | SessionRoute | { readonly kind: 'saved'; readonly target: TargetId }

export interface HeartbeatFacts {
  readonly config: HeartbeatConfig
  readonly now: Instant
  /** The planned time of this heartbeat; the next one is computed from it, so that delays do not add up. */
  readonly dueAt: Instant
  /** The current text of the checklist; null if there is none or its file is missing. */
  readonly checklist: string | null
  /** Why the checklist file cannot be read. */
  readonly checklistProblem: string | null
  /** The session in which the agent last received a message; for a channel without recipient, in that channel. */
  readonly lastRoute: ChatRoute | SessionRoute | null
  /** Whether the target's channel exists and is enabled. */
  readonly channelIsOpen: boolean
  /** The default recipient of the target's channel, for when no message has arrived there yet. */
  readonly channelRecipient: string | null
  /** The org target that the heartbeat names instead of a channel. */
  readonly savedTarget: TargetId | null
  /** An active run of the agent, if any. */
  readonly busyWith: RunId | null
  /** Consecutive acknowledgements. */
  readonly okStreak: number
}

type HeartbeatDecision =
  | { readonly kind: 'run'; readonly route: HeartbeatRoute; readonly nextAt: Instant; readonly why: Why }
  | { readonly kind: 'skip'; readonly nextAt: Instant; readonly why: Why }
  /** Retries the same heartbeat soon, so that a busy agent does not lose a whole interval. */
  | { readonly kind: 'retry'; readonly retryAt: Instant; readonly why: Why }
  | { readonly kind: 'off'; readonly why: Why }

/** Checks the conditions for a heartbeat in order; the first unmet one gives the reason. */
export function decideHeartbeat(facts: HeartbeatFacts): HeartbeatDecision {
  const { config, now } = facts
  if (!config.enabled) return { kind: 'off', why: because('heartbeat_disabled', 'heartbeat.enabled') }
  const nextAt = nextHeartbeatAt(config, facts)
  const outside = outsideActiveHours(config.activeHours, now)
  if (outside !== null) {
    // The start of the active hours counts too: a daily interval that falls in the night would otherwise never run.
    const opensAt = activeFrom(config.activeHours, now)
    return { kind: 'skip', nextAt: instant(Math.min(nextAt, opensAt)), why: outside }
  }
  const ready = decideReadiness(facts)
  switch (ready.kind) {
    case 'stop':
      return { kind: 'skip', nextAt, why: ready.why }
    case 'busy':
      return { kind: 'retry', retryAt: instant(Math.min(later(now, BUSY_RETRY_MS), nextAt)), why: ready.why }
    case 'run':
      return { ...ready, nextAt, why: because('heartbeat_due', 'heartbeat.interval_seconds') }
  }
}

type ManualHeartbeatDecision =
  | { readonly kind: 'run'; readonly route: HeartbeatRoute; readonly why: Why }
  | { readonly kind: 'stop' | 'busy'; readonly why: Why }

/** Decides about a manual heartbeat: `enabled` and the active hours do not apply, and the plan is unchanged. */
export function decideManualHeartbeat(facts: Omit<HeartbeatFacts, 'dueAt' | 'okStreak'>): ManualHeartbeatDecision {
  const ready = decideReadiness(facts)
  return ready.kind === 'run' ? { ...ready, why: because('heartbeat_asked', 'request') } : ready
}

type Readiness =
  { readonly kind: 'run'; readonly route: HeartbeatRoute } | { readonly kind: 'stop' | 'busy'; readonly why: Why }

/** Resolves the route of a target, or says why there is none. */
export function findRoute(
  target: HeartbeatTarget,
  known: KnownRoutes,
): { readonly ok: true; readonly route: HeartbeatRoute } | { readonly ok: false; readonly why: Why } {
  const route = routeOf(target, known)
  if (route !== null) return { ok: true, route }
  return { ok: false, why: because('no_route', 'heartbeat.target', { target: formatHeartbeatTarget(target) }) }
}

/** The conditions that also apply to manual heartbeats: a checklist with content, a route, and a free agent. */
function decideReadiness(facts: Omit<HeartbeatFacts, 'dueAt' | 'okStreak'>): Readiness {
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

/** The first planned time after now: no backlog after downtime, no drift after a late start. */
export function nextHeartbeatAt(
  config: Pick<HeartbeatConfig, 'intervalSeconds' | 'adaptive'>,
  plan: { readonly dueAt: Instant; readonly now: Instant; readonly okStreak: number },
): Instant {
  const intervalMs = heartbeatInterval(config, plan.okStreak) * SECOND_MS
  const passed = Math.max(0, Math.floor((plan.now - plan.dueAt) / intervalMs))
  return later(plan.dueAt, (passed + 1) * intervalMs)
}

/** The interval in seconds after a number of consecutive acknowledgements. */
export function heartbeatInterval(
  config: Pick<HeartbeatConfig, 'intervalSeconds' | 'adaptive'>,
  okStreak: number,
): number {
  if (config.adaptive === null) return config.intervalSeconds
  const { intervalSeconds: base } = config
  // A maximum below the interval, left over from an edit, must not make heartbeats more frequent.
  const bounds = { base, min: base, max: config.adaptive.maxIntervalSeconds, stretch: 2 }
  return intervalAt(bounds, Math.floor(okStreak / config.adaptive.okStep))
}

/** The outcome of a due heartbeat, as far as the streak of acknowledgements is concerned. */
export type StreakOutcome = 'acknowledged' | 'empty_reply' | 'duplicate' | 'news' | 'failed' | 'skipped'

/** The streak after one more heartbeat: only an acknowledgement extends it; news and failures reset it. */
export function nextOkStreak(streak: number, outcome: StreakOutcome): number {
  switch (outcome) {
    case 'acknowledged':
      return streak + 1
    case 'empty_reply':
    case 'skipped':
      return streak
    // A repeated alert is still an alert, and a failing agent may be hiding one.
    case 'duplicate':
    case 'news':
    case 'failed':
      return 0
  }
}
