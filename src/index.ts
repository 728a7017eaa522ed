export { createEscapement } from './library/create.ts'
export { drainOnSignals } from './library/stop.ts'
export {
  ErrGatewayBusy,
  ErrGatewayDraining,
  ErrLaneCleared,
  ErrMessageStale,
  ErrQueueDropped,
  ErrQueueFull,
  Refusal,
  type RefusalCode,
} from './api/refusals.ts'
export { AttemptAborted } from './engine/executions.ts'
export type { DatabaseChoice, Escapement, EscapementOptions, LogEntry, Settings } from './library/escapement.ts'
export type { CallOptions } from './client/calls.ts'
export type { SimulationOptions } from './client/simulation.ts'
export type { Deferred, Handler, HandlerContext } from './executors/in-process/execute.ts'
export type { Attempt, Usage } from './executors/executor.ts'
export type { TokenEstimateFunc } from './features/budgets/schema.ts'
export type { AgentInput, AgentPatch, AgentView } from './features/agents/schema.ts'
export type { AlertFilter, AlertView } from './features/alerts/schema.ts'
export type {
  AgentItem,
  ApplyFilter,
  AsCodeAction,
  AsCodeDocument,
  AsCodeKind,
  AsCodeResource,
  BudgetItem,
  DeliveryItem,
  PlannedChange,
  PlannedItem,
  PlanView,
  ScheduleItem,
  TargetItem,
} from './features/as-code/schema.ts'
export type { BackfillCancel, BackfillFilter, BackfillInput, BackfillView } from './features/backfill/schema.ts'
export type { DeliveryFilter, DeliveryTryView, DeliveryView } from './features/deliveries/schema.ts'
export type { EventKind } from './features/events/schema.ts'
export type { EventView } from './features/events/schema.ts'
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
} from './features/explain/schema.ts'
export type {
  HeartbeatInput,
  HeartbeatLogFilter,
  HeartbeatLogView,
  HeartbeatTestAnswer,
  HeartbeatView,
} from './features/heartbeats/schema.ts'
export type { GuardRailsInput, GuardRailsView, InvitationView } from './features/access/restrictions-schema.ts'
export type { CrontabInput, ImportedLine, ImportInput, ImportOutcome, ImportReport } from './features/import/schema.ts'
export type { LaneView } from './features/lanes/schema.ts'
export type { LineageNode, LineageView } from './features/access/restrictions-schema.ts'
export type { Health, NodeView } from './features/nodes/schema.ts'
export type { CadenceInput, CadenceView, PaceView } from './features/schedules/rules-schema.ts'
export type { Page } from './api/page.ts'
export type {
  ProbeAnswerView,
  ProbeCountsView,
  ProbeInput,
  ProbeTryInput,
  ProbeTryView,
} from './features/probes/schema.ts'
export type { ProviderInput, ProviderPatch, ProviderView } from './features/providers/schema.ts'

export type { AttemptView, CallbackAnswer, ResultInput, RunDetail, RunFilter, RunView } from './features/runs/schema.ts'
export type {
  ApprovalView,
  RejectInput,
  RunNowAnswer,
  ScheduleFilter,
  ScheduleInput,
  ScheduleView,
} from './features/schedules/schema.ts'
export type {
  DraftInput,
  ProposedConversation,
  ProposedRequirement,
  ProposedTiming,
  ScheduleDraft,
  ScheduleProposal,
} from './features/schedules/views-schema.ts'
export type {
  NamedAssumption,
  OutageAsked,
  SimulateAnswer,
  SimulateInput,
  SimulationBasis,
  SimulationProgress,
} from './features/simulation/schema.ts'
export type {
  AssumptionInput,
  PolicyChange,
  SimulatedRunView,
  SimulationDiff,
  SimulationTotals,
  SimulationView,
} from './features/simulation/result-schema.ts'
export type { RotationInput, RotationView, SecretInput, SecretPatch, SecretView } from './features/secrets/schema.ts'
export type {
  EnabledTargetView,
  ScheduleDelivery,
  SigningSecretView,
  TargetInput,
  TargetPatch,
  TargetTestView,
  TargetView,
} from './features/targets/schema.ts'
export type { MessageInput, MessageReceipt, SessionPatch, SessionView, StopAnswer } from './features/sessions/schema.ts'
export type {
  TaskBatchItem,
  TaskCancelled,
  TaskFilter,
  TaskInput,
  TaskReceipt,
  TaskStats,
  TaskView,
} from './features/tasks/schema.ts'
export type { WordsInput, WordsView } from './features/schedules/views-schema.ts'
