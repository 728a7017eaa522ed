/**
 * Every reason the system can give, once. A reason is a stable code for programs and a sentence for people; `{name}` in
 * a sentence is filled from the evidence of the decision. docs/reference/reasons.md is compared with this table.
 */
export const REASONS = {
  // What was decided about an occurrence.
  due: 'Its moment, {nominal}, had come.',
  caught_up: 'Its moment, {nominal}, was missed; {policy} made up for it at {seen}.',
  held: 'The occurrence of {nominal} is made up for after others. It is held until {held_until}; overlap, failure and concurrency are decided then.',
  run_now: 'A person asked for it.',
  retried: 'A person asked for {of} to be run again.',
  misfire: 'Its moment, {nominal}, was missed by {late_seconds} s, and {policy} does not make up for it.',
  overlap: 'The previous run {previous_run} was still {previous_state}.',
  overlap_limit: '{pending} runs of the schedule were pending, and at most {max_parallel} may overlap.',
  failure: 'The previous run {failed_run} ended {failed_status}, and {policy} holds back until {until}.',
  concurrency: '{reserved} of {max_concurrency} slots of the schedule were taken.',
  queue_full: '{parked} runs were already waiting for a slot of the schedule, and at most {queue_depth} may.',
  superseded: 'The occurrence of {nominal} took its place.',
  schedule_disabled: 'The schedule was disabled or deleted while the occurrence was held.',

  // Backfills, and the runs they make.
  backfilled: 'The backfill {backfill}, which {by} started, made it for {nominal}.',
  backfill_done: 'All {total} moments have had their run.',
  backfill_failing: '{failures} of its runs failed in a row, so it stopped.',
  backfill_cancelled: '{by} cancelled the backfill {backfill}.',
  backfill_waits: 'It goes on when nothing of its schedule is pending; {pending} runs are.',

  // What is said of a moment of a schedule about which nothing was decided, or of which less is kept.
  no_occurrence: 'The schedule has no occurrence at {at}.',
  excluded_date: 'The rule of the schedule names {at}, and that is excluded from it.',
  clock_change: 'The clocks of {timezone} changed at {changed_at}: {note}.',
  other_zone: 'It fires at {local} by the clock of {timezone}, which is {planned}, not {at}.',
  before_creation: 'The schedule was made at {created_at}, after that moment.',
  before_start: 'The schedule begins at {starts_at}, after that moment.',
  after_end: 'The schedule ended at {ends_at}, before that moment.',
  all_fires_made: 'The schedule had made all {max_fires} runs it may make.',
  not_active: 'The schedule is {state}, and nothing is run while it is.',
  was_not_active: 'The schedule was not active at that moment.',
  switched_off: '{actor} switched the schedule off at {since}, and it was off at that moment.',
  retimed: '{actor} changed at {changed_at} when the schedule fires; that moment is not of the plan it has now.',
  deleted_by: '{actor} deleted the schedule {schedule} at {deleted_at}.',
  awaits_approval: 'The schedule waits for somebody to approve it, and nothing is run until then.',
  not_yet: 'Its moment, {at}, is still to come.',
  being_decided: 'Its moment, {at}, has come and is being decided.',
  undecided: 'Its moment, {at}, came {late_seconds} s ago, and no node has looked at it since.',
  pruned: 'It became {run_id}, which is so old that it was removed; how it ended is not kept.',
  not_kept: 'Whatever became of {at} is not kept any more: runs are kept for {kept}.',
  folded:
    'It is one of {count} occurrences from {first} to {last} that were skipped for {cause}; more is not kept of each.',
  unattended: 'No node looked for what was due between {nominal} and {seen}.',

  // What is found when somebody asks about a moment, or about a thing.
  ran: 'Run {run} was made at {made} and is {status}.',
  waited: 'Run {run} was made at {made} and began {waited_seconds} s later, at {started}.',
  nothing_planned: 'Nothing was planned between {from} and {to}.',
  heartbeat_waits: 'The heartbeat of {agent} comes next at {next_at}.',
  planned: 'Its next moment is {next}.',
  no_moment_left: 'The schedule has no moment left.',
  given_up: 'The one run of the schedule failed for good, so it fires no more.',
  rule_too_dense: 'The rule of the schedule {problem}, so it fires no more until the rule is changed.',
  target_open: 'The target {target} takes what is sent to it.',
  nothing_waits: 'Nothing of {of} waits or runs.',
  at_work: 'Of {of}, {queued} wait and {active} are under way.',

  // How often a schedule with a cadence comes.
  pace_started:
    'It comes every {interval_seconds} s, as it was planned; between {min_seconds} s and {max_seconds} s are possible.',
  pace_quiet:
    'Quiet runs in a row: {quiet_streak}, so it comes every {interval_seconds} s; between {min_seconds} s and {max_seconds} s are possible.',
  pace_changed:
    'Runs in a row that found something: {change_streak}, so it comes every {interval_seconds} s; between {min_seconds} s and {max_seconds} s are possible.',
  pace_proposed:
    'The agent asked for the next check in {asked_seconds} s and got it in {got_seconds} s; between {min_seconds} s and {max_seconds} s are possible.',
  pace_kept: 'No run has changed its pace since the moment before, so it goes on every {interval_seconds} s.',
  not_at_this_pace:
    'The schedule comes every {interval_seconds} s now, next at {next}; {at} is no moment at this pace.',

  // What was decided about a submission.
  accepted: 'It was accepted.',
  delayed: 'It was accepted and may not start before {not_before}.',
  debouncing: 'It waits until {until} for more messages of the same sender.',
  merged: 'It was merged into {into}, which was still waiting for more of the same sender.',
  interrupting: 'It interrupts the session: {cancelled} active and {drained} waiting runs make way.',
  forbidden: '{principal} lacks the permission {permission}; use a key whose role and scopes have it.',
  operators_only: 'It belongs to the deployment, and {principal} is not of the org that operates it.',
  approvers_only: '{principal} is {role}, and this is for owners and admins.',
  other_org: 'It belongs to another org.',
  known_sender: '{sender} may speak in {chat}.',
  unknown_sender: '{sender} is not among those who may speak in {chat}.',
  org_queue_full: '{queued} of {max_queue} tasks of the org were queued.',
  agent_queue_full: '{queued} of {max_per_agent} tasks of agent {agent} were queued.',
  runs_per_day: 'The org has made {runs_today} of {runs_per_day} runs today.',
  session_queue_full: '{waiting} of {cap} messages were waiting in the session.',

  // Why something that may run has not started.
  not_before: 'It may not start before {not_before}.',
  awaiting_stop: 'It waits for {stopping} interrupted runs of its session to stop.',
  session_order: 'Run {ahead} of the same session goes first.',
  session_limit: '{active} of {limit} runs of its session are active.',
  context_throttle:
    'The session has used {tokens} of {context_window} tokens, so one run goes at a time; {active} are active.',
  schedule_limit: 'All {max_concurrency} slots of its schedule are taken.',
  agent_limit: '{in_flight} of {limit} runs of agent {agent} are in flight.',
  org_limit: '{in_flight} of {limit} runs of the org are in flight.',
  budget: 'Budget {budget} has {remaining} {unit} left until {until}, and {reserve} are needed.',
  provider_quota:
    'Provider {provider} takes nothing more until {until} ({quota}); {behind} other runs wait for it as well.',
  provider_limit:
    '{in_flight} of {limit} runs that call provider {provider} are in flight; {behind} other runs wait for it as well.',
  lane_full: 'All {size} slots of lane {lane} are taken.',
  org_share:
    'The org holds {held} of the {size} slots of lane {lane} on the node; next to other orgs it gets at most {limit}, and none of the last {kept} free ones while it holds any.',
  catchup_limit: '{active} of {limit} catch-up runs are active on the node.',
  executor_offline: 'Nothing that can execute agent {agent} is connected.',
  worker_busy: 'The workers of agent {agent} hold {held} of the {capacity} attempts they take at a time.',
  in_line: 'Every gate is open; others go first: it is number {position} of its agent.',
  picked: 'Every gate was open and its turn had come.',

  // Why a run ended the way it did.
  completed: 'The executor reported success.',
  probe_no: 'Nobody was woken: {asked} was asked first, and {seen}.',
  not_retryable: 'Attempt {attempt} failed with {error_code}, which is not retried.',
  retries_exhausted: 'Attempt {attempt} failed with {error_code}, and all {max_retries} retries are used.',
  retry_scheduled: 'Attempt {attempt} failed with {error_code}; the next starts at {retry_at}.',
  retries_off:
    'Attempt {attempt} failed with {error_code}; under failure action RETRY the next occurrence is the retry.',
  deadline: 'Its deadline, {deadline}, passed.',
  no_time_left:
    'Attempt {attempt} failed with {error_code}, and a retry could not start before the deadline {deadline}.',
  dropped: 'The session queue was full and {by} pushed it out.',
  interrupted: 'A newer message interrupted the session.',
  stale: 'It was sent before the session was stopped at {cutoff}.',
  stopped: 'A person stopped it with /stop.',
  stopped_all: 'A person stopped the session with /stopall.',
  cancelled: 'A person cancelled it.',
  lane_cleared: 'The session was reset.',
  stale_report: 'The report names attempt {reported}, but {current} is the current one.',

  // What was asked before anybody was woken.
  probe_yes: '{asked} was asked first, and {seen}: the agent was woken.',
  probe_error: '{asked} was asked first and could not answer: {seen}. The agent was woken all the same.',

  // Heartbeats.
  heartbeat_disabled: 'The heartbeat is switched off.',
  outside_active_hours: 'It is {local_time} in {timezone}, outside {start}-{end}.',
  no_checklist: 'There is no checklist.',
  empty_checklist: 'The checklist has nothing to check.',
  no_route:
    'The heartbeat target {target} leads nowhere yet: send the agent a message, name channel:recipient or a target, or set none.',
  agent_busy: 'The agent is busy with {run}.',
  heartbeat_due: 'The checklist is due.',
  heartbeat_asked: 'A person wanted to see it now.',
  acknowledged: 'The agent answered HEARTBEAT_OK with {other_chars} other characters.',
  empty_reply: 'The agent answered nothing.',
  duplicate: 'The same content was delivered to {target} at {delivered_at}.',
  heartbeat_news: 'The agent has something to say.',

  // Deliveries.
  deliver: 'The result goes to {target}.',
  no_reply: 'The reply is exactly NO_REPLY.',
  target_none: 'The target is none.',
  not_announced: 'A run that ended {ending} is not told to {target}.',
  cleared: 'The run was cancelled; {target} gets one empty message, which clears its indicators.',
  target_disabled: 'The target {target} is disabled after {failures} failures in a row.',
  target_off: 'The target {target} is switched off.',
  target_gone: 'The target {target} is gone.',
  run_gone: 'Its run {run} is not kept any more.',
  delivered: 'It was delivered to {target} with try {tries}.',
  let_go: 'A person asked for it to be sent.',
  quiet_hours: 'It is quiet at {target} until {until}; the result joins the digest.',
  alerted: 'The target wants to hear of alerts.',
  in_digest: 'It is part of the digest {digest}.',
  delivery_retry: 'Try {tries} failed; the next is at {retry_at}.',
  delivery_given_up: 'All {tries} tries failed.',

  // Access.
  granted: '{principal} has {permission}.',
  key_expired: 'The key of {principal} expired at {expires_at}.',
  key_revoked: 'The key of {principal} was revoked at {revoked_at}.',

  // Alerts.
  target_enabled: 'The target {target} was switched on again.',
  failure_streak: '{streak} runs failed in a row; the alert is at {alert_after}.',
  failure_streak_over: 'A run succeeded again.',
  heartbeat_failing: '{streak} heartbeats of {agent} in a row came to nothing ({problem}).',
  heartbeat_works: 'The heartbeat of {agent} works again.',
  heartbeat_changed: 'The heartbeat of {agent} was changed or switched off.',
  engine_stalled: 'No scan since {last_scan_at}, longer than {stall_periods} periods of {period_ms} ms.',
  engine_scans: 'The engine scans again, last at {last_scan_at}.',
  node_gone: 'The node {node} is gone; what it held is settled by others.',
  occurrence_missed: '{missed} occurrences from {first} on were missed, and nothing makes up for them.',
  occurrence_in_time: 'An occurrence was met in time again.',
  run_late: 'The run for {nominal} is {late_seconds} s late; {max_lateness_seconds} s are allowed.',
  run_in_time: 'A run has started in time again.',
  schedule_gone: 'The schedule {schedule} is gone.',
  budget_no_room:
    '{spent} of {amount} {unit} are used, and what is left admits no further run, which needs about {reserve}: until {until}, {action} applies.',
  budget_low: '{spent} of {amount} {unit} are used, {percent} % of the budget, until {until}.',
  budget_used_up: '{spent} of {amount} {unit} are used: the budget is used up until {until}, and {action} applies.',
  budget_open: 'The budget has room again: {spent} of {amount} {unit} are used.',
  budget_gone: 'The budget {budget} is gone.',
} as const

