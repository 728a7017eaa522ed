import type { PageFilter } from '../../api/common.ts'
import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { type OrgId, runId, type RunId, sessionKey, type SessionKey } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { SessionRules } from '../../domain/session/session.ts'
import type { Ports } from '../../engine/ports.ts'
import { ensureSession } from '../../engine/transaction/transaction.ts'
import type { ChatExchange } from '../../executors/chat/conversation.ts'
import type { Caller } from '../access/caller.ts'
import { actorOf, changed } from '../audit/entry.ts'
import { type AddedReply, listAddedReplies } from '../heartbeats/log-store.ts'
import { listRunPage } from '../runs/read-store.ts'
import type { RunRecord } from '../runs/record-store.ts'
import { formatInstantOrNull } from '../schedules/view.ts'
import type { MessageView, SessionChange, SessionFilter, SessionPatch, SessionView } from './schema.ts'
import { readSessionKey } from './service.ts'
import {
  countSessionWork,
  listSessions,
  loadAddedExchanges,
  loadExchanges,
  loadRunInConversation,
  loadSessions,
  type SessionCounts,
  type SessionRow,
} from './store.ts'
import { pageOf, pageOfListed, parseCursor, parseLimit, writeCursor } from '../../platform/db/cursor.ts'
import type { ListedRows } from '../../platform/db/page.ts'

/** A page of the messages of a session with their replies, newest first. */
export async function findMessages(
  { database }: Pick<Ports, 'database'>,
  query: { readonly orgId: OrgId; readonly key: string },
  filter: PageFilter = {},
): Promise<Page<MessageView>> {
  const { orgId } = query
  const key = readSessionKey(query.key)
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: runId(cursor.key) }
  const runs = await listRunPage(database, { orgId, sessionKey: key, after, limit, whole: true })
  const replies = await listAddedReplies(database, { orgId, sessionKey: key, after, limit })
  const listed = mergePages({ rows: runs.rows.map(entryOfRun), more: runs.more }, entriesOfReplies(replies), limit)
  if (listed.rows.length === 0) {
    const [session] = await loadSessions(database, { orgId, keys: [key] })
    if (session === undefined) throw new Refusal('NOT_FOUND', `There is no session ${query.key}`)
  }
  return pageOfListed(
    listed,
    ({ view }) => view,
    ({ createdAt, id }) => writeCursor({ createdAt, key: id }),
  )
}

/** A message with its sort key within the session. */
interface MessageEntry {
  readonly createdAt: Instant
  readonly id: string
  readonly view: MessageView
}

const newestFirst = (a: MessageEntry, b: MessageEntry): number => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)

/** Merges two lists into one page. If a list has more rows, entries below its last row wait for the next page. */
function mergePages(
  runs: ListedRows<MessageEntry>,
  replies: ListedRows<MessageEntry>,
  limit: number,
): ListedRows<MessageEntry> {
  const lastEntries = [runs, replies].flatMap(({ rows, more }) => (more ? rows.slice(-1) : [])).toSorted(newestFirst)
  const [lastEntry] = lastEntries
  const all = [...runs.rows, ...replies.rows].toSorted(newestFirst)
  const rows = lastEntry === undefined ? all : all.filter((entry) => newestFirst(entry, lastEntry) <= 0)
  return { rows: rows.slice(0, limit), more: lastEntry !== undefined || rows.length > limit }
}

const entryOfRun = (run: RunRecord): MessageEntry => ({ createdAt: run.createdAt, id: run.id, view: viewMessage(run) })

/** Heartbeat news as messages: a reply without a message. */
const entriesOfReplies = ({ rows, more }: ListedRows<AddedReply>): ListedRows<MessageEntry> => ({
  more,
  rows: rows.map(({ runId: id, content, createdAt }) => ({
    ...{ createdAt, id },
    view: {
      ...{ run_id: id, trigger: 'heartbeat', message_ids: [], sender: null, text: null, attachments: [] },
      ...{ status: 'success', reason: 'heartbeat_news', reply: content, error_code: null, error_message: null },
      ...{ created_at: formatInstant(createdAt), started_at: null, finished_at: formatInstant(createdAt) },
    },
  })),
})

/** A run as a message of its session. */
function viewMessage(run: RunRecord): MessageView {
  const { attachments, messageIds } = objectOrEmpty(run.payload)
  return {
    run_id: run.id,
    trigger: run.trigger,
    message_ids: arrayOrEmpty(messageIds).filter((id) => typeof id === 'string'),
    sender: run.sender,
    text: inputTextOf(run.payload),
    attachments: arrayOrEmpty(attachments),
    status: run.state,
    reason: (run.why ?? run.decision).reason,
    reply: run.output,
    error_code: run.errorCode,
    error_message: run.errorMessage,
    created_at: formatInstant(run.createdAt),
    started_at: formatInstantOrNull(run.startedAt),
    finished_at: formatInstantOrNull(run.finishedAt),
  }
}

/** The input of a run if it is a text: the text of a message, or the prompt of a schedule. */
export function inputTextOf(payload: unknown): string | null {
  if (typeof payload === 'string') return payload
  const { text, prompt } = objectOrEmpty(payload)
  if (typeof text === 'string') return text
  return typeof prompt === 'string' ? prompt : null
}

const objectOrEmpty = (value: unknown): Readonly<Partial<Record<string, unknown>>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {}

const arrayOrEmpty = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])

