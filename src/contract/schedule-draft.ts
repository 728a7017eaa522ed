import type { RequirementKind } from '../core/draft/requirements.ts'
import type { UsageView } from './run.ts'
import type { PreviewView, ScheduleFields } from './schedule.ts'
import type { ScheduleDelivery } from './target.ts'

/** What says when, where it has been said. */
type DraftTiming = {
  readonly [
    Name in 'cron' | 'every_seconds' | 'rrule' | 'at' | 'anchor' | 'starts_at' | 'ends_at' | 'max_fires' | 'exclude'
  ]?: ScheduleFields[Name] | undefined
}

/**
 * What a schedule that does the same as a run begins with: fields of a schedule and nothing else. When it is to happen is
 * left to say, unless it was said.
 */
export interface ScheduleDraft extends DraftTiming {
  readonly name: string
  /** Left out when the agent is gone, or was only a name on a task. */
  readonly agent_id?: string | undefined
  readonly payload: unknown
  readonly timezone: string
  /** The conversation that the run is of, where it is to go on in it; left out: a session of its own for each run. */
  readonly session?: string | undefined
  /** Where the run has taken so long that what is usual would be scarce. */
  readonly timeout_seconds?: number | undefined
  readonly delivery?: ScheduleDelivery | undefined
}

/** What somebody decides about a draft. What is left out is as the proposal has it. */
export interface DraftInput {
  /** When, in words: "every weekday at 9 in Berlin". */
  readonly when?: string | undefined
  /** Where the clock hangs if the words name no place; the org's zone unless given. */
  readonly timezone?: string | undefined
  /** Which of the proposed requirements are asked for, by their ids; those that are `taken` unless given. */
  readonly requirements?: readonly string[] | undefined
  /** What is asked of the answer, in place of all requirements; empty: nothing. */
  readonly output?: string | undefined
  /** Whether its runs begin anew or go on in the conversation; `isolated` unless given. */
  readonly session?: 'isolated' | 'conversation' | undefined
}

/** Something that answers have to be like, as it would be told to the agent. */
export interface ProposedRequirement {
  readonly id: string
  readonly kind: RequirementKind
  readonly text: string
  /** What somebody said about an answer; null: it is seen in the answer. */
  readonly said: string | null
  /** The run whose answer shows it, or whose message says it. */
  readonly run_id: string
  /** Whether it is asked for unless somebody decides otherwise. */
  readonly taken: boolean
}

/** When it is to happen, as the conversation says it. */
export interface ProposedTiming extends Pick<PreviewView, 'sentence' | 'next' | 'dst_notes'> {
  /** The words that say it. */
  readonly words: string
  /** The run whose message they are in. */
  readonly run_id: string
  /** Everything that was decided because the words left it open. */
  readonly notes: readonly string[]
}

/** The conversation a run is of. */
export interface ProposedConversation {
  readonly key: string
  /** Messages of the same person before the one that asks: a run with a session of its own does not know them. */
  readonly earlier: number
  /** The channel it is held on; null: it is held here. */
  readonly channel: string | null
}

/** A schedule made of a run: what it would be, what that is based on, and what can be chosen. */
export interface ScheduleProposal {
  readonly run_id: string
  /** The run whose message is the prompt: an earlier one where the message of this run only wanted its answer otherwise. */
  readonly prompt_run_id: string
  /** What `POST` answers when nothing is chosen. */
  readonly draft: ScheduleDraft
  /** Null: the conversation does not say when, and nobody guesses. */
  readonly timing: ProposedTiming | null
  readonly requirements: readonly ProposedRequirement[]
  /** Null: the run is of no conversation, or of one that whoever asks may not read. */
  readonly conversation: ProposedConversation | null
  /** The target that leads back to the conversation; null: there is none. */
  readonly target: { readonly id: string; readonly name: string } | null
  readonly observed: { readonly duration_ms: number | null; readonly usage: UsageView | null }
}
