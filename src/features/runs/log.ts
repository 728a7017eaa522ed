import type { Page } from '../../api/page.ts'
import { invalid } from '../../api/refusals.ts'
import type { AttemptId, OrgId, RunId } from '../../domain/ids.ts'
import { addAll } from '../../domain/long-lists.ts'
import { showEntry } from '../../domain/run/log-entry.ts'
import type { Ports } from '../../engine/ports.ts'
import { readCursorParts, writeCursorParts } from '../../platform/db/cursor.ts'
import { loadAttempts } from './attempts-store.ts'
import { loadRunLogs, MAX_LOG_BYTES, type RunLogRow } from './log-store.ts'
import type { RunLogEntry, RunLogFilter } from './schema.ts'
import { readRun } from './service.ts'

type LogPorts = Pick<Ports, 'database'>

const DEFAULT_PAGE = 200
/** Chunks read in one statement. */
const CHUNKS_READ = 16

/** Where a page starts: the number of an attempt, a chunk of it, and how many of its entries were on earlier pages. */
interface LogPosition {
  readonly attempt: number
  readonly chunk: string
  readonly skip: number
}

const START: LogPosition = { attempt: 0, chunk: '', skip: 0 }

/** Lists what the attempts of a run printed, in order. A page ends early at 1 MiB. */
export async function findRunLog(
  { database }: LogPorts,
  { orgId, id }: { readonly orgId: OrgId; readonly id: string },
  { attempt: only, limit = DEFAULT_PAGE, cursor }: RunLogFilter,
): Promise<Page<RunLogEntry>> {
  const start = positionOf(cursor)
  const run = await readRun({ database }, orgId, id)
  const items: RunLogEntry[] = []
  let bytes = 0
  for (const { number, attemptId } of await attemptsOf({ database }, run)) {
    if (number < start.attempt || (only !== undefined && number !== only)) continue
    const from = number === start.attempt ? start : { ...START, attempt: number }
    for await (const chunk of chunksOf({ database }, { orgId, runId: run.id, attemptId, from: from.chunk })) {
      if (bytes > 0 && bytes + chunk.bytes > MAX_LOG_BYTES)
        return { items, next_cursor: cursorOf({ attempt: number, chunk: chunk.id, skip: 0 }) }
      bytes += chunk.bytes
      const skip = chunk.id === from.chunk ? from.skip : 0
      const entries = entriesOf(chunk, number).slice(skip)
      const room = limit - items.length
      addAll(items, entries.slice(0, room))
      if (entries.length > room)
        return { items, next_cursor: cursorOf({ attempt: number, chunk: chunk.id, skip: skip + room }) }
    }
  }
  return { items, next_cursor: null }
}

interface AttemptNumber {
  readonly number: number
  readonly attemptId: AttemptId
}

/** The attempts of a run in order; the last one is stored in the run itself. */
async function attemptsOf(
  { database }: LogPorts,
  run: { readonly orgId: OrgId; readonly id: RunId; readonly attempt: number; readonly attemptId: AttemptId | null },
): Promise<readonly AttemptNumber[]> {
  const earlier = await loadAttempts(database, { orgId: run.orgId, runId: run.id })
  const last = run.attemptId === null ? [] : [{ number: run.attempt, attemptId: run.attemptId }]
  return [...earlier.map(({ number, id }) => ({ number, attemptId: id })), ...last]
}

async function* chunksOf(
  { database }: LogPorts,
  query: { readonly orgId: OrgId; readonly runId: RunId; readonly attemptId: AttemptId; readonly from: string },
): AsyncGenerator<RunLogRow> {
  let { from } = query
  for (;;) {
    const rows = await loadRunLogs(database, { ...query, from, limit: CHUNKS_READ })
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < CHUNKS_READ) return
    from = `${last.id}~`
  }
}

function entriesOf({ entries }: RunLogRow, attempt: number): readonly RunLogEntry[] {
  const stored = JSON.parse(entries) as readonly (readonly [id: string, event: unknown])[]
  return stored.map(([id, event]) => showEntry({ id, event }, attempt))
}

const cursorOf = ({ attempt, chunk, skip }: LogPosition): string => writeCursorParts([attempt, chunk, skip])

function positionOf(cursor: string | undefined): LogPosition {
  if (cursor === undefined) return START
  const [attempt, chunk, skip] = readCursorParts(cursor) ?? []
  if (!isCount(attempt) || typeof chunk !== 'string' || !isCount(skip))
    throw invalid([
      { field: 'cursor', value: cursor, message: 'is not a cursor', allowed: 'next_cursor of an earlier response' },
    ])
  return { attempt, chunk, skip }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
