import { nodePage } from './schema.ts'
import { findNodes } from './service.ts'
import { operation } from '../../operations/handler.ts'

/** Operations on nodes, the server processes of the deployment. */
export const nodeOperations = {
  'nodes.list': operation({
    ...{ method: 'GET', path: '/api/v1/nodes', tag: 'nodes', permission: 'admin:*', operatorOnly: true },
    summary: 'List the nodes of the deployment, oldest first',
    answers: { 200: nodePage },
  }).by(async ({ ports }) => ({ items: await findNodes(ports), next_cursor: null })),
}
