import type { nodeOperations } from '../../operations/nodes.ts'
import { findNodes } from '../../service/nodes.ts'
import type { HandlersOf } from '../call.ts'

/** The server processes of the deployment. */
export const nodeHandlers: HandlersOf<typeof nodeOperations> = {
  'nodes.list': async ({ ports }) => ({ items: await findNodes(ports), next_cursor: null }),
}
