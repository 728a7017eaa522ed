import { isActive } from '../../domain/run/run.ts'
import type { HeartbeatConfig } from '../../domain/heartbeat/heartbeat-config.ts'
import { formatHeartbeatTarget } from '../../domain/heartbeat/heartbeat-config.ts'
import { heartbeatMessage } from '../../core/heartbeat/heartbeat-delivery.ts'
import {
  decideAskedHeartbeat,
  decideHeartbeat,
  type HeartbeatFacts,
  type HeartbeatRoute,
  type KnownRoutes,
} from '../../domain/heartbeat/heartbeat.ts'
import type { AgentId, OrgId, RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Transaction } from '../../store/database.ts'
import { writeBeats, type BeatRow } from '../../features/heartbeats/log-store.ts'
import {
  loadDueHeartbeats,
  loadHeartbeats,
  loadNextHeartbeat,
  saveHeartbeats,
  type HeartbeatRow,
} from '../../features/heartbeats/store.ts'
import { acted, actorOf, type AuditEntry } from '../../features/audit/entry.ts'
import type { Caller } from '../caller.ts'
import type { ReadChecklist } from '../checklist-files.ts'
import type { Desk } from '../desk/desk.ts'
import { submissionFor, submit } from '../desk/submit.ts'
import { followStreak } from './alert.ts'
import { deliveryTo, findHeartbeatRoutes, NOWHERE, addingTo } from '../../features/heartbeats/recipients.ts'
import { configOf } from './view.ts'
import type { Ports } from '../ports.ts'
import { beatIdOf, tellBeat } from '../turn/heartbeats.ts'
import { sessionFor } from '../turn/turn.ts'
import type { Work } from '../turn-port.ts'

/** A heartbeat as it was when its checklist was read, which happens before the org is locked. */
export interface Reading {
  readonly row: HeartbeatRow
  readonly checklist: string | null
  readonly problem: string | null
}

/** Reads the checklists of heartbeats, from their settings or from files. */
export function readChecklists(
  ports: Pick<Ports, 'checklists'>,
  rows: readonly HeartbeatRow[],
): Promise<readonly Reading[]> {
  return Promise.all(
    rows.map(async (row) => {
      const { checklist } = configOf(row)
      if (checklist === null) return { row, checklist: null, problem: null }
      if (checklist.kind === 'text') return { row, checklist: checklist.text, problem: null }
      const read: ReadChecklist = (await ports.checklists?.read(row.orgId, checklist.file)) ?? NO_FILES
      return read.ok ? { row, checklist: read.text, problem: null } : { row, checklist: null, problem: read.problem }
    }),
  )
}

const NO_FILES: ReadChecklist = { ok: false, problem: 'heartbeat.checklist_dir is not set' }

/** Heartbeats are decided in batches of this many. */
const BATCH = 200

/** Those whose moment has come, by org; not those of the orgs in `except`. */
export async function findDueHeartbeats(
  ports: Pick<Ports, 'database' | 'checklists'>,
  { now, except }: { readonly now: Instant; readonly except: readonly OrgId[] },
): Promise<{ readonly byOrg: ReadonlyMap<OrgId, readonly Reading[]>; readonly more: boolean }> {
  const rows = await loadDueHeartbeats(ports.database, { now, limit: BATCH, except })
  const byOrg = new Map<OrgId, Reading[]>()
  for (const reading of await readChecklists(ports, rows)) {
    const known = byOrg.get(reading.row.orgId)
    if (known === undefined) byOrg.set(reading.row.orgId, [reading])
    else known.push(reading)
  }
  return { byOrg, more: rows.length >= BATCH }
}

/** When the next one comes after a moment. */
export const findNextHeartbeat = ({ database }: Pick<Ports, 'database'>, after: Instant): Promise<Instant | null> =>
  loadNextHeartbeat(database, after)

/** What a decision looks at beside the desk. */
interface Prepared extends Reading {
  readonly config: HeartbeatConfig
  readonly routes: KnownRoutes
}

/** What has to be written. */
interface Beaten {
  readonly rows: readonly HeartbeatRow[]
  readonly beats: readonly BeatRow[]
}

