import type { Operations } from '../contract/operations/table.ts'
import type { HandlersOf } from './call.ts'
import { probeHandlers } from './handlers/probes.ts'
import { scheduleHandlers } from './handlers/schedules.ts'

/** Who carries out each operation. The compiler refuses an operation that nobody does. */
export const HANDLERS: HandlersOf<Operations> = {
  ...probeHandlers,
  ...scheduleHandlers,
}
