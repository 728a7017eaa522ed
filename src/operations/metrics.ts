import { operation } from './handler.ts'

/** Numbers that can be watched. */
export const metricsOperations = {
  'metrics.get': operation({
    ...{ method: 'GET', path: '/metrics', tag: 'metrics', permission: 'admin:*', operatorOnly: true },
    summary: 'Get the metrics of this node and of the deployment',
    description:
      'Needs no key if only programs on this machine can reach the server and there is one org: it listens on a ' +
      'loopback address, and neither `server.public_url` nor `server.allowed_hosts` is set.',
    ...{ openInPrivate: true, http: true },
    answers: { 200: { contentType: 'text/plain; version=0.0.4', description: 'The text format of Prometheus' } },
  }).by(({ http }) => http.sendMetrics()),
}
