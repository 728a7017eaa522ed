import { seriesFilter, stats, statsFilter, statsSeries, timeline, timelineFilter } from './schema.ts'
import { readSeries, readStats } from './service.ts'
import { readTimeline } from './timeline.ts'
import { operation } from '../../operations/handler.ts'

/** Metrics for Prometheus. */
export const metricsOperations = {
  'metrics.get': operation({
    ...{ method: 'GET', path: '/metrics', tag: 'metrics', permission: 'admin:*', operatorOnly: true },
    summary: 'Get the metrics of this node and of the deployment',
    description:
      'No key is required if only programs on this machine can reach the server and there is one org: the server ' +
      'listens on a loopback address, and neither `server.public_url` nor `server.allowed_hosts` is set.',
    ...{ openInPrivate: true, http: true },
    answers: { 200: { contentType: 'text/plain; version=0.0.4', description: 'The text format of Prometheus' } },
  }).by(({ http }) => http.sendMetrics()),
}

/** Statistics of the runs of an org. */
export const statsOperations = {
  'stats.get': operation({
    ...{ method: 'GET', path: '/api/v1/stats', tag: 'stats', permission: 'runs:read' },
    summary: 'Get statistics of runs and queues',
    description:
      'Counted permanently, per org, across all nodes, in whole UTC hours; `from` and `to` of the answer are the exact ' +
      'range. Percentiles are accurate to 5 %.',
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
  'stats.timeline': operation({
    ...{ method: 'GET', path: '/api/v1/stats/timeline', tag: 'stats', permission: 'runs:read' },
    summary: 'Get runs and planned occurrences over time, per schedule or agent',
    description:
      'Counts outlive their runs: they are kept by minute for 2 days, by hour for 40 days and by day for 400 days, which ' +
      'limits the smallest bucket of older ranges. A run counts at the time it was created, as in the filters of the ' +
      'run list. Buckets begin at `from`, which is rounded down to the step that is stored.',
    query: timelineFilter,
    answers: { 200: timeline },
  }).by(({ ports, caller, query }) => readTimeline(ports, caller, query)),
}
