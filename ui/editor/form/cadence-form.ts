import type { CadenceView } from '../../../src/features/schedules/rules-schema.ts'
import { DEFAULT_QUIET_AFTER, DEFAULT_STRETCH } from '../../../src/domain/schedule/pace/settings.ts'
import type { Num } from './num.ts'

/** How far an interval may move by itself, as people type it: bounds in minutes. */
export interface CadenceForm {
  readonly is_paced: boolean
  readonly pace_min: Num
  readonly pace_max: Num
  readonly pace_stretch: Num
  readonly pace_quiet_after: Num
}

const MINUTE = 60

/** The interval stays as it is; what would be tried first when it is not to. */
export const NO_CADENCE: CadenceForm = {
  ...{
    is_paced: false,
    pace_min: 5,
    pace_max: 360,
    pace_stretch: DEFAULT_STRETCH,
    pace_quiet_after: DEFAULT_QUIET_AFTER,
  },
}

/** As many digits as tell one second from the next. */
const minutes = (seconds: number): number => Math.round((seconds / MINUTE) * 1e4) / 1e4

/** The form of a cadence as it is. */
export const cadenceForm = (cadence: CadenceView | undefined): CadenceForm =>
  cadence === undefined
    ? NO_CADENCE
    : {
        is_paced: true,
        pace_min: minutes(cadence.min_seconds),
        pace_max: minutes(cadence.max_seconds),
        pace_stretch: cadence.stretch,
        pace_quiet_after: cadence.quiet_after,
      }

const seconds = (length: Num): number | undefined => (length === '' ? undefined : Math.round(length * MINUTE))
const given = (value: Num): number | undefined => (value === '' ? undefined : value)

/** What the server takes; null: the interval stays as it is. */
export const cadenceInput = (form: CadenceForm): Readonly<Record<string, unknown>> | null =>
  form.is_paced
    ? {
        min_seconds: seconds(form.pace_min),
        max_seconds: seconds(form.pace_max),
        stretch: given(form.pace_stretch),
        quiet_after: given(form.pace_quiet_after),
      }
    : null
