import { DEFAULT_LANES, resolveLaneAlias, NO_ORG_SHARE } from '../../domain/queue/lanes.ts'
import { DEFAULT_RETRY_POLICY as RETRIES } from '../../domain/run/retry-policy.ts'
import { DEFAULT_FIRING_SETTINGS as FIRING } from '../../domain/schedule/rules.ts'
import {
  DEFAULT_SESSION_RULES as SESSION,
  DROP_POLICIES,
  MAX_CAP,
  MAX_DEBOUNCE_MS,
  MAX_SESSION_CONCURRENT,
  SESSION_MODES,
} from '../../domain/session/session.ts'
import { zoneName } from '../../api/fields.ts'
import { fraction, integer, nullable, parseWith, text, word, type Key, type OpenGroup } from './key.ts'
import { ANY_TEXT } from './text-shapes.ts'

/** Upper bound of slots in one process, to catch typing errors. */
export const MAX_LANE_SLOTS = 1_000_000
/** Upper bound of durations: a year. */
const MAX_SETTING_SECONDS = 366 * 86_400
export const MAX_SETTING_MS = MAX_SETTING_SECONDS * 1_000
const MAX_QUEUED = 100_000_000

const node = {
  lease_ms: integer({
    default: 15_000,
    max: MAX_SETTING_MS,
    zero: 'keeps',
    unit: 'ms',
    summary: 'How long a node counts as alive without renewing its lease.',
  }),
  renew_ms: integer({
    default: 5_000,
    max: MAX_SETTING_MS,
    zero: 'keeps',
    unit: 'ms',
    summary: 'How often a node renews its lease; must be below `lease_ms`.',
  }),
  stop_grace_ms: integer({
    default: 5_000,
    max: MAX_SETTING_MS,
    unit: 'ms',
    summary: 'How long an executor may take to confirm that a run was stopped.',
  }),
} as const

const lanes = {
  is: 'open',
  entry: integer({
    default: 0,
    max: MAX_LANE_SLOTS,
    zero: 'keeps',
    hot: true,
    summary: 'Slots of the lane on a node.',
  }),
  defaults: DEFAULT_LANES,
  nameOf: resolveLaneAlias,
  own: {
    max_org_share: fraction({
      ...{ default: 0.8, min: 0, max: NO_ORG_SHARE, hot: true },
      summary:
        'Maximum share of a lane that one org may use on a node, if there is more than one org; at least one slot; 1 is no limit.',
    }),
  },
} as const satisfies OpenGroup<number>

const sessions = {
  mode: word({
    default: SESSION.mode,
    words: SESSION_MODES,
    hot: true,
    summary: 'How to handle a message that arrives while others wait.',
  }),
  cap: integer({
    default: SESSION.cap,
    max: MAX_CAP,
    zero: 'keeps',
    hot: true,
    summary: 'Maximum number of waiting runs in a session.',
  }),
  drop: word({
    default: SESSION.drop,
    words: DROP_POLICIES,
    hot: true,
    summary: 'Which run to drop when the session is full: the oldest waiting one, or the new one.',
  }),
  debounce_ms: integer({
    default: SESSION.debounceMs,
    max: MAX_DEBOUNCE_MS,
    unit: 'ms',
    hot: true,
    summary: 'Merges messages of one sender that arrive within this window; 0 is off.',
  }),
  max_concurrent: integer({
    default: SESSION.maxConcurrent,
    max: MAX_SESSION_CONCURRENT,
    zero: 'keeps',
    hot: true,
    summary: 'Maximum number of concurrent runs in a session.',
  }),
} as const

const taskLimits = {
  max_queue: integer({
    default: 1_000,
    max: MAX_QUEUED,
    zero: 'keeps',
    hot: true,
    summary: 'Maximum number of waiting tasks in an org.',
  }),
  max_per_agent: integer({
    default: 100,
    max: MAX_QUEUED,
    zero: 'keeps',
    hot: true,
    summary: 'Maximum number of waiting tasks per agent.',
  }),
  max_inflight: integer({
    default: 20,
    max: MAX_LANE_SLOTS,
    zero: 'keeps',
    hot: true,
    summary: 'Maximum number of concurrent tasks in an org.',
  }),
  max_per_agent_inflight: integer({
    default: 10,
    max: MAX_LANE_SLOTS,
    zero: 'keeps',
    hot: true,
    summary: 'Maximum number of concurrent tasks per agent.',
  }),
  result_ttl_seconds: integer({
    default: 300,
    max: MAX_SETTING_SECONDS,
    zero: 'keeps',
    unit: 'seconds',
    hot: true,
    summary: 'How long a task is kept after it ends.',
  }),
  default_deadline_seconds: integer({
    default: 60,
    max: MAX_SETTING_SECONDS,
    zero: 'keeps',
    unit: 'seconds',
    hot: true,
    summary: 'Deadline of tasks that set none.',
  }),
} as const

