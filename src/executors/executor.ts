import type { AgentId, AttemptId, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Invitation } from '../core/rails/invitation.ts'
import type { Outcome } from '../domain/run/outcome.ts'
import type { Reported } from '../core/run/reported.ts'
import type { Trigger } from '../domain/run/run.ts'

/** What an executor is given: one attempt of one run. */
export interface Attempt {
  readonly orgId: OrgId
  readonly runId: RunId
  /** Equal for all attempts of an occurrence; what the other side uses to recognise a repetition. */
  readonly jobRunId: string
  readonly attemptId: AttemptId
  readonly attempt: number
  readonly agentId: AgentId
  readonly trigger: Trigger
  readonly scheduleId: ScheduleId | null
  readonly nominalTime: Instant | null
  readonly sessionKey: SessionKey | null
  readonly payload: unknown
  readonly deadline: Instant | null
  /** The trace it belongs to, as `traceparent` has it, for whoever is called. */
  readonly trace: string | null
}

/** Tokens and money, as far as the executor knows them. */
export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly contextWindow?: number
  /** In whole millionths. */
  readonly costMicros?: number
}

/** What an executor has while it works. */
export interface AttemptContext {
  /** Aborted when the attempt must end; its reason says why: `cancelled`, `timeout`, `shutdown`, `lease_lost`, … */
  readonly signal: AbortSignal
  /** Something to show while the attempt goes on: a piece of text, a step. Never waits. */
  readonly progress: (event: unknown) => void
  /** Adds to what the attempt has used. */
  readonly usage: (usage: Usage) => void
  /**
   * Puts a single-use token on record with which somebody else may report the result of this attempt, from now on. The
   * attempt goes on as it is.
   */
  readonly offer: () => Promise<string>
  /**
   * Says that the result comes later, by callback: from now on the run awaits it and its lane slot is free. Answers with
   * the single-use token, the one that was offered if there is one. The executor then reports `accepted`.
   */
  readonly defer: (offered?: string) => Promise<string>
  /**
   * Opens secrets of the org for one address, just before something is sent there. From now on their values are hidden in
   * everything the attempt says, on its way and at its end; only a stream that cuts one in two hides it itself.
   */
  readonly expose: (asked: SecretsAsked) => Promise<ExposedSecrets>
  /**
   * What the attempt needs to make things by itself; null where its agent has no `self_service`. The key is hidden in
   * everything the attempt says, as secrets are.
   */
  readonly invite: () => Promise<Invitation | null>
}

/** Which secrets somebody wants to send, and where. */
export interface SecretsAsked {
  readonly names: readonly string[]
  readonly url: string
}

/** Their values by name; or why they must not go there, in words that hold none of them. */
export type ExposedSecrets =
  | { readonly ok: true; readonly values: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly message: string }

/** How the attempt went. */
export interface AttemptReport {
  readonly outcome: Outcome
  readonly output?: unknown
  /** A text or JSON. */
  readonly summary?: unknown
  readonly errorMessage?: string
  readonly usage?: Usage
  /** What the runtime calls the session, the reply and the failure. */
  readonly reported?: Reported | null
  /** When a heartbeat wants to be asked again, as the agent said it. */
  readonly nextCheck?: unknown
}

/** Performs an attempt. It answers with a report and throws nothing; what is thrown all the same is `internal`. */
export type Executor = (attempt: Attempt, context: AttemptContext) => Promise<AttemptReport>
