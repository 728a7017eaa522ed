import type { OrgId } from '../../../src/domain/ids.ts'
import type { Instant } from '../../../src/domain/instant.ts'
import type { NodeParts } from '../../../src/engine/node-parts.ts'
import type { CommandQueue, CommandQueueContext } from '../../../src/engine/work-queue.ts'
import type { NodeLanes } from '../../../src/features/lanes/node-lanes.ts'
import type { LoadedOrg } from '../../../src/engine/org-state/memory.ts'
import type { Transaction } from '../../../src/platform/db/database.ts'
import { loadTransactionWriter, type OrgVersion } from '../../../src/engine/transaction/history-store.ts'

/** What the engine did before it was mended, or would do if somebody thought too little of it. */

/** Whatever turn has the number that is remembered is taken for the one that is remembered. */
export async function believeNumber(tx: Transaction, memory: LoadedOrg, newest: OrgVersion): Promise<void> {
  const { version, state: desk } = memory
  if (version === newest.version) memory.newest = { at: newest.at, writer: newest.writer }
  const writer = version === 0 ? null : await loadTransactionWriter(tx, { orgId: desk.orgId, no: version })
  if (writer !== null && version < newest.version) memory.newest = { at: writer.at, writer: writer.nodeId }
}

/** Turns that are missing between others are taken for turns in which nothing happened. */
export const withoutHoles = (tx: Transaction, newest: OrgVersion): Transaction => ({
  ...tx,
  query: async (text, params) => {
    const rows = await tx.query(text, params)
    const [first] = rows
    if (!text.startsWith('select no, at, node_id, events from turn') || first === undefined) return rows
    const known = new Map(rows.map((row) => [row['no'], row]))
    const from = first['no'] as number
    return Array.from(
      { length: newest.version - from + 1 },
      (_, index) => known.get(from + index) ?? { ...first, no: from + index, events: [] },
    )
  },
})

/** A turn has every free slot to itself until it is over, and nobody is told when it is. */
export function reserveAll(lanes: NodeLanes): NodeLanes {
  return {
    ...lanes,
    offer: (asked) => lanes.offer({ ...asked, isReady: () => true }),
    settleOffer: () => undefined,
    waiting: () => new Set(),
  }
}

/** An org may hold a whole lane although it is not the only one. */
export const shareNothing = (lanes: NodeLanes): NodeLanes => ({ ...lanes, limitOrgs: () => undefined })

/** Who is told that it has waited too long is served all the same, later. */
export function serveRefused(real: (ctx: CommandQueueContext) => CommandQueue, ctx: CommandQueueContext): CommandQueue {
  const queue = real({ ...ctx, patienceMs: Infinity, after: () => () => undefined })
  return {
    ...queue,
    add: (work, patient) => {
      const answer = queue.add(work, patient)
      if (patient) return answer
      return new Promise((resolve, reject) => {
        answer.then(resolve, reject)
        ctx.after(ctx.patienceMs, () => {
          reject(new Error('it has waited too long'))
        })
      })
    },
  }
}

/** Looks at the nodes first and at who holds what afterwards, and does not ask again under the lock. */
export async function watchNodesFirst(parts: NodeParts): Promise<void> {
  // Imported late: they import what this is imported for.
  const { declareLapsedLost, lookAtNodes } = await import('../../../src/features/nodes/membership.ts')
  const { recoverCommand } = await import('../../../src/engine/commands/engine-commands.ts')
  const { now, nodes } = await lookAtNodes(parts.control)
  const others = nodes.filter(({ id }) => id !== parts.id())
  parts.peers.others = others.length > 0
  const lapsed = others.filter(({ lost, leaseUntil }) => !lost && leaseUntil <= now)
  const lost = new Map<string, Instant>(others.filter((node) => node.lost).map(({ id }) => [id, now]))
  if (lapsed.length > 0) for (const id of await declareLapsedLost(parts.control, lapsed)) lost.set(id, now)
  const known = new Set(nodes.map(({ id }) => id))
  for (const [orgId, office] of parts.actors) recoverHeld(parts, orgId, [...(office.loaded()?.byNode.keys() ?? [])])

  function recoverHeld({ actorOf: officeOf }: NodeParts, orgId: OrgId, holders: readonly string[]): void {
    const gone = new Map<string, Instant>()
    for (const id of holders) if (lost.has(id) || (!known.has(id) && id !== parts.id())) gone.set(id, now)
    const office = officeOf(orgId)
    if (gone.size > 0) office.execute(recoverCommand(orgId, gone, office.loaded), true).catch(() => undefined)
  }
}

/** Waits until every org has decided what was handed in. */
export async function waitForOrgs({ submitted: handed, ctx, stopping }: NodeParts): Promise<void> {
  while (handed.fire.busy().length > 0) await ctx.sleep(250, stopping.signal)
}
