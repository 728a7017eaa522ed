import { shownUrl } from '../../core/delivery/target-kinds.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { TargetRow } from '../../store/targets.ts'
import type { Ports } from '../ports.ts'
import type { SealedPlace } from '../secret/vault-port.ts'

const placeOf = ({ orgId, id }: { readonly orgId: OrgId; readonly id: string }): SealedPlace => ({
  ...{ orgId, kind: 'target.url', name: id },
})

type Kept = Pick<TargetRow, 'url' | 'sealedUrl'>

/** The address of a target as it is kept: where knowing it is enough to post there, sealed, and beside it what is shown. */
export async function keptAddress(
  { vault }: Pick<Ports, 'vault'>,
  { orgId, id, kind, url }: Pick<TargetRow, 'orgId' | 'id' | 'kind' | 'url'>,
): Promise<Kept> {
  const shown = shownUrl(kind, url)
  return shown === url
    ? { url, sealedUrl: null }
    : { url: shown, sealedUrl: await vault.seal(url, placeOf({ orgId, id })) }
}

/** Where messages to a target go. */
export const addressOfTarget = async (
  { vault }: Pick<Ports, 'vault'>,
  { url, sealedUrl, ...of }: Kept & { readonly orgId: OrgId; readonly id: string },
): Promise<string> => (sealedUrl === null ? url : vault.open(sealedUrl, placeOf(of)))
