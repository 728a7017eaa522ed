import type { ChatKind } from '../core/channel/channel.ts'
import type { DeliveryState } from '../core/delivery/delivery-states.ts'
import {
  channelId,
  orgId,
  runId,
  sessionKey,
  type AgentId,
  type ChannelId,
  type OrgId,
  type RunId,
  type SessionKey,
} from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** A conversation in a channel in which something was just heard. */
export interface ChatRow {
  readonly orgId: OrgId
  readonly channelId: ChannelId
  readonly peer: string
  readonly kind: Exclude<ChatKind, 'hook'>
  readonly title: string | null
  readonly agentId: AgentId
  readonly sessionKey: SessionKey
}

/** Keeps a conversation, and that it was the last in which its agent was spoken to. */
export function saveChat(tx: Transaction, chat: ChatRow, now: Instant): void {
  tx.send(
    `insert into chat (org_id, channel_id, peer, kind, title, agent_id, session_key, heard_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8::timestamptz)
     on conflict (org_id, channel_id, peer) do update set kind = excluded.kind, title = excluded.title,
       agent_id = excluded.agent_id, session_key = excluded.session_key, heard_at = excluded.heard_at`,
    [
      ...[chat.orgId, chat.channelId, chat.peer, chat.kind, chat.title, chat.agentId, chat.sessionKey],
      toTimestamp(now),
    ],
  )
}

/** Where a conversation is held. */
export interface ChatPlace {
  readonly channel: string
  readonly peer: string
}

/** Where the conversation of a session is held; undefined when it is not held in a channel. */
export async function loadPlaceOfSession(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly key: SessionKey },
): Promise<ChatPlace | undefined> {
  const rows = await connection.query(
    `select c.name, h.peer from chat h join channel c on c.org_id = h.org_id and c.id = h.channel_id
      where h.org_id = $1 and h.session_key = $2 order by h.heard_at desc limit 1`,
    [wanted.orgId, wanted.key],
  )
  return rows.map((row) => ({ channel: row['name'] as string, peer: row['peer'] as string }))[0]
}

/** The chat in which an agent was sent a message last. */
export interface LastChat extends ChatPlace {
  readonly session: SessionKey
  readonly at: Instant
}

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
    `select w.place, l.name, l.peer, l.session_key, l.heard_at
       from unnest($2::text[], $3::text[]) with ordinality as w(agent_id, channel, place), lateral (
         select c.name, h.peer, h.session_key, h.heard_at
           from chat h join channel c on c.org_id = h.org_id and c.id = h.channel_id and c.enabled
          where h.org_id = $1 and h.agent_id = w.agent_id and (w.channel is null or c.name = w.channel)
          order by h.heard_at desc limit 1) l`,
    [org, wanted.map(({ agentId }) => agentId), wanted.map(({ channel }) => channel)],
  )
  return inPlaces(wanted.length, rows, (row) => ({
    ...{ channel: row['name'] as string, peer: row['peer'] as string },
    ...{ session: sessionKey(row['session_key'] as string), at: row['heard_at'] as Instant },
  }))
}

/** What was found, where it was asked for. */
function inPlaces<Found>(
  count: number,
  rows: readonly Row[],
  read: (row: Row) => Found,
): readonly (Found | undefined)[] {
  const found = new Map(rows.map((row) => [Number(row['place']), read(row)]))
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

/** The newest session outside of channels in which each agent was sent a message since a time, by a key or a member. */
export async function loadLastSessions(
  connection: Connection,
  { orgId: org, wanted }: { readonly orgId: OrgId; readonly wanted: readonly SessionWanted[] },
): Promise<readonly ({ readonly key: SessionKey; readonly at: Instant } | undefined)[]> {
  const rows = await connection.query(
    `select w.place, l.session_key, l.created_at
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
  return inPlaces(wanted.length, rows, (row) => ({
    ...{ key: sessionKey(row['session_key'] as string), at: row['created_at'] as Instant },
  }))
}

/** What shows in a chat that a run is at work. */
export interface ChatMark {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly channelId: ChannelId
  readonly peer: string
  readonly messages: readonly string[]
  readonly placeholder: string | null
}

/** Notes that a message is seen and which run will answer it; what is merged into a run joins its mark. */
export function saveMark(tx: Transaction, mark: Omit<ChatMark, 'placeholder'>, now: Instant): void {
  tx.send(
    `insert into chat_mark (org_id, run_id, channel_id, peer, messages, created_at)
     values ($1, $2, $3, $4, $5::text[], $6::timestamptz)
     on conflict (org_id, run_id) do update set messages = chat_mark.messages || excluded.messages`,
    [mark.orgId, mark.runId, mark.channelId, mark.peer, mark.messages, toTimestamp(now)],
  )
}

/** A mark, and how its run stands. */
export interface TendedMark extends ChatMark {
  /** Null when the run is not kept any more. */
  readonly state: RunState | null
  readonly startedAt: Instant | null
  /** The state of its answer, if there is to be one: that takes the place of the mark by itself. */
  readonly answer: DeliveryState | null
}

/** The marks of channels whose runs execute, or have ended without an answer that would clear them. */
export async function loadMarks(
  connection: Connection,
  wanted: { readonly ids: readonly ChannelId[]; readonly limit: number },
): Promise<readonly TendedMark[]> {
  const rows = await connection.query(
    `select m.org_id, m.run_id, m.channel_id, m.peer, m.messages, m.placeholder, coalesce(r.state, p.state) as state,
            coalesce(r.started_at, p.started_at) as started_at, d.state as answer
       from chat_mark m
       left join run r on r.org_id = m.org_id and r.id = m.run_id
       left join pending p on p.org_id = m.org_id and p.id = m.run_id
       left join delivery d on d.org_id = m.org_id and d.run_id = m.run_id
      where m.channel_id = any($1::text[]) order by m.created_at limit $2`,
    [wanted.ids, wanted.limit],
  )
  return rows.map((row) => ({
    ...markOf(row),
    state: row['state'] as RunState | null,
    startedAt: row['started_at'] as Instant | null,
    answer: row['answer'] as DeliveryState | null,
  }))
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
     returning org_id, run_id, channel_id, peer, messages, placeholder`,
    [wanted.orgId, wanted.runId, toTimestamp(wanted.now)],
  )
  return rows.map(markOf)[0]
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

const markOf = (row: Row): ChatMark => ({
  orgId: orgId(row['org_id'] as string),
  runId: runId(row['run_id'] as string),
  channelId: channelId(row['channel_id'] as string),
  peer: row['peer'] as string,
  messages: row['messages'] as readonly string[],
  placeholder: row['placeholder'] as string | null,
})