/** Maximum number of exchanges in a conversation, however short they are. */
const MAX_CONVERSATION_EXCHANGES = 500
/** Maximum number of heartbeat news in a conversation. */
const MAX_HEARTBEAT_NEWS = 20
/** An upper bound of bytes per token, so that the byte limit never excludes what the token limit would allow. */
const MAX_BYTES_PER_TOKEN = 8

/** The earlier exchanges in the session of a run, and the sender of its own message. */
export async function findConversation(
  { database }: Pick<Ports, 'database'>,
  request: {
    readonly orgId: OrgId
    readonly runId: RunId
    readonly sessionKey: SessionKey
    readonly mostTokens: number
  },
): Promise<{
  readonly sender: string | null
  readonly retryOf: RunId | null
  readonly exchanges: readonly ChatExchange[]
}> {
  const { orgId, runId, sessionKey } = request
  const run = await loadRunInConversation(database, { orgId, id: runId })
  if (run === undefined) return { sender: null, retryOf: null, exchanges: [] }
  const exchanges = await loadExchanges(database, {
    ...{ orgId, sessionKey, generation: run.generation, without: runId },
    ...{ limit: MAX_CONVERSATION_EXCHANGES, maxBytes: request.mostTokens * MAX_BYTES_PER_TOKEN },
  })
  const added = await loadAddedExchanges(database, {
    ...{ orgId, sessionKey, generation: run.generation, limit: MAX_HEARTBEAT_NEWS },
  })
  return { sender: run.sender, retryOf: run.retryOf, exchanges: [...exchanges, ...added] }
}

type SessionPorts = Pick<Ports, 'database' | 'settings'>

const NO_PENDING_RUNS: SessionCounts = { active: 0, waiting: 0 }

/** A session with its effective rules: its own, or else those of the deployment. */
function viewSession(row: SessionRow, deployment: SessionRules, counts: SessionCounts = NO_PENDING_RUNS): SessionView {
  const rules = { ...deployment, ...row.own }
  return {
    key: row.key,
    org_id: row.orgId,
    mode: rules.mode,
    cap: rules.cap,
    drop: rules.drop,
    debounce_ms: rules.debounceMs,
    max_concurrent: rules.maxConcurrent,
    generation: row.generation,
    tokens: row.context?.tokens ?? null,
    context_window: row.context?.contextWindow ?? null,
    active: counts.active,
    waiting: counts.waiting,
    created_at: formatInstant(row.createdAt),
  }
}

/** The session and its counts of pending runs. */
export async function getSession(ports: SessionPorts, orgId: OrgId, text: string): Promise<SessionView> {
  const key = readSessionKey(text)
  const [row] = await loadSessions(ports.database, { orgId, keys: [key] })
  if (row === undefined) throw new Refusal('NOT_FOUND', `There is no session ${text}`)
  const counts = await countSessionWork(ports.database, { orgId, keys: [key] })
  return viewSession(row, ports.settings().sessions, counts.get(key))
}

/** A page of the org's sessions, newest first. */
export async function findSessions(
  ports: SessionPorts,
  orgId: OrgId,
  filter: SessionFilter = {},
): Promise<Page<SessionView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, key: sessionKey(cursor.key) }
  const rows = await listSessions(ports.database, {
    orgId,
    after,
    limit: limit + 1,
    withRuns: filter.isolated === true,
  })
  const counts = await countSessionWork(ports.database, { orgId, keys: rows.map((row) => row.key) })
  const deployment = ports.settings().sessions
  return pageOf(rows, limit, {
    view: (row) => viewSession(row, deployment, counts.get(row.key)),
    cursor: ({ createdAt, key }) => ({ createdAt, key }),
  })
}

/**
 * Sets rules of a session. Creates the session if needed, so that a group can have limits before its first message.
 * Null restores the setting of the deployment.
 */
export async function updateSession(
  ports: Ports,
  caller: Caller & { readonly key: string },
  change: SessionChange,
): Promise<SessionView> {
  const { orgId, key: text } = caller
  const key = readSessionKey(text)
  await ports.commands.execute({
    orgId,
    needs: { sessions: [key] },
    apply: (state) => {
      ensureSession({ state }, key)
      const session = state.sessions.get(key)
      if (session === undefined) throw new Error(`session ${key} was not loaded`)
      const deployment = ports.settings().sessions
      const before = effectiveRulesOf(viewSession(session, deployment))
      session.own = changedRules(session.own, change)
      state.changes.sessions.add(session)
      const after = effectiveRulesOf(viewSession(session, deployment))
      state.changes.audits.push(changed(actorOf(caller), { kind: 'session', id: key }, { before, after }))
    },
  })
  return getSession(ports, orgId, text)
}

const effectiveRulesOf = (view: SessionView): Required<SessionPatch> => {
  const { mode, cap, drop, debounce_ms, max_concurrent } = view
  return { mode, cap, drop, debounce_ms, max_concurrent }
}

const SESSION_RULE_NAMES = {
  mode: 'mode',
  cap: 'cap',
  drop: 'drop',
  debounce_ms: 'debounceMs',
  max_concurrent: 'maxConcurrent',
} as const satisfies Readonly<Record<keyof SessionPatch, keyof SessionRules>>

function changedRules(own: Partial<SessionRules>, change: SessionChange): Partial<SessionRules> {
  const edited: Record<string, unknown> = { ...own }
  for (const [name, rule] of Object.entries(SESSION_RULE_NAMES)) {
    const value = change[name as keyof typeof SESSION_RULE_NAMES]
    if (value === null) Reflect.deleteProperty(edited, rule)
    else if (value !== undefined) edited[rule] = value
  }
  return edited
}
