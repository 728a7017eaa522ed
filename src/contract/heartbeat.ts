import type { BeatOutcome } from '../core/heartbeat/beat-ending.ts'
import type { DeliveryState } from '../core/delivery/delivery-states.ts'
import type { Why } from '../core/reasons.ts'
import type { ProbeCountsView, ProbeInput } from './probe.ts'

/** What is looked after: words, or a file below the directory of the operator. */
export type ChecklistInput = { readonly text: string } | { readonly file: string }

export interface ActiveHoursView {
  readonly start: string
  readonly end: string
  readonly timezone: string
}

/** A whole heartbeat: what is left out or null takes its default. */
export interface HeartbeatInput {
  readonly enabled?: boolean | null | undefined
  readonly interval_seconds?: number | null | undefined
  readonly active_hours?:
    { readonly start: string; readonly end: string; readonly timezone?: string | null | undefined } | null | undefined
  readonly checklist?: ChecklistInput | null | undefined
  readonly prompt?: string | null | undefined
  /** `last`, `none`, a channel, `channel:recipient`, or the id of a target. */
  readonly target?: string | null | undefined
  readonly ack_max_chars?: number | null | undefined
  readonly session?: string | null | undefined
  readonly adaptive?:
    | boolean
    | { readonly ok_step?: number | undefined; readonly max_interval_seconds?: number | undefined }
    | null
    | undefined
  /** What is asked before the agent is woken, after everything that costs nothing. */
  readonly probe?: ProbeInput | null | undefined
}

/** The heartbeat of an agent, and when it comes next. */
export interface HeartbeatView {
  readonly agent_id: string
  readonly org_id: string
  readonly enabled: boolean
  readonly interval_seconds: number
  readonly active_hours: ActiveHoursView | null
  readonly checklist: ChecklistInput | null
  readonly prompt: string
  readonly target: string
  readonly ack_max_chars: number
  readonly session: string
  readonly adaptive: { readonly ok_step: number; readonly max_interval_seconds: number } | null
  readonly probe: ProbeInput | null
  /** How often that was asked, and what it has saved; only of one that is asked for, once it was. */
  readonly probe_counts?: ProbeCountsView | undefined
  /** Where news would go at present; null: nowhere. */
  readonly route: string | null
  /** Why news would go nowhere, and what to do about it; null when there is a route. */
  readonly no_route: string | null
  /** The moment at which it is looked at next; null while it is switched off. */
  readonly next_at: string | null
  /** Acknowledgements in a row. */
  readonly ok_streak: number
  /** What the streak has made of the interval. */
  readonly current_interval_seconds: number
  /** 0: nobody has set it yet. */
  readonly version: number
  readonly updated_at: string | null
}

/** What became of one heartbeat. */
export interface HeartbeatLogView {
  readonly id: string
  readonly agent_id: string
  /** `asked`: a person wanted to see it now, or ran it again. */
  readonly kind: 'planned' | 'asked'
  readonly due_at: string | null
  readonly at: string
  /** How often a busy agent was asked. */
  readonly looks: number
  readonly last_at: string
  readonly outcome: BeatOutcome
  readonly reason: Why['reason']
  readonly sentence: string
  readonly why: Why
  readonly target: string
  readonly run_id: string | null
  /** The news, as it is sent. */
  readonly content: string | null
  readonly delivery_id: string | null
  readonly delivery_status: DeliveryState | null
  readonly finished_at: string | null
}

/** Which entries of the log are wanted. */
export interface HeartbeatLogFilter {
  /** One outcome, or several with commas between them. */
  readonly outcome?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Whether the heart beat, and if not, why not. */
export interface HeartbeatTestAnswer {
  readonly ran: boolean
  readonly run_id?: string | undefined
  readonly reason?: string | undefined
  readonly sentence: string
}
