import {
  DEFAULT_TARGET_KIND,
  parseTargetSettings,
  visibleUrl,
  targetUrlFlaws,
} from '../../domain/delivery/target-kinds.ts'
import type { OrgId } from '../../domain/ids.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import type { Ports } from '../../engine/ports.ts'
import type { SealedRowRef } from '../secrets/vault-port.ts'
import type { TargetInput, TargetPatch } from './schema.ts'
import type { TargetRow } from './store.ts'

/** The settings of a target. */
export type TargetConfig = Pick<TargetRow, 'name' | 'kind' | 'url' | 'settings' | 'quietHours' | 'alerts'> & {
  readonly enabled: boolean
}

const NEW_TARGET = { name: '', url: '', settings: {}, quietHours: null, alerts: false, enabled: true }

/** Validates a new target or a change, whose omitted fields stay unchanged. Does not ask the outbound guard. */
export function resolveTargetConfig(
  given: TargetPatch & Pick<TargetInput, 'kind'>,
  existing: TargetConfig | null,
): Parsed<TargetConfig> {
  const before = existing ?? { ...NEW_TARGET, kind: given.kind ?? DEFAULT_TARGET_KIND }
  const { kind } = before
  const keepsSettings = given.settings === undefined && existing !== null
  const settings = keepsSettings ? parsed(before.settings) : parseTargetSettings(kind, given.settings)
  const flaws = targetUrlFlaws(kind, given.url, existing === null)
  if (!settings.ok) return flawed([...flaws, ...settings.flaws])
  if (flaws.length > 0) return flawed(flaws)
  const { name = before.name, url = before.url, alerts = before.alerts, enabled = before.enabled } = given
  const { quiet_hours: quietHours = before.quietHours } = given
  return parsed({ name, kind, url, settings: settings.value, quietHours, alerts, enabled })
}

const targetRowRef = ({ orgId, id }: { readonly orgId: OrgId; readonly id: string }): SealedRowRef => ({
  ...{ orgId, kind: 'target.url', name: id },
})

type StoredUrl = Pick<TargetRow, 'url' | 'sealedUrl'>

/** The stored form of a target's URL. A URL that is a credential is sealed, and truncated for display. */
export async function storedUrlOf(
  { vault }: Pick<Ports, 'vault'>,
  { orgId, id, kind, url }: Pick<TargetRow, 'orgId' | 'id' | 'kind' | 'url'>,
): Promise<StoredUrl> {
  const shown = visibleUrl(kind, url)
  return shown === url
    ? { url, sealedUrl: null }
    : { url: shown, sealedUrl: await vault.seal(url, targetRowRef({ orgId, id })) }
}

/** The full URL that messages to a target are sent to. */
export const openTargetUrl = async (
  { vault }: Pick<Ports, 'vault'>,
  { url, sealedUrl, ...row }: StoredUrl & { readonly orgId: OrgId; readonly id: string },
): Promise<string> => (sealedUrl === null ? url : vault.open(sealedUrl, targetRowRef(row)))
