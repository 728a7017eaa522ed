import { MAX_LOG_BYTES, type RunLogRow } from '../features/runs/log-store.ts'
import { cutOutput } from '../features/runs/view.ts'
import type { AttemptId, OrgId, RunId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { createEntryIds, joinWords, type LogEntry, logEvent } from '../domain/run/log-entry.ts'
import { type AttemptEntries, type AttemptOfRun, outputCommand } from './commands/engine-commands.ts'
import type { OrgActor } from './org-actor.ts'

/** An event that a run reports while it works. */
export interface ProgressEvent {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly event: unknown
}

/** Events are collected for this long: a model emits fifty words a second, and each transaction costs a commit. */
const PROGRESS_BATCH_MS = 100
/** What was collected is stored this often, in one statement for all attempts of the node. */
const STORE_MS = 1_000
/** Maximum size of a chunk, and of an entry in it. */
const MAX_CHUNK_BYTES = 65_536
/** Further entries are dropped while the database stores nothing. */
const MAX_UNSTORED_BYTES = 16 * MAX_LOG_BYTES
/** Attempts whose size is remembered; workers may end theirs at another node. */
const MAX_KNOWN_ATTEMPTS = 10_000
/** Room for the last entry, which tells that the rest is missing. */
const MARK_BYTES = 1_024

export interface Progress {
  readonly add: (progressEvent: ProgressEvent) => void
  /** Publishes and stores what the attempt has printed, before its report. Null: it has printed nothing. */
  readonly settle: (attempt: AttemptOfRun) => Promise<void> | null
}

interface ProgressContext {
  readonly officeOf: (orgId: OrgId) => OrgActor
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly stopping: AbortSignal
  readonly now: () => Instant
  /** The id of this node, which tells its entries from those of other nodes. */
  readonly nodeId: () => string
  readonly store: (chunks: readonly RunLogRow[]) => Promise<void>
  readonly failed: (error: unknown) => void
}

/**
 * Collects the progress events of runs, publishes them in batches, and stores them as the logs of the runs. Events after
 * the end of a run are stored but not published.
 */
export function createProgress(ctx: ProgressContext): Progress {
  const collected = new Map<OrgId, Map<AttemptId, { readonly runId: RunId; readonly pieces: LogEntry[] }>>()
  const nextId = createEntryIds(ctx.now, () => ctx.nodeId().slice(-4))
  const logs = createLogWriter(ctx)
  const flush = (orgId: OrgId): void => {
    const attempts = collected.get(orgId)
    if (attempts === undefined) return
    collected.delete(orgId)
    const batch = [...attempts].map(([attemptId, { runId, pieces }]): AttemptEntries => {
      const entries = joinWords(pieces).map(({ id, event }) => ({ id, event: storable(event) }))
      return { runId, attemptId, entries }
    })
    for (const { runId, attemptId, entries } of batch) logs.add({ orgId, runId, attemptId }, entries)
    // No caller waits for it, and nothing depends on it.
    const submitted = ctx.officeOf(orgId).execute(outputCommand(orgId, batch))
    submitted.catch(() => undefined)
  }
  return {
    add: ({ orgId, runId, attemptId, event }) => {
      let attempts = collected.get(orgId)
      if (attempts === undefined) {
        attempts = new Map()
        collected.set(orgId, attempts)
        void ctx.sleep(PROGRESS_BATCH_MS, ctx.stopping).then(() => {
          flush(orgId)
        })
      }
      const piece = { id: nextId(), event }
      const known = attempts.get(attemptId)
      if (known === undefined) attempts.set(attemptId, { runId, pieces: [piece] })
      else known.pieces.push(piece)
    },
    settle: ({ orgId, attemptId }) => {
      flush(orgId)
      return logs.settle(attemptId)
    },
  }
}

const storable = (event: unknown): unknown => cutOutput(event, MAX_CHUNK_BYTES)

/** The chunk of an attempt that is being filled. */
interface OpenChunk extends AttemptOfRun {
  readonly id: string
  readonly texts: string[]
  bytes: number
}

/** Chunks that are being filled, and those that wait to be stored. */
function createChunks(): {
  readonly put: (attempt: AttemptOfRun, id: string, text: string) => void
  readonly takeAll: () => readonly RunLogRow[]
  readonly putBack: (rows: readonly RunLogRow[]) => void
  readonly stored: (rows: readonly RunLogRow[]) => void
  readonly unstoredBytes: () => number
} {
  const open = new Map<AttemptId, OpenChunk>()
  let closed: RunLogRow[] = []
  let unstored = 0
  const close = (attemptId: AttemptId): void => {
    const chunk = open.get(attemptId)
    if (chunk === undefined) return
    open.delete(attemptId)
    const { orgId, runId, id, texts, bytes } = chunk
    closed.push({ orgId, runId, attemptId, id, bytes, entries: `[${texts.join(',')}]` })
  }
  return {
    put: (attempt, id, text) => {
      const bytes = Buffer.byteLength(text)
      if ((open.get(attempt.attemptId)?.bytes ?? 0) + bytes > MAX_CHUNK_BYTES) close(attempt.attemptId)
      const chunk = open.get(attempt.attemptId)
      if (chunk === undefined) open.set(attempt.attemptId, { ...attempt, id, texts: [text], bytes })
      else {
        chunk.texts.push(text)
        chunk.bytes += bytes
      }
      unstored += bytes
    },
    takeAll: () => {
      for (const attemptId of [...open.keys()]) close(attemptId)
      const rows = closed
      closed = []
      return rows
    },
    putBack: (rows) => {
      closed = [...rows, ...closed]
    },
    stored: (rows) => {
      for (const { bytes } of rows) unstored -= bytes
    },
    unstoredBytes: () => unstored,
  }
}

interface LogWriter {
  readonly add: (attempt: AttemptOfRun, entries: readonly LogEntry[]) => void
  readonly settle: (attemptId: AttemptId) => Promise<void> | null
}

/** Stores entries in chunks, outside of any transaction of an org. A failed statement is repeated with the next one. */
function createLogWriter(ctx: ProgressContext): LogWriter {
  const chunks = createChunks()
  /** The bytes of attempts that have printed something; null: the rest of the attempt is dropped. */
  const sizes = new Map<AttemptId, number | null>()
  let storing: Promise<void> | null = null
  let isTimed = false
  const store = (): Promise<void> => {
    storing ??= storeAll().finally(() => {
      storing = null
    })
    return storing
  }
  const storeAll = async (): Promise<void> => {
    const rows = chunks.takeAll()
    if (rows.length === 0) return
    try {
      await ctx.store(rows)
      chunks.stored(rows)
    } catch (error) {
      ctx.failed(error)
      chunks.putBack(rows)
      schedule()
    }
  }
  const schedule = (): void => {
    if (isTimed || ctx.stopping.aborted) return
    isTimed = true
    void ctx.sleep(STORE_MS, ctx.stopping).then(() => {
      isTimed = false
      return store()
    })
  }
  const append = (attempt: AttemptOfRun, entry: LogEntry, size: number): void => {
    const text = JSON.stringify([entry.id, entry.event])
    const bytes = Buffer.byteLength(text)
    const isOver = size + bytes > MAX_LOG_BYTES - MARK_BYTES || chunks.unstoredBytes() + bytes > MAX_UNSTORED_BYTES
    sizes.delete(attempt.attemptId)
    sizes.set(attempt.attemptId, isOver ? null : size + bytes)
    chunks.put(attempt, entry.id, isOver ? JSON.stringify([entry.id, REST_DROPPED]) : text)
    schedule()
  }
  return {
    add: (attempt, entries) => {
      for (const entry of entries) {
        const size = sizes.get(attempt.attemptId)
        if (size !== null) append(attempt, entry, size ?? 0)
      }
      for (const attemptId of sizes.keys()) if (sizes.size > MAX_KNOWN_ATTEMPTS) sizes.delete(attemptId)
    },
    // What is being stored now was collected before, and may belong to the attempt, too.
    settle: (attemptId) => (sizes.delete(attemptId) ? Promise.resolve(storing).then(store) : null),
  }
}

const REST_DROPPED = logEvent('warn', 'The rest of the log is not stored: an attempt keeps at most 1 MiB.', {
  source: 'escapement',
})
