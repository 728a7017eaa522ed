import { isActive } from '../../domain/run/run.ts'
import { formatHeartbeatTarget, type HeartbeatConfig } from '../../domain/heartbeat/heartbeat-config.ts'
import { heartbeatMessage } from '../../domain/heartbeat/heartbeat-reply.ts'
import {
  decideManualHeartbeat,
  decideHeartbeat,
  type HeartbeatFacts,
  type HeartbeatRoute,
  type KnownRoutes,
} from '../../domain/heartbeat/heartbeat.ts'
import type { AgentId, OrgId, RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Transaction } from '../../platform/db/database.ts'
import { writeHeartbeatLog, type HeartbeatLogRow } from './log-store.ts'
import {
  loadDueHeartbeats,
  loadHeartbeats,
  loadNextHeartbeat,
  saveHeartbeatProgress,
  type HeartbeatRow,
} from './store.ts'
import { acted, actorOf, type AuditEntry } from '../audit/entry.ts'
import type { Caller } from '../access/caller.ts'
import type { ChecklistRead } from './checklist-files.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import { submissionFor, submit } from '../../engine/commands/submit.ts'
import { heartbeatEntryId, updateStreak, publishHeartbeat } from '../../engine/commands/heartbeats.ts'
import { deliveryTo, findHeartbeatRoutes, NO_ROUTES, answerSession } from './recipients.ts'
import { storedHeartbeatConfig } from './view.ts'
import type { Ports } from '../../engine/ports.ts'
import { ensureSession } from '../../engine/transaction/transaction.ts'
import type { Command } from '../../engine/commands-port.ts'

/** A heartbeat and its checklist, read before the org is locked. */
export interface HeartbeatReading {
  readonly row: HeartbeatRow
  readonly checklist: string | null
  readonly problem: string | null
}

/** Reads the checklists of heartbeats from their settings or from files. */
export function readChecklists(
  ports: Pick<Ports, 'checklists'>,
  rows: readonly HeartbeatRow[],
): Promise<readonly HeartbeatReading[]> {
  return Promise.all(
    rows.map(async (row) => {
      const { checklist } = storedHeartbeatConfig(row)
      if (checklist === null) return { row, checklist: null, problem: null }
      if (checklist.kind === 'text') return { row, checklist: checklist.text, problem: null }
      const read: ChecklistRead = (await ports.checklists?.read(row.orgId, checklist.file)) ?? NO_FILES
      return read.ok ? { row, checklist: read.text, problem: null } : { row, checklist: null, problem: read.problem }
    }),
  )
}

const NO_FILES: ChecklistRead = { ok: false, problem: 'heartbeat.checklist_dir is not set' }

/** Heartbeats decided in one batch. */
const MAX_DUE_HEARTBEATS = 200

/** Finds due heartbeats by org, without the orgs in `except`. */
export async function findDueHeartbeats(
  ports: Pick<Ports, 'database' | 'checklists'>,
  { now, except }: { readonly now: Instant; readonly except: readonly OrgId[] },
): Promise<{ readonly byOrg: ReadonlyMap<OrgId, readonly HeartbeatReading[]>; readonly more: boolean }> {
  const rows = await loadDueHeartbeats(ports.database, { now, limit: MAX_DUE_HEARTBEATS, except })
  const byOrg = new Map<OrgId, HeartbeatReading[]>()
  for (const reading of await readChecklists(ports, rows)) {
    const known = byOrg.get(reading.row.orgId)
    if (known === undefined) byOrg.set(reading.row.orgId, [reading])
    else known.push(reading)
  }
  return { byOrg, more: rows.length >= MAX_DUE_HEARTBEATS }
}

/** Finds when the next heartbeat is due after a time. */
export const findNextHeartbeat = ({ database }: Pick<Ports, 'database'>, after: Instant): Promise<Instant | null> =>
  loadNextHeartbeat(database, after)

/** The input of a decision besides the org state. */
interface PreparedHeartbeat extends HeartbeatReading {
  readonly config: HeartbeatConfig
  readonly routes: KnownRoutes
}

/** The rows a command writes. */
interface HeartbeatWrites {
  readonly rows: readonly HeartbeatRow[]
  readonly entries: readonly HeartbeatLogRow[]
}

/** Reloads the rows under the lock of the org. A heartbeat that changed since it was read is left for the next scan. */
async function prepareHeartbeats(
  tx: Transaction,
  { orgId, now }: { readonly orgId: OrgId; readonly now: Instant },
  readings: readonly HeartbeatReading[],
): Promise<readonly PreparedHeartbeat[]> {
  const rows = await loadHeartbeats(tx, { orgId, agentIds: readings.map(({ row }) => row.agentId) })
  const present = readings.flatMap((reading) => {
    const row = rows.find(({ agentId }) => agentId === reading.row.agentId)
    return row === undefined || row.version !== reading.row.version
      ? []
      : [{ ...reading, row, config: storedHeartbeatConfig(row) }]
  })
  const all = present.map(({ row, config }) => ({ agentId: row.agentId, config, lastKnown: row }))
  const found = await findHeartbeatRoutes(tx, { orgId, now, all })
  return present.map((reading, index) => {
    const { routes, lastKnown } = found[index] ?? { routes: NO_ROUTES, lastKnown: reading.row }
    return { ...reading, row: { ...reading.row, ...lastKnown }, routes }
  })
}

