import { DEFAULT_LANES, meantLane } from '../../domain/queue/lanes.ts'
import { NO_ORG_SHARE } from '../../core/org-share.ts'
import { DEFAULT_RETRY_POLICY as RETRIES } from '../../domain/run/retry-policy.ts'
import { DEFAULT_FIRING_SETTINGS as FIRING } from '../../domain/schedule/rules.ts'
import {
  DEFAULT_SESSION_RULES as SESSION,
  DROP_POLICIES,
  MAX_CAP,
  MAX_DEBOUNCE_MS,
  MAX_SESSION_CONCURRENT,
  SESSION_MODES,
} from '../../core/session/session-rules.ts'
import { zoneName } from '../../api/fields.ts'
import { fraction, integer, orNone, readBy, text, word, type Key, type OpenGroup } from './key.ts'
import { ANY_TEXT } from './text-shapes.ts'

/** More slots than this in one process are a slip of the pen. */
export const MOST_SLOTS = 1_000_000
/** No length of time in the settings is longer: a year. */
const MOST_SECONDS = 366 * 86_400
export const MOST_MS = MOST_SECONDS * 1_000
const MOST_QUEUED = 100_000_000

const node = {
  lease_ms: integer({
    default: 15_000,
    max: MOST_MS,
    zero: 'keeps',
    unit: 'ms',
    summary: 'How long a node that says nothing is believed to be alive.',
  }),
  renew_ms: integer({
    default: 5_000,
    max: MOST_MS,
    zero: 'keeps',
    unit: 'ms',
    summary: 'How often a node says that it is alive; below `lease_ms`.',
  }),
  stop_grace_ms: integer({
    default: 5_000,
    max: MOST_MS,
    unit: 'ms',
    summary: 'How long stopped work has to confirm.',
  }),
} as const

const lanes = {
  is: 'open',
  entry: integer({ default: 0, max: MOST_SLOTS, zero: 'keeps', hot: true, summary: 'Slots of the lane on a node.' }),
  defaults: DEFAULT_LANES,
  nameOf: meantLane,
  own: {
    max_org_share: fraction({
      ...{ default: 0.8, min: 0, max: NO_ORG_SHARE, hot: true },
      summary:
        'Part of a lane that one org may hold on a node where there is more than one org, at least one slot; 1 is no limit.',
    }),
  },
} as const satisfies OpenGroup<number>

const sessions = {
  mode: word({
    default: SESSION.mode,
    words: SESSION_MODES,
    hot: true,
    summary: 'What a message does that arrives while others wait.',
  }),
  cap: integer({
    default: SESSION.cap,
    max: MAX_CAP,
    zero: 'keeps',
    hot: true,
    summary: 'Runs that may wait in a session.',
  }),
  drop: word({
    default: SESSION.drop,
    words: DROP_POLICIES,
    hot: true,
    summary: 'Who goes when the session is full: the oldest that waits, or the new one.',
  }),
  debounce_ms: integer({
    default: SESSION.debounceMs,
    max: MAX_DEBOUNCE_MS,
    unit: 'ms',
    hot: true,
    summary: 'Messages of one sender inside this window are merged; 0 is off.',
  }),
  max_concurrent: integer({
    default: SESSION.maxConcurrent,
    max: MAX_SESSION_CONCURRENT,
    zero: 'keeps',
    hot: true,
    summary: 'Runs of a session that execute at the same time.',
  }),
} as const

const taskLimits = {
  max_queue: integer({
    default: 1_000,
    max: MOST_QUEUED,
    zero: 'keeps',
    hot: true,
    summary: 'Tasks that may wait in an org.',
  }),
  max_per_agent: integer({
    default: 100,
    max: MOST_QUEUED,
    zero: 'keeps',
    hot: true,
    summary: 'Tasks that may wait for one agent.',
  }),
  max_inflight: integer({
    default: 20,
    max: MOST_SLOTS,
    zero: 'keeps',
    hot: true,
    summary: 'Tasks of an org that execute at the same time.',
  }),
  max_per_agent_inflight: integer({
    default: 10,
    max: MOST_SLOTS,
    zero: 'keeps',
    hot: true,
    summary: 'Tasks of one agent that execute at the same time.',
  }),
  result_ttl_seconds: integer({
    default: 300,
    max: MOST_SECONDS,
    zero: 'keeps',
    unit: 'seconds',
    hot: true,
    summary: 'How long a task is kept after its end.',
  }),
  default_deadline_seconds: integer({
    default: 60,
    max: MOST_SECONDS,
    zero: 'keeps',
    unit: 'seconds',
    hot: true,
    summary: 'Deadline of a task that names none.',
  }),
} as const

