import type { statsOperations } from '../../operations/stats.ts'
import { readStats } from '../../service/stats.ts'
import { readSeries } from '../../service/stats-series.ts'
import type { HandlersOf } from '../call.ts'

/** How the work of an org went, and what waits. */
export const statsHandlers: HandlersOf<typeof statsOperations> = {
  'stats.get': ({ ctx, ports, caller, query }) => readStats({ ...ports, work: ctx.work }, caller, query),
  'stats.series': ({ ports, caller, query }) => readSeries(ports, caller, query),
}
