import type { ChannelKind } from '../../domain/channel/channel.ts'
import type { ChannelSettings } from '../../domain/channel/channel-settings.ts'
import type { AgentId, ChannelId, OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, SqlValue, Transaction } from '../../platform/db/database.ts'
import { type ListedRows, type OrgPage, readPage } from '../../platform/db/page.ts'
import { column, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const channels = table('channel', {
  orgId: column.text<OrgId>(),
  id: column.text<ChannelId>(),
  name: column.text(),
  kind: column.text<ChannelKind>(),
  agentId: column.text<AgentId>(),
  settings: column.json<ChannelSettings>('options'),
  sealedCredentials: column.text(),
  enabled: column.boolean(),
  /** The account of the channel at its service; null until the service was asked. */
  identity: column.json<{ readonly id: string; readonly username: string } | null>(),
  lastUpdate: column.bigint<number | null>(),
  holder: column.text<string | null>(),
  heldUntil: column.instant<Instant | null>(),
  heardAt: column.instant<Instant | null>(),
  failedAt: column.instant<Instant | null>(),
  failure: column.text<string | null>(),
  createdBy: column.text<string | null>(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
})

/** A row of `channel`. */
export type ChannelRow = RowOf<typeof channels>

const CREATED = channels.pick(
  'orgId',
  'id',
  'name',
  'kind',
  'agentId',
  'settings',
  'sealedCredentials',
  'enabled',
  'createdBy',
  'createdAt',
  'updatedAt',
)

/** Inserts a new channel. False if the org has one with this name. */
export async function insertChannel(tx: Transaction, row: ChannelRow): Promise<boolean> {
  const rows = await tx.query(
    `${CREATED.insert} on conflict (org_id, name) do nothing returning 1`,
    CREATED.values(row),
  )
  return rows.length > 0
}

const EDITED = channels.pick(
  'agentId',
  'settings',
  'sealedCredentials',
  'enabled',
  'identity',
  'lastUpdate',
  'failedAt',
  'failure',
  'updatedAt',
)

/** Updates the editable columns of a channel and clears its error. */
export async function saveChannel(tx: Transaction, row: ChannelRow): Promise<void> {
  await tx.query(`update channel set ${EDITED.assigned(3)} where org_id = $1 and id = $2`, [
    row.orgId,
    row.id,
    ...EDITED.values(row),
  ])
}

/** Deletes a channel with its chats; sessions and runs stay. */
export async function deleteChannelRow(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly id: ChannelId },
): Promise<void> {
  await tx.query(
    `with chats as (delete from chat where org_id = $1 and channel_id = $2),
       marks as (delete from chat_mark where org_id = $1 and channel_id = $2)
     delete from channel where org_id = $1 and id = $2`,
    [gone.orgId, gone.id],
  )
}

/** A channel of an org by its id. */
export async function loadChannel(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: ChannelId },
): Promise<ChannelRow | undefined> {
  return channels.first(
    await connection.query(`select ${channels.list} from channel where org_id = $1 and id = $2`, [
      wanted.orgId,
      wanted.id,
    ]),
  )
}

/** A channel of any org, for a request that contains only its id. Undefined if its org is being deleted. */
export async function loadChannelAnywhere(connection: Connection, id: string): Promise<ChannelRow | undefined> {
  return channels.first(
    await connection.query(
      `select ${channels.list} from channel c where id = $1
       and exists (select 1 from org o where o.id = c.org_id and o.deleted_at is null)`,
      [id],
    ),
  )
}

/** A channel of an org by its name. */
export async function loadChannelNamed(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly name: string },
): Promise<ChannelRow | undefined> {
  const [found] = await loadChannelsNamed(connection, { orgId: wanted.orgId, names: [wanted.name] })
  return found
}

/** Channels of an org by their names. */
export async function loadChannelsNamed(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly names: readonly string[] },
): Promise<readonly ChannelRow[]> {
  return channels.read(
    await connection.query(`select ${channels.list} from channel where org_id = $1 and name = any($2::text[])`, [
      wanted.orgId,
      wanted.names,
    ]),
  )
}

