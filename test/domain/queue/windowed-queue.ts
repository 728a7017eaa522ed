import type { RunId, SessionKey } from '../../../src/domain/ids.ts'
import type { LineKey, QueueKind, QueuedRun, Shortage } from '../../../src/domain/queue/queued-run.ts'
import { isRunFirst } from '../../../src/domain/queue/ready-lines.ts'
import { createReadyQueue, type ReadyQueue } from '../../../src/domain/queue/ready-queue.ts'
import { isActive } from '../../../src/domain/run/run.ts'
import { inSessionOrder } from '../../../src/domain/session/session.ts'

/** How many runs of a line and of a session are in memory; further ones are in the backlog. */
export interface Window {
  readonly line: number
  readonly session: number
}

/** What somebody might do wrong on a bad day. */
export const WINDOW_MISTAKES = [
  'a newcomer that belongs into memory goes to the backlog and nobody hears of it',
  'a load skips all but one of the runs with equal priority and age',
  'after a load all that is left is believed to sort behind one run more',
  'a session whose next run is in the backlog is passed over',
] as const
export type WindowMistake = (typeof WINDOW_MISTAKES)[number]

/** A run in the backlog, with a copy of what decides about it. `behind`: another run of its session goes before it. */
interface BacklogRun {
  readonly run: QueuedRun
  /** As it was when it went there: the object may change before the queue is told. */
  readonly row: QueuedRun
  readonly line: LineKey
  readonly key: SessionKey | null
  readonly seq: number
  behind: boolean
}

const lastOfEquals = (rows: readonly BacklogRun[]): readonly BacklogRun[] =>
  rows.filter(({ row }, index) => {
    const next = rows[index + 1]?.row
    return next?.priority !== row.priority || next.createdAt !== row.createdAt
  })

const kindOf = ({ trigger }: QueuedRun): QueueKind =>
  trigger === 'task' || trigger === 'catchup' ? trigger : 'ordinary'

const lineOf = (run: QueuedRun): LineKey => ({
  agentId: run.agentId,
  lane: run.lane,
  executorKey: run.executorKey,
  kind: kindOf(run),
})

const nameOf = ({ agentId, lane, executorKey, kind }: LineKey): string => `${agentId} ${lane} ${executorKey} ${kind}`

/**
 * A ready queue that keeps only the beginning of long lines and sessions in memory, as an org does, with a list in
 * place of the table. Nobody who calls it sees a difference.
 */
