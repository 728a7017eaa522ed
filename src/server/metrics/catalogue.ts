/** A metric. Scope: this node since it started, or the whole deployment now. */
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
const deploymentGauge = (help: string, ...labels: readonly string[]): MetricSpec => ({
  ...{ type: 'gauge', scope: 'deployment', labels, help },
})
const histogram = (help: string): MetricSpec => ({ ...{ type: 'histogram', scope: 'node', labels: [], help } })

/** Every metric. docs/reference/metrics.md is compared with this table. */
export const METRICS = {
  // Runs.
  escapement_runs_total: counter('Runs that have ended, by final state.', 'status'),
  escapement_triggers_total: counter('Runs created, including skipped and rejected ones, by trigger.', 'trigger'),
  escapement_runs_by_trigger_total: counter('Runs that have ended, by trigger and final state.', 'trigger', 'status'),
  escapement_attempts_total: counter('Attempts started by this node.'),
  escapement_run_duration_seconds: histogram('Time from the start of the last attempt to the end of the run.'),

  // Occurrences.
  escapement_run_lateness_seconds: histogram(
    'Time from the nominal time of an occurrence to the start of its first attempt.',
  ),
  escapement_skips_total: counter('Occurrences that did not run, by reason.', 'reason'),
  escapement_task_overlap_skipped_total: counter('Occurrences skipped because the previous run was still pending.'),
  escapement_concurrency_skipped_total: counter('Occurrences skipped because every slot of the schedule was taken.'),
  escapement_misfires_total: counter('Missed occurrences, by outcome: caught up or skipped.', 'outcome'),

  // Failures, retries and probes.
  escapement_retries_total: counter('Failed attempts that were retried, by error code.', 'error_code'),
  escapement_task_failure_retry_total: counter(
    'Retries of failed attempts: of the same run, or as the next occurrence under RETRY.',
  ),
  escapement_task_timeout_total: counter('Attempts that timed out, whether or not they were retried.'),
  escapement_refusals_total: counter('Rejected requests, by error code.', 'code'),
  escapement_deliveries_total: counter('Delivery attempts, by outcome.', 'outcome'),
  escapement_probes_total: counter(
    'Probes run by this node before triggering an agent, by answer; each `no` saves an agent call.',
    'answer',
  ),
  escapement_heartbeats_total: counter('Heartbeats evaluated, by outcome.', 'outcome'),

  // Waiting and active work.
  escapement_schedules: deploymentGauge('Schedules, by state.', 'state'),
  escapement_pending_runs: deploymentGauge('Runs that have not ended, by state.', 'state'),
  escapement_callbacks_pending: deploymentGauge('Runs that wait for a callback of their executor.'),
  escapement_lane_slots: gauge('Slots of a lane on this node.', 'lane'),
  escapement_lane_held: gauge('Slots of a lane in use on this node.', 'lane'),
  escapement_lane_org_limit: gauge('Slots of a lane that one org may use on this node.', 'lane'),
  escapement_lane_largest_org_held: gauge('Slots of a lane on this node used by the org that uses the most.', 'lane'),
  escapement_lane_queued: deploymentGauge('Queued runs, by lane.', 'lane'),
  escapement_lane_in_flight: deploymentGauge('Active runs, by lane.', 'lane'),
  escapement_agent_queued: deploymentGauge(
    'Queued runs of the busiest agents; an empty agent label is the sum of all others.',
    'org',
    'agent',
  ),
  escapement_agent_in_flight: deploymentGauge('Active runs of the same agents.', 'org', 'agent'),
  escapement_provider_waiting: deploymentGauge('Queued runs that use a provider.', 'org', 'provider'),
  escapement_provider_in_flight: deploymentGauge('Active attempts that use a provider.', 'org', 'provider'),
  escapement_provider_closed_seconds: deploymentGauge(
    'Seconds until attempts that use a provider may start again, after its quota was used up or it rejected a call. 0 if they may start.',
    'org',
    'provider',
  ),

  // The engine and the database.
  escapement_alerts_open: deploymentGauge('Open alerts, by kind.', 'kind'),
  escapement_scan_duration_seconds: histogram('Time to find and decide due occurrences.'),
  escapement_scan_age_seconds: gauge('Time since this node last checked for due occurrences.'),
  escapement_turns_total: counter('Transactions of orgs committed by this node.'),
  escapement_nodes: deploymentGauge('Nodes of the deployment, by state.', 'state'),
  escapement_draining: gauge('1 while this node is draining and accepts no new work.'),
  escapement_database_up: gauge('1 while this node can reach the database.'),
  escapement_database_connections: gauge('Database connections of this node, by pool and state.', 'pool', 'state'),
  escapement_database_waiting: gauge('Statements of this node waiting for a database connection, by pool.', 'pool'),
  escapement_counted_age_seconds: gauge('Age of the deployment metrics that are counted in the database.'),
  escapement_info: gauge('Always 1; the labels identify the version and the node.', 'version', 'node'),

  // The process.
  process_cpu_seconds_total: counter('CPU time, user and system.'),
  process_resident_memory_bytes: gauge('Resident memory of the process.'),
  process_start_time_seconds: gauge('Start time of the process, in seconds since 1970.'),
  nodejs_heap_size_used_bytes: gauge('Heap memory in use.'),
  nodejs_eventloop_utilization_ratio: gauge('Utilization of the event loop since the previous scrape, 0 to 1.'),
} as const satisfies Readonly<Record<string, MetricSpec>>

export type MetricName = keyof typeof METRICS

/**
 * Metrics that are also exposed without prefix, for compatibility with other cron engines; `metrics.unprefixed_names`
 * enables this.
 */
export const UNPREFIXED = {
  runs_total: 'escapement_runs_total',
  task_overlap_skipped_total: 'escapement_task_overlap_skipped_total',
  task_failure_retry_total: 'escapement_task_failure_retry_total',
  task_timeout_total: 'escapement_task_timeout_total',
  concurrency_skipped_total: 'escapement_concurrency_skipped_total',
} as const satisfies Readonly<Record<string, MetricName>>
