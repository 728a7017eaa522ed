import type { OpenChannel } from '../../domain/channel/services.ts'
import type { ChannelId } from '../../domain/ids.ts'
import { later } from '../../domain/instant.ts'
import {
  acquireChannels,
  releaseChannels,
  saveChannelHealth,
  saveIdentity,
  saveLastUpdate,
  type ChannelRow,
} from './store.ts'
import {
  closeIndicator,
  deleteIndicator,
  loadIndicators,
  savePlaceholder,
  type IndicatorWithRun,
} from './chats-store.ts'
import { openChannel } from './credentials.ts'
import { receiveChatMessage } from './inbound.ts'
import type { Ports } from '../../engine/ports.ts'

export type { ChannelRow } from './store.ts'
export type { IndicatorWithRun } from './chats-store.ts'

/** The duration of a channel lease. It is renewed when a third of it is over. */
const LEASE_MS = 15_000
const MAX_INDICATORS = 200

/** Acquires and renews the channel leases of this node. */
export function acquireChannelLeases(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  holder: string,
): Promise<readonly ChannelRow[]> {
  const now = clock.now()
  return acquireChannels(database, {
    holder,
    now,
    renewBefore: later(now, (LEASE_MS * 2) / 3),
    until: later(now, LEASE_MS),
  })
}

/** Releases the leases of a node, so that other nodes can take over at once. */
export const releaseChannelLeases = ({ database }: Pick<Ports, 'database'>, holder: string): Promise<void> =>
  releaseChannels(database, holder)

/** A channel with decrypted secrets, and its account if the service reports it. */
export async function openWithIdentity(
  ports: Ports,
  row: ChannelRow,
  signal: AbortSignal,
): Promise<{ readonly open: OpenChannel; readonly failure: string | null }> {
  const open = await openChannel(ports, row)
  const found = await ports.channels.identify(open, signal)
  const identity = found?.identity ?? null
  if (identity === null) return { open, failure: found === null || found.outcome.ok ? null : found.outcome.message }
  await saveIdentity(ports.database, { orgId: row.orgId, id: row.id, identity })
  return { open: { ...open, identity }, failure: null }
}

/** Processes updates in order. Returns the id of the last one; null if another node holds the channel now. */
export async function processUpdates(
  ports: Ports,
  of: { readonly row: ChannelRow; readonly open: OpenChannel; readonly holder: string },
  updates: readonly unknown[],
): Promise<{ readonly last: number; readonly failure: string | null } | null> {
  const { row, open, holder } = of
  let last = -1
  let failure: string | null = null
  for (const update of updates) {
    const id = ports.channels.updateId(update)
    if (id === null) continue
    const message = ports.channels.readUpdate(open, update)
    const outcome =
      message === null ? null : await receiveChatMessage(ports, open, { row, heard: message, body: message.eventId })
    failure = outcome?.kind === 'refused' ? outcome.failure : null
    last = Math.max(last, id)
  }
  if (last === -1) return { last, failure }
  const isOurs = await saveLastUpdate(ports.database, { orgId: row.orgId, id: row.id, holder, lastUpdate: last })
  return isOurs ? { last, failure } : null
}

/** Saves the health of a channel. Null: healthy. */
export const recordHealth = (
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId, id }: ChannelRow,
  failure: string | null,
): Promise<void> => saveChannelHealth(database, { orgId, id, now: clock.now(), failure })

/** The progress indicators in the chats of channels. */
export const findIndicators = (
  { database }: Pick<Ports, 'database'>,
  ids: readonly ChannelId[],
): Promise<readonly IndicatorWithRun[]> => loadIndicators(database, { ids, limit: MAX_INDICATORS })

/** Sends a placeholder for the answer, and removes it again if the answer was sent first. */
export async function sendPlaceholder(ports: Ports, open: OpenChannel, indicator: IndicatorWithRun): Promise<void> {
  const { orgId, runId, peer } = indicator
  const placeholder = await ports.channels.showPlaceholder(open, peer)
  if (placeholder === null) return
  const isKept = await savePlaceholder(ports.database, { orgId, runId, placeholder })
  if (!isKept) await ports.channels.removeMessage(open, { peer, messageId: placeholder })
}

/** Clears the indicator of a run without an answer: removes the placeholder and the marks. */
export async function clearIndicator(
  ports: Ports,
  open: OpenChannel,
  {
    mark: indicator,
    removesPlaceholder,
    signal,
  }: { readonly mark: IndicatorWithRun; readonly removesPlaceholder: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const { orgId, runId } = indicator
  const closed = await closeIndicator(ports.database, { orgId, runId, now: ports.clock.now() })
  if (closed === undefined) return
  const { peer, messages: marked } = closed
  const placeholder = removesPlaceholder ? closed.placeholder : null
  const sent = await ports.channels.send(open, { peer, text: '', placeholder, seenMessages: marked }, signal)
  if (sent !== null) await deleteIndicator(ports.database, { orgId, runId })
}
