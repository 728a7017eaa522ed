import { decideMark } from '../core/channel/marks.ts'
import type { OpenChannel } from '../domain/channel/services.ts'
import type { ChannelId, RunId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import {
  attend,
  clearMark,
  findMarks,
  giveBack,
  holdAll,
  noteHealth,
  putPlaceholder,
  takeUpdates,
  type ChannelRow,
  type TendedMark,
} from '../features/channels/updates.ts'
import type { Ports } from '../service/ports.ts'
import { createLoop } from './loops/loop.ts'
import type { NodeParts } from './node-parts.ts'

const LOOK_EVERY_MS = 1_000
const LONGEST_WAIT_MS = 60_000

/** When channels are attended to: who asks for updates, and what is shown in chats meanwhile. */
export interface ChannelAttendance {
  readonly start: () => void
  readonly stop: () => Promise<void>
}

export interface AttendanceContext {
  readonly parts: NodeParts
  readonly ports: Ports
  /** Where requests to a channel reach this deployment; null: nobody knows yet. */
  readonly hookUrl: (id: string) => string | null
}

/** A channel that this node attends to. */
interface Attended {
  readonly row: ChannelRow
  readonly leaving: AbortController
  /** Null until its secrets are open and its service has said who it is. */
  open: OpenChannel | null
  /** The last update that was taken. */
  lastUpdate: number | null
  done: Promise<void>
}

interface Attending extends AttendanceContext {
  readonly held: Map<ChannelId, Attended>
  readonly typed: Map<RunId, Instant>
  /** Marks that somebody is at. */
  readonly busy: Set<RunId>
}

/** Attends to the channels that no other node attends to: a lease in the database says whose they are. */
export function createChannelAttendance(ctx: AttendanceContext): ChannelAttendance {
  const { parts, ports } = ctx
  const attending: Attending = { ...ctx, held: new Map(), typed: new Map(), busy: new Set() }
  const loop = createLoop(
    async () => {
      await look(attending)
      return undefined
    },
    {
      everyMs: LOOK_EVERY_MS,
      sleep: parts.ctx.sleep,
      onError: (error, failures) => {
        parts.health.failed(error)
        return Math.min(5_000, 100 * 2 ** Math.min(failures, 6))
      },
    },
  )
  // Whoever is stopped should see it at once, not at the next look.
  parts.hearers.add((_, turn) => {
    if (attending.held.size > 0 && turn.events.some(([kind]) => kind === 'outbound')) loop.wake()
  })
  return {
    start: loop.start,
    stop: async () => {
      await loop.stop()
      await leave(attending, [...attending.held.values()])
      await giveBack(ports, parts.id()).catch(() => undefined)
    },
  }
}

async function look(attending: Attending): Promise<void> {
  const { parts, ports, held } = attending
  // What goes down takes nothing in any more; others take over at once.
  if (parts.state.draining) {
    if (held.size === 0) return
    await leave(attending, [...held.values()])
    await giveBack(ports, parts.id())
    return
  }
  const rows = new Map((await holdAll(ports, parts.id())).map((row) => [row.id, row]))
  parts.health.answered()
  const isSame = ({ row, leaving }: Attended): boolean =>
    !leaving.signal.aborted && rows.get(row.id)?.updatedAt === row.updatedAt
  await leave(
    attending,
    [...held.values()].filter((one) => !isSame(one)),
  )
  for (const row of rows.values()) if (!held.has(row.id)) begin(attending, row)
  if (held.size > 0) await tend(attending)
}

async function leave({ held }: Attending, gone: readonly Attended[]): Promise<void> {
  for (const { row, leaving } of gone) {
    leaving.abort()
    held.delete(row.id)
  }
  await Promise.all(gone.map(({ done }) => done))
}

function begin(attending: Attending, row: ChannelRow): void {
  const attended: Attended = {
    row,
    leaving: new AbortController(),
    open: null,
    lastUpdate: row.lastUpdate,
    done: Promise.resolve(),
  }
  attending.held.set(row.id, attended)
  attended.done = attendTo(attending, attended)
}

/** Attends to a channel until it is left. Whatever fails is said on the channel and tried again. */
async function attendTo(attending: Attending, attended: Attended): Promise<void> {
  const { parts, ports } = attending
  const { signal } = attended.leaving
  const isLeft = (): boolean => signal.aborted
  let failures = 0
  while (!isLeft()) {
    const failure = await serve(attending, attended).catch((error: unknown) => asFailure(error))
    if (isLeft()) return
    if (failure === null) {
      failures = 0
      continue
    }
    failures += 1
    const facts = { channel: attended.row.id, error: failure.message }
    parts.ctx.log({ level: 'warn', message: 'A channel cannot be attended to; it is tried again', facts })
    await noteHealth(ports, attended.row, failure.message).catch(() => undefined)
    await parts.ctx.sleep(failure.waitMs ?? Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** Math.min(failures, 6)), signal)
  }
}

