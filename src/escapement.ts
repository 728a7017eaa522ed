import type { AgentInput, AgentPatch, AgentView } from './contract/agent.ts'
import type { AlertFilter, AlertView } from './contract/alert.ts'
import type { AsCode } from './contract/as-code.ts'
import type { BackfillInput, Backfills, BackfillView } from './contract/backfill.ts'
import type { BudgetInput, BudgetPatch, BudgetView } from './contract/budget.ts'
import type { ENGINE_KEYS } from './contract/config/engine-keys.ts'
import type { GivenOf } from './contract/config/in-code.ts'
import type { DeliveryFilter, DeliveryView } from './contract/delivery.ts'
import type { EventKind } from './contract/event-kinds.ts'
import type { EventView } from './contract/event.ts'
import type { Explanation, ExplainQuery, OccurrenceExplanation, RunExplanation } from './contract/explain.ts'
import type { ForecastFilter, ForecastView, ScheduleForecast, ScheduleForecastInput } from './contract/forecast.ts'
import type {
  HeartbeatInput,
  HeartbeatLogFilter,
  HeartbeatLogView,
  HeartbeatTestAnswer,
  HeartbeatView,
} from './contract/heartbeat.ts'
import type { CrontabInput, ImportInput, ImportReport } from './contract/import.ts'
import type { LaneView } from './contract/lane.ts'
import type { LineageView } from './contract/lineage.ts'
import type { Health, NodeView } from './contract/node.ts'
import type { Page } from './contract/page.ts'
import type { PageFilter } from './contract/common.ts'
import type { Providers } from './contract/provider.ts'
import type { CallbackAnswer, ResultInput, RunDetail, RunFilter, RunView } from './contract/run.ts'
import type { RejectInput, RunNowAnswer, ScheduleFilter, ScheduleInput, ScheduleView } from './contract/schedule.ts'
import type { DraftInput, ScheduleDraft, ScheduleProposal } from './contract/schedule-draft.ts'
import type { RotationInput, RotationView, SecretInput, SecretPatch, SecretView } from './contract/secret.ts'
import type { SimulateAnswer, SimulateInput, SimulationProgress } from './contract/simulate.ts'
import type { MessageInput, MessageReceipt, SessionPatch, SessionView, StopAnswer } from './contract/session.ts'
import type {
  EnabledTargetView,
  SigningSecretView,
  TargetInput,
  TargetPatch,
  TargetTestView,
  TargetView,
} from './contract/target.ts'
import type {
  TaskBatchItem,
  TaskCancelled,
  TaskFilter,
  TaskInput,
  TaskReceipt,
  TaskStats,
  TaskView,
} from './contract/task.ts'
import type { TokenEstimateFunc } from './contract/token-estimate.ts'
import type { WordsInput, WordsView } from './contract/words.ts'
import type { Handler } from './executors/in-process/execute.ts'

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

export interface SimulateOptions {
  /** Ends it; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Hears how far it is, about ten times a second. */
  readonly progress?: (progress: SimulationProgress) => void
}

