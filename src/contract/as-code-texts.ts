import type { AgentItem, AsCodeDocument, BudgetItem, DeliveryItem, ScheduleItem, TargetItem } from './as-code.ts'
import type { ScheduleBudgetInput } from './budget.ts'
import type { GuardRailsInput } from './guard-rails.ts'
import type { RetryPolicyView } from './retry-policy.ts'

/** A sentence for each field of a shape; the compiler misses one that is lacking. */
type TextsOf<Shape> = Readonly<Record<keyof Shape, string>>

const budgetTerms = {
  unit: 'What is counted: `tokens`, or `money`.',
  amount: 'How much of it: tokens, or money with up to six decimals.',
  period: 'Of which time: `day` unless given.',
  timezone: "Whose days and months they are; the org's own zone unless given.",
  on_exceed: 'What happens when it is used up: `skip` unless given.',
  default_reserve: 'What a run is expected to use while nothing is known about it.',
}

/** What the document holds. */
export const DOCUMENT_TEXTS: TextsOf<AsCodeDocument> = {
  version: 'The form of this file; always 1.',
  agents: 'What does the work. Left out: nothing about agents is changed.',
  targets: 'Where results are delivered. Left out: nothing about targets is changed.',
  schedules: 'Rules that make runs. Left out: nothing about schedules is changed.',
  budgets: 'What runs may use. Left out: nothing about budgets is changed.',
}

export const AGENT_TEXTS: TextsOf<AgentItem> = {
  id: 'Given when it is made, and never changed; it stands in session keys. Left out: the agent is known by its name.',
  name: 'What it is called. Schedules and budgets of this file name it so.',
  description: 'What it is for, in words.',
  executor: 'How the work is performed: `kind`, and the options of that kind.',
  retry_policy: 'How often and how soon a failed attempt is repeated; what is usual for its executor unless given.',
  timeout_seconds: 'How long an attempt may take, such as 10m; null: what is usual for its executor.',
  max_concurrent: 'How many runs it may have at once; as many as there are slots unless given.',
  context_window: 'Tokens that fit into one question to its model; what does not fit is left out, the oldest first.',
  default_session: 'The session of messages that name none.',
  self_service: 'How far what its attempts make by themselves may go; null: they make nothing.',
  provider: 'The provider it calls; its quotas are shared by all agents that name it.',
}

const WHEN_TEXTS = {
  at: 'Once, at this time: RFC 3339, or milliseconds since 1970.',
  every_seconds: 'Again and again after this long, such as 30m, counted from the anchor.',
  everyMs: 'Instead of `every_seconds`, when the interval is not a whole number of seconds.',
  anchor: 'What an interval or a recurrence is counted from; when it was made unless given.',
  cron: 'A cron expression of 5, 6 (seconds) or 7 fields (and year), or @daily and the like, on the clock of its zone.',
  rrule: 'A recurrence rule after RFC 5545.',
  timezone: "An IANA time zone; the org's own unless given.",
  dst: 'What a time does that the clock skips or repeats: `vixie` unless given.',
  day_match: 'Whether a day must match one of the two day fields (`or`, unless given) or both (`and`).',
  starts_at: 'Nothing happens before this time.',
  ends_at: 'Nothing happens from this time on.',
  exclude: 'Dates such as 2026-12-25, and windows `{from, to}`, on which nothing happens.',
  jitter_ms: 'Delays each start by up to this long, always alike for the same occurrence.',
  max_fires: 'Ends it after so many runs.',
  cadence:
    'Lets it choose its pace between `min_seconds` and `max_seconds`: quiet times stretch it, changes tighten it.',
}

const POLICY_TEXTS = {
  misfire_policy: 'What is made up for when occurrences were missed: `CATCH_UP_LIMITED` unless given.',
  catchup_limit: 'How many missed occurrences are made up for, the newest; 1 unless given.',
  catchup_window_seconds: 'How old a missed occurrence may be and still be made up for; 15m unless given.',
  overlap_action: 'What happens when the previous run is still pending: `ALLOW` unless given.',
  max_parallel: 'With `PARALLEL`: how many run beside each other at most.',
  failure_action: 'What happens after a run that failed: `RUN_NEW` unless given.',
  failure_options: 'The waits of `BACKOFF` (`ladder_seconds`), or `threshold` and `cooldown_seconds` of `HALF_OPEN`.',
  concurrency_policy: 'What happens when every slot of the schedule is taken: `QUEUE` unless given.',
  max_concurrency: 'Slots of the schedule; 1 unless given.',
  queue_depth: 'How many runs may wait for a slot; 10 unless given.',
  retry_policy: 'How often and how soon a failed attempt is repeated; that of the agent unless given.',
  timeout_seconds: 'How long an attempt may take, such as 10m; that of the agent unless given.',
  alert_after: "Failures in a row that raise an alert; the deployment's number unless given.",
  max_lateness_seconds: 'A run that starts later than this raises an alert; however late unless given.',
  delete_after_run: 'Deletes a schedule that happens once after its run.',
}

