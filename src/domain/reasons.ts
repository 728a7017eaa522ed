/**
 * All reasons for decisions. A reason has a stable code for programs and a sentence for people. `{name}` in a sentence
 * is replaced by a field of the decision's evidence. docs/reference/reasons.md is generated from this table.
 */
export const REASONS = {
  // Decisions about an occurrence.
  due: 'It was due at {nominal}.',
  caught_up: 'The occurrence at {nominal} was missed; {policy} caught up on it at {seen}.',
  held: 'The occurrence at {nominal} is caught up after others and held until {held_until}; overlap, failure and concurrency are decided then.',
  run_now: 'It was run manually.',
  retried: 'It is a manual retry of {of}.',
  tested: 'It is a test of its agent.',
  misfire: 'The occurrence at {nominal} was missed by {late_seconds} s, and {policy} does not catch up on it.',
  overlap: 'The previous run {previous_run} was still {previous_state}.',
  overlap_limit: '{pending} runs of the schedule were pending; at most {max_parallel} may overlap.',
  failure: 'The previous run {failed_run} ended as {failed_status}, and {policy} skips occurrences until {until}.',
  concurrency: '{reserved} of {max_concurrency} slots of the schedule were in use.',
  queue_full: '{parked} runs were already waiting for a slot of the schedule; at most {queue_depth} may wait.',
  superseded: 'The occurrence at {nominal} replaced it.',
  schedule_disabled: 'The schedule was disabled or deleted while the occurrence was held.',

  // Backfills and the runs they create.
  backfilled: 'Backfill {backfill}, started by {by}, created it for {nominal}.',
  backfill_done: 'All {total} occurrences have been run.',
  backfill_failing: 'It stopped after {failures} consecutive failures.',
  backfill_cancelled: '{by} cancelled backfill {backfill}.',
  backfill_waits: 'It waits until no run of its schedule is pending; {pending} are.',

  // Explanations of times of a schedule without a recorded decision.
  no_occurrence: 'The schedule has no occurrence at {at}.',
  excluded_date: 'The schedule excludes {at}.',
  clock_change: 'The clocks in {timezone} changed at {changed_at}: {note}.',
  other_zone: 'It fires at {local} in {timezone}, which is {planned}, not {at}.',
  before_creation: 'The schedule was created at {created_at}, after that time.',
  before_start: 'The schedule starts at {starts_at}, after that time.',
  after_end: 'The schedule ended at {ends_at}, before that time.',
  all_fires_made: 'The schedule had reached its limit of {max_fires} runs.',
  not_active: 'The schedule is {state}; it does not run in that state.',
  was_not_active: 'The schedule was not active at that time.',
  switched_off: '{actor} disabled the schedule at {since}, and it was still disabled at that time.',
  retimed: '{actor} changed the timing of the schedule at {changed_at}; that time is not part of the current timing.',
  deleted_by: '{actor} deleted schedule {schedule} at {deleted_at}.',
  awaits_approval: 'The schedule requires approval and does not run until it is approved.',
  not_yet: 'It is due at {at}.',
  being_decided: 'It is due at {at} and is being processed now.',
  undecided: 'It was due at {at}, {late_seconds} s ago, and no node has processed it yet.',
  pruned: 'It became {run_id}, which retention has deleted; its outcome is no longer on record.',
  not_kept: 'Nothing about {at} is on record anymore: runs are kept for {kept}.',
  folded:
    'It is one of {count} occurrences from {first} to {last} that were skipped ({cause}); they are not recorded one by one.',
  unattended: 'No node checked for due occurrences between {nominal} and {seen}.',

  // Explanations of times, schedules, targets and agents.
  ran: 'Run {run} was created at {made}; its status is {status}.',
  waited: 'Run {run} was created at {made} and started {waited_seconds} s later, at {started}.',
  nothing_planned: 'Nothing was scheduled between {from} and {to}.',
  heartbeat_waits: 'The next heartbeat of {agent} is at {next_at}.',
  planned: 'Its next occurrence is at {next}.',
  no_moment_left: 'The schedule has no occurrences left.',
  given_up: 'The only run of the schedule failed permanently, so it does not fire again.',
  rule_too_dense: 'The rule of the schedule {problem}, so it does not fire again until the rule is changed.',
  target_open: 'Target {target} accepts messages.',
  nothing_waits: '{of} has no waiting or running work.',
  at_work: '{of} has {queued} waiting and {active} active runs.',

  // The interval of a schedule with a cadence.
  pace_started:
    'It runs every {interval_seconds} s as configured; the interval can vary between {min_seconds} s and {max_seconds} s.',
  pace_quiet:
    'After {quiet_streak} consecutive runs without new results the schedule runs every {interval_seconds} s; the interval can vary between {min_seconds} s and {max_seconds} s.',
  pace_changed:
    'After {change_streak} consecutive runs with new results the schedule runs every {interval_seconds} s; the interval can vary between {min_seconds} s and {max_seconds} s.',
  pace_proposed:
    'The agent asked for the next check in {asked_seconds} s and got {got_seconds} s; the interval can vary between {min_seconds} s and {max_seconds} s.',
  pace_kept: 'No run has changed the interval since the previous occurrence, so it stays at {interval_seconds} s.',
  not_at_this_pace:
    'The schedule currently runs every {interval_seconds} s, next at {next}; it has no occurrence at {at}.',

  // Decisions about a submission.
  accepted: 'It was accepted.',
  delayed: 'It was accepted and may not start before {not_before}.',
  debouncing: 'It waits until {until} for more messages from the same sender.',
  merged: 'It was merged into {into}, which was still waiting for more messages from the same sender.',
  interrupting: 'It interrupts the session: {cancelled} active and {drained} waiting runs are cancelled.',
  forbidden: '{principal} lacks the permission {permission}; use a key whose role and scopes include it.',
  operators_only: 'Only the operator org of the deployment can do this; {principal} belongs to another org.',
  approvers_only: 'Only owners and admins can do this; {principal} is {role}.',
  other_org: 'It belongs to another org.',
  known_sender: '{sender} is allowed to send messages in {chat}.',
  unknown_sender: '{sender} is not allowed to send messages in {chat}.',
  org_queue_full: '{queued} of {max_queue} tasks of the org were queued.',
  agent_queue_full: '{queued} of {max_per_agent} tasks of agent {agent} were queued.',
  runs_per_day: 'The org has created {runs_today} of {runs_per_day} runs today.',
  session_queue_full: '{waiting} of {cap} messages were waiting in the session.',

  // Why a queued run has not started.
  not_before: 'It may not start before {not_before}.',
  awaiting_stop: 'It waits for {stopping} interrupted runs of its session to stop.',
  session_order: 'Run {ahead} of the same session goes first.',
  session_limit: '{active} of {limit} runs of its session are active.',
  context_throttle:
    'The session has used {tokens} of {context_window} tokens, so only one run may be active; {active} are.',
  schedule_limit: 'All {max_concurrency} slots of its schedule are in use.',
  agent_limit: '{in_flight} of {limit} runs of agent {agent} are in flight.',
  org_limit: '{in_flight} of {limit} runs of the org are in flight.',
  budget: 'Budget {budget} has {remaining} {unit} left until {until}; the run requires {reserve}.',
  provider_quota:
    'Provider {provider} accepts no more requests until {until} ({quota}); {behind} other runs also wait for it.',
  provider_limit:
    '{in_flight} of {limit} runs that call provider {provider} are in flight; {behind} other runs also wait for it.',
  lane_full: 'All {size} slots of lane {lane} are in use.',
  org_share:
    'The org holds {held} of the {size} slots of lane {lane} on the node; beside other orgs it gets at most {limit}, and none of the last {kept} free slots while it holds any.',
  catchup_limit: '{active} of {limit} catch-up runs are active on the node.',
  executor_offline: 'No connected node or worker can execute agent {agent}.',
  worker_busy: 'The workers of agent {agent} are at capacity: {held} of {capacity} attempts.',
  in_line: 'All gates are open; it is number {position} in the queue of its agent.',
  picked: 'All gates were open and it was next in the queue.',

  // Why a run ended with its status.
  completed: 'The executor reported success.',
  probe_no: 'The agent did not run: {asked} was checked first, and {seen}.',
  not_retryable: 'Attempt {attempt} failed with {error_code}, which is not retried.',
  retries_exhausted: 'Attempt {attempt} failed with {error_code}, and all {max_retries} retries are used up.',
  retry_scheduled: 'Attempt {attempt} failed with {error_code}; the next one starts at {retry_at}.',
  retries_off:
    'Attempt {attempt} failed with {error_code}; with failure action RETRY the next occurrence is the retry.',
  deadline: 'Its deadline, {deadline}, passed.',
  no_time_left:
    'Attempt {attempt} failed with {error_code}, and a retry could not start before the deadline {deadline}.',
  dropped: 'The session queue was full and {by} replaced it.',
  interrupted: 'A newer message interrupted the session.',
  stale: 'It was sent before the session was stopped at {cutoff}.',
  stopped: 'It was stopped with /stop.',
  stopped_all: 'The session was stopped with /stopall.',
  cancelled: 'It was cancelled manually.',
  lane_cleared: 'The session was reset.',
  stale_report: 'The report is for attempt {reported}, but the current attempt is {current}.',

  // Probes, which are checked before an agent runs.
  probe_yes: '{asked} was checked first, and {seen}: the agent ran.',
  probe_error: '{asked} could not be checked: {seen}. The agent ran anyway.',

  // Heartbeats.
  heartbeat_disabled: 'The heartbeat is disabled.',
  outside_active_hours: 'It is {local_time} in {timezone}, outside the active hours {start}-{end}.',
  no_checklist: 'There is no checklist.',
  empty_checklist: 'The checklist is empty.',
  no_route:
    'The heartbeat target {target} does not resolve to a recipient yet: send the agent a message, set channel:recipient or a target, or set none.',
  agent_busy: 'The agent is busy with {run}.',
  heartbeat_due: 'The checklist is due.',
  heartbeat_asked: 'It was requested manually.',
  acknowledged: 'The agent replied HEARTBEAT_OK with {other_chars} other characters.',
  empty_reply: 'The agent replied with nothing.',
  duplicate: 'The same content was delivered to {target} at {delivered_at}.',
  heartbeat_news: 'The agent has something to report.',

  // Deliveries.
  deliver: 'The result is delivered to {target}.',
  no_reply: 'The reply is exactly NO_REPLY.',
  target_none: 'The target is none.',
  not_announced: 'Results of runs that end as {ending} are not delivered to {target}.',
  cleared: 'The run was cancelled; {target} gets one empty message that clears its indicators.',
  target_disabled: 'Target {target} was disabled after {failures} consecutive failures.',
  target_off: 'Target {target} is disabled.',
  target_gone: 'Target {target} no longer exists.',
  run_gone: 'Run {run} is no longer on record.',
  delivered: 'It was delivered to {target} on try {tries}.',
  let_go: 'It was sent manually.',
  quiet_hours: '{target} has quiet hours until {until}; the result is added to the digest.',
  alerted: 'The target receives alerts.',
  in_digest: 'It is part of digest {digest}.',
  delivery_retry: 'Try {tries} failed; the next one is at {retry_at}.',
  delivery_given_up: 'All {tries} tries failed.',

  // Access.
  granted: '{principal} has {permission}.',
  key_expired: 'The key of {principal} expired at {expires_at}.',
  key_revoked: 'The key of {principal} was revoked at {revoked_at}.',

  // Alerts.
  target_enabled: 'Target {target} was enabled again.',
  failure_streak: '{streak} consecutive runs failed; the alert threshold is {alert_after}.',
  failure_streak_over: 'A run succeeded again.',
  heartbeat_failing: '{streak} consecutive heartbeats of {agent} failed ({problem}).',
  heartbeat_works: 'The heartbeat of {agent} works again.',
  heartbeat_changed: 'The heartbeat of {agent} was changed or disabled.',
  runs_unserved: '{waiting} runs of {agent} have waited since {since}; no connected node or worker can execute them.',
  runs_served: 'No run of {agent} waits for a node or worker any more.',
  engine_stalled: 'No scan since {last_scan_at}, longer than {stall_periods} periods of {period_ms} ms.',
  engine_scans: 'The engine scans again, last at {last_scan_at}.',
  node_gone: 'Node {node} is gone; other nodes settle its runs.',
  occurrence_missed: '{missed} occurrences since {first} were missed and are not caught up.',
  occurrence_in_time: 'An occurrence fired on time again.',
  run_late: 'The run for {nominal} is {late_seconds} s late; {max_lateness_seconds} s are allowed.',
  run_in_time: 'A run started on time again.',
  schedule_gone: 'Schedule {schedule} no longer exists.',
  budget_no_room:
    '{spent} of {amount} {unit} are used; a run requires about {reserve}, so no further run is admitted until {until}, and {action} applies.',
  budget_low: '{spent} of {amount} {unit} are used, {percent} % of the budget, until {until}.',
  budget_used_up: '{spent} of {amount} {unit} are used: the budget is exhausted until {until}, and {action} applies.',
  budget_open: 'The budget has room again: {spent} of {amount} {unit} are used.',
  budget_gone: 'Budget {budget} no longer exists.',
} as const

