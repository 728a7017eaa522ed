import type { Operations } from '../contract/operations/table.ts'
import type { HandlersOf } from './call.ts'
import { agentHandlers } from './handlers/agents.ts'
import { budgetHandlers } from './handlers/budgets.ts'
import { callbackHandlers } from './handlers/callbacks.ts'
import { probeHandlers } from './handlers/probes.ts'
import { runHandlers } from './handlers/runs.ts'
import { scheduleHandlers } from './handlers/schedules.ts'
import { sessionHandlers } from './handlers/sessions.ts'

/** Who carries out each operation. The compiler refuses an operation that nobody does. */
export const HANDLERS: HandlersOf<Operations> = {
  ...probeHandlers,
  ...scheduleHandlers,
  ...runHandlers,
  ...callbackHandlers,
  ...sessionHandlers,
  ...agentHandlers,
  ...budgetHandlers,
}
