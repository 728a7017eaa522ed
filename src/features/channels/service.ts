import type { PageFilter } from '../../api/common.ts'
import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { channelFlaws, SECRETS_OF, channelSettingsOf } from '../../domain/channel/channel-settings.ts'
import type { ChannelCredentials } from '../../domain/channel/services.ts'
import { type AgentId, channelId, type OrgId, agentId as toAgentId } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Command } from '../../engine/commands-port.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Caller } from '../access/caller.ts'
import { loadAgents } from '../agents/store.ts'
import { acted, actorOf, changed, created, deleted } from '../audit/entry.ts'
import { openChannel, sealCredentials } from './credentials.ts'
import type { ChannelInput, ChannelPatch, ChannelTestView, ChannelView } from './schema.ts'
import {
  type ChannelRow,
  deleteChannelRow,
  insertChannel,
  listChannelPage,
  loadChannel,
  saveChannel,
  saveIdentity,
} from './store.ts'
import { formatInstantOrNull } from '../schedules/view.ts'
import { pageOfListed, parseCursor, parseLimit, writeCursor } from '../../platform/db/cursor.ts'
import type { Connection } from '../../platform/db/database.ts'

/** A channel as the API returns it. */
function viewChannel(row: ChannelRow, now: Instant): ChannelView {
  const secrets = SECRETS_OF[row.kind]
  return {
    ...{ id: row.id, org_id: row.orgId, name: row.name, kind: row.kind, agent_id: row.agentId, enabled: row.enabled },
    ...{ has_token: secrets.includes('token'), has_signing_secret: secrets.includes('signing_secret') },
    ...row.settings,
    hook_path: `/api/v1/hooks/${row.id}`,
    username: row.identity?.username ?? null,
    attended_by: row.heldUntil !== null && row.heldUntil > now ? row.holder : null,
    last_heard_at: formatInstantOrNull(row.heardAt),
    last_failed_at: formatInstantOrNull(row.failedAt),
    failure: row.failure,
    created_by: row.createdBy,
    created_at: formatInstant(row.createdAt),
    updated_at: formatInstant(row.updatedAt),
  }
}

/** The user's settings of a channel, for the audit log. */
const channelSettings = ({ name, kind, agentId, enabled, settings }: ChannelRow): object => ({
  ...{ name, kind, agent_id: agentId, enabled, ...settings },
})

/** The stored channel; throws if there is none. */
async function readChannel(connection: Connection, orgId: OrgId, id: string): Promise<ChannelRow> {
  // PostgreSQL cannot store NUL in text, so no id contains one.
  const row = id.includes('\u0000') ? undefined : await loadChannel(connection, { orgId, id: channelId(id) })
  if (row === undefined) throw new Refusal('NOT_FOUND', `There is no channel ${id}`)
  return row
}

/** The settings after a change; omitted fields stay. The allowed fields depend on the kind. */
function settingsAfter(before: ChannelRow, change: ChannelPatch): Pick<ChannelRow, 'agentId' | 'enabled' | 'settings'> {
  const flaws = channelFlaws(before.kind, change, false)
  if (flaws.length > 0) throw invalid(flaws)
  const { agent_id: agent, enabled = before.enabled } = change
  const settings = channelSettingsOf(before.kind, change, before.settings)
  return { agentId: agent === undefined ? before.agentId : toAgentId(agent), enabled, settings }
}

/** The secrets in a change, without stored ones. */
const credentialsIn = ({ token, signing_secret: secret }: ChannelPatch): ChannelCredentials => ({
  ...(token === undefined ? {} : { token }),
  ...(secret === undefined ? {} : { signing_secret: secret }),
})

async function refuseUnknownAgent(connection: Connection, orgId: OrgId, agentId: AgentId): Promise<void> {
  const [agent] = await loadAgents(connection, { orgId, ids: [agentId] })
  if (agent === undefined) throw invalid([{ field: 'agent_id', value: agentId, message: 'is not an agent of the org' }])
}

/** Creates a channel. Its secrets are encrypted before anything is written. */
export async function createChannel(ports: Ports, caller: Caller, input: ChannelInput): Promise<ChannelView> {
  const { orgId } = caller
  const { name, kind, enabled = true } = input
  const agentId = toAgentId(input.agent_id)
  await refuseUnknownAgent(ports.database, orgId, agentId)
  const id = channelId(ports.newId('channel', ports.clock.now()))
  const sealedCredentials = await sealCredentials(ports, { orgId, id }, credentialsIn(input))
  const command: Command<ChannelView> = {
    orgId,
    prepare: async (tx, now): Promise<ChannelRow> => {
      const settings = channelSettingsOf(kind, input, null)
      const row: ChannelRow = {
        ...{ orgId, id, name, kind, agentId, settings, enabled, sealedCredentials, identity: null, lastUpdate: null },
        ...{ holder: null, heldUntil: null, heardAt: null, failedAt: null, failure: null },
        ...{ createdBy: caller.principal, createdAt: now, updatedAt: now },
      }
      if (await insertChannel(tx, row)) return row
      throw new Refusal('CONFLICT', `The channel ${name} already exists; names are unique and cannot be changed`)
    },
    apply: (state, prepared) => {
      const row = prepared as ChannelRow
      state.changes.audits.push(created(actorOf(caller), { kind: 'channel', id: row.id }, channelSettings(row)))
      return viewChannel(row, state.now)
    },
  }
  return ports.commands.execute(bindToKey(command, caller))
}

