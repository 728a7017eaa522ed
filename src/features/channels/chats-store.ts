import type { ChatKind } from '../../domain/channel/channel.ts'
import type { DeliveryState } from '../../domain/delivery/delivery.ts'
import type { AgentId, ChannelId, OrgId, RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { RUN_STATE_SQL } from '../runs/record-store.ts'
import { column, columns, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

const chats = table('chat', {
  orgId: column.text<OrgId>(),
  channelId: column.text<ChannelId>(),
  peer: column.text(),
  kind: column.text<Exclude<ChatKind, 'hook'>>(),
  title: column.text<string | null>(),
  agentId: column.text<AgentId>(),
  sessionKey: column.text<SessionKey>(),
})

/** A chat in a channel that just received a message. */
export type ChatRow = RowOf<typeof chats>

/** Saves a chat as the last one in which its agent received a message. */
export function saveChat(tx: Transaction, chat: ChatRow, now: Instant): void {
  tx.send(
    `insert into chat (heard_at, ${chats.names}) values ($1::timestamptz, ${chats.params(2)})
     on conflict (org_id, channel_id, peer) do update set kind = excluded.kind, title = excluded.title,
       agent_id = excluded.agent_id, session_key = excluded.session_key, heard_at = excluded.heard_at`,
    [toTimestamp(now), ...chats.values(chat)],
  )
}

const addressColumns = columns({ channel: column.text('c.name'), peer: column.text('h.peer') })

/** The channel and peer of a chat. */
export type ChatAddress = RowOf<typeof addressColumns>

/** The chat of a session; undefined if the session belongs to no channel. */
export async function loadChatOfSession(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly key: SessionKey },
): Promise<ChatAddress | undefined> {
  const rows = await connection.query(
    `select ${addressColumns.list} from chat h join channel c on c.org_id = h.org_id and c.id = h.channel_id
      where h.org_id = $1 and h.session_key = $2 order by h.heard_at desc limit 1`,
    [wanted.orgId, wanted.key],
  )
  return addressColumns.first(rows)
}

const lastChats = columns({
  place: column.bigint('w.place'),
  channel: column.text('l.name'),
  peer: column.text('l.peer'),
  session: column.text<SessionKey>('l.session_key'),
  at: column.instant('l.heard_at'),
})

/** The chat in which an agent last received a message. */
export type LastChat = Omit<RowOf<typeof lastChats>, 'place'>

/** An agent whose newest chat is wanted; `channel`: only on the channel with this name. */
export interface LastChatQuery {
  readonly agentId: AgentId
  readonly channel: string | null
}

/** The newest chat of each agent on an enabled channel, in the order of the request. */
export async function loadLastChats(
  connection: Connection,
  { orgId: org, wanted }: { readonly orgId: OrgId; readonly wanted: readonly LastChatQuery[] },
): Promise<readonly (LastChat | undefined)[]> {
  const rows = await connection.query(
    `select ${lastChats.list}
       from unnest($2::text[], $3::text[]) with ordinality as w(agent_id, channel, place), lateral (
         select c.name, h.peer, h.session_key, h.heard_at
           from chat h join channel c on c.org_id = h.org_id and c.id = h.channel_id and c.enabled
          where h.org_id = $1 and h.agent_id = w.agent_id and (w.channel is null or c.name = w.channel)
          order by h.heard_at desc limit 1) l`,
    [org, wanted.map(({ agentId }) => agentId), wanted.map(({ channel }) => channel)],
  )
  return inRequestOrder(wanted.length, lastChats.read(rows))
}

/** The rows at the positions of their requests. */
function inRequestOrder<Found extends { readonly place: number }>(
  count: number,
  rows: readonly Found[],
): readonly (Omit<Found, 'place'> | undefined)[] {
  const found = new Map(rows.map(({ place: position, ...row }) => [position, row]))
  return Array.from({ length: count }, (_, position) => found.get(position + 1))
}

/** Sessions of schedules, heartbeats and subagents, which no user reads. */
const UNATTENDED = ['agent:%:cron:%', 'agent:%:heartbeat:%', 'agent:%:subagent:%', 'schedule:%:run:%']

/** An agent whose newest session is wanted. */
export interface LastSessionQuery {
  readonly agentId: AgentId
  readonly since: Instant
  /** The session of the heartbeat itself. */
  readonly without: SessionKey
}

const lastSessions = columns({
  place: column.bigint('w.place'),
  key: column.text<SessionKey>('l.session_key'),
  at: column.instant('l.created_at'),
})

/**
 * The newest session outside of channels in which each agent received a message from a key or a member since a time.
 */
export async function loadLastSessions(
  connection: Connection,
  { orgId: org, wanted }: { readonly orgId: OrgId; readonly wanted: readonly LastSessionQuery[] },
): Promise<readonly ({ readonly key: SessionKey; readonly at: Instant } | undefined)[]> {
  const rows = await connection.query(
    `select ${lastSessions.list}
       from unnest($2::text[], $3::timestamptz[], $4::text[]) with ordinality as w(agent_id, since, without, place), lateral (
         select r.session_key, r.created_at from run r
          where r.org_id = $1 and r.agent_id = w.agent_id and r.created_at >= w.since and r.trigger = 'message'
            and r.session_key is not null and r.session_key <> w.without and not r.session_key like any ($5::text[])
            and r.parent_run_id is null and r.lineage is null
            and not exists (select 1 from chat h where h.org_id = r.org_id and h.session_key = r.session_key)
          order by r.created_at desc, r.id desc limit 1) l`,
    [
      org,
      wanted.map(({ agentId }) => agentId),
      wanted.map(({ since }) => toTimestamp(since)),
      wanted.map(({ without }) => without),
      UNATTENDED,
    ],
  )
  return inRequestOrder(wanted.length, lastSessions.read(rows))
}

const indicatorColumns = table('chat_mark', {
  orgId: column.text<OrgId>(),
  runId: column.text<RunId>(),
  channelId: column.text<ChannelId>(),
  peer: column.text(),
  messages: column.texts(),
  placeholder: column.text<string | null>(),
})

/** The progress indicator of a run in a chat: the messages marked as seen, and the placeholder of the answer. */
export type ProgressIndicator = RowOf<typeof indicatorColumns>

const CREATED = indicatorColumns.omit('placeholder')

/** Saves the indicator of a run. If a message is merged into a run, it is added to the indicator of that run. */
export function saveIndicator(tx: Transaction, indicator: Omit<ProgressIndicator, 'placeholder'>, now: Instant): void {
  tx.send(
    `insert into chat_mark (created_at, ${CREATED.names}) values ($1::timestamptz, ${CREATED.params(2)})
     on conflict (org_id, run_id) do update set messages = chat_mark.messages || excluded.messages`,
    [toTimestamp(now), ...CREATED.values(indicator)],
  )
}

const indicatorRunColumns = columns({
  ...indicatorColumns.definitions,
  /** Null if the run is no longer stored. */
  state: column.text<RunState | null>(`case when r.id is not null then ${RUN_STATE_SQL} end`),
  startedAt: column.instant<Instant | null>('coalesce(r.started_at, p.started_at)'),
  /** The state of the answer's delivery, if there is one; sending the answer clears the indicator. */
  answer: column.text<DeliveryState | null>('d.state'),
})

/** An indicator with the state of its run. */
export type IndicatorWithRun = RowOf<typeof indicatorRunColumns>

/** The indicators in these channels, with the states that decide whether they have to be cleared. */
export async function loadIndicators(
  connection: Connection,
  wanted: { readonly ids: readonly ChannelId[]; readonly limit: number },
): Promise<readonly IndicatorWithRun[]> {
  const rows = await connection.query(
    `select ${indicatorRunColumns.of('m')}
       from chat_mark m
       left join run r on r.org_id = m.org_id and r.id = m.run_id
       left join pending p on p.org_id = m.org_id and p.id = m.run_id
       left join delivery d on d.org_id = m.org_id and d.run_id = m.run_id
      where m.channel_id = any($1::text[]) order by m.created_at limit $2`,
    [wanted.ids, wanted.limit],
  )
  return indicatorRunColumns.read(rows)
}

/** Saves the placeholder of the answer. False if the answer was sent first. */
export async function savePlaceholder(
  connection: Connection,
  held: { readonly orgId: OrgId; readonly runId: RunId; readonly placeholder: string },
): Promise<boolean> {
  const rows = await connection.query(
    `update chat_mark set placeholder = $3 where org_id = $1 and run_id = $2 and closed_at is null returning 1`,
    [held.orgId, held.runId, held.placeholder],
  )
  return rows.length > 0
}

/** Closes an indicator in order to clear it; nothing is added to it afterwards. */
export async function closeIndicator(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly runId: RunId; readonly now: Instant },
): Promise<ProgressIndicator | undefined> {
  const rows = await connection.query(
    `update chat_mark set closed_at = coalesce(closed_at, $3::timestamptz) where org_id = $1 and run_id = $2
     returning ${indicatorColumns.list}`,
    [wanted.orgId, wanted.runId, toTimestamp(wanted.now)],
  )
  return indicatorColumns.first(rows)
}

/** Whether an indicator exists and is not being cleared. */
export async function isIndicatorOpen(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<boolean> {
  const rows = await connection.query(
    'select 1 from chat_mark where org_id = $1 and run_id = $2 and closed_at is null',
    [wanted.orgId, wanted.runId],
  )
  return rows.length > 0
}

/** Deletes a cleared indicator. */
export async function deleteIndicator(
  connection: Connection,
  gone: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<void> {
  await connection.query('delete from chat_mark where org_id = $1 and run_id = $2', [gone.orgId, gone.runId])
}
