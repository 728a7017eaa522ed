import type { RunState } from '../core/run/run-machine.ts'
import type { ScheduleState } from '../core/schedule/schedule-life.ts'
import type { LaneView } from './lane.ts'

/** How long things took, in milliseconds. */
export interface Spread {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

/** What an agent has to do. */
export interface AgentWork {
  readonly agent_id: string
  readonly queued: number
  readonly active: number
}

/** What a provider has to do, and what is left of its quotas; null: any number. */
export interface ProviderWork {
  readonly provider: string
  readonly waiting: number
  readonly in_flight: number
  readonly requests_left: number | null
  readonly tokens_left: number | null
  /** Nothing of it starts before; null: something may. */
  readonly closed_until: string | null
}

/** What an org's work looked like in a stretch of time, and what waits now. */
export interface StatsView {
  readonly org_id: string
  readonly from: string
  readonly to: string
  readonly runs: {
    /** Runs that came to an end by execution or by a person: what the shares are of. */
    readonly ended: number
    readonly by_status: Readonly<Partial<Record<RunState, number>>>
    /** Null while nothing has ended. */
    readonly share: { readonly success: number; readonly failed: number; readonly timeout: number } | null
    /** From start to end. Null while nothing has ended. */
    readonly duration_ms: Spread | null
    /** From the nominal time to the start, of runs that have one. */
    readonly lateness_ms: Spread | null
  }
  readonly pending: { readonly waiting: number; readonly queued: number; readonly active: number }
  readonly schedules: Readonly<Partial<Record<ScheduleState, number>>>
  /** Those that have something to do, the busiest first; a hundred at most. */
  readonly agents: readonly AgentWork[]
  /** Those the org has, by name. */
  readonly providers: readonly ProviderWork[]
  /** What was asked before agents were woken; a probe that said no has saved a call. */
  readonly probes: { readonly asked: number; readonly saved: number; readonly errors: number }
  /** With the org's own work in them. */
  readonly lanes: readonly LaneView[]
}

export const SERIES_STEPS = ['hour', 'day'] as const
export type SeriesStep = (typeof SERIES_STEPS)[number]

/** What happened in one step of a series. */
export interface SeriesPoint {
  /** When the step begins. */
  readonly at: string
  readonly by_status: Readonly<Partial<Record<RunState, number>>>
  /** What 95 % of the runs that ended stayed within, from start to end. Null when none ended. */
  readonly duration_p95_ms: number | null
  /** What 99 % of the starts stayed within, counted from the nominal time. Null when none had one. */
  readonly lateness_p99_ms: number | null
  readonly tokens: number
  /** In whole money. */
  readonly cost: number
}

/** How work went, step by step: one point for each step from `from` to `to`, also where nothing happened. */
export interface StatsSeries {
  readonly org_id: string
  readonly from: string
  readonly to: string
  readonly step: SeriesStep
  readonly points: readonly SeriesPoint[]
}

/** Which stretch of time, in which steps; the last 24 hours by the hour unless given. */
export interface SeriesFilter extends StatsFilter {
  readonly step?: SeriesStep | undefined
}

/** Which stretch of time; the last 24 hours unless given. */
export interface StatsFilter {
  readonly from?: string | undefined
  readonly to?: string | undefined
}
