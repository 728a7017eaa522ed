import type { ChannelCredentials, OpenChannel } from '../../domain/channel/services.ts'
import type { OutgoingChatMessage, TryOutcome } from '../../domain/delivery/message.ts'
import type { ChannelId, OrgId } from '../../domain/ids.ts'
import type { Ports } from '../../engine/ports.ts'
import { closeIndicator, deleteIndicator, loadChatOfSession } from './chats-store.ts'
import { type ChannelRow, loadChannelNamed } from './store.ts'
import { cutText } from '../runs/view.ts'
import type { SealedRowRef } from '../secrets/vault-port.ts'

const credentialsLocation = ({ orgId, id }: { readonly orgId: OrgId; readonly id: ChannelId }): SealedRowRef => ({
  ...{ orgId, kind: 'channel.credentials', name: id },
})

/** Encrypts the secrets of a channel for storage. */
export const sealCredentials = (
  { vault }: Pick<Ports, 'vault'>,
  of: { readonly orgId: OrgId; readonly id: ChannelId },
  credentials: ChannelCredentials,
): Promise<string> => vault.seal(JSON.stringify(credentials), credentialsLocation(of))

/** A channel with decrypted secrets. */
export async function openChannel({ vault }: Pick<Ports, 'vault'>, row: ChannelRow): Promise<OpenChannel> {
  const credentials = JSON.parse(
    await vault.open(row.sealedCredentials, credentialsLocation(row)),
  ) as ChannelCredentials
  return { kind: row.kind, credentials, settings: row.settings, identity: row.identity }
}

type ChatPorts = Pick<Ports, 'database' | 'vault' | 'channels' | 'clock' | 'commands'>

const MAX_EVENT_TEXT = 16_384
const PUBLISHED: TryOutcome = { ok: true, statusCode: null }

/** Sends a text to a chat. If the session belongs to no channel, the text is published as an event. */
export async function sendToChat(
  ports: ChatPorts,
  message: OutgoingChatMessage,
  signal: AbortSignal,
): Promise<TryOutcome | null> {
  const { orgId, to, text, runId } = message
  const address =
    'session' in to
      ? await loadChatOfSession(ports.database, { orgId, key: to.session })
      : { channel: to.channel, peer: to.to }
  if (address === undefined) return publishToSession(ports, message)
  const row = await loadChannelNamed(ports.database, { orgId, name: address.channel })
  if (row === undefined)
    return {
      ok: false,
      statusCode: null,
      error: 'target_gone',
      message: `channel ${address.channel} does not exist any more`,
    }
  const open = await openChannel(ports, row)
  const indicator =
    runId === null ? undefined : await closeIndicator(ports.database, { orgId, runId, now: ports.clock.now() })
  const isHere = indicator !== undefined && indicator.channelId === row.id && indicator.peer === address.peer
  const shown = isHere
    ? { placeholder: indicator.placeholder, seenMessages: indicator.messages }
    : { placeholder: null, seenMessages: [] }
  const outcome = await ports.channels.send(open, { peer: address.peer, text, ...shown }, signal)
  if (outcome?.ok === true && isHere) await deleteIndicator(ports.database, indicator)
  return outcome
}

async function publishToSession(
  { commands }: ChatPorts,
  { orgId, to, text, runId }: OutgoingChatMessage,
): Promise<TryOutcome> {
  const session = 'session' in to ? to.session : null
  await commands.execute({
    orgId,
    apply: (state) => {
      const data = { session, run_id: runId, empty: text === '', text: cutText(text, MAX_EVENT_TEXT) }
      state.changes.events.push({ kind: 'outbound', subject: runId ?? session ?? '', data })
    },
  })
  return PUBLISHED
}