/** Looks at what is on record under the lock: what somebody has changed since it was read is left for the next look. */
async function prepareBeats(
  tx: Transaction,
  { orgId, now }: { readonly orgId: OrgId; readonly now: Instant },
  readings: readonly Reading[],
): Promise<readonly Prepared[]> {
  const rows = await loadHeartbeats(tx, { orgId, agentIds: readings.map(({ row }) => row.agentId) })
  const present = readings.flatMap((reading) => {
    const row = rows.find(({ agentId }) => agentId === reading.row.agentId)
    return row === undefined || row.version !== reading.row.version ? [] : [{ ...reading, row, config: configOf(row) }]
  })
  const all = present.map(({ row, config }) => ({ agentId: row.agentId, config, lastKnown: row }))
  const found = await findHeartbeatRoutes(tx, { orgId, now, all })
  return present.map((reading, place) => {
    const { routes, lastKnown } = found[place] ?? { routes: NOWHERE, lastKnown: reading.row }
    return { ...reading, row: { ...reading.row, ...lastKnown }, routes }
  })
}

const needsOf = (readings: readonly Reading[]): NonNullable<Work<unknown>['needs']> => ({
  agents: readings.map(({ row }) => row.agentId),
  sessions: readings.map(({ row }) => configOf(row).session),
})

async function writeBeaten(tx: Transaction, orgId: OrgId, { rows, beats }: Beaten): Promise<void> {
  if (rows.length > 0) saveHeartbeats(tx, orgId, rows)
  if (beats.length > 0) writeBeats(tx, orgId, beats)
  return Promise.resolve()
}

/** Decides heartbeats whose moment has come: each exactly once, whoever has seen it first. */
export function beatWork(ports: Pick<Ports, 'newId'>, orgId: OrgId, readings: readonly Reading[]): Work<Beaten> {
  return {
    orgId,
    needs: needsOf(readings),
    prepare: (tx, now) => prepareBeats(tx, { orgId, now }, readings),
    apply: (desk, prepared) => {
      const due = (prepared as readonly Prepared[]).filter(({ row }) => row.nextAt !== null && row.nextAt <= desk.now)
      const busy = busyAgents(desk, due)
      const beaten = due.map((one) => beat(desk, ports, { ...one, busyWith: busy.get(one.row.agentId) ?? null }))
      return { rows: beaten.map(({ row }) => row), beats: beaten.flatMap(({ entry }) => entry ?? []) }
    },
    conclude: (tx, beaten) => writeBeaten(tx, orgId, beaten),
  }
}

type Deciding = Prepared & Pick<HeartbeatFacts, 'busyWith'>

function beat(
  desk: Desk,
  ports: Pick<Ports, 'newId'>,
  one: Deciding,
): { readonly row: HeartbeatRow; readonly entry: BeatRow | null } {
  const { row } = one
  const dueAt = row.dueAt ?? desk.now
  const decision = decideHeartbeat({ ...factsOf(desk, one), dueAt, okStreak: row.okStreak })
  if (decision.kind === 'off') return { row: { ...row, dueAt: null, nextAt: null }, entry: null }
  const entryOf = (outcome: 'skipped' | 'busy'): BeatRow =>
    stopped(desk, one, { ports, outcome, dueAt, why: decision.why })
  switch (decision.kind) {
    case 'retry':
      return { row: { ...row, nextAt: decision.retryAt }, entry: entryOf('busy') }
    case 'skip':
      return {
        row: followStreak(
          desk,
          { ...row, dueAt: decision.nextAt, nextAt: decision.nextAt, lastDueAt: dueAt },
          { came: decision.why.reason === 'no_route' ? 'to nothing' : 'not far', why: decision.why },
        ),
        entry: entryOf('skipped'),
      }
    case 'run': {
      const trace = desk.chance.newTrace?.('heartbeat') ?? null
      const { entry, runId } = begin(desk, one, { route: decision.route, dueAt, why: decision.why, trace })
      const { nextAt } = decision
      return { row: { ...row, dueAt: nextAt, nextAt, lastDueAt: dueAt, runId }, entry }
    }
  }
}

function factsOf(desk: Desk, one: Deciding): Omit<HeartbeatFacts, 'dueAt' | 'okStreak'> {
  const { config, checklist, problem, busyWith } = one
  return { ...one.routes, config, now: desk.now, checklist, checklistProblem: problem, busyWith }
}

/** Agents that have something active, or whose heartbeat before this one has not come to its end. */
function busyAgents(desk: Desk, due: readonly Prepared[]): ReadonlyMap<AgentId, RunId> {
  const wanted = new Set(due.map(({ row }) => row.agentId))
  const busy = new Map<AgentId, RunId>()
  for (const { row } of due)
    if (row.runId !== null && desk.runs.get(row.runId)?.finishedAt === null) busy.set(row.agentId, row.runId)
  if (wanted.size === busy.size) return busy
  for (const run of desk.runs.values())
    if (wanted.has(run.agentId) && run.finishedAt === null && isActive(run)) busy.set(run.agentId, run.id)
  return busy
}

