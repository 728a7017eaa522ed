import type { CallOptions, CallsInProcess } from '../client/calls.ts'
import type { SimulationOptions } from '../client/simulation.ts'
import type { ENGINE_KEYS } from '../platform/config/engine-keys.ts'
import type { SettingsInputOf } from '../platform/config/in-code.ts'
import type { EventKind, EventView } from '../features/events/schema.ts'
import type { HeartbeatView } from '../features/heartbeats/schema.ts'
import type { LaneView } from '../features/lanes/schema.ts'
import type { Health } from '../features/nodes/schema.ts'
import type { RunView } from '../features/runs/schema.ts'
import type { MessageInput, MessageReceipt, StopAnswer } from '../features/sessions/schema.ts'
import type { SimulateAnswer, SimulateInput } from '../features/simulation/schema.ts'
import type { TokenEstimateFunc } from '../features/budgets/schema.ts'
import type { Handler } from '../executors/in-process/execute.ts'

/** The database: an embedded server in a directory, or your own PostgreSQL. */
export type DatabaseChoice =
  | { readonly data?: string }
  | { readonly url: string; readonly schema?: string; readonly pool?: number }
  /** Shorthand for `{ url }`. */
  | string

/** Settings of the deployment. Omitted settings keep their defaults. */
export type Settings = SettingsInputOf<typeof ENGINE_KEYS>

export interface EscapementOptions extends Settings {
  /** Default: an embedded server in `./.escapement`. */
  readonly database?: DatabaseChoice
  /** Functions of this process that run the attempts of agents, by agent id. */
  readonly agents?: Readonly<Record<string, Handler>>
  /** Estimates how full the context of a session is; called before new work of the session starts. */
  readonly estimateTokens?: TokenEstimateFunc
  /** Outbound hosts that are allowed although the guard would reject them. */
  readonly outbound?: { readonly allow_hosts?: readonly string[]; readonly allow_loopback?: boolean }
  /** The directory that heartbeat checklists may be read from. Default: none. */
  readonly heartbeat?: { readonly checklist_dir?: string | null }
  /**
   * The encryption key for secrets: 32 bytes as hexadecimal digits or Base64; several keys are separated by commas.
   * Default: `ESCAPEMENT_SECRET_KEY`, or a file beside an embedded database.
   */
  readonly secretKey?: string
  /** The org that this object acts for. */
  readonly org?: string
  /** Receives the log entries of the engine. By default, warnings and errors go to stderr. */
  readonly log?: (entry: LogEntry) => void
}

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

/**
 * Escapement inside a Node program: every operation of the API as `escapement.<group>.<name>(…)` with the signatures of
 * the client, executed in this process, plus functions that only exist in process.
 */
export interface Escapement extends Omit<CallsInProcess, 'sessions' | 'runs' | 'agents' | 'heartbeat' | 'lanes'> {
  readonly sessions: Omit<CallsInProcess['sessions'], 'send'> & {
    /**
     * Sends a message; `/stop` and `/stopall` are commands here too. The agent is the one in the key
     * (`agent:<agent>:…`), or else the org's default agent. Throws `ErrQueueFull` and `ErrGatewayDraining`.
     */
    readonly send: (
      key: string,
      message: MessageInput | string,
      options?: CallOptions,
    ) => Promise<MessageReceipt | StopAnswer>
    /**
     * Sends a message and waits until its run has ended. Also throws `ErrQueueDropped`, `ErrMessageStale` and
     * `ErrLaneCleared`.
     */
    readonly ask: (key: string, message: MessageInput | string) => Promise<RunView>
  }
  readonly runs: CallsInProcess['runs'] & {
    /** Resolves when the run has ended. */
    readonly wait: (id: string, options?: { readonly timeoutMs?: number }) => Promise<RunView>
  }
  readonly agents: CallsInProcess['agents'] & {
    /** Sets a function of this process as the executor of an agent. */
    readonly register: (id: string, handler: Handler) => Promise<void>
  }
  readonly heartbeat: CallsInProcess['heartbeat'] & {
    /** Enables a heartbeat; its other settings stay. */
    readonly enable: (agent: string) => Promise<HeartbeatView>
    readonly disable: (agent: string) => Promise<HeartbeatView>
  }
  readonly lanes: CallsInProcess['lanes'] & {
    /** Returns an existing lane unchanged. */
    readonly getOrCreate: (name: string, concurrency: number) => Promise<LaneView>
  }
  /** Runs `schedules.simulate` with progress reports. Computed in a separate thread; nothing is stored. */
  readonly simulate: (input: SimulateInput, options?: SimulationOptions) => Promise<SimulateAnswer>
  readonly on: (kind: EventKind, listener: (event: EventView) => void) => () => void
  /** Changes settings while running. If one of them is invalid, none is changed. */
  readonly reload: (change: Settings) => void
  readonly setTokenEstimateFunc: (estimate: TokenEstimateFunc | null) => void
  /** Loads settings periodically and applies them. Returns a function that stops it. */
  readonly watchConfig: (load: () => Settings | Promise<Settings>, everyMs: number) => () => void
  readonly health: () => Health
  /** Resets sessions with active runs on this node or a caller waiting in it; `drainOnSignals` calls it on SIGUSR1. */
  readonly reset: () => Promise<void>
  /** Opens the database, migrates it if needed, and starts the engine. */
  readonly start: () => Promise<void>
  /**
   * Accepts no more work, lets active runs end within the grace period, and closes. `now` aborts active runs at once.
   */
  readonly stop: (how?: 'drain' | 'now') => Promise<void>
}
