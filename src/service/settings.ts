import { ENGINE_KEYS, type EngineConfig } from '../contract/config/engine-keys.ts'
import type { Config } from '../contract/config/keys.ts'
import { crossFlaws } from '../contract/config/rules.ts'
import { buildTree, defaultLayer, readPartly, type Layer } from '../contract/config/tree.ts'
import { laneName, type LaneName } from '../core/ids.ts'
import { flawed, parsed, type Parsed } from '../core/input.ts'
import { DEFAULT_MAX_ORG_SHARE } from '../core/org-share.ts'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../core/run/retry-policy.ts'
import type { FiringSettings } from '../core/schedule/schedule-rules.ts'
import type { SessionRules } from '../core/session/session-rules.ts'

/** The settings of the engine, complete and checked. Never changed, only replaced. */
export interface EngineSettings {
  readonly node: { readonly leaseMs: number; readonly renewMs: number; readonly stopGraceMs: number }
  readonly lanes: ReadonlyMap<LaneName, number>
  /** The part of a lane that one org may hold on a node where there is more than one org. */
  readonly maxOrgShare: number
  readonly sessions: SessionRules
  readonly tasks: {
    readonly maxQueue: number
    readonly maxPerAgent: number
    readonly maxInflight: number
    readonly maxPerAgentInflight: number
    readonly resultTtlSeconds: number
    readonly defaultDeadlineSeconds: number
  }
  readonly schedules: {
    readonly defaultTimezone: string
    readonly pollMs: number
    readonly firing: FiringSettings
    readonly catchupMaxActive: number
  }
  /** For agent turns where neither the schedule nor the agent names a policy. */
  readonly retry: RetryPolicy
  readonly retention: {
    /** Null: for ever. */
    readonly runDays: number | null
    readonly runsPerSchedule: number
    readonly maxRunsPerSchedule: number
    readonly outputBytes: number
  }
  readonly alerts: { readonly failuresInARow: number; readonly stallPeriods: number }
  readonly drainGraceSeconds: number
}

/** The settings when nobody gives any. */
export const DEFAULT_SETTINGS: EngineSettings = settingsOfLayer(defaultLayer(ENGINE_KEYS))

/**
 * Reads a change of the settings, whole or not at all. What is missing stays, and so does a size, a limit or a time to
 * live of 0, which would mean that nothing works; where 0 means "none" it is a value. Negative numbers and fractions are
 * flaws everywhere.
 */
export function parseSettings(value: unknown, current: EngineSettings = DEFAULT_SETTINGS): Parsed<EngineSettings> {
  const read = readPartly(ENGINE_KEYS, value)
  const all = new Map([...layerOf(current), ...read.values])
  const flaws = [...read.flaws, ...crossFlaws(all)]
  return flaws.length > 0 ? flawed(flaws) : parsed(settingsOfLayer(all))
}

/** What the engine needs of the configuration of a server. */
export const settingsOf = (config: Config): EngineSettings =>
  engineSettings({ ...config, drain_grace_seconds: config.server.drain_grace_seconds })

// The tree is complete: it is built from a layer that began with the defaults.
function settingsOfLayer(all: Layer): EngineSettings {
  return engineSettings(buildTree(ENGINE_KEYS, all) as unknown as EngineConfig)
}

