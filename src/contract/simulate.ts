import type { ScheduleInput } from './schedule.ts'
import type {
  AssumptionInput,
  Intervention,
  OutageEffect,
  OutageKind,
  PolicyChange,
  SimulationDiff,
  SimulationView,
} from './simulation.ts'

/** More schedules than these are not simulated at once. */
export const MOST_SCHEDULES = 1_000

/** The longest window, in seconds: 92 days. */
export const MOST_WINDOW_SECONDS = 92 * 86_400

/** More occurrences than these are never told one by one. */
export const MOST_ROWS = 10_000

/** What is assumed of some of the schedules, over what is assumed of all. */
export interface NamedAssumption {
  /** Ids or names. */
  readonly schedules: readonly string[]
  readonly assume: AssumptionInput
}

/** Something that is out for a while, as it is asked for. */
export interface OutageAsked {
  readonly kind: OutageKind
  readonly from: string | number
  /** Exclusive; left out: `seconds` says how long. */
  readonly to?: string | number | undefined
  readonly seconds?: number | undefined
  /** Only with `agent`: which one; all of them unless given. */
  readonly agent_id?: string | undefined
  /** Only with `agent`; `network` unless given. */
  readonly effect?: OutageEffect | undefined
}

/** What is to be simulated: which schedules, over which window, under which assumptions. */
export interface SimulateInput {
  /** Schedules as they would be created. */
  readonly schedules?: readonly ScheduleInput[] | undefined
  /** Stored schedules by id. */
  readonly ids?: readonly string[] | undefined
  /** Every stored schedule that is active. */
  readonly all?: boolean | undefined
  /** Of all active ones: those of this agent. */
  readonly agent_id?: string | undefined
  /** Now unless given. */
  readonly from?: string | number | undefined
  readonly to?: string | number | undefined
  /** In place of `to`; a day unless given. */
  readonly window_seconds?: number | undefined
  /** What is assumed of attempts: over what was observed, for everything it says. */
  readonly assume?: AssumptionInput | undefined
  readonly assume_for?: readonly NamedAssumption[] | undefined
  /** Whether stored schedules go as their last runs on record went; true unless given. */
  readonly observed?: boolean | undefined
  readonly outages?: readonly OutageAsked[] | undefined
  readonly changes?: readonly PolicyChange[] | undefined
  /** Other changes, in place of `changes`: the answer then says what they change. */
  readonly against?: readonly PolicyChange[] | undefined
  readonly interventions?: readonly Intervention[] | undefined
  /** Whether the budgets of the org hold; true unless given. */
  readonly budgets?: boolean | undefined
  /** From history: the window is past, and attempts and outages are those on record. */
  readonly replay?: boolean | undefined
  /** The same seed gives the same answer; 1 unless given. */
  readonly seed?: number | undefined
  /** How many occurrences are told one by one; 2,000 unless given. Totals are of all of them. */
  readonly max_rows?: number | undefined
}

/** What is known of a schedule that took part, and from where. */
export interface SimulationBasis {
  readonly schedule_id: string
  /** `given`: in the request. `stored`: on record. */
  readonly source: 'given' | 'stored'
  /** How many runs on record say how long it takes and how it ends; 0: it goes as assumed. */
  readonly observed_runs: number
  /** How many attempts of the window are on record and are taken as they went. */
  readonly recorded_attempts: number
}

/** What would happen, what it is based on, and what other policies would change. */
export interface SimulateAnswer extends SimulationView {
  readonly basis: readonly SimulationBasis[]
  /** The same window under the policies of `against`; null when none were given. */
  readonly against: SimulationView | null
  readonly diff: SimulationDiff | null
}

/** How far a simulation is: milliseconds of its window. */
export interface SimulationProgress {
  readonly done: number
  readonly total: number
}