/** Fields of a schedule. `probe` and `cadence` have theirs wherever the contract has the fields. */
export const SCHEDULE_TEXTS: TextsOf<ScheduleItem> & Readonly<Record<string, string>> = {
  ...WHEN_TEXTS,
  ...POLICY_TEXTS,
  id: 'Left out: it is known by its name.',
  name: 'What it is called. Without an id it is known by it, so it must be the only one of its name.',
  description: 'What it is for, in words.',
  agent: 'The name of the agent that does it, or its id; the default agent of the org unless given.',
  agent_id: 'The id of the agent; `agent` takes the name too.',
  executor: 'In place of an agent: how the work is performed.',
  payload: 'What the agent is given: a text, or any JSON, such as `prompt:` with text below it.',
  session: '`isolated` unless given: each run by itself; `main`; or a session key.',
  lane: 'The lane whose slots it uses; that of scheduled work unless given.',
  enabled: 'False: it is there, and nothing happens. True unless given.',
  delivery: 'Where the results of its runs go; nowhere unless given.',
  budget: 'What its runs may use; as much as they want unless given.',
  probe: 'A cheap question that is asked before the model is woken: an HTTP request, a command, or what is stored.',
}

export const TARGET_TEXTS: TextsOf<TargetItem> = {
  id: 'Left out: it is known by its name.',
  name: 'What it is called. Schedules of this file name it so.',
  kind: 'How it is reached: `webhook` unless given. It never changes.',
  url: 'For kinds that are reached by an address.',
  settings: 'What the kind needs to know: of `email` `{to, subject_prefix}`.',
  quiet_hours: 'What comes meanwhile is collected and sent as one digest at their end.',
  alerts: 'Whether alerts of the org go to it; false unless given.',
  enabled: 'What goes to a target that is off is held; true unless given.',
}

export const BUDGET_TEXTS: TextsOf<BudgetItem> = {
  ...budgetTerms,
  id: 'Left out: it is known by whose it is, what it counts, and how often.',
  agent: 'The name of the agent it is for, or its id. Neither agent nor schedule: it is for the whole org.',
  schedule: 'The name of the schedule it is for, or its id.',
  agent_id: 'The id of the agent; `agent` takes the name too.',
  schedule_id: 'The id of the schedule; `schedule` takes the name too.',
}

const RETRY_TEXTS: TextsOf<RetryPolicyView> = {
  max_retries: 'How often a failed attempt is repeated; 0: never.',
  strategy: 'How the waits grow.',
  base_ms: 'The first wait, such as 5s.',
  max_ms: 'The longest wait, such as 10m.',
  jitter: 'How much of a wait is left to chance, from 0 to 1.',
  ladder_seconds: 'The waits one after the other, such as [30s, 5m, 1h].',
}

const RAIL_TEXTS: TextsOf<GuardRailsInput> = {
  own_schedules_only: 'It sees and touches nothing but what it has made itself; true unless given.',
  max_schedules: 'Schedules that may be there at once; 10 unless given.',
  min_interval_seconds:
    'Between two occurrences of a schedule, and between two runs that are asked for; 1m unless given.',
  max_runs_per_hour: 'Runs asked for, tasks, messages, and schedules made or moved, together; 60 unless given.',
  max_lifetime_seconds: 'How long what it makes may live; null: without end.',
  budget: 'What everything it makes may use together.',
  approval: 'Somebody has to approve what it makes before any of it happens; false unless given.',
}

const OWN_BUDGET_TEXTS: TextsOf<ScheduleBudgetInput> = budgetTerms

const DELIVERY_TEXTS: TextsOf<DeliveryItem> = {
  target: 'The name of a target, or its id.',
  target_id: 'The id of a target; `target` takes the name too.',
}

/** Sentences for what is inside of fields, by the name of the field. */
export const PART_TEXTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  retry_policy: RETRY_TEXTS,
  self_service: RAIL_TEXTS,
  budget: OWN_BUDGET_TEXTS,
  delivery: DELIVERY_TEXTS,
  failure_options: {
    ladder_seconds: 'With `BACKOFF`: the waits one after the other, such as [30s, 5m, 1h].',
    threshold: 'With `HALF_OPEN`: failures in a row after which occurrences are skipped; 3 unless given.',
    cooldown_seconds: 'With `HALF_OPEN`: for how long; 5m unless given.',
  },
  quiet_hours: {
    start: 'HH:MM, inside.',
    end: 'HH:MM or 24:00, outside; before the start it is that of the next day.',
    timezone: 'An IANA time zone.',
  },
}