const requiredRows = (readings: readonly HeartbeatReading[]): NonNullable<Command<unknown>['needs']> => ({
  agents: readings.map(({ row }) => row.agentId),
  sessions: readings.map(({ row }) => storedHeartbeatConfig(row).session),
})

async function writeHeartbeats(
  tx: Transaction,
  orgId: OrgId,
  { rows, entries: beats }: HeartbeatWrites,
): Promise<void> {
  if (rows.length > 0) saveHeartbeatProgress(tx, orgId, rows)
  if (beats.length > 0) writeHeartbeatLog(tx, orgId, beats)
  return Promise.resolve()
}

/** Creates the command that decides due heartbeats, each exactly once even if several nodes see it as due. */
export function dueHeartbeatsCommand(
  ports: Pick<Ports, 'newId'>,
  orgId: OrgId,
  readings: readonly HeartbeatReading[],
): Command<HeartbeatWrites> {
  return {
    orgId,
    needs: requiredRows(readings),
    prepare: (tx, now) => prepareHeartbeats(tx, { orgId, now }, readings),
    apply: (state, prepared) => {
      const due = (prepared as readonly PreparedHeartbeat[]).filter(
        ({ row }) => row.nextAt !== null && row.nextAt <= state.now,
      )
      const busy = busyAgents(state, due)
      const writes = due.map((heartbeat) =>
        decideDueHeartbeat(state, ports, { ...heartbeat, busyWith: busy.get(heartbeat.row.agentId) ?? null }),
      )
      return { rows: writes.map(({ row }) => row), entries: writes.flatMap(({ entry }) => entry ?? []) }
    },
    afterApply: (tx, writes) => writeHeartbeats(tx, orgId, writes),
  }
}

type HeartbeatCandidate = PreparedHeartbeat & Pick<HeartbeatFacts, 'busyWith'>

function decideDueHeartbeat(
  state: OrgState,
  ports: Pick<Ports, 'newId'>,
  heartbeat: HeartbeatCandidate,
): { readonly row: HeartbeatRow; readonly entry: HeartbeatLogRow | null } {
  const { row } = heartbeat
  const dueAt = row.dueAt ?? state.now
  const decision = decideHeartbeat({ ...heartbeatFacts(state, heartbeat), dueAt, okStreak: row.okStreak })
  if (decision.kind === 'off') return { row: { ...row, dueAt: null, nextAt: null }, entry: null }
  const entryOf = (outcome: 'skipped' | 'busy'): HeartbeatLogRow =>
    recordStopped(state, heartbeat, { ports, outcome, dueAt, why: decision.why })
  switch (decision.kind) {
    case 'retry':
      return { row: { ...row, nextAt: decision.retryAt }, entry: entryOf('busy') }
    case 'skip':
      return {
        row: updateStreak(
          state,
          { ...row, dueAt: decision.nextAt, nextAt: decision.nextAt, lastDueAt: dueAt },
          { result: decision.why.reason === 'no_route' ? 'to nothing' : 'not far', why: decision.why },
        ),
        entry: entryOf('skipped'),
      }
    case 'run': {
      const trace = state.randomSource.newTrace?.('heartbeat') ?? null
      const { entry, runId } = startHeartbeatRun(state, heartbeat, {
        route: decision.route,
        dueAt,
        why: decision.why,
        trace,
      })
      const { nextAt } = decision
      return { row: { ...row, dueAt: nextAt, nextAt, lastDueAt: dueAt, runId }, entry }
    }
  }
}

function heartbeatFacts(state: OrgState, heartbeat: HeartbeatCandidate): Omit<HeartbeatFacts, 'dueAt' | 'okStreak'> {
  const { config, checklist, problem, busyWith } = heartbeat
  return { ...heartbeat.routes, config, now: state.now, checklist, checklistProblem: problem, busyWith }
}

/** Finds agents with an active run, or with an unfinished run of their previous heartbeat. */
function busyAgents(state: OrgState, due: readonly PreparedHeartbeat[]): ReadonlyMap<AgentId, RunId> {
  const agentIds = new Set(due.map(({ row }) => row.agentId))
  const busy = new Map<AgentId, RunId>()
  for (const { row } of due)
    if (row.runId !== null && state.runs.get(row.runId)?.finishedAt === null) busy.set(row.agentId, row.runId)
  if (agentIds.size === busy.size) return busy
  for (const run of state.runs.values())
    if (agentIds.has(run.agentId) && run.finishedAt === null && isActive(run)) busy.set(run.agentId, run.id)
  return busy
}

