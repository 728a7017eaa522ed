import type { ExecutorInput } from '../../../src/executors/schema.ts'
import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import { DEFAULT_RETRY_POLICY as RETRIES } from '../../../src/domain/run/retry-policy.ts'
import { DEFAULT_SCHEDULE_RULES as RULES } from '../../../src/domain/schedule/rules.ts'
import { NO_CADENCE, type CadenceForm } from './cadence-form.ts'
import type { Num } from './num.ts'
import { EMPTY_PLAIN, type PlainForm } from './plain-fields.ts'
import { NO_PROBE, type ProbeForm } from './probe-form.ts'

export const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const
/** What an interval is counted in. */
export type Unit = keyof typeof UNITS

/** What a form holds while a schedule is edited: what people type, not what the server takes. */
export interface ScheduleForm extends PlainForm, ProbeForm, CadenceForm {
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
  readonly target_id: string | null
  readonly failure_ladder: string
  readonly threshold: Num
  readonly cooldown_seconds: Num
  readonly retry_as: 'usual' | 'none' | 'own'
  readonly strategy: string
  readonly max_retries: Num
  readonly base_seconds: Num
  readonly max_seconds: Num
  readonly jitter: Num
  readonly ladder: string
  readonly jitter_seconds: Num
  readonly delete_after_run: boolean
}

/** Waits in whole seconds, as people type them. */
export const ladderText = (seconds: readonly number[]): string => seconds.join(', ')

/** What a new schedule begins with: the defaults of the server, so that nothing changes by being shown. */
export const EMPTY: Omit<ScheduleForm, 'timezone'> = {
  ...EMPTY_PLAIN,
  ...NO_PROBE,
  ...NO_CADENCE,
  ...{ name: '', description: '', agent_id: null, executor: null, enabled: true },
  ...{ kind: 'cron', at: '', every: 30, unit: 'minutes', cron: '', rrule: '', anchor: '' },
  ...{ dst: 'vixie', day_match: 'or', starts_at: '', ends_at: '', exclude: '' },
  ...{ payload_as: 'text', prompt: '', output: '', context: null, json: '' },
  ...{ session_as: 'isolated', session: '', target_id: null },
  failure_ladder: ladderText(RULES.failureOptions.ladderSeconds),
  threshold: RULES.failureOptions.threshold,
  cooldown_seconds: RULES.failureOptions.cooldownSeconds,
  retry_as: 'usual',
  strategy: RETRIES.strategy,
  max_retries: RETRIES.maxRetries,
  base_seconds: RETRIES.baseMs / 1_000,
  max_seconds: RETRIES.maxMs / 1_000,
  jitter: RETRIES.jitter,
  ladder: ladderText(RETRIES.ladderSeconds),
  jitter_seconds: RULES.jitterMs / 1_000,
  delete_after_run: true,
}