export type Reason = keyof typeof REASONS

/** The facts behind a decision. Flat, so that it can be stored, shown as a table and filled into a sentence. */
export type Evidence = Readonly<Record<string, string | number | boolean | null>>

/** Why something was decided: the reason code, the rule that decided, and the facts. */
export interface Why {
  readonly reason: Reason
  /** The rule as named in the docs: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`. */
  readonly rule: string
  readonly evidence: Evidence
}

/** The names of the placeholders of a sentence. */
type FactsIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | FactsIn<Rest> : never

/** The values that can fill a placeholder. */
type FactValue = string | number | boolean

type FactsOf<R extends Reason> = Readonly<Record<FactsIn<(typeof REASONS)[R]>, FactValue>>

/** For a union of reasons, the facts of all of them are required, because any of them can be used. */
type FactsOfAll<R extends Reason> = (R extends Reason ? (facts: FactsOf<R>) => void : never) extends (
  facts: infer All,
) => void
  ? All
  : never

/** The evidence of a reason: a fact for each placeholder, and optional further facts. */
type EvidenceOf<R extends Reason> = Evidence & FactsOfAll<R>

/** Creates the explanation of a decision. The type requires a fact for every placeholder of the sentence. */
export const because: Because = (reason: Reason, rule: string, evidence: Evidence = {}): Why => ({
  reason,
  rule,
  evidence,
})