/** Records a heartbeat that stops before a model is called. */
function recordStopped(
  state: OrgState,
  { row, config }: PreparedHeartbeat,
  stop: {
    readonly ports: Pick<Ports, 'newId'>
    readonly outcome: 'skipped' | 'busy'
    readonly dueAt: Instant | null
    readonly why: Why
  },
): HeartbeatLogRow {
  const { outcome, dueAt, why } = stop
  state.changes.heartbeatOutcomes.push(outcome)
  publishHeartbeat(state, row.agentId, { outcome, reason: why.reason, runId: null })
  return {
    ...{ id: stop.ports.newId('beat', state.now), agentId: row.agentId, dueAt, at: state.now, outcome, why },
    ...{ target: formatHeartbeatTarget(config.target), runId: null, content: null, deliveryId: null },
    ...{ finishedAt: state.now, sessionKey: null },
  }
}

interface HeartbeatStart {
  readonly route: HeartbeatRoute
  readonly dueAt: Instant | null
  readonly why: Why
  readonly trace: string | null
}

/** Submits a run with the checklist. If admission rejects it, the run has ended and is recorded like any other. */
function startHeartbeatRun(
  state: OrgState,
  heartbeat: PreparedHeartbeat,
  { route, dueAt, why, trace }: HeartbeatStart,
): StartedHeartbeat {
  const { row, config } = heartbeat
  const target = formatHeartbeatTarget(config.target)
  ensureSession({ state }, config.session)
  const submission = submissionFor({
    ...{ trigger: 'heartbeat', agentId: row.agentId, sessionKey: config.session },
    content: { prompt: heartbeatMessage(config.prompt, heartbeat.checklist ?? '') },
    delivery: {
      heartbeat: {
        target,
        ackMaxChars: config.ackMaxChars,
        to: deliveryTo(route),
        dueAt,
        ...probeOption(config),
        ...answerSession(config, route),
      },
    },
    ...{ trace, why },
  })
  const submitted = submit(state, submission)
  const { runId } = submitted
  publishHeartbeat(state, row.agentId, { outcome: 'running', reason: why.reason, runId })
  const entry: HeartbeatLogRow = {
    ...{ id: heartbeatEntryId(runId), agentId: row.agentId, dueAt, at: state.now, why, target, runId },
    outcome: 'running',
    ...{ content: null, deliveryId: null, finishedAt: null, sessionKey: null },
  }
  return { runId, entry, refused: 'why' in submitted ? submitted.why : null }
}

const probeOption = ({ probe }: HeartbeatConfig): Readonly<Record<string, unknown>> => (probe === null ? {} : { probe })

interface StartedHeartbeat {
  readonly runId: RunId
  readonly entry: HeartbeatLogRow
  /** Why admission rejected the run; null when it was admitted. */
  readonly refused: Why | null
}

/** The result of a requested heartbeat. Null: the heartbeat was changed while its checklist was read. */
export type RequestedHeartbeat = {
  readonly kind: 'run' | 'stop' | 'busy'
  readonly runId: RunId | null
  readonly why: Why
} | null

/** Creates the command that runs a heartbeat once on request, without changing its timing. */
export function requestedHeartbeatCommand(
  ports: Pick<Ports, 'newId'>,
  caller: Caller,
  reading: HeartbeatReading,
): Command<RequestedHeartbeat> {
  const { orgId } = caller
  // Kept outside the answer: a repeated request returns the stored answer, and nothing must be written again.
  let writes: HeartbeatWrites = NO_WRITES
  return {
    orgId,
    needs: requiredRows([reading]),
    prepare: (tx, now) => prepareHeartbeats(tx, { orgId, now }, [reading]),
    apply: (state, prepared) => {
      writes = NO_WRITES
      const [heartbeat] = prepared as readonly PreparedHeartbeat[]
      if (heartbeat === undefined) return null
      const busyWith = busyAgents(state, [heartbeat]).get(heartbeat.row.agentId) ?? null
      const decision = decideManualHeartbeat(heartbeatFacts(state, { ...heartbeat, busyWith }))
      const { row } = heartbeat
      state.changes.audits.push(heartbeatTestAudit(caller, row.agentId, decision.why))
      if (decision.kind !== 'run') {
        const outcome = decision.kind === 'busy' ? 'busy' : 'skipped'
        writes = {
          rows: [],
          entries: [recordStopped(state, heartbeat, { ports, outcome, dueAt: null, why: decision.why })],
        }
        return { ...decision, runId: null }
      }
      const { route, why } = decision
      const { entry, runId, refused } = startHeartbeatRun(state, heartbeat, {
        route,
        dueAt: null,
        why,
        trace: caller.trace ?? null,
      })
      writes = { rows: [{ ...row, runId }], entries: [entry] }
      return { kind: refused === null ? 'run' : 'stop', runId, why: refused ?? why }
    },
    afterApply: (tx) => writeHeartbeats(tx, orgId, writes),
  }
}

const NO_WRITES: HeartbeatWrites = { rows: [], entries: [] }

const heartbeatTestAudit = (caller: Caller, id: AgentId, why: Why): AuditEntry =>
  acted(actorOf(caller), { kind: 'heartbeat', id }, { verb: 'test', after: { reason: why.reason } })
