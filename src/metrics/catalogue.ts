/** What a metric is, and whose: of this node since it started, or of the whole deployment at this moment. */
export interface MetricSpec {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly scope: 'node' | 'deployment'
  readonly labels: readonly string[]
  readonly help: string
}

const counter = (help: string, ...labels: readonly string[]): MetricSpec => ({
  ...{ type: 'counter', scope: 'node', labels, help },
})
const gauge = (help: string, ...labels: readonly string[]): MetricSpec => ({
  ...{ type: 'gauge', scope: 'node', labels, help },
})
const counted = (help: string, ...labels: readonly string[]): MetricSpec => ({
  ...{ type: 'gauge', scope: 'deployment', labels, help },
})
const histogram = (help: string): MetricSpec => ({ ...{ type: 'histogram', scope: 'node', labels: [], help } })

/** Every metric, once. docs/reference/metrics.md is compared with this table. */
export const METRICS = {
  // How runs went.
  escapement_runs_total: counter('Runs that have ended, by the state they ended in.', 'status'),
  escapement_triggers_total: counter(
    'Runs that were made, skipped and rejected ones too, by what woke them.',
    'trigger',
  ),
  escapement_runs_by_trigger_total: counter('Runs that have ended, by what woke them and how.', 'trigger', 'status'),
  escapement_attempts_total: counter('Attempts that this node has begun.'),
  escapement_run_duration_seconds: histogram('From the start of the last attempt to the end of the run.'),

  // What became of occurrences.
  escapement_run_lateness_seconds: histogram(
    'From the nominal time of an occurrence to the start of its first attempt.',
  ),
  escapement_skips_total: counter('Occurrences that did not run, by reason.', 'reason'),
  escapement_task_overlap_skipped_total: counter('Occurrences skipped because the previous run was still pending.'),
  escapement_concurrency_skipped_total: counter('Occurrences skipped because every slot of the schedule was taken.'),
  escapement_misfires_total: counter('Occurrences whose moment was missed, by what was done about them.', 'outcome'),

  // What went wrong and was tried again.
  escapement_retries_total: counter('Attempts that failed and were followed by another, by error code.', 'error_code'),
  escapement_task_failure_retry_total: counter(
    'Attempts made because the one before failed: of the same run, or as the next occurrence under RETRY.',
  ),
  escapement_task_timeout_total: counter('Attempts that ran out of time, whether or not another one followed.'),
  escapement_refusals_total: counter('Requests that were refused, by code.', 'code'),
  escapement_deliveries_total: counter('Tries to deliver a message, by what became of them.', 'outcome'),
  escapement_probes_total: counter(
    'Probes that this node has asked before waking an agent, by what they answered; each `no` is a call saved.',
    'answer',
  ),
  escapement_heartbeats_total: counter('Heartbeats that were looked at, by what became of them.', 'outcome'),

  // What waits, and for what.
  escapement_schedules: counted('Schedules, by state.', 'state'),
  escapement_pending_runs: counted('Runs that have not ended, by state.', 'state'),
  escapement_callbacks_pending: counted('Runs whose executor has accepted and will report later.'),
  escapement_lane_slots: gauge('Slots of a lane on this node.', 'lane'),
  escapement_lane_held: gauge('Slots of a lane on this node that are taken.', 'lane'),
  escapement_lane_org_limit: gauge('Slots of a lane that one org may hold on this node.', 'lane'),
  escapement_lane_largest_org_held: gauge(
    'Slots of a lane on this node that the org with the most of them holds.',
    'lane',
  ),
  escapement_lane_queued: counted('Runs that may start as soon as their gates open, by lane.', 'lane'),
  escapement_lane_in_flight: counted('Runs that nodes work on, by lane.', 'lane'),
  escapement_agent_queued: counted(
    'Queued runs of the busiest agents; all others are the one without a name.',
    'org',
    'agent',
  ),
  escapement_agent_in_flight: counted('Runs in flight of the same agents.', 'org', 'agent'),
  escapement_provider_waiting: counted('Queued runs that call a provider.', 'org', 'provider'),
  escapement_provider_in_flight: counted('Attempts that call a provider now.', 'org', 'provider'),
  escapement_provider_closed_seconds: counted(
    'How long nothing that calls a provider may start: its quota is used up, or it has refused. 0 while it is open.',
    'org',
    'provider',
  ),

  // How the engine and what it stands on are.
  escapement_alerts_open: counted('Alerts that are open, by kind.', 'kind'),
  escapement_scan_duration_seconds: histogram('How long it took to find and decide what was due.'),
  escapement_scan_age_seconds: gauge('How long ago this node last looked for what is due.'),
  escapement_turns_total: counter('Transactions in which this node has changed an org.'),
  escapement_nodes: counted('Nodes of the deployment, by state.', 'state'),
  escapement_draining: gauge('1 while this node goes down and takes no new work.'),
  escapement_database_up: gauge('1 while the database answers this node.'),
  escapement_database_connections: gauge('Connections of this node to the database, by pool.', 'pool', 'state'),
  escapement_database_waiting: gauge('Statements of this node that wait for a free connection, by pool.', 'pool'),
  escapement_counted_age_seconds: gauge(
    'How old those numbers of the deployment are that are counted in the database.',
  ),
  escapement_info: gauge('Always 1; its labels say what answers.', 'version', 'node'),

  // The process.
  process_cpu_seconds_total: counter('Time on the processor, of user and system.'),
  process_resident_memory_bytes: gauge('Memory the process has.'),
  process_start_time_seconds: gauge('When the process started, in seconds since 1970.'),
  nodejs_heap_size_used_bytes: gauge('Heap in use.'),
  nodejs_eventloop_utilization_ratio: gauge('Share of the time since the last look that was spent working, 0 to 1.'),
} as const satisfies Readonly<Record<string, MetricSpec>>

export type MetricName = keyof typeof METRICS

/** Metrics that other cron engines show without a prefix, by that name; `metrics.unprefixed_names` switches them. */
export const UNPREFIXED = {
  runs_total: 'escapement_runs_total',
  task_overlap_skipped_total: 'escapement_task_overlap_skipped_total',
  task_failure_retry_total: 'escapement_task_failure_retry_total',
  task_timeout_total: 'escapement_task_timeout_total',
  concurrency_skipped_total: 'escapement_concurrency_skipped_total',
} as const satisfies Readonly<Record<string, MetricName>>
