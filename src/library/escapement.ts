import type { CallOptions, CallsInProcess } from '../client/calls.ts'
import type { SimulationOptions } from '../client/simulation.ts'
import type { ENGINE_KEYS } from '../platform/config/engine-keys.ts'
import type { GivenOf } from '../platform/config/in-code.ts'
import type { EventKind } from '../contract/event-kinds.ts'
import type { EventView } from '../contract/event.ts'
import type { HeartbeatView } from '../features/heartbeats/schema.ts'
import type { LaneView } from '../features/lanes/schema.ts'
import type { Health } from '../features/nodes/schema.ts'
import type { RunView } from '../features/runs/schema.ts'
import type { MessageInput, MessageReceipt, StopAnswer } from '../features/sessions/schema.ts'
import type { SimulateAnswer, SimulateInput } from '../features/simulation/schema.ts'
import type { TokenEstimateFunc } from '../contract/token-estimate.ts'
import type { Handler } from '../executors/in-process/execute.ts'

/** Where the rows are: an embedded server in a directory, or a PostgreSQL of your own. */
export type DatabaseChoice =
  | { readonly data?: string }
  | { readonly url: string; readonly schema?: string; readonly pool?: number }
  /** Shorthand for `{ url }`. */
  | string

/** Settings that hold for all of the deployment. What is left out keeps its default. */
export type Settings = GivenOf<typeof ENGINE_KEYS>

export interface EscapementOptions extends Settings {
  /** Left out: an embedded server in `./.escapement`. */
  readonly database?: DatabaseChoice
  /** Functions of this process that do the work of agents, by agent id. */
  readonly agents?: Readonly<Record<string, Handler>>
  /** How full the context of a session is; asked before new work of it starts. */
  readonly estimateTokens?: TokenEstimateFunc
  /** What agents over HTTP may be called although the guard would refuse them. */
  readonly outbound?: { readonly allow_hosts?: readonly string[]; readonly allow_loopback?: boolean }
  /** Where checklists of heartbeats may be read from. Left out: nowhere. */
  readonly heartbeat?: { readonly checklist_dir?: string | null }
  /**
   * What secrets are sealed with: 32 bytes as hexadecimal digits or Base64, several with commas between them. Left out:
   * `ESCAPEMENT_SECRET_KEY`, or a file beside an embedded database.
   */
  readonly secretKey?: string
  /** Whose agents, schedules and runs this object is about. */
  readonly org?: string
  /** Hears what the engine says. Left out: warnings and errors go to stderr. */
  readonly log?: (entry: LogEntry) => void
}

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

/**
 * Escapement inside a Node program: every operation of the API as `escapement.<group>.<name>(…)`, called as the client calls
 * it and carried out here, and what only a process can do.
 */
export interface Escapement extends Omit<CallsInProcess, 'sessions' | 'runs' | 'agents' | 'heartbeat' | 'lanes'> {
  readonly sessions: Omit<CallsInProcess['sessions'], 'send'> & {
    /**
     * Sends a message; `/stop` and `/stopall` are commands here too. The agent is the one the key names
     * (`agent:<agent>:…`), else the org's default agent. Throws `ErrQueueFull` and `ErrGatewayDraining`.
     */
    readonly send: (
      key: string,
      message: MessageInput | string,
      options?: CallOptions,
    ) => Promise<MessageReceipt | StopAnswer>
    /** Sends and waits for the settled run. Throws `ErrQueueDropped`, `ErrMessageStale`, `ErrLaneCleared` besides. */
    readonly ask: (key: string, message: MessageInput | string) => Promise<RunView>
  }
  readonly runs: CallsInProcess['runs'] & {
    /** Resolves when the run has ended. */
    readonly wait: (id: string, options?: { readonly timeoutMs?: number }) => Promise<RunView>
  }
  readonly agents: CallsInProcess['agents'] & {
    /** Makes a function of this process the executor of an agent, from now on. */
    readonly register: (id: string, handler: Handler) => Promise<void>
  }
  readonly heartbeat: CallsInProcess['heartbeat'] & {
    /** Switches a heartbeat on; everything else about it stays. */
    readonly enable: (agent: string) => Promise<HeartbeatView>
    readonly disable: (agent: string) => Promise<HeartbeatView>
  }
  readonly lanes: CallsInProcess['lanes'] & {
    /** An existing lane wins. */
    readonly getOrCreate: (name: string, concurrency: number) => Promise<LaneView>
  }
  /** What would happen: `schedules.simulate`, and how far it is. Computed in a thread of its own; nothing is kept. */
  readonly simulate: (input: SimulateInput, options?: SimulationOptions) => Promise<SimulateAnswer>
  readonly on: (kind: EventKind, hear: (event: EventView) => void) => () => void
  /** Changes settings while running. Refused whole when one of them is invalid. */
  readonly reload: (change: Settings) => void
  readonly setTokenEstimateFunc: (estimate: TokenEstimateFunc | null) => void
  /** Asks for settings again and again, and reloads what it gets. Answers with how to stop. */
  readonly watchConfig: (load: () => Settings | Promise<Settings>, everyMs: number) => () => void
  readonly health: () => Health
  /** Resets sessions with work active on this node or a caller waiting in it; `drainOnSignals` calls it on SIGUSR1. */
  readonly reset: () => Promise<void>
  /** Opens the database, migrates it if need be, and starts working. */
  readonly start: () => Promise<void>
  /** Takes no more work, lets what runs end within the grace, and closes. `now` aborts what runs at once. */
  readonly stop: (how?: 'drain' | 'now') => Promise<void>
}
