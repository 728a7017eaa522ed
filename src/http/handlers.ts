import type { Operations } from '../operations/table.ts'
import type { HandlersOf } from './call.ts'
import { agentHandlers } from './handlers/agents.ts'
import { asCodeHandlers } from './handlers/as-code.ts'
import { auditHandlers } from './handlers/audit.ts'
import { backfillHandlers } from './handlers/backfills.ts'
import { budgetHandlers } from './handlers/budgets.ts'
import { callbackHandlers } from './handlers/callbacks.ts'
import { channelHandlers } from './handlers/channels.ts'
import { configHandlers } from './handlers/config.ts'
import { deliveryHandlers } from './handlers/deliveries.ts'
import { eventHandlers } from './handlers/events.ts'
import { explainHandlers } from './handlers/explain.ts'
import { heartbeatHandlers } from './handlers/heartbeats.ts'
import { importHandlers } from './handlers/import.ts'
import { keyHandlers } from './handlers/keys.ts'
import { laneHandlers } from './handlers/lanes.ts'
import { memberHandlers } from './handlers/members.ts'
import { metricsHandlers } from './handlers/metrics.ts'
import { nodeHandlers } from './handlers/nodes.ts'
import { orgHandlers } from './handlers/orgs.ts'
import { probeHandlers } from './handlers/probes.ts'
import { providerHandlers } from './handlers/providers.ts'
import { runHandlers } from './handlers/runs.ts'
import { scheduleHandlers } from './handlers/schedules.ts'
import { secretHandlers } from './handlers/secrets.ts'
import { sessionHandlers } from './handlers/sessions.ts'
import { signInHandlers } from './handlers/sign-in.ts'
import { statsHandlers } from './handlers/stats.ts'
import { targetHandlers } from './handlers/targets.ts'
import { taskHandlers } from './handlers/tasks.ts'
import { workerHandlers } from './handlers/workers.ts'

/** Who carries out each operation. The compiler refuses an operation that nobody does. */
export const HANDLERS: HandlersOf<Operations> = {
  ...probeHandlers,
  ...scheduleHandlers,
  ...importHandlers,
  ...asCodeHandlers,
  ...backfillHandlers,
  ...runHandlers,
  ...explainHandlers,
  ...callbackHandlers,
  ...sessionHandlers,
  ...agentHandlers,
  ...heartbeatHandlers,
  ...budgetHandlers,
  ...providerHandlers,
  ...targetHandlers,
  ...channelHandlers,
  ...secretHandlers,
  ...deliveryHandlers,
  ...laneHandlers,
  ...nodeHandlers,
  ...statsHandlers,
  ...metricsHandlers,
  ...configHandlers,
  ...keyHandlers,
  ...orgHandlers,
  ...memberHandlers,
  ...signInHandlers,
  ...auditHandlers,
  ...eventHandlers,
  ...taskHandlers,
  ...workerHandlers,
}
