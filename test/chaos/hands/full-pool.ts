import { setTimeout as sleep } from 'node:timers/promises'
import type { Hit, PlannedFault } from '../faults.ts'
import type { NodeOrders, NodeSaid } from '../node-process.ts'
import type { Victims } from './victims.ts'
import { withClient } from './with-client.ts'

/** Read by whoever asks for it, and by no turn. */
const TABLE = 'escapement.secret'
const READERS = 40
const ANSWERED_WITHIN_MS = 20_000

/** Readers of a node wait for a lock and hold every connection of its pool; more of them come than there are. */
export async function floodPool(victims: Victims, { slot, lastsMs }: PlannedFault): Promise<Hit> {
  const { name, child } = victims.nodeAt(slot)
  await withClient(victims, async (client) => {
    await client.query(`begin; lock table ${TABLE} in access exclusive mode`)
    child.tell({ readers: READERS } satisfies NodeOrders)
    await sleep(lastsMs)
  })
  const answered = await child.hear(hasFlooded, ANSWERED_WITHIN_MS).catch(() => null)
  if (answered === null) victims.complain(`readers of node ${name} waited in vain after its pool had been exhausted`)
  return { process: name, how: `${READERS} readers, ${answered?.refused ?? 'all'} refused` }
}

const hasFlooded = (line: NodeSaid): line is Extract<NodeSaid, { said: 'readers_done' }> => line.said === 'readers_done'