/** Channels of the org, newest first, after a given one. */
export async function listChannels(connection: Connection, page: OrgPage): Promise<readonly ChannelRow[]> {
  return channels.read(await connection.query(LIST, listValues(page)))
}

const LIST = `select ${channels.list} from channel
  where org_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2::timestamptz, $3::text))
  order by created_at desc, id desc limit $4`

const listValues = ({ orgId, after, limit }: OrgPage): readonly SqlValue[] => [
  ...[orgId, timestampOrNull(after?.createdAt ?? null), after?.id ?? '', limit],
]

/** A page of channels, limited by count and by bytes. */
export const listChannelPage = (connection: Connection, page: OrgPage): Promise<ListedRows<ChannelRow>> =>
  readPage(
    connection,
    { text: LIST, values: listValues({ ...page, limit: page.limit + 1 }), large: ['settings'], limit: page.limit },
    channels,
  )

/**
 * Acquires or renews the lease of every enabled Telegram channel that no other node holds. Returns the channels held.
 */
export async function acquireChannels(
  connection: Connection,
  lease: {
    readonly holder: string
    readonly now: Instant
    /** A lease that expires before this is renewed. */
    readonly renewBefore: Instant
    readonly until: Instant
  },
): Promise<readonly ChannelRow[]> {
  return channels.read(
    await connection.query(
      `with taken as (
       update channel c set holder = $1, held_until = $4::timestamptz
        where c.kind = 'telegram' and c.enabled
          and (c.held_until is null or c.held_until <= $2::timestamptz
               or (c.holder = $1 and c.held_until <= $3::timestamptz))
          and exists (select 1 from org o where o.id = c.org_id and o.deleted_at is null)
       returning c.id)
     select ${channels.list} from channel
      where kind = 'telegram' and enabled
        and (id in (select id from taken) or (holder = $1 and held_until > $2::timestamptz))`,
      [lease.holder, toTimestamp(lease.now), toTimestamp(lease.renewBefore), toTimestamp(lease.until)],
    ),
  )
}

/** Releases leases, so that another node need not wait until they expire. */
export async function releaseChannels(connection: Connection, holder: string): Promise<void> {
  await connection.query('update channel set holder = null, held_until = null where holder = $1', [holder])
}

/** Saves the last processed update. False if another node holds the channel now. */
export async function saveLastUpdate(
  connection: Connection,
  taken: { readonly orgId: OrgId; readonly id: ChannelId; readonly holder: string; readonly lastUpdate: number },
): Promise<boolean> {
  const rows = await connection.query(
    `update channel set last_update = greatest(last_update, $4::bigint)
      where org_id = $1 and id = $2 and holder = $3 returning 1`,
    [taken.orgId, taken.id, taken.holder, taken.lastUpdate],
  )
  return rows.length > 0
}

/** Saves the account of the channel at its service. */
export async function saveIdentity(
  connection: Connection,
  known: { readonly orgId: OrgId; readonly id: ChannelId; readonly identity: NonNullable<ChannelRow['identity']> },
): Promise<void> {
  await connection.query('update channel set identity = $3::jsonb where org_id = $1 and id = $2', [
    ...[known.orgId, known.id, JSON.stringify(known.identity)],
  ])
}

/** Saves the health of a channel: a received message, or an error. Null: no error. */
export async function saveChannelHealth(
  connection: Connection,
  health: { readonly orgId: OrgId; readonly id: ChannelId; readonly now: Instant; readonly failure: string | null },
): Promise<void> {
  await connection.query(
    `update channel set heard_at = case when $4::text is null then $3::timestamptz else heard_at end,
       failed_at = case when $4::text is null then null else $3::timestamptz end, failure = $4::text
     where org_id = $1 and id = $2`,
    [health.orgId, health.id, toTimestamp(health.now), health.failure],
  )
}
