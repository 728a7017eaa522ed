import type { ChannelView } from '../../features/channels/schema.ts'
import { SECRETS_OF } from '../../domain/channel/channel-settings.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { ChannelRow } from '../../features/channels/store.ts'
import { momentOrNull } from '../schedule-view.ts'

/** A channel as every surface shows it. */
export function viewChannel(row: ChannelRow, now: Instant): ChannelView {
  const secrets = SECRETS_OF[row.kind]
  return {
    ...{ id: row.id, org_id: row.orgId, name: row.name, kind: row.kind, agent_id: row.agentId, enabled: row.enabled },
    ...{ has_token: secrets.includes('token'), has_signing_secret: secrets.includes('signing_secret') },
    ...row.settings,
    hook_path: `/api/v1/hooks/${row.id}`,
    username: row.identity?.username ?? null,
    attended_by: row.heldUntil !== null && row.heldUntil > now ? row.holder : null,
    last_heard_at: momentOrNull(row.heardAt),
    last_failed_at: momentOrNull(row.failedAt),
    failure: row.failure,
    created_by: row.createdBy,
    created_at: formatInstant(row.createdAt),
    updated_at: formatInstant(row.updatedAt),
  }
}

/** What a person has decided about a channel, for the audit log. */
export const channelSettings = ({ name, kind, agentId, enabled, settings }: ChannelRow): object => ({
  ...{ name, kind, agent_id: agentId, enabled, ...settings },
})
