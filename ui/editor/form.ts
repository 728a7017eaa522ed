import type { ExecutorInput } from '../../src/contract/executor.ts'
import type { ScheduleView } from '../../src/contract/schedule.ts'
import { NO_CADENCE, type CadenceForm } from './cadence-form.ts'
import type { Num } from './num.ts'
import { NO_PROBE, type ProbeForm } from './probe-form.ts'

export const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const
/** What an interval is counted in. */
export type Unit = keyof typeof UNITS

/** What a form holds while a schedule is edited: what people type, not what the server takes. */
export interface ScheduleForm extends ProbeForm, CadenceForm {
  readonly name: string
  readonly description: string
  /** Null: the default agent, or the executor of its own. */
  readonly agent_id: string | null
  readonly executor: ExecutorInput | null
  readonly enabled: boolean
  readonly kind: ScheduleView['kind']
  /** Times of day and dates are those of the chosen zone. */
  readonly at: string
  readonly every: Num
  readonly unit: Unit
  readonly cron: string
  readonly rrule: string
  /** From when a rule counts, where a sentence has said it; empty: from when it is made. */
  readonly anchor: string
  readonly timezone: string
  readonly dst: string
  readonly day_match: string
  readonly starts_at: string
  readonly ends_at: string
  /** One date, or one `from/to`, per line. */
  readonly exclude: string
  readonly payload_as: 'text' | 'json'
  readonly prompt: string
  readonly output: string
  /** What a prompt comes with: files, earlier findings. Null: nothing. */
  readonly context: unknown
  readonly json: string
  readonly session_as: 'isolated' | 'main' | 'named'
  readonly session: string
  readonly lane: string
  readonly target_id: string | null
  readonly misfire_policy: string
  readonly catchup_limit: Num
  readonly catchup_window_seconds: Num
  readonly overlap_action: string
  readonly max_parallel: Num
  readonly failure_action: string
  readonly failure_ladder: string
  readonly threshold: Num
  readonly cooldown_seconds: Num
  readonly concurrency_policy: string
  readonly max_concurrency: Num
  readonly queue_depth: Num
  readonly retry_as: 'usual' | 'none' | 'own'
  readonly strategy: string
  readonly max_retries: Num
  readonly base_seconds: Num
  readonly max_seconds: Num
  readonly jitter: Num
  readonly ladder: string
  readonly timeout_seconds: Num
  readonly max_fires: Num
  readonly jitter_seconds: Num
  readonly delete_after_run: boolean
  readonly alert_after: Num
  readonly max_lateness_seconds: Num
}

/** What a new schedule begins with: the defaults of the server, so that nothing changes by being shown. */
export const EMPTY: Omit<ScheduleForm, 'timezone'> = {
  ...NO_PROBE,
  ...NO_CADENCE,
  ...{ name: '', description: '', agent_id: null, executor: null, enabled: true },
  ...{
    kind: 'cron',
    at: '',
    every: 30,
    unit: 'minutes',
    cron: '',
    rrule: '',
    anchor: '',
    dst: 'vixie',
    day_match: 'or',
  },
  ...{ starts_at: '', ends_at: '', exclude: '', payload_as: 'text', prompt: '', output: '', context: null, json: '' },
  ...{ session_as: 'isolated', session: '', lane: '', target_id: null },
  ...{ misfire_policy: 'CATCH_UP_LIMITED', catchup_limit: 1, catchup_window_seconds: '' },
  ...{ overlap_action: 'ALLOW', max_parallel: '', failure_action: 'RUN_NEW', failure_ladder: '30, 60, 300, 900, 3600' },
  ...{ threshold: 3, cooldown_seconds: 300, concurrency_policy: 'QUEUE', max_concurrency: 1, queue_depth: 10 },
  ...{ retry_as: 'usual', strategy: 'exponential', max_retries: 3, base_seconds: 2, max_seconds: 30, jitter: 0.25 },
  ...{
    ladder: '30, 60, 300, 900, 3600',
    timeout_seconds: '',
    max_fires: '',
    jitter_seconds: 0,
    delete_after_run: true,
  },
  ...{ alert_after: '', max_lateness_seconds: '' },
}
