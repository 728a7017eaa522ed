import { operation } from './operation.ts'

/** Numbers that can be watched. */
export const metricsOperations = {
  'metrics.get': operation({
    ...{ method: 'GET', path: '/metrics', tag: 'metrics', permission: 'admin:*', operatorOnly: true },
    summary: 'Shows what this node has counted, and what there is in the deployment',
    description:
      'Needs no key where only programs of this machine can ask and there is one org: the server listens on a loopback ' +
      'address and neither `server.public_url` nor `server.allowed_hosts` is set.',
    ...{ openInPrivate: true, http: true },
    answers: { 200: { contentType: 'text/plain; version=0.0.4', description: 'The text format of Prometheus' } },
  }).by(({ http }) => http.sendMetrics()),
}
