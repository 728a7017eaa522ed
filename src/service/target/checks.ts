import type { TargetKind } from '../../core/delivery/target-kinds.ts'
import type { ChannelKind } from '../../core/channel/channel.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import { loadChannelNamed } from '../../features/channels/store.ts'
import type { Ports } from '../ports.ts'
import type { DecidedTarget } from './decided.ts'

/** What is wrong with a target that only the world knows. Nothing has been stored when it is asked. */
export type TargetCheck = (ports: Ports, orgId: OrgId, read: DecidedTarget) => Promise<readonly Flaw[]>

/** What is looked at for each kind before a target is kept. */
export const TARGET_CHECKS: { readonly [Kind in TargetKind]: TargetCheck } = {
  webhook: async ({ outbound }, _orgId, { url }) => {
    const wrong = await outbound.check(url, 'webhook')
    return wrong === null ? [] : [{ field: 'url', value: url, message: wrong }]
  },
  email: ({ outbound }) => {
    const wrong = outbound.mailFlaw?.() ?? null
    return Promise.resolve(wrong === null ? [] : [{ field: 'kind', value: 'email', message: wrong }])
  },
  slack: slackFlaws,
  telegram: (ports, orgId, { settings }) => channelFlaws(ports, orgId, { settings, kind: 'telegram' }),
  // A conversation begins with its first message, so there may be none of that key yet.
  session: () => Promise.resolve([]),
}

const WAYS = 'url, the address of an incoming webhook, or settings {channel, to}'

async function slackFlaws(ports: Ports, orgId: OrgId, { url, settings }: DecidedTarget): Promise<readonly Flaw[]> {
  const isThrough = settings['channel'] !== undefined
  if (url !== '' && isThrough)
    return [{ field: 'settings', value: settings, message: 'and url are two ways to the same place', allowed: WAYS }]
  if (isThrough) return channelFlaws(ports, orgId, { settings, kind: 'slack' })
  if (url === '') return [{ field: 'url', value: undefined, message: 'is missing', allowed: WAYS }]
  const wrong = await ports.outbound.check(url, 'webhook')
  return wrong === null ? [] : [{ field: 'url', value: '***', message: wrong }]
}

async function channelFlaws(
  { database }: Pick<Ports, 'database'>,
  orgId: OrgId,
  { settings, kind }: { readonly settings: DecidedTarget['settings']; readonly kind: ChannelKind },
): Promise<readonly Flaw[]> {
  const value = settings['channel']
  const found = typeof value === 'string' ? await loadChannelNamed(database, { orgId, name: value }) : undefined
  const field = 'settings.channel'
  if (found === undefined) return [{ field, value, message: 'names no channel of the org' }]
  return found.kind === kind
    ? []
    : [{ field, value, message: `is of kind ${found.kind}`, allowed: `a channel of kind ${kind}` }]
}