interface Failure {
  readonly message: string
  readonly waitMs: number | null
}

const asFailure = (error: unknown): Failure => ({
  message: error instanceof Error ? error.message : String(error),
  waitMs: null,
})

/** One round: who are we, where do updates come from, and, if we ask for them, the next ones. Null: it went well. */
async function serve(attending: Attending, attended: Attended): Promise<Failure | null> {
  const { parts, ports, hookUrl } = attending
  const { row, leaving } = attended
  if (attended.open === null) {
    const { open, failure } = await attend(ports, row, leaving.signal)
    if (failure !== null) return { message: failure, waitMs: null }
    const url = row.settings.mode === 'webhook' ? hookUrl(row.id) : null
    const set = await ports.channels.setWebhook(open, url, leaving.signal)
    if (set === null) return null
    if (!set.ok) return { message: set.message, waitMs: set.retryAfterMs ?? null }
    attended.open = open
    if (row.failure !== null) await noteHealth(ports, row, null)
  }
  if (row.settings.mode === 'webhook') {
    await parts.ctx.sleep(LONGEST_WAIT_MS, leaving.signal)
    return null
  }
  return poll(attending, attended, attended.open)
}

async function poll({ parts, ports }: Attending, attended: Attended, open: OpenChannel): Promise<Failure | null> {
  const { row, leaving } = attended
  while (!leaving.signal.aborted) {
    const got = await ports.channels.updates(open, attended.lastUpdate, leaving.signal)
    if (got === null) return null
    if (!got.ok) return { message: got.message, waitMs: got.retryAfterMs }
    if (got.updates.length === 0) continue
    const taken = await takeUpdates(ports, { row, open, holder: parts.id() }, got.updates)
    if (taken === null) {
      leaving.abort()
      return null
    }
    await noteHealth(ports, row, taken.failure)
    attended.lastUpdate = Math.max(attended.lastUpdate ?? -1, taken.last)
  }
  return null
}

/** Shows in chats what runs are at, and clears what no answer will take the place of. */
async function tend(attending: Attending): Promise<void> {
  const { ports, held, busy, typed } = attending
  const marks = await findMarks(ports, [...held.keys()])
  for (const id of [...typed.keys()]) if (!marks.some(({ runId }) => runId === id)) typed.delete(id)
  for (const mark of marks) {
    const attended = held.get(mark.channelId)
    const open = attended?.open ?? null
    if (attended === undefined || open === null || busy.has(mark.runId)) continue
    busy.add(mark.runId)
    void tendOne(attending, { attended, open, mark })
      .catch(() => undefined)
      .finally(() => busy.delete(mark.runId))
  }
}

async function tendOne(
  { parts, ports, typed }: Attending,
  { attended, open, mark }: { readonly attended: Attended; readonly open: OpenChannel; readonly mark: TendedMark },
): Promise<void> {
  const now = parts.ctx.clock.now()
  const { state, startedAt, answer } = mark
  const shown = { hasPlaceholder: mark.placeholder !== null, typedAt: typed.get(mark.runId) ?? null }
  const decided = decideMark({ state, startedAt, answer, ...shown, now })
  if (decided.kind === 'clear') {
    const { removesPlaceholder } = decided
    await clearMark(ports, open, { mark, removesPlaceholder, signal: attended.leaving.signal })
  }
  if (decided.kind !== 'show') return
  if (decided.typing) {
    typed.set(mark.runId, now)
    await ports.channels.showTyping(open, mark.peer)
  }
  if (decided.placeholder) await putPlaceholder(ports, open, mark)
}