/** The channel and its state. */
export const getChannel = async (
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId }: Caller,
  id: string,
): Promise<ChannelView> => viewChannel(await readChannel(database, orgId, id), clock.now())

/** A page of the org's channels, newest first. */
export async function findChannels(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId }: Caller,
  filter: PageFilter = {},
): Promise<Page<ChannelView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key }
  const listed = await listChannelPage(database, { orgId, after, limit })
  const now = clock.now()
  return pageOfListed(
    listed,
    (row) => viewChannel(row, now),
    ({ createdAt, id }) => writeCursor({ createdAt, key: id }),
  )
}

/** Updates a channel. */
export async function updateChannel(
  ports: Ports,
  caller: Caller,
  request: { readonly id: string; readonly change: ChannelPatch; readonly verb?: 'enable' | 'disable' },
): Promise<ChannelView> {
  const { orgId } = caller
  const existing = await readChannel(ports.database, orgId, request.id)
  const { agentId } = settingsAfter(existing, request.change)
  if (agentId !== existing.agentId) await refuseUnknownAgent(ports.database, orgId, agentId)
  const credentials = credentialsIn(request.change)
  const isSealedAnew = Object.keys(credentials).length > 0
  const kept = isSealedAnew ? (await openChannel(ports, existing)).credentials : {}
  const sealed = isSealedAnew ? await sealCredentials(ports, existing, { ...kept, ...credentials }) : null
  const isAnother = credentials.token !== undefined && credentials.token !== kept.token
  return ports.commands.execute({
    orgId,
    prepare: async (tx, now): Promise<readonly [ChannelRow, ChannelRow]> => {
      const before = await readChannel(tx, orgId, request.id)
      const after: ChannelRow = {
        ...{
          ...before,
          ...settingsAfter(before, request.change),
          sealedCredentials: sealed ?? before.sealedCredentials,
        },
        ...(isAnother ? { identity: null, lastUpdate: null } : {}),
        ...{ failedAt: null, failure: null, updatedAt: now },
      }
      await saveChannel(tx, after)
      return [before, after]
    },
    apply: (state, prepared) => {
      const [before, after] = prepared as readonly [ChannelRow, ChannelRow]
      // Replacing a secret is audited without its value.
      const replaced = Object.fromEntries(Object.keys(credentials).map((name) => [`replaced_${name}`, true]))
      const views = { before: channelSettings(before), after: { ...channelSettings(after), ...replaced } }
      const verb = request.verb === undefined ? {} : { verb: request.verb }
      state.changes.audits.push(changed(actorOf(caller), { kind: 'channel', id: after.id }, { ...views, ...verb }))
      return viewChannel(after, state.now)
    },
  })
}

/** Deletes a channel. Its chats stay as sessions. */
export async function deleteChannel(ports: Ports, caller: Caller, id: string): Promise<void> {
  const { orgId } = caller
  await ports.commands.execute({
    orgId,
    prepare: async (tx) => {
      const row = await readChannel(tx, orgId, id)
      await deleteChannelRow(tx, { orgId, id: row.id })
      return row
    },
    apply: (state, prepared) => {
      const row = prepared as ChannelRow
      state.changes.audits.push(deleted(actorOf(caller), { kind: 'channel', id: row.id }, channelSettings(row)))
    },
  })
}

/** Asks the service of a channel for the account of its token. A webhook channel has no service to ask. */
export async function testChannel(ports: Ports, caller: Caller, id: string): Promise<ChannelTestView> {
  const { orgId } = caller
  const row = await readChannel(ports.database, orgId, id)
  const found = await ports.channels.identify(await openChannel(ports, row), new AbortController().signal)
  const identity = found?.identity ?? null
  if (identity !== null) await saveIdentity(ports.database, { orgId, id: row.id, identity })
  const outcome = found?.outcome ?? null
  const view: ChannelTestView = {
    ok: outcome?.ok ?? row.kind === 'hook',
    username: identity?.username ?? null,
    status_code: outcome?.statusCode ?? null,
    message: outcome === null || outcome.ok ? null : outcome.message,
  }
  const after = { ok: view.ok, status_code: view.status_code }
  await ports.commands.execute({
    orgId,
    apply: (state) => {
      state.changes.audits.push(acted(actorOf(caller), { kind: 'channel', id: row.id }, { verb: 'test', after }))
    },
  })
  return view
}