export type Reason = keyof typeof REASONS

/** The facts a decision rested on. Flat, so that it can be stored, shown as a table and filled into a sentence. */
export type Evidence = Readonly<Record<string, string | number | boolean | null>>

/** Why something was decided: a code for programs, the rule that spoke, and the facts it looked at. */
export interface Why {
  readonly reason: Reason
  /** The rule in the words of the docs: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`. */
  readonly rule: string
  readonly evidence: Evidence
}

/** The names of the facts that a sentence speaks of. */
type FactsIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | FactsIn<Rest> : never

/** What a sentence can be filled with: what is there. */
type Told = string | number | boolean

type ToldIn<R extends Reason> = Readonly<Record<FactsIn<(typeof REASONS)[R]>, Told>>

/** Of each of several reasons all facts are needed, because any of them may be the one that is given. */
type ToldInAll<R extends Reason> = (R extends Reason ? (told: ToldIn<R>) => void : never) extends (
  told: infer All,
) => void
  ? All
  : never

/** The evidence that a reason needs: every fact its sentence speaks of, and whatever else was looked at. */
export type EvidenceOf<R extends Reason> = Evidence & ToldInAll<R>

/**
 * Why something was decided. Whoever gives a reason brings all that its sentence speaks of, so that no sentence has a
 * hole: one that is forgotten does not compile.
 */
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

/** The reason alone, without what else is known beside it. */
export const whyOf = ({ reason, rule, evidence }: Why): Why => ({ reason, rule, evidence })

const HOLE = /\{(\w+)\}/g

/** Whether everything that the sentence of a reason speaks of is on record. */
export const isComplete = ({ reason, evidence }: Why): boolean =>
  [...REASONS[reason].matchAll(HOLE)].every(([, name = '']) => isTold(evidence[name]))

const isTold = (fact: Evidence[string] | undefined): fact is Told => fact !== undefined && fact !== null

/**
 * The decision as one sentence for a person. Of what an earlier release wrote with less evidence only the reason is told:
 * a sentence with holes says less than none.
 */
export function explainWhy(why: Why): string {
  if (!isComplete(why)) return `${titleOf(why.reason)}; more is not on record.`
  return REASONS[why.reason].replace(HOLE, (_, name: string) => String(why.evidence[name]))
}

const titleOf = (reason: Reason): string => reason.charAt(0).toUpperCase() + reason.slice(1).replaceAll('_', ' ')