export function createWindowedQueue(
  orgId: QueuedRun['orgId'],
  window: Window,
  mistake: WindowMistake | null = null,
): ReadyQueue & { loads: () => number } {
  const queue = createReadyQueue(orgId)
  const backlog = new Map<RunId, BacklogRun>()
  const memory = new Map<RunId, QueuedRun>()
  const froms = new Map<SessionKey, number>()
  const bounds = new Map<string, QueuedRun>()
  let loads = 0

  const ofSession = (key: SessionKey | null): BacklogRun[] =>
    [...backlog.values()].filter((one) => key !== null && one.key === key).sort((a, b) => inSessionOrder(a.row, b.row))
  const ofLine = (line: LineKey): BacklogRun[] =>
    [...backlog.values()]
      .filter((one) => !one.behind && nameOf(one.line) === nameOf(line))
      .sort((a, b) => (isRunFirst(a.row, b.row) ? -1 : 1))

  const tellLine = (line: LineKey, bound: QueuedRun | undefined): void => {
    const waiting = ofLine(line)
    if (waiting.length === 0) bounds.delete(nameOf(line))
    else if (bound !== undefined) bounds.set(nameOf(line), { ...bound })
    queue.setBacklog(line, waiting.length === 0 ? null : (bounds.get(nameOf(line)) ?? null))
  }
  const tellSession = (key: SessionKey | null, from: number): void => {
    if (key === null) return
    froms.set(key, from)
    const isForgotten = mistake === WINDOW_MISTAKES[3] && ofSession(key).length < 2
    queue.setBehind(key, { count: isForgotten ? 0 : ofSession(key).length, from })
  }

  /** Rows enter memory; the part of their line and session that stays is told to the queue. */
  const take = (rows: readonly BacklogRun[], which: 'run' | 'row' = 'run'): void => {
    for (const { [which]: run, key, line } of rows) {
      backlog.delete(run.id)
      memory.set(run.id, run)
      queue.put(run)
      tellSession(key, froms.get(key ?? ('' as SessionKey)) ?? 0)
      tellLine(line, undefined)
    }
  }

  const load = ({ lines, sessions }: Shortage): void => {
    loads += 1
    for (const line of lines) {
      const all = ofLine(line)
      const rows = (mistake === WINDOW_MISTAKES[1] ? lastOfEquals(all) : all).slice(0, window.line)
      const last = mistake === WINDOW_MISTAKES[2] ? all[window.line + 1] : rows.at(-1)
      take(rows)
      tellLine(line, last?.row)
    }
    for (const key of sessions) {
      const rows = ofSession(key).slice(0, window.session)
      take(rows)
      tellSession(key, rows.at(-1)?.seq ?? 0)
    }
  }

  const loadSessions = (): void => {
    for (let short = queue.shortSessions(); short !== null; short = queue.shortSessions()) load(short)
  }

  const stays = (run: QueuedRun): boolean =>
    run.state !== 'queued' ||
    run.attempt !== run.firstAttempt ||
    run.slot !== null ||
    run.interrupts ||
    run.notBefore !== null ||
    run.trigger === 'catchup' ||
    (run.sessionKey !== null && run.seq === null)

  /** Moves a run that has just been put into the backlog if its line or session is full. */
  const demote = (run: QueuedRun): void => {
    if (stays(run)) return
    const line = lineOf(run)
    const key = run.sessionKey
    const tail = ofSession(key)
    const others = [...memory.values()].filter(
      (other) => other.id !== run.id && key !== null && other.sessionKey === key,
    )
    const isBeside = others.some(
      (other) => (other.state === 'queued' && other.slot !== 'parked') || (isActive(other) && other.inGeneration),
    )
    const beside = queue.queuedBeside(run.id)
    const bound = bounds.get(nameOf(line))
    // Whoever comes later in an org has a later position.
    if (tail.some(({ seq }) => seq > (run.seq ?? 0))) return
    let behind = false
    if (tail.length > 0) behind = true
    else if (isBeside) {
      if (beside.inSession <= window.session && beside.ofAgentInLane <= 3 * window.line) return
      behind = true
    } else if (bound === undefined ? beside.ofAgentInLane <= window.line : !isRunFirst(bound, run)) {
      if (bound === undefined || (beside.ofAgentInLane <= 3 * window.line && mistake !== WINDOW_MISTAKES[0])) return
    }
    queue.remove(run.id)
    memory.delete(run.id)
    backlog.set(run.id, { run, row: { ...run }, line, key, seq: run.seq ?? 0, behind })
    if (key !== null) tellSession(key, tail.length === 0 ? (run.seq ?? 0) : Math.min(froms.get(key) ?? 0, run.seq ?? 0))
    const isLower = bound === undefined || (isRunFirst(run, bound) && mistake !== WINDOW_MISTAKES[0])
    if (!behind) tellLine(line, isLower ? run : undefined)
  }

  const leave = (id: RunId): void => {
    const row = backlog.get(id)
    if (row !== undefined) take([row], 'row')
    memory.delete(id)
  }

  return {
    ...queue,
    loads: () => loads,
    put: (run) => {
      const isKnown = memory.has(run.id)
      leave(run.id)
      queue.put(run)
      if (queue.get(run.id) !== null) memory.set(run.id, run)
      if (!isKnown && queue.get(run.id) !== null) demote(run)
      loadSessions()
    },
    remove: (id) => {
      leave(id)
      queue.remove(id)
      loadSessions()
    },
    setSession: (key, limits) => {
      queue.setSession(key, limits)
      loadSessions()
    },
    forgetSession: (key) => {
      // An org forgets only sessions that have nothing in memory, and reads what it has forgotten again.
      queue.forgetSession(key)
      const from = froms.get(key)
      if (from !== undefined) queue.setBehind(key, { count: ofSession(key).length, from })
      loadSessions()
    },
    next: (at) => {
      for (;;) {
        const found = queue.next(at)
        const short = queue.shortage()
        if (found !== null || short === null) return found
        load(short)
      }
    },
  }
}
