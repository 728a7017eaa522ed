import { agentOperations } from './agents.ts'
import { budgetOperations } from './budgets.ts'
import { callbackOperations } from './callbacks.ts'
import type { OperationTable } from './operation.ts'
import { probeOperations } from './probes.ts'
import { runOperations } from './runs.ts'
import { scheduleOperations } from './schedules.ts'
import { sessionOperations } from './sessions.ts'

/** Every operation of the API, by its id. */
export const OPERATIONS = {
  ...probeOperations,
  ...scheduleOperations,
  ...runOperations,
  ...callbackOperations,
  ...sessionOperations,
  ...agentOperations,
  ...budgetOperations,
} satisfies OperationTable

export type Operations = typeof OPERATIONS
export type OperationId = keyof Operations
