import type { ChatKind } from '../../core/channel/channel.ts'
import type { DeliveryState } from '../../core/delivery/delivery-states.ts'
import type { AgentId, ChannelId, OrgId, RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import type { Connection, Transaction } from '../../store/database.ts'
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

/** A conversation in a channel in which something was just heard. */
export type ChatRow = RowOf<typeof chats>

/** Keeps a conversation, and that it was the last in which its agent was spoken to. */
export function saveChat(tx: Transaction, chat: ChatRow, now: Instant): void {
  tx.send(
    `insert into chat (heard_at, ${chats.names}) values ($1::timestamptz, ${chats.params(2)})
     on conflict (org_id, channel_id, peer) do update set kind = excluded.kind, title = excluded.title,
       agent_id = excluded.agent_id, session_key = excluded.session_key, heard_at = excluded.heard_at`,
    [toTimestamp(now), ...chats.values(chat)],
  )
}

const places = columns({ channel: column.text('c.name'), peer: column.text('h.peer') })

/** Where a conversation is held. */
export type ChatPlace = RowOf<typeof places>

/** Where the conversation of a session is held; undefined when it is not held in a channel. */
export async function loadPlaceOfSession(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly key: SessionKey },
): Promise<ChatPlace | undefined> {
  const rows = await connection.query(
    `select ${places.list} from chat h join channel c on c.org_id = h.org_id and c.id = h.channel_id
      where h.org_id = $1 and h.session_key = $2 order by h.heard_at desc limit 1`,
    [wanted.orgId, wanted.key],
  )
  return places.first(rows)
}

const lastChats = columns({
  place: column.bigint('w.place'),
  channel: column.text('l.name'),
  peer: column.text('l.peer'),
  session: column.text<SessionKey>('l.session_key'),
  at: column.instant('l.heard_at'),
})

/** The chat in which an agent was sent a message last. */
export type LastChat = Omit<RowOf<typeof lastChats>, 'place'>

/** An agent whose newest chat is looked for; `channel`: only on the channel of this name. */
export interface ChatWanted {
  readonly agentId: AgentId
  readonly channel: string | null
}

/** The newest chat of each agent on a channel that is switched on, in the order in which they are asked for. */
export async function loadLastChats(
  connection: Connection,
  { orgId: org, wanted }: { readonly orgId: OrgId; readonly wanted: readonly ChatWanted[] },
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
  return inPlaces(wanted.length, lastChats.read(rows))
}

/** What was found, where it was asked for. */
function inPlaces<Found extends { readonly place: number }>(
  count: number,
  rows: readonly Found[],
): readonly (Omit<Found, 'place'> | undefined)[] {
  const found = new Map(rows.map(({ place, ...row }) => [place, row]))
  return Array.from({ length: count }, (_, place) => found.get(place + 1))
}

/** Sessions of schedules, heartbeats and sub-agents: nobody sits there and reads. */
const UNATTENDED = ['agent:%:cron:%', 'agent:%:heartbeat:%', 'agent:%:subagent:%', 'schedule:%:run:%']

/** An agent whose newest session is looked for. */
export interface SessionWanted {
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

/** The newest session outside of channels in which each agent was sent a message since a time, by a key or a member. */
export async function loadLastSessions(
  connection: Connection,
  { orgId: org, wanted }: { readonly orgId: OrgId; readonly wanted: readonly SessionWanted[] },
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
  return inPlaces(wanted.length, lastSessions.read(rows))
}

const marks = table('chat_mark', {
  orgId: column.text<OrgId>(),
  runId: column.text<RunId>(),
  channelId: column.text<ChannelId>(),
  peer: column.text(),
  messages: column.texts(),
  placeholder: column.text<string | null>(),
})

/** What shows in a chat that a run is at work. */
export type ChatMark = RowOf<typeof marks>

const CREATED = marks.omit('placeholder')

/** Notes that a message is seen and which run will answer it; what is merged into a run joins its mark. */
export function saveMark(tx: Transaction, mark: Omit<ChatMark, 'placeholder'>, now: Instant): void {
  tx.send(
    `insert into chat_mark (created_at, ${CREATED.names}) values ($1::timestamptz, ${CREATED.params(2)})
     on conflict (org_id, run_id) do update set messages = chat_mark.messages || excluded.messages`,
    [toTimestamp(now), ...CREATED.values(mark)],
  )
}

const tended = columns({
  ...marks.definitions,
  /** Null when the run is not kept any more. */
  state: column.text<RunState | null>('coalesce(r.state, p.state)'),
  startedAt: column.instant<Instant | null>('coalesce(r.started_at, p.started_at)'),
  /** The state of its answer, if there is to be one: that takes the place of the mark by itself. */
  answer: column.text<DeliveryState | null>('d.state'),
})

/** A mark, and how its run stands. */
export type TendedMark = RowOf<typeof tended>

/** The marks of channels whose runs execute, or have ended without an answer that would clear them. */
export async function loadMarks(
  connection: Connection,
  wanted: { readonly ids: readonly ChannelId[]; readonly limit: number },
): Promise<readonly TendedMark[]> {
  const rows = await connection.query(
    `select ${tended.of('m')}
       from chat_mark m
       left join run r on r.org_id = m.org_id and r.id = m.run_id
       left join pending p on p.org_id = m.org_id and p.id = m.run_id
       left join delivery d on d.org_id = m.org_id and d.run_id = m.run_id
      where m.channel_id = any($1::text[]) order by m.created_at limit $2`,
    [wanted.ids, wanted.limit],
  )
  return tended.read(rows)
}

/** Notes which message stands for the answer. False when the answer was there first. */
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

/** Takes a mark over in order to clear it: from now on nobody adds to it. */
export async function closeMark(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly runId: RunId; readonly now: Instant },
): Promise<ChatMark | undefined> {
  const rows = await connection.query(
    `update chat_mark set closed_at = coalesce(closed_at, $3::timestamptz) where org_id = $1 and run_id = $2
     returning ${marks.list}`,
    [wanted.orgId, wanted.runId, toTimestamp(wanted.now)],
  )
  return marks.first(rows)
}

/** Whether a mark is there and nobody clears it. */
export async function isMarkOpen(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<boolean> {
  const rows = await connection.query(
    'select 1 from chat_mark where org_id = $1 and run_id = $2 and closed_at is null',
    [wanted.orgId, wanted.runId],
  )
  return rows.length > 0
}

/** Forgets a mark that is cleared. */
export async function deleteMark(
  connection: Connection,
  gone: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<void> {
  await connection.query('delete from chat_mark where org_id = $1 and run_id = $2', [gone.orgId, gone.runId])
}
