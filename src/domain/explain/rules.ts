import type { Evidence } from '../reasons.ts'
import { RULE_FIELDS } from '../schedule/rule-fields.ts'

/** The documentation page of a rule, and the evidence field with its value if the rule itself has none. */
interface RuleDocumentation {
  readonly page: string
  readonly value?: string
}

const documentedIn = (page: string, value?: string): RuleDocumentation => ({
  page: `docs/concepts/${page}`,
  ...(value === undefined ? {} : { value }),
})

const TIMING_SECTION = 'schedules.md#when'
const MISFIRE_SECTION = 'schedules.md#1-misfire-the-occurrence-was-missed'
const OVERLAP_SECTION = 'schedules.md#2-overlap-the-previous-run-is-still-pending'
const FAILURE_SECTION = 'schedules.md#3-failure-the-last-run-failed-timed-out-or-was-cancelled'
const CONCURRENCY_SECTION = 'schedules.md#4-concurrency-is-there-a-slot'
const PICKING_SECTION = 'runs.md#being-picked'
const RETRIES_SECTION = 'runs.md#attempts-and-retries'
const HEARTBEAT_SECTION = 'heartbeats.md#steps-of-a-heartbeat'
const FAILING_TARGET_SECTION = 'deliveries.md#failing-targets'

/** By rule name, the part before `=`. All schedule policy fields link to the same table. */
const DOCUMENTED_RULES: Readonly<Record<string, RuleDocumentation>> = {
  ...Object.fromEntries(RULE_FIELDS.map((name) => [name, documentedIn('schedules.md#policy-settings', name)])),
  timing: documentedIn(TIMING_SECTION),
  created_at: documentedIn(TIMING_SECTION),
  starts_at: documentedIn(TIMING_SECTION, 'starts_at'),
  ends_at: documentedIn(TIMING_SECTION, 'ends_at'),
  exclude: documentedIn(TIMING_SECTION),
  cadence: documentedIn('cadence.md#interval-changes', 'interval_seconds'),
  'cadence.next_check': documentedIn('cadence.md#agent-proposals', 'got_seconds'),
  max_fires: documentedIn(TIMING_SECTION, 'max_fires'),
  timezone: documentedIn(TIMING_SECTION, 'timezone'),
  dst: documentedIn('schedules.md#clock-changes', 'dst'),
  state: documentedIn('schedules.md', 'state'),
  watermark: documentedIn('engine.md#org-transactions'),
  retention: documentedIn('explain.md#information-that-is-not-kept'),
  approval: documentedIn('schedules.md'),
  misfire_policy: documentedIn(MISFIRE_SECTION),
  overlap_action: documentedIn(OVERLAP_SECTION),
  failure_action: documentedIn(FAILURE_SECTION),
  concurrency_policy: documentedIn(CONCURRENCY_SECTION, 'max_concurrency'),
  queue_depth: documentedIn(CONCURRENCY_SECTION, 'queue_depth'),
  'run-now': documentedIn('schedules.md'),
  run_now: documentedIn('schedules.md'),
  'schedule.delete': documentedIn('schedules.md'),
  'schedule.disable': documentedIn('schedules.md'),
  admission: documentedIn('runs.md'),
  validation: documentedIn('http.md#refusals'),
  idempotency_key: documentedIn('http.md#versions-and-repetition'),
  service: documentedIn('access.md'),
  request: documentedIn('access.md#the-audit-log'),
  not_before: documentedIn(PICKING_SECTION, 'not_before'),
  picking_order: documentedIn(PICKING_SECTION, 'position'),
  'gate:not_before': documentedIn(PICKING_SECTION, 'not_before'),
  'gate:session_order': documentedIn('sessions.md'),
  'gate:executor': documentedIn('agents.md'),
  'gate:worker': documentedIn('agents.md#workers', 'capacity'),
  'gate:lane': documentedIn('lanes.md', 'size'),
  'lanes.max_org_share': documentedIn('lanes.md#orgs-that-share-a-lane', 'limit'),
  'gate:budget': documentedIn('budgets.md#when-there-is-no-room', 'remaining'),
  'gate:provider': documentedIn('providers.md#quota-accounting', 'quota'),
  'provider.max_concurrent': documentedIn('providers.md', 'limit'),
  'agent.max_concurrent': documentedIn('agents.md', 'limit'),
  'org.max_concurrent': documentedIn('access.md#orgs', 'limit'),
  'org.runs_per_day': documentedIn('access.md#orgs', 'runs_per_day'),
  'tasks.max_queue': documentedIn('runs.md', 'max_queue'),
  'tasks.max_per_agent': documentedIn('runs.md', 'max_per_agent'),
  'tasks.max_inflight': documentedIn(PICKING_SECTION, 'limit'),
  'tasks.max_per_agent_inflight': documentedIn(PICKING_SECTION, 'limit'),
  'schedules.catchup_max_active': documentedIn(MISFIRE_SECTION, 'limit'),
  max_lateness_seconds: documentedIn('alerts.md#thresholds-of-a-schedule', 'max_lateness_seconds'),
  outcome: documentedIn('runs.md'),
  deadline: documentedIn('runs.md#time-limits', 'deadline'),
  'retry_policy.max_retries': documentedIn(RETRIES_SECTION, 'max_retries'),
  retry_policy: documentedIn(RETRIES_SECTION),
  retryable: documentedIn(RETRIES_SECTION),
  attempt_fence: documentedIn('runs.md#cancelling'),
  stop_grace: documentedIn('runs.md#cancelling'),
  ending: documentedIn('deliveries.md#which-results-are-delivered'),
  '/stop': documentedIn('sessions.md'),
  '/stopall': documentedIn('sessions.md'),
  looking: documentedIn('explain.md#why-did-nothing-happen'),
  probe: documentedIn('probes.md', 'answer'),
}

