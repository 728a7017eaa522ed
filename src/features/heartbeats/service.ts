import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { HeartbeatConfig } from '../../domain/heartbeat/heartbeat-config.ts'
import { RECORDED_HEARTBEAT_OUTCOMES } from '../../domain/heartbeat/heartbeat-ending.ts'
import { heartbeatInterval } from '../../domain/heartbeat/heartbeat.ts'
import { type AgentId, agentId, type OrgId } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { type Flaw, parseWord } from '../../domain/input.ts'
import { type Instant, later, SECOND_MS } from '../../domain/instant.ts'
import { explainWhy } from '../../domain/reasons.ts'
import { parseZone, UTC, type Zone } from '../../domain/time/zone.ts'
import { endHeartbeatAlert } from '../../engine/commands/heartbeats.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import type { Ports } from '../../engine/ports.ts'
import type { TransactionReads } from '../../engine/transaction/reads.ts'
import type { Caller } from '../access/caller.ts'
import { loadAgents } from '../agents/store.ts'
import { actorOf, changed } from '../audit/entry.ts'
import { countHeartbeatLog, listHeartbeatLogPage, listHeartbeatLog } from './log-store.ts'
import { targetFlaws } from './recipients.ts'
import { requestedHeartbeatCommand, readChecklists } from './run-heartbeat.ts'
import type {
  HeartbeatInput,
  HeartbeatLogFilter,
  HeartbeatLogView,
  HeartbeatTestAnswer,
  HeartbeatView,
} from './schema.ts'
import { type HeartbeatRow, loadHeartbeats, upsertHeartbeat } from './store.ts'
import {
  storedHeartbeatConfig,
  defaultHeartbeatConfig,
  findCurrentRoute,
  heartbeatConfig,
  type HeartbeatSettings,
  heartbeatSettings,
  type CurrentRoute,
  maskedHeartbeatSettings,
  viewHeartbeatLogRecord,
  viewHeartbeat,
} from './view.ts'
import { hasProbeInput, requireAllowedProbeInput, readProbe } from '../probes/decide.ts'
import { probeCountsOfHeartbeat } from '../probes/view.ts'
import { pageOfListed, parseCursor, parseLimit, writeCursor } from '../../platform/db/cursor.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'

/** The checklist in an agent's workspace directory. */
const WORKSPACE_CHECKLIST = 'HEARTBEAT.md'

/** Finds the path of an agent's HEARTBEAT.md below the operator's directory; null when the file does not exist. */
async function findWorkspaceChecklist(
  { checklists }: Pick<Ports, 'checklists'>,
  orgId: OrgId,
  id: AgentId,
): Promise<string | null> {
  if (checklists?.isOpen() !== true || id.includes('/') || id.startsWith('.')) return null
  const file = `${id}/${WORKSPACE_CHECKLIST}`
  return (await checklists.read(orgId, file)).ok ? file : null
}

interface HeartbeatRef {
  readonly id: string
  /** The expected version; omitted: any version. */
  readonly version?: number | undefined
}

const agentNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no agent ${id}`)

async function loadRow(connection: Connection, orgId: OrgId, id: AgentId): Promise<HeartbeatRow | null> {
  const [row] = await loadHeartbeats(connection, { orgId, agentIds: [id] })
  return row ?? null
}

async function loadRowOfAgent(connection: Connection, orgId: OrgId, id: string): Promise<HeartbeatRow | null> {
  const [agent] = await loadAgents(connection, { orgId, ids: [agentId(id)] })
  if (agent === undefined) throw agentNotFound(id)
  return loadRow(connection, orgId, agent.id)
}

/** Returns the heartbeat of an agent; one that was never set is disabled. */
export async function getHeartbeat(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId }: Caller,
  id: string,
): Promise<HeartbeatView> {
  const row = await loadRowOfAgent(database, orgId, id)
  const of = { orgId, agentId: agentId(id) }
  const view = viewHeartbeat(row, of, await findCurrentRoute(database, row, { ...of, now: clock.now() }))
  return view.probe === null ? view : { ...view, probe_counts: await probeCountsOfHeartbeat({ database }, orgId, id) }
}

/** Sets the whole heartbeat of an agent: omitted fields take their defaults. */
export const setHeartbeat = (
  ports: Ports,
  caller: Caller,
  request: HeartbeatRef & { readonly input: HeartbeatInput },
): Promise<HeartbeatView> =>
  changeHeartbeat(ports, caller, { ...request, sentInput: request.input, next: () => request.input })

/** Enables or disables the heartbeat of an agent and keeps its other settings. */
export const setHeartbeatEnabled = (
  ports: Ports,
  caller: Caller,
  request: HeartbeatRef & { readonly enabled: boolean },
): Promise<HeartbeatView> =>
  changeHeartbeat(ports, caller, {
    ...request,
    sentInput: null,
    next: (settings) => ({ ...settings, enabled: request.enabled }),
  })

/** Changes the given fields of a heartbeat; null restores a default, and omitted fields keep their values. */
export const updateHeartbeat = (
  ports: Ports,
  caller: Caller,
  request: HeartbeatRef & { readonly change: HeartbeatInput },
): Promise<HeartbeatView> =>
  changeHeartbeat(ports, caller, {
    ...request,
    sentInput: request.change,
    next: ({ enabled, ...settings }) => ({
      // A first checklist enables the heartbeat; one that was disabled before stays disabled.
      ...(settings.checklist === null ? settings : { ...settings, enabled }),
      ...request.change,
    }),
  })

interface HeartbeatChange extends HeartbeatRef {
  /** Computes the new settings from the current ones. */
  readonly next: (settings: HeartbeatSettings) => HeartbeatInput
  /** The input of the caller, whose probe is validated. */
  readonly sentInput: HeartbeatInput | null
}

/** Replaces masked values in the input with the stored ones. */
const unmaskProbe = (input: HeartbeatInput, before: HeartbeatSettings): HeartbeatInput => {
  if (!hasProbeInput(input)) return input
  const read = readProbe('probe', input.probe, before.probe)
  if (!read.ok) throw invalid(read.flaws)
  return { ...input, probe: read.value as HeartbeatInput['probe'] }
}

interface HeartbeatUpdate {
  readonly before: HeartbeatRow | null
  readonly after: HeartbeatRow
  readonly route: CurrentRoute
}

/** Uses the checklist of the agent's workspace directory for a heartbeat that is enabled without one. */
const withChecklist = (input: HeartbeatInput, file: string | null): HeartbeatInput =>
  file !== null && input.enabled === true && (input.checklist ?? null) === null
    ? { ...input, checklist: { file } }
    : input

async function changeHeartbeat(ports: Ports, caller: Caller, request: HeartbeatChange): Promise<HeartbeatView> {
  const { orgId } = caller
  const id = agentId(request.id)
  await requireAllowedProbeInput(ports, caller, request.sentInput)
  const workspace = await findWorkspaceChecklist(ports, orgId, id)
  return ports.commands.execute<HeartbeatView>({
    orgId,
    prepare: async (tx, now, reads): Promise<HeartbeatUpdate> => {
      if ((await reads.agent(id)) === undefined) throw agentNotFound(request.id)
      const before = await loadRow(tx, orgId, id)
      refuseStaleVersion(before, request)
      const current = heartbeatSettings(before === null ? defaultHeartbeatConfig(id) : storedHeartbeatConfig(before))
      const input = withChecklist(unmaskProbe(request.next(current), current), workspace)
      const config = await readConfig(ports, { tx, reads, orgId, id, input })
      const after = changedRow(before, config, { orgId, id, now })
      upsertHeartbeat(tx, after)
      const route = await findCurrentRoute(tx, after, { orgId, agentId: id, now })
      return { before, after: { ...after, version: (before?.version ?? 0) + 1 }, route }
    },
    apply: (state, prepared) => {
      const { before, after, route } = prepared as HeartbeatUpdate
      const view = viewHeartbeat(after, { orgId, agentId: id }, route)
      if (before !== null && after.alertId === null) endHeartbeatAlert(state, before)
      const settings = (row: HeartbeatRow | null): HeartbeatSettings =>
        maskedHeartbeatSettings(
          heartbeatSettings(row === null ? defaultHeartbeatConfig(id) : storedHeartbeatConfig(row)),
        )
      const views = { before: settings(before), after: settings(after) }
      state.changes.audits.push(changed(actorOf(caller), { kind: 'heartbeat', id }, views))
      state.changes.events.push({
        ...{ kind: 'heartbeat.changed', subject: id },
        data: { change: 'set', enabled: after.enabled, next_at: view.next_at },
      })
      return view
    },
  })
}

function refuseStaleVersion(row: HeartbeatRow | null, { id, version }: HeartbeatRef): void {
  const current = row?.version ?? 0
  if (version === undefined || version === current) return
  throw new Refusal('STALE_VERSION', `The heartbeat of ${id} is at version ${current}`, {
    details: { version: current },
  })
}

interface ConfigRequest {
  readonly tx: Transaction
  readonly reads: TransactionReads
  readonly orgId: OrgId
  readonly id: AgentId
  readonly input: HeartbeatInput
}

async function readConfig(
  ports: Pick<Ports, 'checklists'>,
  { tx, reads, orgId, id, input }: ConfigRequest,
): Promise<HeartbeatConfig> {
  const read = heartbeatConfig(input, { id, timezone: await defaultZone(reads) })
  if (!read.ok) throw invalid(read.flaws)
  const config = read.value
  const flaws: Flaw[] = [...(await targetFlaws(tx, { orgId, agentId: id, config }))]
  const { checklist } = config
  if (checklist?.kind === 'file' && ports.checklists?.isOpen() !== true)
    flaws.push({
      ...{ field: 'checklist.file', value: checklist.file, message: 'cannot be read on this server' },
      allowed: '{text}, or a file after the operator has set heartbeat.checklist_dir',
    })
  if (flaws.length > 0) throw invalid(flaws)
  return config
}

async function defaultZone(reads: TransactionReads): Promise<Zone> {
  const zone = parseZone('timezone', (await reads.org())?.defaultTimezone ?? 'UTC')
  return zone.ok ? zone.value : UTC
}

/** Returns the row after a change. Only a change of the timing or of `enabled` moves the next heartbeat. */
function changedRow(
  before: HeartbeatRow | null,
  config: HeartbeatConfig,
  at: { readonly orgId: OrgId; readonly id: AgentId; readonly now: Instant },
): HeartbeatRow {
  const settings = heartbeatSettings(config)
  const previous = before === null ? null : heartbeatSettings(storedHeartbeatConfig(before))
  const differs = (...names: readonly (keyof HeartbeatSettings)[]): boolean =>
    previous === null || names.some((name) => JSON.stringify(previous[name]) !== JSON.stringify(settings[name]))
  // Acknowledgements of another checklist must not lengthen the interval of this one.
  const okStreak = differs('enabled', 'interval_seconds', 'adaptive', 'checklist', 'prompt')
    ? 0
    : (before?.okStreak ?? 0)
  const base = {
    ...{ orgId: at.orgId, agentId: at.id, settings, enabled: config.enabled, okStreak, runId: before?.runId ?? null },
    ...{ lastSession: before?.lastSession ?? null, lookedUntil: before?.lookedUntil ?? null },
    ...(differs('enabled', 'target', 'checklist')
      ? { failingStreak: 0, alertId: null }
      : { failingStreak: before?.failingStreak ?? 0, alertId: before?.alertId ?? null }),
    ...{ version: before?.version ?? 0, createdAt: before?.createdAt ?? at.now, updatedAt: at.now },
  }
  if (!config.enabled) return { ...base, dueAt: null, nextAt: null, lastDueAt: null }
  if (before !== null && before.dueAt !== null && !differs('enabled', 'interval_seconds', 'adaptive'))
    return { ...base, dueAt: before.dueAt, nextAt: before.nextAt, lastDueAt: before.lastDueAt }
  const dueAt = later(at.now, heartbeatInterval(config, okStreak) * SECOND_MS)
  return { ...base, dueAt, nextAt: dueAt, lastDueAt: at.now }
}

/** How many attempts are made when the heartbeat is changed concurrently. */
const MAX_TEST_TRIES = 5

/** Runs the heartbeat once now, also while it is disabled or outside its active hours. */
export async function testHeartbeat(ports: Ports, caller: Caller, id: string): Promise<HeartbeatTestAnswer> {
  for (let attempt = 0; attempt < MAX_TEST_TRIES; attempt += 1) {
    const row = await loadRowOfAgent(ports.database, caller.orgId, id)
    if (row === null)
      throw new Refusal('CONFLICT', `The heartbeat of ${id} is not set; set its checklist first: PUT …/heartbeat`)
    const [reading] = await readChecklists(ports, [row])
    if (reading === undefined) break
    const result = await ports.commands.execute(
      bindToKey(requestedHeartbeatCommand(ports, caller, reading), caller, (answer) => answer !== null),
    )
    if (result === null) continue
    const { kind, runId, why } = result
    return {
      ran: kind === 'run',
      ...(runId === null ? {} : { run_id: runId }),
      ...(kind === 'run' ? {} : { reason: why.reason }),
      sentence: explainWhy(why),
    }
  }
  throw new Refusal('CONFLICT', `The heartbeat of ${id} is being changed by another request; try again`)
}

/** Lists the heartbeat log of an agent, newest first. */
export async function findHeartbeatLog(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Caller,
  { id, ...filter }: HeartbeatLogFilter & { readonly id: string },
): Promise<Page<HeartbeatLogView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  const outcomes =
    filter.outcome
      ?.split(',')
      .map((word) => keep(parseWord('outcome', word.trim(), RECORDED_HEARTBEAT_OUTCOMES)) ?? 'skipped') ?? null
  if (flaws.length > 0) throw invalid(flaws)
  await loadRowOfAgent(database, orgId, id)
  const after = cursor === null ? null : { at: cursor.createdAt, id: cursor.key }
  const listed = await listHeartbeatLogPage(database, { orgId, agentId: agentId(id), outcomes, after, limit })
  return pageOfListed(listed, viewHeartbeatLogRecord, ({ at, id: key }) => writeCursor({ createdAt: at, key }))
}

/** Lists the heartbeat log of an agent by offset, for clients that do not use cursors. */
export async function findHeartbeatLogRange(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Caller,
  { id, limit, offset }: { readonly id: string; readonly limit: number; readonly offset: number },
): Promise<{ readonly items: readonly HeartbeatLogView[]; readonly total: number }> {
  await loadRowOfAgent(database, orgId, id)
  const filter = { orgId, agentId: agentId(id) }
  const rows = await listHeartbeatLog(database, { ...filter, outcomes: null, after: null, limit: offset + limit })
  return { items: rows.slice(offset).map(viewHeartbeatLogRecord), total: await countHeartbeatLog(database, filter) }
}
