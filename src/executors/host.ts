import type { ChatExchange } from './chat/conversation.ts'
import type { CommandRules } from './command/options.ts'
import type { ExecutorSpec } from './kind.ts'
import type { RunId } from '../domain/ids.ts'
import type { Outbound } from '../platform/outbound/send.ts'
import type { Attempt, Executor } from './executor.ts'
import type { ReadAgentResult } from './http/answer.ts'
import type { InstanceLookup } from './tab-action/instances.ts'

/** The history of an attempt's session, with the sender of the new message. */
export interface SessionHistory {
  readonly sender: string | null
  readonly retryOf: RunId | null
  readonly exchanges: readonly ChatExchange[]
}

/** The services of a process for its executors. */
export interface ExecutorHost {
  readonly send: Outbound['send']
  /** Finds the agent of an attempt with its options; null when there is none of that kind any more. */
  readonly agentOf: <Options>(
    spec: ExecutorSpec<string, Options>,
  ) => (attempt: Attempt) => Promise<{ readonly options: Options; readonly contextWindow: number | null } | null>
  /** The conversation before an attempt, of about `mostTokens` tokens at most. */
  readonly historyOf: (attempt: Attempt, mostTokens: number) => Promise<SessionHistory>
  /** The session that the runtime reported in the latest run of the attempt's session; null: none. */
  readonly lastSessionOf: (attempt: Attempt) => Promise<string | null>
  /** The model that a retry was created with; null: that of the agent. */
  readonly modelOf: (attempt: Attempt) => Promise<string | null>
  readonly readResult: ReadAgentResult
  /** The callback URL of a token; null when this process does not listen. */
  readonly callbackUrl: (token: string) => string | null
  /** The operator's current rules for programs. */
  readonly commands: () => CommandRules
  /** The operator's current browser instances; null: tasks are not executed in tabs here. */
  readonly tabs: (() => InstanceLookup) | null
}

/** Creates the executor of a kind; null: this process does not execute it. */
export type CreateExecutor = (host: ExecutorHost) => Executor | null