/** Rules by prefix. The first match is used, so longer prefixes come first. */
const RULE_PREFIXES: readonly (readonly [start: string, where: RuleDocumentation])[] = [
  ['session.max_concurrent', documentedIn('sessions.md', 'limit')],
  ['session.', documentedIn('sessions.md')],
  ['retry_policy.', documentedIn(RETRIES_SECTION)],
  ['backfill.policy', documentedIn('../guides/backfill.md#interaction-with-the-schedules-own-runs')],
  ['backfill.stop_on_failures', documentedIn('../guides/backfill.md#end-of-a-backfill', 'failures')],
  ['backfill', documentedIn('../guides/backfill.md')],
  ['heartbeat.active_hours', documentedIn(HEARTBEAT_SECTION)],
  ['heartbeat.', documentedIn(HEARTBEAT_SECTION)],
  ['target.quiet_hours', documentedIn('deliveries.md#quiet-hours')],
  ['target.alerts', documentedIn('alerts.md#alert-recipients')],
  ['target.', documentedIn(FAILING_TARGET_SECTION)],
  ['delivery.max_failures_in_a_row', documentedIn(FAILING_TARGET_SECTION, 'failures')],
  ['delivery.ladder', documentedIn('deliveries.md#tries')],
  ['delivery.max_tries', documentedIn('deliveries.md#tries', 'tries')],
  ['delivery.', documentedIn('deliveries.md#which-results-are-delivered')],
  ['budget.threshold', documentedIn('budgets.md#alerts')],
  ['budget.', documentedIn('budgets.md#when-there-is-no-room')],
  ['provider.', documentedIn('agents.md#models')],
  ['guard_rails.', documentedIn('access.md#keys')],
  ['channel.', documentedIn('channels.md#allowed-senders')],
  ['access.', documentedIn('access.md')],
  ['key.', documentedIn('access.md#keys')],
  ['alerts.stall_periods', documentedIn('alerts.md#stalled-nodes', 'stall_periods')],
  ['alerts.runs_unserved', documentedIn('alerts.md#runs-that-nothing-can-execute')],
  ['alerts.', documentedIn('alerts.md#thresholds-of-a-schedule', 'alert_after')],
  ['node.', documentedIn('engine.md#leases-and-lost-nodes')],
  ['worker.', documentedIn('agents.md#workers')],
]

const DEFAULT_DOCUMENTATION = documentedIn('explain.md#rules')

/** A rule with its name, value and documentation link. */
export interface RuleDescription {
  readonly name: string
  readonly value: string | null
  readonly documentation: string
}

/** Splits a rule into its name and value, and adds its documentation link. */
export function describeRule(rule: string, evidence: Evidence = {}): RuleDescription {
  const separator = rule.indexOf('=')
  const name = separator < 0 ? rule : rule.slice(0, separator)
  const documented = documentedAt(name) ?? DEFAULT_DOCUMENTATION
  const fact = documented.value === undefined ? undefined : evidence[documented.value]
  const value = separator < 0 ? (fact ?? null) : rule.slice(separator + 1)
  return { name, value: value === null ? null : String(value), documentation: normalizePage(documented.page) }
}

/** Whether the rule has its own documentation. */
export const isDocumented = (rule: string): boolean => documentedAt(rule.split('=')[0] ?? rule) !== undefined

function documentedAt(name: string): RuleDocumentation | undefined {
  return DOCUMENTED_RULES[name] ?? RULE_PREFIXES.find(([start]) => name.startsWith(start))?.[1]
}

const normalizePage = (page: string): string => page.replace('concepts/../', '')
