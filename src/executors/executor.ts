import { createHash } from 'node:crypto'
import type { AttemptApiAccess } from '../domain/access/restrictions.ts'
import type { ReportedQuota } from '../domain/budget/quota.ts'
import type { AgentId, AttemptId, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { AttemptOutcome } from '../domain/run/outcome.ts'
import type { RuntimeReport } from '../domain/run/reports.ts'
import type { Trigger } from '../domain/run/run.ts'

/** The input of an executor: one attempt of a run. */
export interface Attempt {
  readonly orgId: OrgId
  readonly runId: RunId
  /** The same for all attempts of an occurrence, so that the receiver can recognize a repetition. */
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
  /** The `traceparent` of the trace it belongs to, to be passed on. */
  readonly trace: string | null
}

/** Used tokens and money, as far as the executor knows them. */
export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  /** The input tokens that were read from a cache. */
  readonly cachedInputTokens?: number
  /** The output tokens that were used for reasoning. */
  readonly reasoningTokens?: number
  readonly contextWindow?: number
  /** In whole millionths. */
  readonly costMicros?: number
  /** The date of the list prices that the cost was computed with. */
  readonly pricesAsOf?: string
}

/** The services available to an executor during an attempt. */
export interface AttemptContext {
  /** Aborted when the attempt must end; its reason says why: `cancelled`, `timeout`, `shutdown`, `lease_lost`, … */
  readonly signal: AbortSignal
  /** Publishes progress: a piece of text, or a step. Never waits. */
  readonly progress: (event: unknown) => void
  /** Adds to the usage of the attempt. */
  readonly usage: (usage: Usage) => void
  /**
   * Creates a single-use token with which the result of this attempt can be reported from outside. The attempt
   * continues.
   */
  readonly offer: () => Promise<string>
  /**
   * Announces that the result comes by callback: the run waits for it and its lane slot is free. Returns the
   * single-use token, the offered one if there is one. The executor then reports `accepted`.
   */
  readonly defer: (offered?: string) => Promise<string>
  /**
   * Announces that a service works in the background: the run waits without a lane slot, across restarts, and the
   * result is fetched by the `background` of the executor. The executor then reports `accepted`.
   */
  readonly deferToService: (work: BackgroundReference) => Promise<void>
  /**
   * Opens secrets of the org for one URL, just before they are sent. From then on their values are masked in all
   * progress and results of the attempt; an executor that splits one across stream pieces masks it itself.
   */
  readonly expose: (asked: SecretsRequest) => Promise<ExposedSecrets>
  /**
   * The API access of the attempt; null unless its agent has `self_service`. The key is masked in everything the
   * attempt outputs, like secrets.
   */
  readonly invite: () => Promise<AttemptApiAccess | null>
}

/** The secrets to open, and the URL they are sent to. */
export interface SecretsRequest {
  readonly names: readonly string[]
  readonly url: string
}

/** The values by name, or why they must not be sent there, in a message without any of them. */
export type ExposedSecrets =
  | { readonly ok: true; readonly values: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly message: string }

/** The result of an attempt. */
export interface AttemptReport {
  readonly outcome: AttemptOutcome
  readonly output?: unknown
  /** A text or JSON. */
  readonly summary?: unknown
  readonly errorMessage?: string
  readonly usage?: Usage
  /** The runtime's own session id, message id and error code. */
  readonly reported?: RuntimeReport | null
  /** The next check that the agent proposes, as it gave it. */
  readonly nextCheck?: unknown
  /** What the called service reports as left of its quotas. */
  readonly quota?: ReportedQuota
}

/** What an executor needs to fetch the result of work in the background, as JSON without secrets. */
export type BackgroundReference = Readonly<Record<string, unknown>>

/** How an executor fetches results of work in the background, on any node. */
export interface BackgroundClient {
  /** Returns the report; null: the service is still working, or could not be asked now. */
  readonly fetch: (work: BackgroundAttempt) => Promise<AttemptReport | null>
  /** Tells the service that its work is not wanted any more. */
  readonly cancel: (work: BackgroundAttempt) => Promise<void>
}

/** An attempt with work in the background. */
export interface BackgroundAttempt extends Pick<AttemptContext, 'signal' | 'expose'> {
  readonly attempt: Attempt
  readonly reference: BackgroundReference
}

/** Executes an attempt. It returns a report and should not throw; an exception is reported as `internal`. */
export interface Executor {
  (attempt: Attempt, context: AttemptContext): Promise<AttemptReport>
  readonly background?: BackgroundClient
}

const hexOf = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length)

/**
 * The `traceparent` of an attempt. A run without a trace starts one that its attempts share. It is marked as sampled,
 * because an agent that follows its caller would otherwise stop recording.
 */
export const traceparentOf = ({ trace, runId, attemptId }: Pick<Attempt, 'trace' | 'runId' | 'attemptId'>): string =>
  trace ?? `00-${hexOf(runId, 32)}-${hexOf(attemptId, 16)}-01`