export interface SubmitOptions {
  /** For 24 hours, whatever is sent again with the same key is not done again; it gets the first answer. */
  readonly idempotencyKey?: string
}

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** Escapement inside a Node program. */
export interface Escapement {
  readonly schedules: {
    /** `fromRun`: the run it does again, so that each of them shows the other. */
    readonly create: (input: ScheduleInput, options?: { readonly fromRun?: string }) => Promise<ScheduleView>
    readonly get: (id: string) => Promise<ScheduleView>
    readonly list: (filter?: ScheduleFilter) => Promise<Page<ScheduleView>>
    readonly update: (id: string, change: ScheduleInput) => Promise<ScheduleView>
    readonly delete: (id: string) => Promise<void>
    readonly enable: (id: string) => Promise<ScheduleView>
    readonly disable: (id: string) => Promise<ScheduleView>
    /** Lets what a key with guard rails has proposed have its way. */
    readonly approve: (id: string) => Promise<ScheduleView>
    /** Keeps it from happening, and says why. */
    readonly reject: (id: string, input: RejectInput) => Promise<ScheduleView>
    /** Refused with `CONCURRENCY_LIMIT` when the policy is SKIP and the schedule is full. */
    readonly runNow: (id: string, options?: { readonly mode?: 'force' | 'due' }) => Promise<RunNowAnswer>
    readonly backfill: (id: string, input: BackfillInput) => Promise<BackfillView>
    readonly runs: (id: string, filter?: RunFilter) => Promise<Page<RunView>>
    readonly explain: (id: string, at: string | number) => Promise<OccurrenceExplanation>
    /** What a schedule would use before it is made, or with `id` what a change of one would do. Nothing is kept. */
    readonly forecast: (input: ScheduleForecastInput) => Promise<ScheduleForecast>
    /** What would happen over a window of time. Computed in a thread of its own; nothing is kept. */
    readonly simulate: (input: SimulateInput, options?: SimulateOptions) => Promise<SimulateAnswer>
    /** What a sentence about time means: `every weekday at 9 in Berlin`. Refused with the place of what is not understood. */
    readonly parse: (input: WordsInput) => Promise<WordsView>
    /** Takes over a crontab; its lines become prompts of `agent_id`, because a library starts no programs. */
    readonly importCrontab: (input: CrontabInput) => Promise<ImportReport>
    /** Takes over a jobs file of OpenClaw. */
    readonly importOpenclaw: (input: ImportInput) => Promise<ImportReport>
  }
  readonly backfills: Backfills
  /** Why something happened, or why nothing did: about one thing by its id, or about a moment. */
  readonly explain: (query: ExplainQuery) => Promise<Explanation>
  readonly tasks: {
    /** Refused with `queue_full` (the error carries the id of the rejected task) when there is no room. */
    readonly submit: (input: TaskInput, options?: SubmitOptions) => Promise<TaskReceipt>
    /** One to fifty, in their order, each decided by itself. */
    readonly batch: (inputs: readonly TaskInput[]) => Promise<readonly TaskBatchItem[]>
    readonly get: (id: string) => Promise<TaskView>
    readonly list: (filter?: TaskFilter) => Promise<readonly TaskView[]>
    readonly cancel: (id: string) => Promise<TaskCancelled>
    /** What waits, how tasks went as long as the org exists, and within which limits. */
    readonly stats: () => Promise<TaskStats>
  }
  readonly sessions: {
    /**
     * Sends a message; `/stop` and `/stopall` are commands here too. The agent is the one the key names
     * (`agent:<agent>:…`), else the org's default agent. Throws `ErrQueueFull` and `ErrGatewayDraining`.
     */
    readonly send: (
      key: string,
      message: MessageInput | string,
      options?: SubmitOptions,
    ) => Promise<MessageReceipt | StopAnswer>
    /** Sends and waits for the settled run. Throws `ErrQueueDropped`, `ErrMessageStale`, `ErrLaneCleared` besides. */
    readonly ask: (key: string, message: MessageInput | string) => Promise<RunView>
    readonly stop: (key: string) => Promise<StopAnswer>
    readonly stopAll: (key: string) => Promise<StopAnswer>
    readonly reset: (key: string) => Promise<StopAnswer>
    readonly get: (key: string) => Promise<SessionView>
    readonly list: (filter?: { readonly limit?: number; readonly cursor?: string }) => Promise<Page<SessionView>>
    readonly update: (key: string, change: SessionPatch) => Promise<SessionView>
  }
  readonly runs: {
    readonly get: (id: string) => Promise<RunDetail>
    readonly list: (filter?: RunFilter) => Promise<Page<RunView>>
    readonly cancel: (id: string) => Promise<RunView>
    readonly retry: (id: string, options?: { readonly force?: boolean }) => Promise<RunView>
    /** What a schedule that does the same begins with. Nothing is kept: give it to `schedules.create` with `fromRun`. */
    readonly schedule: (id: string, choices?: DraftInput) => Promise<ScheduleDraft>
    /** The same with everything that can be chosen, and what it is based on. */
    readonly proposal: (id: string) => Promise<ScheduleProposal>
    /** Why it is where it is: for a waiting run the first closed gate. */
    readonly explain: (id: string) => Promise<RunExplanation>
    /** Where a run comes from, and what it made and woke. */
    readonly lineage: (id: string, filter?: PageFilter) => Promise<LineageView>
    /** Resolves when the run has ended. */
    readonly wait: (id: string, options?: { readonly timeoutMs?: number }) => Promise<RunView>
    /** Settles an attempt that was deferred, by its token. */
    readonly callback: (token: string, result: ResultInput) => Promise<CallbackAnswer>
  }
  readonly agents: {
    readonly create: (input: AgentInput) => Promise<AgentView>
    readonly get: (id: string) => Promise<AgentView>
    readonly list: () => Promise<readonly AgentView[]>
    readonly update: (id: string, change: AgentPatch) => Promise<AgentView>
    readonly delete: (id: string) => Promise<void>
    /** Makes a function of this process the executor of an agent, from now on. */
    readonly register: (id: string, handler: Handler) => Promise<void>
  }
  /** Agents that look after a checklist by themselves; each is named by its agent. */
  readonly heartbeats: {
    readonly get: (agent: string) => Promise<HeartbeatView>
    /** All of it: what is left out takes its default. */
    readonly set: (agent: string, input: HeartbeatInput) => Promise<HeartbeatView>
    readonly enable: (agent: string) => Promise<HeartbeatView>
    readonly disable: (agent: string) => Promise<HeartbeatView>
    /** Lets the heart beat once, whatever its plan says. */
    readonly test: (agent: string) => Promise<HeartbeatTestAnswer>
    readonly log: (agent: string, filter?: HeartbeatLogFilter) => Promise<Page<HeartbeatLogView>>
  }
  /** Limits on what runs may use in a day or a month. Refused work says so with `BUDGET` and when to come back. */
  readonly budgets: {
    readonly create: (input: BudgetInput) => Promise<BudgetView>
    readonly get: (id: string) => Promise<BudgetView>
    readonly list: () => Promise<readonly BudgetView[]>
    readonly update: (id: string, change: BudgetPatch) => Promise<BudgetView>
    /** What the next days will use, and when budgets will be used up. */
    readonly forecast: (filter?: ForecastFilter) => Promise<ForecastView>
    /** Lets a budget that stands still under `pause` go on. */
    readonly resume: (id: string) => Promise<BudgetView>
    readonly delete: (id: string) => Promise<void>
  }
  /** Services that several agents call, with quotas they share; an agent names one in its field `provider`. */
  readonly providers: Providers
  /** Agents, targets, schedules and budgets as one document that is kept in a file. */
  readonly asCode: AsCode
  /** Values that agents send and nobody can read; an agent names one as `{{secret:NAME}}`. */
  readonly secrets: {
    readonly create: (input: SecretInput) => Promise<SecretView>
    readonly get: (name: string) => Promise<SecretView>
    readonly list: (filter?: PageFilter) => Promise<Page<SecretView>>
    readonly update: (name: string, change: SecretPatch) => Promise<SecretView>
    readonly delete: (name: string) => Promise<void>
    /** Seals everything of the deployment anew with the first key. */
    readonly rotate: (how?: RotationInput) => Promise<RotationView>
  }
  /** Where the results of schedules go: `delivery: { target_id }` of a schedule names one. */
  readonly targets: {
    readonly create: (input: TargetInput) => Promise<TargetView>
    readonly get: (id: string) => Promise<TargetView>
    readonly list: (filter?: PageFilter) => Promise<Page<TargetView>>
    readonly update: (id: string, change: TargetPatch) => Promise<TargetView>
    readonly delete: (id: string) => Promise<void>
    /** Switches a target on and sends what was held for it. */
    readonly enable: (id: string) => Promise<EnabledTargetView>
    /** Sends one message, which counts for nothing, and says what came of it. */
    readonly test: (id: string) => Promise<TargetTestView>
    readonly signingSecret: () => Promise<SigningSecretView>
    readonly rotateSecret: () => Promise<SigningSecretView>
  }
  /** Results on their way, with every try. */
  readonly deliveries: {
    readonly list: (filter?: DeliveryFilter) => Promise<Page<DeliveryView>>
    readonly get: (id: string) => Promise<DeliveryView>
    readonly retry: (id: string) => Promise<DeliveryView>
  }
  readonly alerts: { readonly list: (filter?: AlertFilter) => Promise<Page<AlertView>> }
  readonly lanes: {
    readonly list: () => Promise<readonly LaneView[]>
    readonly set: (name: string, concurrency: number) => Promise<LaneView>
    /** An existing lane wins. */
    readonly getOrCreate: (name: string, concurrency: number) => Promise<LaneView>
  }
  readonly nodes: { readonly list: () => Promise<readonly NodeView[]> }
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
