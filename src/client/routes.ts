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
  'heartbeat.get': { method: 'GET', path: '/api/v1/agents/:id/heartbeat' },
  'heartbeat.set': { method: 'PUT', path: '/api/v1/agents/:id/heartbeat', body: true },
  'heartbeat.test': { method: 'POST', path: '/api/v1/agents/:id/heartbeat/test', creates: true },
  'heartbeat.log': { method: 'GET', path: '/api/v1/agents/:id/heartbeat/log', query: true },
  'workers.list': { method: 'GET', path: '/api/v1/workers' },
  'worker.claim': { method: 'POST', path: '/api/v1/worker/claim', body: true },
  'worker.start': { method: 'POST', path: '/api/v1/worker/attempts/:id/start' },
  'worker.renew': { method: 'POST', path: '/api/v1/worker/attempts/:id/renew' },
  'worker.events': { method: 'POST', path: '/api/v1/worker/attempts/:id/events', body: true },
  'worker.complete': { method: 'POST', path: '/api/v1/worker/attempts/:id/complete', body: true },
  'budgets.create': { method: 'POST', path: '/api/v1/budgets', body: true, creates: true },
  'budgets.list': { method: 'GET', path: '/api/v1/budgets', query: true },
  'budgets.get': { method: 'GET', path: '/api/v1/budgets/:id' },
  'budgets.update': { method: 'PATCH', path: '/api/v1/budgets/:id', body: true },
  'budgets.delete': { method: 'DELETE', path: '/api/v1/budgets/:id' },
  'targets.create': { method: 'POST', path: '/api/v1/targets', body: true, creates: true },
  'targets.list': { method: 'GET', path: '/api/v1/targets', query: true },
  'targets.signingSecret': { method: 'GET', path: '/api/v1/targets/signing-secret' },
  'targets.rotateSecret': { method: 'POST', path: '/api/v1/targets/signing-secret/rotate' },
  'targets.get': { method: 'GET', path: '/api/v1/targets/:id' },
  'targets.update': { method: 'PATCH', path: '/api/v1/targets/:id', body: true },
  'targets.delete': { method: 'DELETE', path: '/api/v1/targets/:id' },
  'targets.test': { method: 'POST', path: '/api/v1/targets/:id/test' },
  'targets.enable': { method: 'POST', path: '/api/v1/targets/:id/enable' },
  'deliveries.list': { method: 'GET', path: '/api/v1/deliveries', query: true },
  'deliveries.get': { method: 'GET', path: '/api/v1/deliveries/:id' },
  'deliveries.retry': { method: 'POST', path: '/api/v1/deliveries/:id/retry' },
  'alerts.list': { method: 'GET', path: '/api/v1/alerts', query: true },
  'lanes.list': { method: 'GET', path: '/api/v1/lanes' },
  'lanes.set': { method: 'PUT', path: '/api/v1/lanes/:name', body: true },
  'nodes.list': { method: 'GET', path: '/api/v1/nodes' },
  'stats.get': { method: 'GET', path: '/api/v1/stats', query: true },
  'metrics.get': { method: 'GET', path: '/metrics', stream: true },
  'config.get': { method: 'GET', path: '/api/v1/config' },
  'config.update': { method: 'PATCH', path: '/api/v1/config', body: true },
  'keys.create': { method: 'POST', path: '/api/v1/keys', body: true, creates: true },
  'keys.list': { method: 'GET', path: '/api/v1/keys', query: true },
  'keys.get': { method: 'GET', path: '/api/v1/keys/:id' },
  'keys.revoke': { method: 'DELETE', path: '/api/v1/keys/:id' },
  'orgs.create': { method: 'POST', path: '/api/v1/orgs', body: true, creates: true },
  'orgs.list': { method: 'GET', path: '/api/v1/orgs', query: true },
  'orgs.get': { method: 'GET', path: '/api/v1/orgs/:org_id' },
  'orgs.update': { method: 'PATCH', path: '/api/v1/orgs/:org_id', body: true },
  'orgs.delete': { method: 'DELETE', path: '/api/v1/orgs/:org_id' },
  'members.create': { method: 'POST', path: '/api/v1/orgs/:org_id/members', body: true, creates: true },
  'members.list': { method: 'GET', path: '/api/v1/orgs/:org_id/members', query: true },
  'members.get': { method: 'GET', path: '/api/v1/orgs/:org_id/members/:id' },
  'members.update': { method: 'PATCH', path: '/api/v1/orgs/:org_id/members/:id', body: true },
  'members.delete': { method: 'DELETE', path: '/api/v1/orgs/:org_id/members/:id' },
  'members.invite': { method: 'POST', path: '/api/v1/orgs/:org_id/members/:id/sign-in-link' },
  'auth.signIn': { method: 'POST', path: '/api/v1/sign-in', body: true },
  'auth.signOut': { method: 'POST', path: '/api/v1/sign-out' },
  'auth.link': { method: 'POST', path: '/api/v1/sign-in-links' },
  'auth.me': { method: 'GET', path: '/api/v1/me' },
  'audit.list': { method: 'GET', path: '/api/v1/audit', query: true },
  'audit.verify': { method: 'GET', path: '/api/v1/audit/verify', query: true },
  'events.stream': { method: 'GET', path: '/api/v1/events', query: true, stream: true },
  'tasks.submit': { method: 'POST', path: '/tasks', body: true, creates: true },
  'tasks.batch': { method: 'POST', path: '/tasks/batch', body: true, creates: true },
  'tasks.list': { method: 'GET', path: '/tasks', query: true },
  'tasks.get': { method: 'GET', path: '/tasks/:id' },
  'tasks.cancel': { method: 'POST', path: '/tasks/:id/cancel' },
  'tasks.stats': { method: 'GET', path: '/scheduler/stats' },

  // /generated
}
