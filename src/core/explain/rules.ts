import type { Evidence } from '../../domain/reasons.ts'
import { RULE_FIELDS } from '../../domain/schedule/rule-fields.ts'

/** Where a rule is documented, and which fact of the evidence is its value where the rule does not say it itself. */
interface Documented {
  readonly page: string
  readonly value?: string
}

const at = (page: string, value?: string): Documented => ({
  page: `docs/concepts/${page}`,
  ...(value === undefined ? {} : { value }),
})

const WHEN = 'schedules.md#when'
const MISFIRE = 'schedules.md#1-misfire-it-was-missed'
const OVERLAP = 'schedules.md#2-overlap-the-previous-run-is-still-pending'
const FAILURE = 'schedules.md#3-failure-the-last-run-failed-timed-out-or-was-cancelled'
const CONCURRENCY = 'schedules.md#4-concurrency-is-there-a-slot'
const PICKING = 'runs.md#being-picked'
const RETRIES = 'runs.md#attempts-and-retries'
const BEATS = 'heartbeats.md#what-happens'
const FAILING_TARGET = 'deliveries.md#a-target-that-fails'

/** By the name of the rule, which is what stands before `=`. Fields of a schedule have the table of all of them. */
const RULES: Readonly<Record<string, Documented>> = {
  ...Object.fromEntries(RULE_FIELDS.map((name) => [name, at('schedules.md#policy-settings', name)])),
  timing: at(WHEN),
  created_at: at(WHEN),
  starts_at: at(WHEN, 'starts_at'),
  ends_at: at(WHEN, 'ends_at'),
  exclude: at(WHEN),
  cadence: at('cadence.md#how-the-interval-moves', 'interval_seconds'),
  'cadence.next_check': at('cadence.md#what-an-agent-proposes', 'got_seconds'),
  max_fires: at(WHEN, 'max_fires'),
  timezone: at(WHEN, 'timezone'),
  dst: at('schedules.md#clock-changes', 'dst'),
  state: at('schedules.md', 'state'),
  watermark: at('engine.md#a-turn'),
  retention: at('explain.md#what-is-not-kept'),
  approval: at('schedules.md'),
  misfire_policy: at(MISFIRE),
  overlap_action: at(OVERLAP),
  failure_action: at(FAILURE),
  concurrency_policy: at(CONCURRENCY, 'max_concurrency'),
  queue_depth: at(CONCURRENCY, 'queue_depth'),
  'run-now': at('schedules.md'),
  run_now: at('schedules.md'),
  'schedule.delete': at('schedules.md'),
  'schedule.disable': at('schedules.md'),
  admission: at('runs.md'),
  validation: at('http.md#what-is-refused'),
  idempotency_key: at('http.md#versions-and-repetition'),
  service: at('access.md'),
  request: at('access.md#the-audit-log'),
  not_before: at(PICKING, 'not_before'),
  picking_order: at(PICKING, 'position'),
  'gate:not_before': at(PICKING, 'not_before'),
  'gate:session_order': at('sessions.md'),
  'gate:executor': at('agents.md'),
  'gate:worker': at('agents.md#workers', 'capacity'),
  'gate:lane': at('lanes.md', 'size'),
  'lanes.max_org_share': at('lanes.md#orgs-that-share-a-lane', 'limit'),
  'gate:budget': at('budgets.md#when-there-is-no-room', 'remaining'),
  'gate:provider': at('providers.md#how-it-counts', 'quota'),
  'provider.max_concurrent': at('providers.md', 'limit'),
  'agent.max_concurrent': at('agents.md', 'limit'),
  'org.max_concurrent': at('access.md#orgs', 'limit'),
  'org.runs_per_day': at('access.md#orgs', 'runs_per_day'),
  'tasks.max_queue': at('runs.md', 'max_queue'),
  'tasks.max_per_agent': at('runs.md', 'max_per_agent'),
  'tasks.max_inflight': at(PICKING, 'limit'),
  'tasks.max_per_agent_inflight': at(PICKING, 'limit'),
  'schedules.catchup_max_active': at(MISFIRE, 'limit'),
  max_lateness_seconds: at('alerts.md#of-a-schedule', 'max_lateness_seconds'),
  outcome: at('runs.md'),
  deadline: at('runs.md#time-limits', 'deadline'),
  'retry_policy.max_retries': at(RETRIES, 'max_retries'),
  retry_policy: at(RETRIES),
  retryable: at(RETRIES),
  attempt_fence: at('runs.md#cancelling'),
  stop_grace: at('runs.md#cancelling'),
  ending: at('deliveries.md#what-is-told'),
  '/stop': at('sessions.md'),
  '/stopall': at('sessions.md'),
  looking: at('explain.md#why-did-nothing-happen'),
  probe: at('probes.md', 'answer'),
}

