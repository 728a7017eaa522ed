import { agentOperations } from './agents.ts'
import { asCodeOperations } from './as-code.ts'
import { auditOperations } from './audit.ts'
import { backfillOperations } from './backfills.ts'
import { budgetOperations } from './budgets.ts'
import { callbackOperations } from './callbacks.ts'
import { channelOperations } from './channels.ts'
import { configOperations } from './config.ts'
import { deliveryOperations } from './deliveries.ts'
import { eventOperations } from './events.ts'
import { explainOperations } from './explain.ts'
import { heartbeatOperations } from './heartbeats.ts'
import { importOperations } from './import.ts'
import { keyOperations } from './keys.ts'
import { laneOperations } from './lanes.ts'
import { memberOperations } from './members.ts'
import { metricsOperations } from './metrics.ts'
import { nodeOperations } from './nodes.ts'
import type { OperationTable } from './operation.ts'
import { orgOperations } from './orgs.ts'
import { probeOperations } from './probes.ts'
import { providerOperations } from './providers.ts'
import { runOperations } from './runs.ts'
import { scheduleOperations } from './schedules.ts'
import { secretOperations } from './secrets.ts'
import { sessionOperations } from './sessions.ts'
import { signInOperations } from './sign-in.ts'
import { statsOperations } from './stats.ts'
import { targetOperations } from './targets.ts'
import { taskOperations } from './tasks.ts'
import { workerOperations } from './workers.ts'

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
