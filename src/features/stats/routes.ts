import { seriesFilter, stats, statsFilter, statsSeries } from './schema.ts'
import { readSeries } from '../../service/stats-series.ts'
import { readStats } from '../../service/stats.ts'
import { operation } from '../../operations/handler.ts'

/** How the work of an org went, and what waits. */
export const statsOperations = {
  'stats.get': operation({
    ...{ method: 'GET', path: '/api/v1/stats', tag: 'stats', permission: 'runs:read' },
    summary: 'Get statistics of runs and queues',
    description:
      'Counted permanently, per org, across all nodes, in whole UTC hours: `from` and `to` of the answer say ' +
      'which. Percentiles are accurate to 5 %.',
    query: statsFilter,
    answers: { 200: stats },
  }).by(({ ctx, ports, caller, query }) => readStats({ ...ports, work: ctx.work }, caller, query)),
  'stats.series': operation({
    ...{ method: 'GET', path: '/api/v1/stats/series', tag: 'stats', permission: 'runs:read' },
    summary: 'Get statistics per hour or day',
    description:
      'Default: the last 24 hours by hour; at most 200 steps. Steps are whole UTC hours or days, including empty ' +
      'ones. Percentiles are accurate to 5 %.',
    query: seriesFilter,
    answers: { 200: statsSeries },
  }).by(({ ports, caller, query }) => readSeries(ports, caller, query)),
}
