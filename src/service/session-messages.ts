import type { Page } from '../api/page.ts'
import type { PageFilter } from '../api/common.ts'
import { invalid, Refusal } from '../api/refusals.ts'
import type { MessageView } from '../features/sessions/schema.ts'
import { runId, type OrgId } from '../domain/ids.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import { listAddedReplies, type AddedReply } from '../features/heartbeats/log-store.ts'
import type { Listed } from '../platform/db/page.ts'
import { listRunPage } from '../store/run-reads.ts'
import type { RunRecord } from '../store/run-record.ts'
import { loadSessions } from '../store/sessions.ts'
import { pageOfListed, parseCursor, parseLimit, writeCursor } from '../platform/db/cursor.ts'
import { collectFlaws } from '../domain/input-fields.ts'
import { readSessionKey } from './messages.ts'
import type { Ports } from './ports.ts'
import { momentOrNull } from './schedule-view.ts'

/** A page of what was said to a session and what came of it, newest first. */
export async function findMessages(
  { database }: Pick<Ports, 'database'>,
  asked: { readonly orgId: OrgId; readonly key: string },
  filter: PageFilter = {},
): Promise<Page<MessageView>> {
  const { orgId } = asked
  const key = readSessionKey(asked.key)
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: runId(cursor.key) }
  const runs = await listRunPage(database, { orgId, sessionKey: key, after, limit, whole: true })
  const added = await listAddedReplies(database, { orgId, sessionKey: key, after, limit })
  const listed = merged({ rows: runs.rows.map(viewOfRun), more: runs.more }, addedTo(added), limit)
  if (listed.rows.length === 0) {
    const [session] = await loadSessions(database, { orgId, keys: [key] })
    if (session === undefined) throw new Refusal('NOT_FOUND', `There is no session ${asked.key}`)
  }
  return pageOfListed(
    listed,
    ({ view }) => view,
    ({ createdAt, id }) => writeCursor({ createdAt, key: id }),
  )
}

/** A message with its place in the order of a session. */
interface Placed {
  readonly createdAt: Instant
  readonly id: string
  readonly view: MessageView
}

const newestFirst = (a: Placed, b: Placed): number => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)

/** One page of two lists: below the end of a list that goes on, what the other has has to wait for the next page. */
function merged(runs: Listed<Placed>, added: Listed<Placed>, limit: number): Listed<Placed> {
  const ends = [runs, added].flatMap(({ rows, more }) => (more ? rows.slice(-1) : [])).toSorted(newestFirst)
  const [end] = ends
  const all = [...runs.rows, ...added.rows].toSorted(newestFirst)
  const rows = end === undefined ? all : all.filter((one) => newestFirst(one, end) <= 0)
  return { rows: rows.slice(0, limit), more: end !== undefined || rows.length > limit }
}

const viewOfRun = (run: RunRecord): Placed => ({ createdAt: run.createdAt, id: run.id, view: viewMessage(run) })

/** News of heartbeats as messages: a reply to nothing that was said here. */
const addedTo = ({ rows, more }: Listed<AddedReply>): Listed<Placed> => ({
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
  const { attachments, messageIds } = objectOf(run.payload)
  return {
    run_id: run.id,
    trigger: run.trigger,
    message_ids: listOf(messageIds).filter((id) => typeof id === 'string'),
    sender: run.sender,
    text: textOf(run.payload),
    attachments: listOf(attachments),
    status: run.state,
    reason: (run.why ?? run.decision).reason,
    reply: run.output,
    error_code: run.errorCode,
    error_message: run.errorMessage,
    created_at: formatInstant(run.createdAt),
    started_at: momentOrNull(run.startedAt),
    finished_at: momentOrNull(run.finishedAt),
  }
}

/** What a run was told, when that is a text: the text of a message, the prompt of a schedule. */
export function textOf(payload: unknown): string | null {
  if (typeof payload === 'string') return payload
  const { text, prompt } = objectOf(payload)
  if (typeof text === 'string') return text
  return typeof prompt === 'string' ? prompt : null
}

const objectOf = (value: unknown): Readonly<Partial<Record<string, unknown>>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])
