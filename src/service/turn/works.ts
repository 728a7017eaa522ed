import type { AttemptId, OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { ReportDecision } from '../../domain/run/reports.ts'
import { loadUnlostHolders } from '../../features/nodes/store.ts'
import { acted, SIGNAL_ACTOR } from '../../features/audit/entry.ts'
import { judgeLateness } from '../desk/alerts.ts'
import { type Stopped, stopSession } from '../desk/cancel.ts'
import type { Desk } from '../desk/desk.ts'
import { fire } from '../desk/fire.ts'
import { endAttempt, passTime, type Report, takeReport } from '../desk/settle.ts'
import { cutOutput } from '../stored-output.ts'
import type { Work } from '../turn-port.ts'
import type { Memory } from './memory.ts'
import { sessionFor } from './turn.ts'

/** The pieces of work that the engine itself hands in. */

/** So few schedules are decided in a few milliseconds, and a transaction may end after any piece of work. */
const SCHEDULES_PER_PIECE = 32

/** Decides every due occurrence of the schedules, in pieces that need not go into one transaction. */
export const fireWorks = (orgId: OrgId, ids: readonly ScheduleId[]): readonly Work<void>[] =>
  Array.from({ length: Math.ceil(ids.length / SCHEDULES_PER_PIECE) }, (_, index) =>
    fireWork(orgId, ids.slice(index * SCHEDULES_PER_PIECE, (index + 1) * SCHEDULES_PER_PIECE)),
  )

/** Decides every due occurrence of the schedules. */
export const fireWork = (orgId: OrgId, ids: readonly ScheduleId[]): Work<void> => ({
  orgId,
  needs: { schedules: ids },
  apply: (desk) => {
    for (const id of ids) {
      const row = desk.schedules.get(id)
      // Another node was faster.
      if (row === undefined || row.nextRunAt === null || row.nextRunAt > desk.now) continue
      if (row.sessionKey !== null) sessionFor({ desk }, row.sessionKey)
      fire(desk, id)
    }
  },
})

/** What an executor said about an attempt. */
export const reportWork = (orgId: OrgId, runId: RunId, report: Report): Work<ReportDecision | null> => ({
  orgId,
  apply: (desk) => {
    const run = desk.runs.get(runId)
    if (run === undefined) return null
    return takeReport(desk, run, report)
  },
})

/** An attempt, by name. */
export interface AttemptOfRun {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
}

/** A token that may settle the attempt while it is the current one. Nothing else changes. */
export const offerWork = (about: AttemptOfRun, tokenHash: Uint8Array): Work<void> => ({
  orgId: about.orgId,
  apply: (desk) => {
    desk.changes.callbacks.push({ ...about, tokenHash, createdAt: desk.now })
  },
})

/**
 * The executor will report later: the run awaits its callback from now on, with a new token or one that was offered
 * before (null). False when the attempt is current no more.
 */
export const deferWork = (about: AttemptOfRun, tokenHash: Uint8Array | null): Work<boolean> => ({
  orgId: about.orgId,
  apply: (desk) => {
    const run = desk.runs.get(about.runId)
    if (run?.attemptId !== about.attemptId || run.state !== 'running') return false
    if (tokenHash !== null) desk.changes.callbacks.push({ ...about, tokenHash, createdAt: desk.now })
    endAttempt(desk, run, { kind: 'accepted' })
    return true
  },
})

/** Settles what lost nodes held. The memory is the one of the org, which is up to date when this is asked. */
export const recoverWork = (
  orgId: OrgId,
  lost: ReadonlyMap<string, Instant>,
  memory: () => Memory | null,
): Work<number> => ({
  orgId,
  apply: (desk) => {
    let settled = 0
    for (const [node, leaseUntil] of lost)
      for (const run of [...(memory()?.byNode.get(node) ?? [])]) {
        // What is left is found at the next look.
        if (settled >= desk.maxChanges) return settled
        passTime(desk, run, leaseUntil < desk.now ? leaseUntil : desk.now)
        settled += 1
      }
    return settled
  },
})

/**
 * Settles attempts that their node holds by the tables and does not execute, unless it does by now or another attempt of
 * the run has begun meanwhile. Answers with the runs.
 */
export const orphanWork = (
  orgId: OrgId,
  attempts: ReadonlyMap<RunId, AttemptId>,
  isHeld: (attemptId: AttemptId) => boolean,
): Work<readonly RunId[]> => ({
  orgId,
  apply: (desk) => {
    const orphans: RunId[] = []
    for (const [id, attemptId] of attempts) {
      const run = desk.runs.get(id)
      if (run === undefined || run.nodeId === null || run.attemptId !== attemptId || isHeld(attemptId)) continue
      passTime(desk, run, desk.now)
      orphans.push(id)
    }
    return orphans
  },
})

/** What runs say on their way, for everybody who watches. */
export const outputWork = (
  orgId: OrgId,
  sayings: readonly { readonly runId: RunId; readonly attemptId: AttemptId; readonly event: unknown }[],
): Work<void> => ({
  orgId,
  apply: (desk) => {
    const byRun = new Map<RunId, unknown[]>()
    for (const { runId, attemptId, event } of sayings) {
      if (desk.runs.get(runId)?.attemptId !== attemptId) continue
      const known = byRun.get(runId)
      if (known === undefined) byRun.set(runId, [event])
      else known.push(event)
    }
    for (const [runId, output] of byRun) {
      // Another attempt begins anew, and whoever shows it has to know.
      const data = { attempt: desk.runs.get(runId)?.attempt, output: cutOutput(output, MOST_OUTPUT) }
      desk.changes.events.push({ kind: 'run.output', subject: runId, data })
    }
  },
})

/** What is said in one breath beyond this is cut: the whole is in the output. */
const MOST_OUTPUT = 16_384

/** Ends a session's generation, because the process was told to. */
export const resetWork = (orgId: OrgId, key: SessionKey): Work<Stopped> => ({
  orgId,
  needs: { sessions: [key] },
  apply: (desk: Desk) => {
    const stopped = stopSession(desk, key, { how: 'reset' })
    desk.changes.audits.push(acted(SIGNAL_ACTOR, { kind: 'session', id: key }, { verb: 'reset', after: stopped }))
    return stopped
  },
})

/**
 * Settles what lost nodes or workers held. Which of them are lost is asked again under the org's lock: whoever held
 * something was on record before, so one that joined after the look is found here.
 */
export const recoverLostWork = (
  orgId: OrgId,
  lost: ReadonlyMap<string, Instant>,
  memory: () => Memory | null,
): Work<number> => ({
  orgId,
  prepare: (tx) => loadUnlostHolders(tx, [...lost.keys()]),
  apply: (desk, prepared) => {
    const unlost = prepared as ReadonlySet<string>
    const gone = new Map([...lost].filter(([id]) => !unlost.has(id)))
    return recoverWork(orgId, gone, memory).apply(desk, undefined)
  },
})

/** Raises the alert about runs that still wait, unless they have started or somebody else was faster. */
export const lateWork = (orgId: OrgId, ids: readonly RunId[]): Work<void> => ({
  orgId,
  apply: (desk) => {
    for (const id of ids) {
      const run = desk.runs.get(id)
      const row = run?.scheduleId === null || run === undefined ? undefined : desk.schedules.get(run.scheduleId)
      if (run !== undefined && row !== undefined && run.startedAt === null)
        judgeLateness(desk, row, { run, hasStarted: false })
    }
  },
})
