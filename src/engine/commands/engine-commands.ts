import type { LogEntry } from '../../domain/run/log-entry.ts'
import type { AttemptId, OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import { later, type Instant } from '../../domain/instant.ts'
import type { ReportDecision } from '../../domain/run/reports.ts'
import { loadHoldersNotLost } from '../../features/nodes/store.ts'
import { acted, SIGNAL_ACTOR } from '../../features/audit/entry.ts'
import { checkLateness } from './alerts.ts'
import { type StopResult, stopSession } from './cancel.ts'
import type { OrgState } from '../org-state/org-state.ts'
import { fire } from './fire.ts'
import { endAttempt, settleDue, type Report, applyReport } from './settle.ts'
import type { BackgroundWork, CallbackRow } from '../../features/runs/attempts-store.ts'
import { cutOutput } from '../../features/runs/view.ts'
import type { Command } from '../commands-port.ts'
import type { LoadedOrg } from '../org-state/memory.ts'
import { ensureSession } from '../transaction/transaction.ts'

/** Commands that the engine itself executes. */

/** This many schedules are decided in a few milliseconds; a transaction may end after any command. */
const SCHEDULES_PER_PIECE = 32

/** Decides every due occurrence of the schedules, in several commands that need not share a transaction. */
export const fireCommands = (orgId: OrgId, ids: readonly ScheduleId[]): readonly Command<void>[] =>
  Array.from({ length: Math.ceil(ids.length / SCHEDULES_PER_PIECE) }, (_, index) =>
    fireCommand(orgId, ids.slice(index * SCHEDULES_PER_PIECE, (index + 1) * SCHEDULES_PER_PIECE)),
  )

/** Decides every due occurrence of the schedules. */
export const fireCommand = (orgId: OrgId, ids: readonly ScheduleId[]): Command<void> => ({
  orgId,
  needs: { schedules: ids },
  apply: (state) => {
    for (const id of ids) {
      const row = state.schedules.get(id)
      // Another node was faster.
      if (row === undefined || row.nextRunAt === null || row.nextRunAt > state.now) continue
      if (row.sessionKey !== null) ensureSession({ state }, row.sessionKey)
      fire(state, id)
    }
  },
})

/** Applies an executor's report about an attempt. */
export const reportCommand = (orgId: OrgId, runId: RunId, report: Report): Command<ReportDecision | null> => ({
  orgId,
  apply: (state) => {
    const run = state.runs.get(runId)
    if (run === undefined) return null
    return applyReport(state, run, report)
  },
})

/** An attempt and its run. */
export interface AttemptOfRun {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
}

/** Records a token that may settle the attempt while it is current. Nothing else changes. */
export const offerTokenCommand = (about: AttemptOfRun, tokenHash: Uint8Array): Command<void> => ({
  orgId: about.orgId,
  apply: (state) => {
    state.changes.callbacks.push(tokenRow(about, tokenHash, state))
  },
})

const tokenRow = (about: AttemptOfRun, tokenHash: Uint8Array, { now }: Pick<OrgState, 'now'>): CallbackRow => ({
  ...about,
  tokenHash,
  createdAt: now,
  work: null,
  pollAt: null,
})

/**
 * Lets the run await its callback, with a new token or one that was offered before (null). False when the attempt is no
 * longer current.
 */
export const deferCommand = (about: AttemptOfRun, tokenHash: Uint8Array | null): Command<boolean> => ({
  orgId: about.orgId,
  apply: (state) => {
    const run = state.runs.get(about.runId)
    if (run?.attemptId !== about.attemptId || run.state !== 'running') return false
    if (tokenHash !== null) state.changes.callbacks.push(tokenRow(about, tokenHash, state))
    endAttempt(state, run, { kind: 'accepted' })
    return true
  },
})

/** Results are rarely there earlier. */
const FIRST_POLL_MS = 1_000

/** Lets the run await work in the background. False when the attempt is no longer current. */
export const deferToServiceCommand = (
  about: AttemptOfRun,
  tokenHash: Uint8Array,
  work: BackgroundWork,
): Command<boolean> => ({
  orgId: about.orgId,
  apply: (state) => {
    const run = state.runs.get(about.runId)
    if (run?.attemptId !== about.attemptId || run.state !== 'running') return false
    const pollAt = later(state.now, FIRST_POLL_MS)
    state.changes.callbacks.push({ ...tokenRow(about, tokenHash, state), work, pollAt })
    endAttempt(state, run, { kind: 'accepted', isPolled: true })
    return true
  },
})

/** Settles what lost nodes held. `memory` returns the loaded state of the org, which is current when `apply` runs. */
export const recoverCommand = (
  orgId: OrgId,
  lost: ReadonlyMap<string, Instant>,
  org: () => LoadedOrg | null,
): Command<number> => ({
  orgId,
  apply: (state) => {
    let settled = 0
    for (const [node, leaseUntil] of lost)
      for (const run of [...(org()?.byNode.get(node) ?? [])]) {
        // The rest is found in the next pass.
        if (settled >= state.maxChanges) return settled
        settleDue(state, run, leaseUntil < state.now ? leaseUntil : state.now)
        settled += 1
      }
    return settled
  },
})

/**
 * Settles attempts that their node holds in the database but does not execute, unless it executes them by now or
 * another attempt of the run has started meanwhile. Returns the runs.
 */
export const orphansCommand = (
  orgId: OrgId,
  attempts: ReadonlyMap<RunId, AttemptId>,
  isHeld: (attemptId: AttemptId) => boolean,
): Command<readonly RunId[]> => ({
  orgId,
  apply: (state) => {
    const orphans: RunId[] = []
    for (const [id, attemptId] of attempts) {
      const run = state.runs.get(id)
      if (run === undefined || run.nodeId === null || run.attemptId !== attemptId || isHeld(attemptId)) continue
      settleDue(state, run, state.now)
      orphans.push(id)
    }
    return orphans
  },
})

/** The new entries of an attempt. */
export interface AttemptEntries extends Omit<AttemptOfRun, 'orgId'> {
  readonly entries: readonly LogEntry[]
}

/** Publishes progress events of runs. */
export const outputCommand = (orgId: OrgId, progress: readonly AttemptEntries[]): Command<void> => ({
  orgId,
  apply: (state) => {
    for (const { runId, attemptId, entries } of progress) {
      const run = state.runs.get(runId)
      if (run?.attemptId !== attemptId) continue
      const output = cutOutput(
        entries.map(({ event }) => event),
        MAX_OUTPUT_BYTES,
      )
      // The ids are those of the entries in the log. A text that was cut is not a list of entries.
      const ids = Array.isArray(output) ? { ids: entries.map(({ id }) => id) } : {}
      // Each attempt starts its output anew, so readers need the number of the attempt.
      state.changes.events.push({ kind: 'run.output', subject: runId, data: { attempt: run.attempt, output, ...ids } })
    }
  },
})

/** Maximum size of one progress event in bytes; the full text is in the log. */
const MAX_OUTPUT_BYTES = 16_384

/** Resets a session on behalf of a signal to the process. */
export const resetSessionCommand = (orgId: OrgId, key: SessionKey): Command<StopResult> => ({
  orgId,
  needs: { sessions: [key] },
  apply: (state: OrgState) => {
    const stopped = stopSession(state, key, { how: 'reset' })
    state.changes.audits.push(acted(SIGNAL_ACTOR, { kind: 'session', id: key }, { verb: 'reset', after: stopped }))
    return stopped
  },
})

/**
 * Settles what lost nodes or workers held. Whether they are still lost is read again under the org's lock: every holder
 * was in the database before it held something, so one that joined later is found here.
 */
export const recoverLostCommand = (
  orgId: OrgId,
  lost: ReadonlyMap<string, Instant>,
  org: () => LoadedOrg | null,
): Command<number> => ({
  orgId,
  prepare: (tx) => loadHoldersNotLost(tx, [...lost.keys()]),
  apply: (state, prepared) => {
    const unlost = prepared as ReadonlySet<string>
    const gone = new Map([...lost].filter(([id]) => !unlost.has(id)))
    return recoverCommand(orgId, gone, org).apply(state, undefined)
  },
})

/** Raises the alert about late runs, unless they have started or another node was faster. */
export const lateRunsCommand = (orgId: OrgId, ids: readonly RunId[]): Command<void> => ({
  orgId,
  apply: (state) => {
    for (const id of ids) {
      const run = state.runs.get(id)
      const row = run?.scheduleId === null || run === undefined ? undefined : state.schedules.get(run.scheduleId)
      if (run !== undefined && row !== undefined && run.startedAt === null)
        checkLateness(state, row, { run, hasStarted: false })
    }
  },
})
