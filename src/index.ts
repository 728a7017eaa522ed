export { createEscapement } from './library/create.ts'
export { drainOnSignals } from './library/signals.ts'
export {
  ErrGatewayBusy,
  ErrGatewayDraining,
  ErrLaneCleared,
  ErrMessageStale,
  ErrQueueDropped,
  ErrQueueFull,
  Refusal,
  type RefusalCode,
} from './contract/refusals.ts'
export { AttemptAborted } from './engine/attempt-aborted.ts'
export type { DatabaseChoice, Escapement, EscapementOptions, LogEntry, Settings } from './escapement.ts'
export type { CallOptions } from './client/calls.ts'
export type { SimulationOptions } from './client/simulation.ts'
export type { Deferred, Handler, HandlerContext } from './executors/in-process/execute.ts'
export type { Attempt, Usage } from './executors/executor.ts'
export type { TokenEstimateFunc } from './contract/token-estimate.ts'
export type { AgentInput, AgentPatch, AgentView } from './contract/agent.ts'
export type { AlertFilter, AlertView } from './contract/alert.ts'
export type {
  AgentItem,
  ApplyFilter,
  AsCodeAction,
  AsCodeDocument,
  AsCodeKind,
  AsCodeThing,
  BudgetItem,
  DeliveryItem,
  PlannedChange,
  PlannedItem,
  PlanView,
  ScheduleItem,
  TargetItem,
} from './contract/as-code.ts'
export type { BackfillCancel, BackfillFilter, BackfillInput, BackfillView } from './contract/backfill.ts'
export type { DeliveryFilter, DeliveryTryView, DeliveryView } from './contract/delivery.ts'
export type { EventKind } from './contract/event-kinds.ts'
export type { EventView } from './contract/event.ts'
export type {
  ExplainAction,
  ExplainAsked,
  ExplainFinding,
  ExplainLink,
  ExplainNext,
  ExplainPolicy,
  ExplainQuery,
  ExplainSearch,
  ExplainStep,
  Explanation,
  OccurrenceExplanation,
  PlannedMoment,
  RunExplanation,
} from './contract/explain.ts'
export type {
  HeartbeatInput,
  HeartbeatLogFilter,
  HeartbeatLogView,
  HeartbeatTestAnswer,
  HeartbeatView,
} from './contract/heartbeat.ts'
export type { GuardRailsInput, GuardRailsView, InvitationView } from './contract/guard-rails.ts'
export type { CrontabInput, ImportedLine, ImportInput, ImportOutcome, ImportReport } from './contract/import.ts'
export type { LaneView } from './contract/lane.ts'
export type { LineageNode, LineageView } from './contract/lineage.ts'
export type { Health, NodeView } from './contract/node.ts'
export type { CadenceInput, CadenceView, PaceView } from './contract/pace.ts'
export type { Page } from './contract/page.ts'
export type { ProbeAnswerView, ProbeCountsView, ProbeInput, ProbeTryInput, ProbeTryView } from './contract/probe.ts'
export type { ProviderInput, ProviderPatch, ProviderView } from './contract/provider.ts'

export type { AttemptView, CallbackAnswer, ResultInput, RunDetail, RunFilter, RunView } from './contract/run.ts'
export type {
  ApprovalView,
  RejectInput,
  RunNowAnswer,
  ScheduleFilter,
  ScheduleInput,
  ScheduleView,
} from './contract/schedule.ts'
export type {
  DraftInput,
  ProposedConversation,
  ProposedRequirement,
  ProposedTiming,
  ScheduleDraft,
  ScheduleProposal,
} from './contract/schedule-draft.ts'
export type {
  NamedAssumption,
  OutageAsked,
  SimulateAnswer,
  SimulateInput,
  SimulationBasis,
  SimulationProgress,
} from './contract/simulate.ts'
export type {
  AssumptionInput,
  PolicyChange,
  SimulatedRunView,
  SimulationDiff,
  SimulationTotals,
  SimulationView,
} from './contract/simulation.ts'
export type { RotationInput, RotationView, SecretInput, SecretPatch, SecretView } from './contract/secret.ts'
export type {
  EnabledTargetView,
  ScheduleDelivery,
  SigningSecretView,
  TargetInput,
  TargetPatch,
  TargetTestView,
  TargetView,
} from './contract/target.ts'
export type { MessageInput, MessageReceipt, SessionPatch, SessionView, StopAnswer } from './contract/session.ts'
export type {
  TaskBatchItem,
  TaskCancelled,
  TaskFilter,
  TaskInput,
  TaskReceipt,
  TaskStats,
  TaskView,
} from './contract/task.ts'
export type { WordsInput, WordsView } from './contract/words.ts'
