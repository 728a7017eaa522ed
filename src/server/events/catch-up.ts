import type { ResetView } from '../../features/events/schema.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { TransactionEvents } from '../../features/events/service.ts'
import type { RunOwners } from '../../engine/live-port.ts'
import { advance, waitForDrain, sendChunk, type EventClient } from './client.ts'
import { needsOwners, matchesSubscription } from './filter.ts'
import { framesOf, type Position, resetFrame } from './frames.ts'
import type { OwnerCache } from './owners.ts'

/** The dependencies of catching up. */
export interface CatchUpContext {
  readonly orgId: OrgId
  readonly read: (after: number, limit: number) => Promise<readonly TransactionEvents[]>
  readonly version: () => Promise<number>
  readonly owners: OwnerCache
  readonly loadOwners: (ids: readonly string[]) => Promise<ReadonlyMap<string, RunOwners>>
  /** The last transaction that live clients have received, or are about to receive. */
  readonly announced: () => number | null
  readonly maxUnsentBytes: number
}

/**
 * Transactions per page: a transaction may have hundreds of events, and each client that catches up holds one page in
 * memory.
 */
const TRANSACTIONS_PER_PAGE = 50

/**
 * Sends a client everything after its position from history, until it has reached the live clients without a gap. A
 * transaction is stored before it is announced, so what is not in history yet will be announced. Returns false if the
 * client has disconnected meanwhile.
 */
export async function catchUp(ctx: CatchUpContext, client: EventClient): Promise<boolean> {
  while (!client.closed) {
    const { no, index } = client.position
    const after = index === Infinity ? no : no - 1
    const transactions = await ctx.read(after, TRANSACTIONS_PER_PAGE)
    const first = transactions[0]
    const lost =
      first === undefined ? await resetReason(ctx, client.position) : first.no === after + 1 ? null : 'too_old'
    if (lost !== null) {
      await sendReset(ctx, client, lost)
      continue
    }
    await sendPage(ctx, client, transactions)
    await waitForDrain(client)
    if (
      transactions.length < TRANSACTIONS_PER_PAGE &&
      (ctx.announced() ?? 0) <= client.position.no &&
      client.position.index === Infinity
    )
      return !client.closed
  }
  return false
}

/**
 * History is empty after the newest transaction, after a position that does not exist, and where old entries were
 * deleted; returns the reason for a reset in the last two cases.
 */
async function resetReason(ctx: CatchUpContext, { no, index }: Position): Promise<ResetView['reason'] | null> {
  const version = await ctx.version()
  if (version < no) return 'unknown'
  const after = index === Infinity ? no : no - 1
  // A transaction committed since the first read is in history now, unless it was deleted.
  return version === after || (await ctx.read(after, 1)).length > 0 ? null : 'too_old'
}

async function sendReset(ctx: CatchUpContext, client: EventClient, reason: ResetView['reason']): Promise<void> {
  const { no, index } = client.position
  const requestedId = index === Infinity ? String(no) : `${no}-${index}`
  const version = await ctx.version()
  client.position = { no: version, index: Infinity }
  sendChunk(client, resetFrame({ reason, asked: requestedId, id: String(version) }), ctx.maxUnsentBytes)
}

async function sendPage(
  ctx: CatchUpContext,
  client: EventClient,
  transactions: readonly TransactionEvents[],
): Promise<void> {
  const { subscription } = client
  const frames = transactions.map((transaction) => framesOf(ctx.orgId, transaction))
  const all = transactions.flatMap(({ events }) => events)
  if (needsOwners(subscription)) {
    const ids = ctx.owners.unknown(all)
    if (ids.length > 0) ctx.owners.store(ids, await ctx.loadOwners(ids))
  }
  let text = ''
  for (const transaction of frames) {
    const { position } = client
    const skipped = transaction.no === position.no ? position.index : -1
    for (const [index, event] of transaction.events.entries())
      if (index > skipped && matchesSubscription(subscription, event, ctx.owners.of(event)))
        text += transaction.text(index)
    advance(client, transaction.no)
  }
  ctx.owners.forgetEnded(all)
  // No limit applies, because the caller waits until each page is sent.
  if (text !== '') sendChunk(client, text, Infinity)
}
