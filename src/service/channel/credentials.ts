import type { ChannelCredentials, OpenChannel } from '../../domain/channel/services.ts'
import type { ChannelId, OrgId } from '../../domain/ids.ts'
import type { ChannelRow } from '../../features/channels/store.ts'
import type { Ports } from '../ports.ts'
import type { SealedPlace } from '../secret/vault-port.ts'

const placeOf = ({ orgId, id }: { readonly orgId: OrgId; readonly id: ChannelId }): SealedPlace => ({
  ...{ orgId, kind: 'channel.credentials', name: id },
})

/** Seals the secrets of a channel for its row. */
export const sealCredentials = (
  { vault }: Pick<Ports, 'vault'>,
  of: { readonly orgId: OrgId; readonly id: ChannelId },
  credentials: ChannelCredentials,
): Promise<string> => vault.seal(JSON.stringify(credentials), placeOf(of))

/** A channel with its secrets in clear, for as long as it is spoken for. */
export async function openChannel({ vault }: Pick<Ports, 'vault'>, row: ChannelRow): Promise<OpenChannel> {
  const credentials = JSON.parse(await vault.open(row.sealedCredentials, placeOf(row))) as ChannelCredentials
  return { kind: row.kind, credentials, settings: row.settings, identity: row.identity }
}
