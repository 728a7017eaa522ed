import { agentOperations } from '../features/agents/routes.ts'
import { asCodeOperations } from '../features/as-code/routes.ts'
import { auditOperations } from '../features/audit/routes.ts'
import { backfillOperations } from '../features/backfill/routes.ts'
import { budgetOperations } from '../features/budgets/routes.ts'
import { callbackOperations, runOperations } from '../features/runs/routes.ts'
import { channelOperations } from '../features/channels/routes.ts'
import { configOperations } from '../features/config/routes.ts'
import { alertOperations, deliveryOperations } from '../features/deliveries/routes.ts'
import { eventOperations } from '../features/events/routes.ts'
import { explainOperations } from '../features/explain/routes.ts'
import { heartbeatOperations } from '../features/heartbeats/routes.ts'
import { importOperations } from '../features/import/routes.ts'
import { keyOperations, memberOperations, orgOperations, signInOperations } from '../features/access/routes.ts'
import { laneOperations } from '../features/lanes/routes.ts'
import { metricsOperations, statsOperations } from '../features/stats/routes.ts'
import type { OperationTable } from './handler.ts'
import { nodeOperations } from '../features/nodes/routes.ts'
import { probeOperations } from '../features/probes/routes.ts'
import { providerOperations } from '../features/providers/routes.ts'
import { scheduleOperations } from '../features/schedules/routes.ts'
import { secretOperations } from '../features/secrets/routes.ts'
import { sessionOperations } from '../features/sessions/routes.ts'
import { targetOperations } from '../features/targets/routes.ts'
import { taskOperations } from '../features/tasks/routes.ts'
import { workerOperations } from '../features/workers/routes.ts'

/** Every operation of the API, by its id. */
export const OPERATIONS = {
  ...probeOperations,
  ...scheduleOperations,
  ...importOperations,
  ...asCodeOperations,
  ...backfillOperations,
  ...runOperations,
  ...explainOperations,
  ...callbackOperations,
  ...sessionOperations,
  ...agentOperations,
  ...heartbeatOperations,
  ...workerOperations,
  ...budgetOperations,
  ...providerOperations,
  ...targetOperations,
  ...channelOperations,
  ...secretOperations,
  ...deliveryOperations,
  ...alertOperations,
  ...laneOperations,
  ...nodeOperations,
  ...statsOperations,
  ...metricsOperations,
  ...configOperations,
  ...keyOperations,
  ...orgOperations,
  ...memberOperations,
  ...signInOperations,
  ...auditOperations,
  ...eventOperations,
  ...taskOperations,
} satisfies OperationTable

export type Operations = typeof OPERATIONS
export type OperationId = keyof Operations