function engineSettings(given: EngineConfig): EngineSettings {
  const { node, sessions, tasks, schedules, retry, retention, alerts } = given
  const { max_org_share: maxOrgShare = DEFAULT_MAX_ORG_SHARE, ...sizes } = given.lanes
  return deepFreeze({
    node: { leaseMs: node.lease_ms, renewMs: node.renew_ms, stopGraceMs: node.stop_grace_ms },
    lanes: new Map(Object.entries(sizes).map(([name, size]) => [laneName(name), size])),
    maxOrgShare,
    sessions: {
      mode: sessions.mode,
      cap: sessions.cap,
      drop: sessions.drop,
      debounceMs: sessions.debounce_ms,
      maxConcurrent: sessions.max_concurrent,
    },
    tasks: {
      maxQueue: tasks.max_queue,
      maxPerAgent: tasks.max_per_agent,
      maxInflight: tasks.max_inflight,
      maxPerAgentInflight: tasks.max_per_agent_inflight,
      resultTtlSeconds: tasks.result_ttl_seconds,
      defaultDeadlineSeconds: tasks.default_deadline_seconds,
    },
    schedules: {
      defaultTimezone: schedules.default_timezone,
      pollMs: schedules.poll_ms,
      firing: {
        misfireGraceMs: schedules.misfire_grace_seconds * 1_000,
        catchupWindowMs: schedules.catchup_window_seconds * 1_000,
        catchupSpacingMs: schedules.catchup_spacing_ms,
      },
      catchupMaxActive: schedules.catchup_max_active,
    },
    retry: retryPolicy(retry),
    retention: {
      runDays: retention.run_days,
      runsPerSchedule: retention.runs_per_schedule,
      maxRunsPerSchedule: retention.max_runs_per_schedule,
      outputBytes: retention.output_bytes,
    },
    alerts: { failuresInARow: alerts.failures_in_a_row, stallPeriods: alerts.stall_periods },
    drainGraceSeconds: given.drain_grace_seconds,
  })
}

/** The default itself where nothing differs from it: a run that has it is stored without a policy. */
function retryPolicy(given: EngineConfig['retry']): RetryPolicy {
  const { max_retries: maxRetries, base_ms: baseMs, max_ms: maxMs, jitter } = given
  const usual = DEFAULT_RETRY_POLICY
  const same = maxRetries === usual.maxRetries && baseMs === usual.baseMs && maxMs === usual.maxMs
  return same && jitter === usual.jitter ? usual : { ...usual, maxRetries, baseMs, maxMs, jitter }
}

/** The settings by the names they are given under. */
function layerOf(settings: EngineSettings): Layer {
  const { node, lanes, maxOrgShare, sessions, tasks, schedules, retry, retention, alerts, drainGraceSeconds } = settings
  return new Map<string, unknown>([
    ['node.lease_ms', node.leaseMs],
    ['node.renew_ms', node.renewMs],
    ['node.stop_grace_ms', node.stopGraceMs],
    ...[...lanes].map(([name, size]): [string, number] => [`lanes.${name}`, size]),
    ['lanes.max_org_share', maxOrgShare],
    ['sessions.mode', sessions.mode],
    ['sessions.cap', sessions.cap],
    ['sessions.drop', sessions.drop],
    ['sessions.debounce_ms', sessions.debounceMs],
    ['sessions.max_concurrent', sessions.maxConcurrent],
    ['tasks.max_queue', tasks.maxQueue],
    ['tasks.max_per_agent', tasks.maxPerAgent],
    ['tasks.max_inflight', tasks.maxInflight],
    ['tasks.max_per_agent_inflight', tasks.maxPerAgentInflight],
    ['tasks.result_ttl_seconds', tasks.resultTtlSeconds],
    ['tasks.default_deadline_seconds', tasks.defaultDeadlineSeconds],
    ['schedules.default_timezone', schedules.defaultTimezone],
    ['schedules.poll_ms', schedules.pollMs],
    ['schedules.misfire_grace_seconds', schedules.firing.misfireGraceMs / 1_000],
    ['schedules.catchup_window_seconds', schedules.firing.catchupWindowMs / 1_000],
    ['schedules.catchup_spacing_ms', schedules.firing.catchupSpacingMs],
    ['schedules.catchup_max_active', schedules.catchupMaxActive],
    ['retry.max_retries', retry.maxRetries],
    ['retry.base_ms', retry.baseMs],
    ['retry.max_ms', retry.maxMs],
    ['retry.jitter', retry.jitter],
    ['retention.run_days', retention.runDays],
    ['retention.runs_per_schedule', retention.runsPerSchedule],
    ['retention.max_runs_per_schedule', retention.maxRunsPerSchedule],
    ['retention.output_bytes', retention.outputBytes],
    ['alerts.failures_in_a_row', alerts.failuresInARow],
    ['alerts.stall_periods', alerts.stallPeriods],
    ['drain_grace_seconds', drainGraceSeconds],
  ])
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) deepFreeze<unknown>(part)
  return Object.freeze(value)
}
