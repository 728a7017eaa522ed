import type { OpenChannel } from '../../domain/channel/services.ts'
import type { ChannelId } from '../../domain/ids.ts'
import { later } from '../../domain/instant.ts'
import {
  holdChannels,
  releaseChannels,
  saveChannelHealth,
  saveIdentity,
  saveLastUpdate,
  type ChannelRow,
} from './store.ts'
import { closeMark, deleteMark, loadMarks, savePlaceholder, type TendedMark } from './chats-store.ts'
import { openChannel } from '../../service/channel/credentials.ts'
import { takeInChat } from '../../service/channel/inbound.ts'
import type { Ports } from '../../service/ports.ts'

export type { ChannelRow } from './store.ts'
export type { TendedMark } from './chats-store.ts'

/** Who attends to a channel has it for so long, and says so again when a third of that is over. */
const LEASE_MS = 15_000
const MOST_MARKS = 200

/** The channels that this node attends to from now on. */
export function holdAll(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  holder: string,
): Promise<readonly ChannelRow[]> {
  const now = clock.now()
  return holdChannels(database, {
    holder,
    now,
    renewBefore: later(now, (LEASE_MS * 2) / 3),
    until: later(now, LEASE_MS),
  })
}

/** Lets others attend to them at once. */
export const giveBack = ({ database }: Pick<Ports, 'database'>, holder: string): Promise<void> =>
  releaseChannels(database, holder)

/** A channel with its secrets in clear, and who it is if that is known by now. */
export async function attend(
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

/** Takes in updates one after the other. Answers with the last that was taken; null when others attend by now. */
export async function takeUpdates(
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
    const heard = ports.channels.readUpdate(open, update)
    const taken = heard === null ? null : await takeInChat(ports, open, { row, heard, body: heard.eventId })
    failure = taken?.kind === 'refused' ? taken.failure : null
    last = Math.max(last, id)
  }
  if (last === -1) return { last, failure }
  const isOurs = await saveLastUpdate(ports.database, { orgId: row.orgId, id: row.id, holder, lastUpdate: last })
  return isOurs ? { last, failure } : null
}

/** Writes how a channel fares. Null: well. */
export const noteHealth = (
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId, id }: ChannelRow,
  failure: string | null,
): Promise<void> => saveChannelHealth(database, { orgId, id, now: clock.now(), failure })

/** What shows in the chats of channels that runs are at work. */
export const findMarks = (
  { database }: Pick<Ports, 'database'>,
  ids: readonly ChannelId[],
): Promise<readonly TendedMark[]> => loadMarks(database, { ids, limit: MOST_MARKS })

/** Puts something where the answer will be; when the answer was there first, it goes again. */
export async function putPlaceholder(ports: Ports, open: OpenChannel, mark: TendedMark): Promise<void> {
  const { orgId, runId, peer } = mark
  const placeholder = await ports.channels.holdPlace(open, peer)
  if (placeholder === null) return
  const isKept = await savePlaceholder(ports.database, { orgId, runId, placeholder })
  if (!isKept) await ports.channels.removeMessage(open, { peer, messageId: placeholder })
}

/** The empty outbound of a chat: what stands for an answer goes, and nothing is marked any more. */
export async function clearMark(
  ports: Ports,
  open: OpenChannel,
  {
    mark,
    removesPlaceholder,
    signal,
  }: { readonly mark: TendedMark; readonly removesPlaceholder: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const { orgId, runId } = mark
  const closed = await closeMark(ports.database, { orgId, runId, now: ports.clock.now() })
  if (closed === undefined) return
  const { peer, messages: marked } = closed
  const placeholder = removesPlaceholder ? closed.placeholder : null
  const said = await ports.channels.say(open, { peer, text: '', placeholder, marked }, signal)
  if (said !== null) await deleteMark(ports.database, { orgId, runId })
}
