import type { ChannelInput, ChannelPatch, ChannelTestView, ChannelView } from './schema.ts'
import type { Page } from '../../api/page.ts'
import type { PageFilter } from '../../api/common.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { channelFlaws, settingsOf } from '../../domain/channel/channel-settings.ts'
import type { ChannelCredentials } from '../../domain/channel/services.ts'
import { agentId as toAgentId, channelId, type AgentId, type OrgId } from '../../domain/ids.ts'
import { loadAgents } from '../agents/store.ts'
import {
  deleteChannel,
  insertChannel,
  listChannelPage,
  loadChannel,
  saveChannel,
  saveIdentity,
  type ChannelRow,
} from './store.ts'
import type { Connection } from '../../store/database.ts'
import { acted, actorOf, changed, created, deleted } from '../audit/entry.ts'
import type { Caller } from '../../service/caller.ts'
import { openChannel, sealCredentials } from '../../service/channel/credentials.ts'
import { channelSettings, viewChannel } from '../../service/channel/view.ts'
import { pageOfListed, parseCursor, parseLimit, writeCursor } from '../../platform/db/cursor.ts'
import { bound } from '../../service/idempotent.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import type { Ports } from '../../service/ports.ts'
import type { Work } from '../../service/turn-port.ts'

/** The channel as it is on record, or a refusal. */
async function readChannel(connection: Connection, orgId: OrgId, id: string): Promise<ChannelRow> {
  // PostgreSQL takes no NUL in a text, and no id has one.
  const row = id.includes('\u0000') ? undefined : await loadChannel(connection, { orgId, id: channelId(id) })
  if (row === undefined) throw new Refusal('NOT_FOUND', `There is no channel ${id}`)
  return row
}

/** What a change makes of a channel: what it leaves out stays. What it may have depends on the kind. */
function edited(before: ChannelRow, change: ChannelPatch): Pick<ChannelRow, 'agentId' | 'enabled' | 'settings'> {
  const flaws = channelFlaws(before.kind, change, false)
  if (flaws.length > 0) throw invalid(flaws)
  const { agent_id: agent, enabled = before.enabled } = change
  const settings = settingsOf(before.kind, change, before.settings)
  return { agentId: agent === undefined ? before.agentId : toAgentId(agent), enabled, settings }
}

/** The secrets that were given, not those that are kept. */
const credentialsIn = ({ token, signing_secret: secret }: ChannelPatch): ChannelCredentials => ({
  ...(token === undefined ? {} : { token }),
  ...(secret === undefined ? {} : { signing_secret: secret }),
})

async function refuseUnknownAgent(connection: Connection, orgId: OrgId, agentId: AgentId): Promise<void> {
  const [agent] = await loadAgents(connection, { orgId, ids: [agentId] })
  if (agent === undefined) throw invalid([{ field: 'agent_id', value: agentId, message: 'names no agent of the org' }])
}

/** Makes a channel. Its secrets are sealed before anything is written. */
export async function createChannel(ports: Ports, caller: Caller, input: ChannelInput): Promise<ChannelView> {
  const { orgId } = caller
  const { name, kind, enabled = true } = input
  const agentId = toAgentId(input.agent_id)
  await refuseUnknownAgent(ports.database, orgId, agentId)
  const id = channelId(ports.newId('channel', ports.clock.now()))
  const sealedCredentials = await sealCredentials(ports, { orgId, id }, credentialsIn(input))
  const work: Work<ChannelView> = {
    orgId,
    prepare: async (tx, now): Promise<ChannelRow> => {
      const settings = settingsOf(kind, input, null)
      const row: ChannelRow = {
        ...{ orgId, id, name, kind, agentId, settings, enabled, sealedCredentials, identity: null, lastUpdate: null },
        ...{ holder: null, heldUntil: null, heardAt: null, failedAt: null, failure: null },
        ...{ createdBy: caller.principal, createdAt: now, updatedAt: now },
      }
      if (await insertChannel(tx, row)) return row
      throw new Refusal('CONFLICT', `There is a channel named ${name} already; names never change and are unique`)
    },
    apply: (desk, prepared) => {
      const row = prepared as ChannelRow
      desk.changes.audits.push(created(actorOf(caller), { kind: 'channel', id: row.id }, channelSettings(row)))
      return viewChannel(row, desk.now)
    },
  }
  return ports.turns.take(bound(work, caller))
}

/** The channel, and how it fares. */
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

/** Changes a channel. */
export async function changeChannel(
  ports: Ports,
  caller: Caller,
  asked: { readonly id: string; readonly change: ChannelPatch; readonly verb?: 'enable' | 'disable' },
): Promise<ChannelView> {
  const { orgId } = caller
  const known = await readChannel(ports.database, orgId, asked.id)
  const { agentId } = edited(known, asked.change)
  if (agentId !== known.agentId) await refuseUnknownAgent(ports.database, orgId, agentId)
  const credentials = credentialsIn(asked.change)
  const isSealedAnew = Object.keys(credentials).length > 0
  const kept = isSealedAnew ? (await openChannel(ports, known)).credentials : {}
  const sealed = isSealedAnew ? await sealCredentials(ports, known, { ...kept, ...credentials }) : null
  const isAnother = credentials.token !== undefined && credentials.token !== kept.token
  return ports.turns.take({
    orgId,
    prepare: async (tx, now): Promise<readonly [ChannelRow, ChannelRow]> => {
      const before = await readChannel(tx, orgId, asked.id)
      const after: ChannelRow = {
        ...{ ...before, ...edited(before, asked.change), sealedCredentials: sealed ?? before.sealedCredentials },
        ...(isAnother ? { identity: null, lastUpdate: null } : {}),
        ...{ failedAt: null, failure: null, updatedAt: now },
      }
      await saveChannel(tx, after)
      return [before, after]
    },
    apply: (desk, prepared) => {
      const [before, after] = prepared as readonly [ChannelRow, ChannelRow]
      // That a secret was replaced is worth a record, what it is is not.
      const replaced = Object.fromEntries(Object.keys(credentials).map((name) => [`replaced_${name}`, true]))
      const views = { before: channelSettings(before), after: { ...channelSettings(after), ...replaced } }
      const verb = asked.verb === undefined ? {} : { verb: asked.verb }
      desk.changes.audits.push(changed(actorOf(caller), { kind: 'channel', id: after.id }, { ...views, ...verb }))
      return viewChannel(after, desk.now)
    },
  })
}

/** Deletes a channel. Its conversations stay as sessions. */
export async function removeChannel(ports: Ports, caller: Caller, id: string): Promise<void> {
  const { orgId } = caller
  await ports.turns.take({
    orgId,
    prepare: async (tx) => {
      const row = await readChannel(tx, orgId, id)
      await deleteChannel(tx, { orgId, id: row.id })
      return row
    },
    apply: (desk, prepared) => {
      const row = prepared as ChannelRow
      desk.changes.audits.push(deleted(actorOf(caller), { kind: 'channel', id: row.id }, channelSettings(row)))
    },
  })
}

/** Asks the service behind a channel who the channel is. A hook has none: whoever calls it finds out. */
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
  await ports.turns.take({
    orgId,
    apply: (desk) => {
      desk.changes.audits.push(acted(actorOf(caller), { kind: 'channel', id: row.id }, { verb: 'test', after }))
    },
  })
  return view
}