type Because = <const R extends Reason>(
  reason: R,
  rule: string,
  ...evidence: [FactsIn<(typeof REASONS)[R]>] extends [never] ? [evidence?: Evidence] : [evidence: EvidenceOf<R>]
) => Why

/** Only the reason, rule and evidence of an object that can have more fields. */
export const toWhy = ({ reason, rule, evidence }: Why): Why => ({ reason, rule, evidence })

const FACT_PLACEHOLDER = /\{(\w+)\}/g

/** Whether the evidence has a fact for every placeholder of the sentence. */
export const isComplete = ({ reason, evidence }: Why): boolean =>
  [...REASONS[reason].matchAll(FACT_PLACEHOLDER)].every(([, name = '']) => isFactValue(evidence[name]))

const isFactValue = (fact: Evidence[string] | undefined): fact is FactValue => fact !== undefined && fact !== null

/**
 * The decision as one sentence for people. An earlier release may have stored less evidence; then the sentence only has
 * the title of the reason.
 */
export function explainWhy(why: Why): string {
  if (!isComplete(why)) return `${titleOf(why.reason)}; no details are on record.`
  return REASONS[why.reason].replace(FACT_PLACEHOLDER, (_, name: string) => String(why.evidence[name]))
}

const titleOf = (reason: Reason): string => reason.charAt(0).toUpperCase() + reason.slice(1).replaceAll('_', ' ')