const zone: Key<string> = {
  ...text({ default: 'UTC', shape: ANY_TEXT, summary: 'Time zone of new orgs.' }),
  ...parseWith(zoneName, 'an IANA time zone such as Europe/Berlin'),
}

const schedules = {
  default_timezone: zone,
  poll_ms: integer({
    default: 1_000,
    max: 3_600_000,
    zero: 'keeps',
    unit: 'ms',
    summary: 'How often a node polls for due work when no notification arrives.',
  }),
  misfire_grace_seconds: integer({
    default: FIRING.misfireGraceSeconds,
    max: MAX_SETTING_SECONDS,
    unit: 'seconds',
    summary: 'How late an occurrence may be without counting as missed.',
  }),
  catchup_window_seconds: integer({
    default: FIRING.catchupWindowSeconds,
    max: MAX_SETTING_SECONDS,
    unit: 'seconds',
    summary: 'How far back missed occurrences are caught up.',
  }),
  catchup_spacing_ms: integer({
    default: FIRING.catchupSpacingMs,
    max: 3_600_000,
    unit: 'ms',
    summary: 'Pause between caught-up occurrences.',
  }),
  // Low, so that a restart does not start many runs at once.
  catchup_max_active: integer({
    default: 10,
    max: MAX_LANE_SLOTS,
    zero: 'keeps',
    summary: 'Maximum number of concurrent catch-up runs per node.',
  }),
} as const

const retention = {
  run_days: nullable(
    integer({
      default: 30,
      max: 36_600,
      zero: 'keeps',
      unit: 'days',
      hot: true,
      summary: 'How long runs are kept; null is forever.',
    }),
    30,
  ),
  runs_per_schedule: integer({
    default: 200,
    max: 1_000_000,
    zero: 'keeps',
    hot: true,
    summary: 'Number of newest runs kept per schedule, regardless of age.',
  }),
  max_runs_per_schedule: integer({
    default: 10_000,
    max: 1_000_000,
    zero: 'keeps',
    hot: true,
    summary: 'Maximum number of runs kept per schedule.',
  }),
  output_bytes: integer({
    default: 16_384,
    max: 1_048_576,
    zero: 'keeps',
    hot: true,
    summary: 'Maximum length of stored outputs and errors; longer ones are cut.',
  }),
} as const

const alerts = {
  failures_in_a_row: integer({
    default: 3,
    max: 1_000_000,
    zero: 'keeps',
    hot: true,
    summary: 'Consecutive failures that raise an alert for a schedule without `alert_after`.',
  }),
  stall_periods: integer({
    default: 3,
    max: 1_000_000,
    zero: 'keeps',
    hot: true,
    summary: 'Polling periods without a scan for due work after which the engine counts as stalled.',
  }),
} as const

const retry = {
  max_retries: integer({
    ...{ default: RETRIES.maxRetries, max: 1_000, hot: true },
    summary: 'Maximum number of retries where neither schedule nor agent sets a policy.',
  }),
  base_ms: integer({
    default: RETRIES.baseMs,
    min: 1,
    max: MAX_SETTING_MS,
    unit: 'ms',
    hot: true,
    summary: 'First delay.',
  }),
  max_ms: integer({
    ...{ default: RETRIES.maxMs, min: 1, max: MAX_SETTING_MS, unit: 'ms', hot: true },
    summary: 'Maximum delay; must not be below `base_ms`.',
  }),
  jitter: fraction({
    ...{ default: RETRIES.jitter, min: 0, max: 1, hot: true },
    summary: 'Random deviation of a delay, as a fraction of it.',
  }),
} as const

const drainGrace = integer({
  ...{ default: 30, max: 86_400, unit: 'seconds' },
  summary: 'How long active runs may continue after SIGTERM or SIGINT.',
})

/** The settings of the engine, under the names an embedding program uses. */
export const ENGINE_KEYS = {
  node,
  lanes,
  sessions,
  tasks: taskLimits,
  schedules,
  retry,
  retention,
  alerts,
  drain_grace_seconds: drainGrace,
} as const
