import type { Exchange } from './chat/conversation.ts'
import type { CommandRules } from './command/options.ts'
import type { ExecutorSpec } from './kind.ts'
import type { RunId } from '../domain/ids.ts'
import type { Outbound } from '../outbound/send.ts'
import type { Attempt, Executor } from './executor.ts'
import type { ReadAgentResult } from './http/answer.ts'
import type { InstancePlace } from './tab-action/instances.ts'

/** What was said before in the session of an attempt, and who says what it is about. */
export interface Past {
  readonly sender: string | null
  readonly retryOf: RunId | null
  readonly exchanges: readonly Exchange[]
}

/** What a process has for the executors in it. */
export interface ExecutorHost {
  readonly send: Outbound['send']
  /** Finds the agent of an attempt with its options; null: there is none of that kind any more. */
  readonly agentOf: <Options>(
    spec: ExecutorSpec<string, Options>,
  ) => (attempt: Attempt) => Promise<{ readonly options: Options; readonly contextWindow: number | null } | null>
  /** The conversation before an attempt, of about so many tokens at most. */
  readonly pastOf: (attempt: Attempt, mostTokens: number) => Promise<Past>
  readonly readResult: ReadAgentResult
  /** Where a result can be reported with a token; null: nobody listens. */
  readonly callbackUrl: (token: string) => string | null
  /** What the operator lets agents start at this moment. */
  readonly commands: () => CommandRules
  /** Where browser tabs are at this moment; null: tasks are not performed in tabs here. */
  readonly tabs: (() => InstancePlace) | null
}

/** Makes the executor of a kind; null: this process does not perform it. */
export type Perform = (host: ExecutorHost) => Executor | null