const zone: Key<string> = {
  ...text({ default: 'UTC', shape: ANY_TEXT, summary: 'Time zone of new orgs.' }),
  ...readBy(zoneName, 'an IANA time zone such as Europe/Berlin'),
}

const schedules = {
  default_timezone: zone,
  poll_ms: integer({
    default: 1_000,
    max: 3_600_000,
    zero: 'keeps',
    unit: 'ms',
    summary: 'How often is looked for due work when nothing wakes the node.',
  }),
  misfire_grace_seconds: integer({
    default: FIRING.misfireGraceSeconds,
    max: MOST_SECONDS,
    unit: 'seconds',
    summary: 'How late an occurrence still counts as current.',
  }),
  catchup_window_seconds: integer({
    default: FIRING.catchupWindowSeconds,
    max: MOST_SECONDS,
    unit: 'seconds',
    summary: 'How far back missed occurrences are made up for.',
  }),
  catchup_spacing_ms: integer({
    default: FIRING.catchupSpacingMs,
    max: 3_600_000,
    unit: 'ms',
    summary: 'Pause between occurrences that are made up for.',
  }),
  // Few, so that a restart is never a stampede.
  catchup_max_active: integer({
    default: 10,
    max: MOST_SLOTS,
    zero: 'keeps',
    summary: 'Catch-up runs of a node at the same time.',
  }),
} as const

const retention = {
  run_days: orNone(
    integer({
      default: 30,
      max: 36_600,
      zero: 'keeps',
      unit: 'days',
      hot: true,
      summary: 'How long runs are kept; null is for ever.',
    }),
    30,
  ),
  runs_per_schedule: integer({
    default: 200,
    max: 1_000_000,
    zero: 'keeps',
    hot: true,
    summary: 'Newest runs of a schedule that are kept however old they are.',
  }),
  max_runs_per_schedule: integer({
    default: 10_000,
    max: 1_000_000,
    zero: 'keeps',
    hot: true,
    summary: 'Most runs of a schedule that are kept.',
  }),
  output_bytes: integer({
    default: 16_384,
    max: 1_048_576,
    zero: 'keeps',
    hot: true,
    summary: 'Length at which stored outputs and errors are cut.',
  }),
} as const

const alerts = {
  failures_in_a_row: integer({
    default: 3,
    max: 1_000_000,
    zero: 'keeps',
    hot: true,
    summary: 'Failures of a schedule in a row that raise an alert, unless it says `alert_after`.',
  }),
  stall_periods: integer({
    default: 3,
    max: 1_000_000,
    zero: 'keeps',
    hot: true,
    summary: 'Periods without a look for due work after which the engine counts as stalled.',
  }),
} as const

const retry = {
  max_retries: integer({
    ...{ default: RETRIES.maxRetries, max: 1_000, hot: true },
    summary: 'Retries of agent turns where neither schedule nor agent names a policy.',
  }),
  base_ms: integer({ default: RETRIES.baseMs, min: 1, max: MOST_MS, unit: 'ms', hot: true, summary: 'First wait.' }),
  max_ms: integer({
    ...{ default: RETRIES.maxMs, min: 1, max: MOST_MS, unit: 'ms', hot: true },
    summary: 'Longest wait; not below `base_ms`.',
  }),
  jitter: fraction({
    ...{ default: RETRIES.jitter, min: 0, max: 1, hot: true },
    summary: 'How far a wait may differ, as a part of it.',
  }),
} as const

const drainGrace = integer({
  ...{ default: 30, max: 86_400, unit: 'seconds' },
  summary: 'How long running work may go on after SIGTERM or SIGINT.',
})

/** The settings of the engine, as a program that embeds it names them. */
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
