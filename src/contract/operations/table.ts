import type { OperationTable } from './operation.ts'
import { probeOperations } from './probes.ts'
import { scheduleOperations } from './schedules.ts'

/** Every operation of the API, by its id. */
export const OPERATIONS = {
  ...probeOperations,
  ...scheduleOperations,
} satisfies OperationTable

export type Operations = typeof OPERATIONS
export type OperationId = keyof Operations