/** A heartbeat that stops before a model is called. */
function stopped(
  desk: Desk,
  { row, config }: Prepared,
  what: {
    readonly ports: Pick<Ports, 'newId'>
    readonly outcome: 'skipped' | 'busy'
    readonly dueAt: Instant | null
    readonly why: Why
  },
): BeatRow {
  const { outcome, dueAt, why } = what
  desk.changes.beatOutcomes.push(outcome)
  tellBeat(desk, row.agentId, { outcome, reason: why.reason, runId: null })
  return {
    ...{ id: what.ports.newId('beat', desk.now), agentId: row.agentId, dueAt, at: desk.now, outcome, why },
    ...{ target: formatHeartbeatTarget(config.target), runId: null, content: null, deliveryId: null },
    ...{ finishedAt: desk.now, sessionKey: null },
  }
}

interface Beginning {
  readonly route: HeartbeatRoute
  readonly dueAt: Instant | null
  readonly why: Why
  readonly trace: string | null
}

/** Hands the checklist to the agent. A run that is refused at admission has ended, and is judged like any other. */
function begin(desk: Desk, one: Prepared, { route, dueAt, why, trace }: Beginning): Begun {
  const { row, config } = one
  const target = formatHeartbeatTarget(config.target)
  sessionFor({ desk }, config.session)
  const submission = submissionFor({
    ...{ trigger: 'heartbeat', agentId: row.agentId, sessionKey: config.session },
    content: { prompt: heartbeatMessage(config.prompt, one.checklist ?? '') },
    delivery: {
      heartbeat: {
        target,
        ackMaxChars: config.ackMaxChars,
        to: deliveryTo(route),
        dueAt,
        ...asking(config),
        ...addingTo(config, route),
      },
    },
    ...{ trace, why },
  })
  const submitted = submit(desk, submission)
  const { runId } = submitted
  tellBeat(desk, row.agentId, { outcome: 'running', reason: why.reason, runId })
  const entry: BeatRow = {
    ...{ id: beatIdOf(runId), agentId: row.agentId, dueAt, at: desk.now, why, target, runId },
    outcome: 'running',
    ...{ content: null, deliveryId: null, finishedAt: null, sessionKey: null },
  }
  return { runId, entry, refused: 'why' in submitted ? submitted.why : null }
}

const asking = ({ probe }: HeartbeatConfig): Readonly<Record<string, unknown>> => (probe === null ? {} : { probe })

interface Begun {
  readonly runId: RunId
  readonly entry: BeatRow
  /** Why it was not let in; null when it was. */
  readonly refused: Why | null
}

/** What came of somebody's wish to see a heartbeat now. Null: it was changed while its checklist was read. */
export type Asked = { readonly kind: 'run' | 'stop' | 'busy'; readonly runId: RunId | null; readonly why: Why } | null

/** Lets the heart beat once for somebody who asks. Its plan stays as it is. */
export function askWork(ports: Pick<Ports, 'newId'>, caller: Caller, reading: Reading): Work<Asked> {
  const { orgId } = caller
  // Not in the answer, which a repeated request gets again: what was written once is not written twice.
  let beaten: Beaten = NOTHING
  return {
    orgId,
    needs: needsOf([reading]),
    prepare: (tx, now) => prepareBeats(tx, { orgId, now }, [reading]),
    apply: (desk, prepared) => {
      beaten = NOTHING
      const [one] = prepared as readonly Prepared[]
      if (one === undefined) return null
      const busyWith = busyAgents(desk, [one]).get(one.row.agentId) ?? null
      const decision = decideAskedHeartbeat(factsOf(desk, { ...one, busyWith }))
      const { row } = one
      desk.changes.audits.push(askedFor(caller, row.agentId, decision.why))
      if (decision.kind !== 'run') {
        const outcome = decision.kind === 'busy' ? 'busy' : 'skipped'
        beaten = { rows: [], beats: [stopped(desk, one, { ports, outcome, dueAt: null, why: decision.why })] }
        return { ...decision, runId: null }
      }
      const { route, why } = decision
      const { entry, runId, refused } = begin(desk, one, { route, dueAt: null, why, trace: caller.trace ?? null })
      beaten = { rows: [{ ...row, runId }], beats: [entry] }
      return { kind: refused === null ? 'run' : 'stop', runId, why: refused ?? why }
    },
    conclude: (tx) => writeBeaten(tx, orgId, beaten),
  }
}

const NOTHING: Beaten = { rows: [], beats: [] }

const askedFor = (caller: Caller, id: AgentId, why: Why): AuditEntry =>
  acted(actorOf(caller), { kind: 'heartbeat', id }, { verb: 'test', after: { reason: why.reason } })
