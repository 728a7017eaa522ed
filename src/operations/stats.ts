import { seriesFilter, stats, statsFilter, statsSeries } from '../contract/stats.ts'
import { readSeries } from '../service/stats-series.ts'
import { readStats } from '../service/stats.ts'
import { operation } from './operation.ts'

/** How the work of an org went, and what waits. */
export const statsOperations = {
  'stats.get': operation({
    ...{ method: 'GET', path: '/api/v1/stats', tag: 'stats', permission: 'runs:read' },
    summary: 'Shows how work went, and what waits',
    description:
      'Counted for ever, per org, over all nodes, in whole hours of UTC: `from` and `to` of the answer say which. ' +
      'Percentiles are exact to 5 %.',
    query: statsFilter,
    answers: { 200: stats },
  }).by(({ ctx, ports, caller, query }) => readStats({ ...ports, work: ctx.work }, caller, query)),
  'stats.series': operation({
    ...{ method: 'GET', path: '/api/v1/stats/series', tag: 'stats', permission: 'runs:read' },
    summary: 'Shows how work went, hour by hour or day by day',
    description:
      'The last 24 hours by the hour unless given; 200 steps at most. Steps are whole hours or days of UTC, and those ' +
      'in which nothing happened are there too. Percentiles are exact to 5 %.',
    query: seriesFilter,
    answers: { 200: statsSeries },
  }).by(({ ports, caller, query }) => readSeries(ports, caller, query)),
}
