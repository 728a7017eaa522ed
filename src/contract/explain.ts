import type { RunState } from '../core/run/run-machine.ts'
import type { Why } from '../core/reasons.ts'

/** What an explanation can lead to. */
export const LINK_KINDS = [
  ...(['run', 'schedule', 'session', 'agent', 'heartbeat', 'lane', 'budget', 'target', 'delivery'] as const),
  ...(['alert', 'node', 'audit', 'channel', 'provider'] as const),
] as const
export type LinkKind = (typeof LINK_KINDS)[number]

/** Something that an explanation speaks of, and where it is to be looked at. */
export interface ExplainLink {
  readonly kind: LinkKind
  readonly id: string
  /** What it has to do with it: the name of the fact (`previous_run`), or what it is of it (`schedule`). */
  readonly role: string
  /** Where the API shows it. */
  readonly api: string
  /** Where the console shows it. */
  readonly console: string
}

/** The policy, limit or gate that spoke, with its value and where it is documented. */
export interface ExplainPolicy {
  readonly name: string
  /** Null: the rule has no value, or it is among the evidence. */
  readonly value: string | null
  /** A page of the documentation, from the root of the repository. */
  readonly documentation: string
}

export const STEP_STATES = ['passed', 'closed', 'not_reached'] as const
export type StepState = (typeof STEP_STATES)[number]

export const STEP_STAGES = ['plan', 'admission', 'policies', 'gates', 'execution', 'delivery', 'backfill'] as const
export type StepStage = (typeof STEP_STAGES)[number]

/** One question on the way of a run or an occurrence, in the order in which the engine asks them. */
export interface ExplainStep {
  readonly stage: StepStage
  /** `overlap`, `session_limit`, `attempt 2`, … */
  readonly name: string
  readonly state: StepState
  /** What it said; null where there is nothing to say. */
  readonly sentence: string | null
}

/** Something that can be done about it. */
export interface ExplainAction {
  /** A word for programs: `retry`, `enable`, … */
  readonly action: string
  readonly sentence: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** The same as a command. */
  readonly command: string
}

/** What happens next by itself, and what one can do about it. */
export interface ExplainNext {
  readonly sentence: string
  readonly actions: readonly ExplainAction[]
}

/** What every explanation has beside its reason. */
export interface Explained {
  readonly sentence: string
  readonly policy: ExplainPolicy
  readonly links: readonly ExplainLink[]
  readonly steps: readonly ExplainStep[]
  readonly next: ExplainNext
}

/** Why a run is where it is, in codes and in words, and why it was made. */
export interface RunExplanation extends Why, Explained {
  readonly run_id: string
  readonly status: RunState
  readonly decision: Why
  /** Why it was held before `decision` was made; null for runs that never were. */
  readonly held_decision: Why | null
}

/** What became of a moment of a schedule, or will, and why. */
export interface OccurrenceExplanation extends Explained {
  readonly at: string
  readonly run_id: string | null
  readonly status: string | null
  readonly reason: string
  readonly rule: string
  readonly evidence: Readonly<Record<string, unknown>>
}

export const FINDING_KINDS = [
  ...(['occurrence', 'schedule', 'run', 'heartbeat', 'engine', 'delivery', 'alert', 'target'] as const),
  ...(['session', 'agent', 'nothing'] as const),
] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

/** One thing that was found about what was asked. */
export interface ExplainFinding extends Why {
  readonly kind: FindingKind
  /** What it is about, as people call it: the name of a schedule, the id of a run; null when it is about no one thing. */
  readonly about: string | null
  /** How it stands, where it is something that stands somehow: the state of a run, of a delivery. */
  readonly status: string | null
  /** When it was; null when it has no moment. */
  readonly at: string | null
  readonly sentence: string
  readonly policy: ExplainPolicy
  readonly links: readonly ExplainLink[]
}

/** Whose clock a time without a zone was read by. */
export const ZONE_SOURCES = ['given', 'schedule', 'org'] as const
export type ZoneSource = (typeof ZONE_SOURCES)[number]

/** The question as it was understood. */
export interface ExplainAsked {
  readonly id: string | null
  readonly at: string | null
  /** The same by the clock of the zone. */
  readonly local: string | null
  readonly timezone: string | null
  readonly timezone_from: ZoneSource | null
  /** Between which moments it was looked. */
  readonly from: string | null
  readonly to: string | null
}

/** A moment at which something is planned. */
export interface PlannedMoment {
  readonly schedule_id: string
  readonly name: string
  readonly at: string
}

/** How much was looked at, so that silence can be weighed. */
export interface ExplainSearch {
  readonly schedules: number
  readonly schedules_in_all: number
  readonly runs: number
  /** False: there was more than is looked at; name a schedule, an agent or a session, or a shorter time. */
  readonly complete: boolean
}

/** The answer to "why?", most telling first. */
export interface Explanation {
  readonly asked: ExplainAsked
  readonly sentence: string
  readonly findings: readonly ExplainFinding[]
  /** Of one thing: the questions on its way. */
  readonly steps: readonly ExplainStep[]
  readonly next: ExplainNext | null
  /** Of a moment: what is planned before and after it. */
  readonly nearest: { readonly before: PlannedMoment | null; readonly after: PlannedMoment | null } | null
  /** Of a moment; null when one thing was asked about. */
  readonly looked_at: ExplainSearch | null
}

/** What is to be explained: one thing by its id, or a moment. */
export interface ExplainQuery {
  /** A run, task, `job_run_id`, schedule, message, attempt, delivery, alert, heartbeat, target, agent or session. */
  readonly id?: string | undefined
  /** `2026-11-16T09:00:00Z`, or a time without a zone: `2026-11-16T09:00`, `09:00`. */
  readonly at?: string | undefined
  readonly schedule_id?: string | undefined
  readonly agent_id?: string | undefined
  readonly session?: string | undefined
  /** How far before and after the moment is looked: 300 unless given. */
  readonly within_seconds?: number | undefined
}