/** Whole families of rules, by what they begin with; the longest that fits is taken. */
const FAMILIES: readonly (readonly [start: string, where: Documented])[] = [
  ['session.max_concurrent', at('sessions.md', 'limit')],
  ['session.', at('sessions.md')],
  ['retry_policy.', at(RETRIES)],
  ['backfill.policy', at('../guides/backfill.md#beside-the-schedules-own-work')],
  ['backfill.stop_on_failures', at('../guides/backfill.md#when-it-stops', 'failures')],
  ['backfill', at('../guides/backfill.md')],
  ['heartbeat.active_hours', at(BEATS)],
  ['heartbeat.', at(BEATS)],
  ['target.quiet_hours', at('deliveries.md#quiet-hours')],
  ['target.alerts', at('alerts.md#who-is-sent-alerts')],
  ['target.', at(FAILING_TARGET)],
  ['delivery.max_failures_in_a_row', at(FAILING_TARGET, 'failures')],
  ['delivery.ladder', at('deliveries.md#tries')],
  ['delivery.max_tries', at('deliveries.md#tries', 'tries')],
  ['delivery.', at('deliveries.md#what-is-told')],
  ['budget.threshold', at('budgets.md#alerts')],
  ['budget.', at('budgets.md#when-there-is-no-room')],
  ['provider.', at('agents.md#models')],
  ['guard_rails.', at('access.md#keys')],
  ['channel.', at('channels.md#who-may-speak')],
  ['access.', at('access.md')],
  ['key.', at('access.md#keys')],
  ['alerts.stall_periods', at('alerts.md#an-engine-that-stands-still', 'stall_periods')],
  ['alerts.', at('alerts.md#of-a-schedule', 'alert_after')],
  ['node.', at('engine.md#leases-and-a-node-that-dies')],
  ['worker.', at('agents.md#workers')],
]

const ELSEWHERE = at('explain.md#rules')

/** A rule taken apart: its name, its value, and where it is documented. */
export interface RuleInWords {
  readonly name: string
  readonly value: string | null
  readonly documentation: string
}

/** Says what a rule is called, which value it has, and where it is documented. */
export function readRule(rule: string, evidence: Evidence = {}): RuleInWords {
  const cut = rule.indexOf('=')
  const name = cut < 0 ? rule : rule.slice(0, cut)
  const documented = documentedAt(name) ?? ELSEWHERE
  const fact = documented.value === undefined ? undefined : evidence[documented.value]
  const value = cut < 0 ? (fact ?? null) : rule.slice(cut + 1)
  return { name, value: value === null ? null : String(value), documentation: normal(documented.page) }
}

/** Whether it is said somewhere what the rule means. */
export const isDocumented = (rule: string): boolean => documentedAt(rule.split('=')[0] ?? rule) !== undefined

function documentedAt(name: string): Documented | undefined {
  return RULES[name] ?? FAMILIES.find(([start]) => name.startsWith(start))?.[1]
}

const normal = (page: string): string => page.replace('concepts/../', '')
