/** What has to be known about an operation at run time. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With parameters as `:id`. */
  readonly path: string
  readonly query?: true
  readonly body?: true
  /** Honours `Idempotency-Key`. */
  readonly creates?: true
  /** Answers with something that is no JSON. */
  readonly stream?: true
  /** Statuses from 400 on that are answers and no refusals. */
  readonly also?: readonly number[]
}

/**
 * The operations of the API as plain data, so that the client needs no schema at run time. Written by `npm run docs`
 * from src/contract/operations; a test compares the two.
 */
export const ROUTES: Readonly<Record<string, Route>> = {
  // generated:routes

  'probes.health': { method: 'GET', path: '/health' },
  'probes.ready': { method: 'GET', path: '/ready', also: [503] },
  'probes.version': { method: 'GET', path: '/api/v1/version' },
  'probes.openapi': { method: 'GET', path: '/openapi.json' },
  'schedules.create': { method: 'POST', path: '/api/v1/schedules', body: true, creates: true },
  'schedules.list': { method: 'GET', path: '/api/v1/schedules', query: true },
  'schedules.get': { method: 'GET', path: '/api/v1/schedules/:id' },
  'schedules.update': { method: 'PATCH', path: '/api/v1/schedules/:id', body: true },
  'schedules.delete': { method: 'DELETE', path: '/api/v1/schedules/:id' },
  'schedules.enable': { method: 'POST', path: '/api/v1/schedules/:id/enable' },
  'schedules.disable': { method: 'POST', path: '/api/v1/schedules/:id/disable' },
  'schedules.runNow': { method: 'POST', path: '/api/v1/schedules/:id/run-now', body: true, creates: true },
  'schedules.runs': { method: 'GET', path: '/api/v1/schedules/:id/runs', query: true },
  'schedules.explain': { method: 'GET', path: '/api/v1/schedules/:id/explain', query: true },
  'schedules.preview': { method: 'POST', path: '/api/v1/schedules/preview', body: true },
  'schedules.bulk': { method: 'POST', path: '/api/v1/schedules/bulk', body: true },
  'runs.list': { method: 'GET', path: '/api/v1/runs', query: true },
  'runs.get': { method: 'GET', path: '/api/v1/runs/:id' },
  'runs.explain': { method: 'GET', path: '/api/v1/runs/:id/explain' },
  'runs.cancel': { method: 'POST', path: '/api/v1/runs/:id/cancel' },
  'runs.retry': { method: 'POST', path: '/api/v1/runs/:id/retry', body: true, creates: true },
  'runs.schedule': { method: 'POST', path: '/api/v1/runs/:id/schedule' },
  'runs.getScheduleRun': { method: 'GET', path: '/api/v1/schedule-runs/:runId' },
  'runs.retryScheduleRun': { method: 'POST', path: '/api/v1/schedule-runs/:runId/retry', body: true, creates: true },
  'callbacks.settle': { method: 'POST', path: '/api/v1/callbacks/:token', body: true },
  'sessions.list': { method: 'GET', path: '/api/v1/sessions', query: true },
  'sessions.get': { method: 'GET', path: '/api/v1/sessions/:key' },
  'sessions.update': { method: 'PATCH', path: '/api/v1/sessions/:key', body: true },
  'sessions.messages': { method: 'GET', path: '/api/v1/sessions/:key/messages', query: true },
  'sessions.send': { method: 'POST', path: '/api/v1/sessions/:key/messages', query: true, body: true, creates: true },
  'sessions.stop': { method: 'POST', path: '/api/v1/sessions/:key/stop' },
  'sessions.stopAll': { method: 'POST', path: '/api/v1/sessions/:key/stopall' },
  'sessions.reset': { method: 'POST', path: '/api/v1/sessions/:key/reset' },
  'agents.create': { method: 'POST', path: '/api/v1/agents', body: true, creates: true },
  'agents.list': { method: 'GET', path: '/api/v1/agents', query: true },
  'agents.get': { method: 'GET', path: '/api/v1/agents/:id' },
  'agents.update': { method: 'PATCH', path: '/api/v1/agents/:id', body: true },
  'agents.delete': { method: 'DELETE', path: '/api/v1/agents/:id' },
  'budgets.create': { method: 'POST', path: '/api/v1/budgets', body: true, creates: true },
  'budgets.list': { method: 'GET', path: '/api/v1/budgets', query: true },
  'budgets.get': { method: 'GET', path: '/api/v1/budgets/:id' },
  'budgets.update': { method: 'PATCH', path: '/api/v1/budgets/:id', body: true },
  'budgets.delete': { method: 'DELETE', path: '/api/v1/budgets/:id' },

  // /generated
}
