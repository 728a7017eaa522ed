import type { OnError, ProbeKind, ProbeMethod } from '../core/probe/probe.ts'
import type { ProbeAnswer } from '../core/probe/verdict.ts'

/** What is asked before an agent is woken. Which fields there are depends on the kind. */
export interface ProbeInput {
  readonly kind: ProbeKind
  /** `http`: where to ask. */
  readonly url?: string | null | undefined
  readonly method?: ProbeMethod | null | undefined
  readonly headers?: Readonly<Record<string, string>> | null | undefined
  readonly body?: string | null | undefined
  /** `command`: what to start, among what the operator permits. */
  readonly program?: string | null | undefined
  readonly args?: readonly string[] | null | undefined
  readonly directory?: string | null | undefined
  /** `state`: whose; the schedule itself unless given. */
  readonly of?:
    | { readonly schedule_id?: string | null | undefined; readonly session?: string | null | undefined }
    | null
    | undefined
  /** What has to hold of the answer: `{path, op, value}`, `{all}`, `{any}` or `{not}`. */
  readonly when?: unknown
  /** Yes only when the answer, or what stands at a JSON pointer of it, has changed. */
  readonly changed?: boolean | string | null | undefined
  /** What it means when nobody could be asked: `run` (default) wakes the agent, `fail` ends the attempt. */
  readonly on_error?: OnError | null | undefined
  readonly timeout_seconds?: number | null | undefined
}

/** A question that somebody wants to try before it is kept. */
export interface ProbeTryInput {
  /** Left out: the one that the schedule has. */
  readonly probe?: ProbeInput | null | undefined
  /** For which schedule it is asked; nothing is put on record there. */
  readonly schedule_id?: string | null | undefined
}

/** What a probe would decide now. */
export interface ProbeTryView {
  readonly answer: ProbeAnswer
  /** Whether the agent would be woken. */
  readonly wakes: boolean
  /** The probe in words. */
  readonly probe: string
  /** What was asked, in few words. */
  readonly asked: string
  /** What was found, in words. */
  readonly sentence: string
  /** What was looked at, cut. */
  readonly seen: string
  readonly duration_ms: number
}

/** How often a probe was asked, and what it has saved. */
export interface ProbeCountsView {
  readonly asked: number
  /** How often it said no, so that nobody was woken. */
  readonly saved: number
  readonly errors: number
  readonly last_answer: ProbeAnswer
  readonly last_sentence: string
  readonly last_at: string
  readonly last_run_id: string
  /** An estimate: what was saved, times what the last runs that woke the agent used. Null: none said what it used. */
  readonly saved_tokens: number | null
  readonly saved_cost: number | null
}

/** What was asked before a run woke its agent, and what was seen. */
export interface ProbeAnswerView {
  readonly answer: ProbeAnswer
  readonly at: string
  readonly asked: string
  readonly sentence: string
  readonly seen: string
}
