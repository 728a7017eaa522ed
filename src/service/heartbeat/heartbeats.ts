import type {
  HeartbeatInput,
  HeartbeatLogFilter,
  HeartbeatLogView,
  HeartbeatTestAnswer,
  HeartbeatView,
} from '../../features/heartbeats/schema.ts'
import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { BEAT_OUTCOMES } from '../../domain/heartbeat/heartbeat-ending.ts'
import type { HeartbeatConfig } from '../../domain/heartbeat/heartbeat-config.ts'
import { heartbeatInterval } from '../../domain/heartbeat/heartbeat.ts'
import { agentId, type AgentId, type OrgId } from '../../domain/ids.ts'
import { parseWord, type Flaw } from '../../domain/input.ts'
import { later, SECOND_MS, type Instant } from '../../domain/instant.ts'
import { explainWhy } from '../../domain/reasons.ts'
import { parseZone, UTC, type Zone } from '../../core/time/zone.ts'
import { loadAgents } from '../../features/agents/store.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { countBeats, listBeatPage, listBeats } from '../../features/heartbeats/log-store.ts'
import { loadHeartbeats, putHeartbeat, type HeartbeatRow } from '../../features/heartbeats/store.ts'
import { actorOf, changed } from '../../features/audit/entry.ts'
import type { Caller } from '../caller.ts'
import { pageOfListed, parseCursor, parseLimit, writeCursor } from '../../platform/db/cursor.ts'
import { askWork, readChecklists } from './beat.ts'
import { heartbeatConfig } from './config.ts'
import { endStreak } from './alert.ts'
import { findWorkspaceChecklist } from './workspace.ts'
import { flawsOfTarget } from '../../features/heartbeats/recipients.ts'
import {
  configOf,
  defaultConfig,
  findShownRoute,
  settingsOf,
  shownSettings,
  viewBeat,
  viewHeartbeat,
  type HeartbeatSettings,
  type ShownRoute,
} from './view.ts'
import { bound } from '../idempotent.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import type { Ports } from '../ports.ts'
import { bringsProbe, judgeProbe, readProbe } from '../probe/judge.ts'
import { countsOfHeartbeat } from '../../features/probes/view.ts'
import type { TurnReads } from '../turn/turn-reads.ts'

interface Named {
  readonly id: string
  /** The version that is to be changed; left out: whichever it is. */
  readonly version?: number | undefined
}

const noAgent = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no agent ${id}`)

async function rowOf(connection: Connection, orgId: OrgId, id: AgentId): Promise<HeartbeatRow | null> {
  const [row] = await loadHeartbeats(connection, { orgId, agentIds: [id] })
  return row ?? null
}

async function rowOfAgent(connection: Connection, orgId: OrgId, id: string): Promise<HeartbeatRow | null> {
  const [agent] = await loadAgents(connection, { orgId, ids: [agentId(id)] })
  if (agent === undefined) throw noAgent(id)
  return rowOf(connection, orgId, agent.id)
}

/** The heartbeat of an agent; one that nobody has set is switched off. */
export async function getHeartbeat(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId }: Caller,
  id: string,
): Promise<HeartbeatView> {
  const row = await rowOfAgent(database, orgId, id)
  const of = { orgId, agentId: agentId(id) }
  const view = viewHeartbeat(row, of, await findShownRoute(database, row, { ...of, now: clock.now() }))
  return view.probe === null ? view : { ...view, probe_counts: await countsOfHeartbeat({ database }, orgId, id) }
}

/** Sets the whole heartbeat of an agent: what is left out takes its default. */
export const setHeartbeat = (
  ports: Ports,
  caller: Caller,
  asked: Named & { readonly input: HeartbeatInput },
): Promise<HeartbeatView> => change(ports, caller, { ...asked, brings: asked.input, next: () => asked.input })

/** Switches the heartbeat of an agent on or off; everything else about it stays. */
export const switchHeartbeat = (
  ports: Ports,
  caller: Caller,
  asked: Named & { readonly enabled: boolean },
): Promise<HeartbeatView> =>
  change(ports, caller, { ...asked, brings: null, next: (settings) => ({ ...settings, enabled: asked.enabled }) })

/** Changes what is named; everything else about the heartbeat stays, and null brings back the default. */
export const patchHeartbeat = (
  ports: Ports,
  caller: Caller,
  asked: Named & { readonly change: HeartbeatInput },
): Promise<HeartbeatView> =>
  change(ports, caller, {
    ...asked,
    brings: asked.change,
    next: ({ enabled, ...settings }) => ({
      // A first checklist switches it on; a heartbeat that somebody has switched off stays off.
      ...(settings.checklist === null ? settings : { ...settings, enabled }),
      ...asked.change,
    }),
  })

interface Change extends Named {
  /** What is to be, by what there is. */
  readonly next: (settings: HeartbeatSettings) => HeartbeatInput
  /** What somebody has sent, whose probe is judged. */
  readonly brings: HeartbeatInput | null
}

/** Values that are shown hidden are those it had before. */
const unhidden = (input: HeartbeatInput, before: HeartbeatSettings): HeartbeatInput => {
  if (!bringsProbe(input)) return input
  const read = readProbe('probe', input.probe, before.probe)
  if (!read.ok) throw invalid(read.flaws)
  return { ...input, probe: read.value as HeartbeatInput['probe'] }
}

interface Changed {
  readonly before: HeartbeatRow | null
  readonly after: HeartbeatRow
  readonly route: ShownRoute
}

/** A heartbeat that is switched on without a checklist takes the one in the agent's workspace directory. */
const withChecklist = (input: HeartbeatInput, file: string | null): HeartbeatInput =>
  file !== null && input.enabled === true && (input.checklist ?? null) === null
    ? { ...input, checklist: { file } }
    : input

async function change(ports: Ports, caller: Caller, asked: Change): Promise<HeartbeatView> {
  const { orgId } = caller
  const id = agentId(asked.id)
  await judgeProbe(ports, caller, asked.brings)
  const workspace = await findWorkspaceChecklist(ports, orgId, id)
  return ports.turns.take<HeartbeatView>({
    orgId,
    prepare: async (tx, now, reads): Promise<Changed> => {
      if ((await reads.agent(id)) === undefined) throw noAgent(asked.id)
      const before = await rowOf(tx, orgId, id)
      refuseStale(before, asked)
      const current = settingsOf(before === null ? defaultConfig(id) : configOf(before))
      const input = withChecklist(unhidden(asked.next(current), current), workspace)
      const config = await readChange(ports, { tx, reads, orgId, id, input })
      const after = rowAfter(before, config, { orgId, id, now })
      putHeartbeat(tx, after)
      const route = await findShownRoute(tx, after, { orgId, agentId: id, now })
      return { before, after: { ...after, version: (before?.version ?? 0) + 1 }, route }
    },
    apply: (desk, prepared) => {
      const { before, after, route } = prepared as Changed
      const view = viewHeartbeat(after, { orgId, agentId: id }, route)
      if (before !== null && after.alertId === null) endStreak(desk, before)
      const settings = (row: HeartbeatRow | null): HeartbeatSettings =>
        shownSettings(settingsOf(row === null ? defaultConfig(id) : configOf(row)))
      const views = { before: settings(before), after: settings(after) }
      desk.changes.audits.push(changed(actorOf(caller), { kind: 'heartbeat', id }, views))
      desk.changes.events.push({
        ...{ kind: 'heartbeat.changed', subject: id },
        data: { change: 'set', enabled: after.enabled, next_at: view.next_at },
      })
      return view
    },
  })
}

function refuseStale(row: HeartbeatRow | null, { id, version }: Named): void {
  const current = row?.version ?? 0
  if (version === undefined || version === current) return
  throw new Refusal('STALE_VERSION', `The heartbeat of ${id} is at version ${current}`, {
    details: { version: current },
  })
}

interface Reading {
  readonly tx: Transaction
  readonly reads: TurnReads
  readonly orgId: OrgId
  readonly id: AgentId
  readonly input: HeartbeatInput
}

async function readChange(
  ports: Pick<Ports, 'checklists'>,
  { tx, reads, orgId, id, input }: Reading,
): Promise<HeartbeatConfig> {
  const read = heartbeatConfig(input, { id, timezone: await zoneOf(reads) })
  if (!read.ok) throw invalid(read.flaws)
  const config = read.value
  const flaws: Flaw[] = [...(await flawsOfTarget(tx, { orgId, agentId: id, config }))]
  const { checklist } = config
  if (checklist?.kind === 'file' && ports.checklists?.isOpen() !== true)
    flaws.push({
      ...{ field: 'checklist.file', value: checklist.file, message: 'cannot be read on this server' },
      allowed: '{text}, or a file once the operator has set heartbeat.checklist_dir',
    })
  if (flaws.length > 0) throw invalid(flaws)
  return config
}

async function zoneOf(reads: TurnReads): Promise<Zone> {
  const zone = parseZone('timezone', (await reads.org())?.defaultTimezone ?? 'UTC')
  return zone.ok ? zone.value : UTC
}

/** What is on record after a change. Only a change of when it comes moves the moment at which it comes next. */
function rowAfter(
  before: HeartbeatRow | null,
  config: HeartbeatConfig,
  at: { readonly orgId: OrgId; readonly id: AgentId; readonly now: Instant },
): HeartbeatRow {
  const settings = settingsOf(config)
  const was = before === null ? null : settingsOf(configOf(before))
  const differs = (...names: readonly (keyof HeartbeatSettings)[]): boolean =>
    was === null || names.some((name) => JSON.stringify(was[name]) !== JSON.stringify(settings[name]))
  // What was acknowledged under another checklist says nothing about this one.
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

/** How often a change that comes in between is followed. */
const MOST_LOOKS = 5

/** Lets the heart beat once, whatever its plan says: also when it is switched off, also outside its hours. */
export async function testHeartbeat(ports: Ports, caller: Caller, id: string): Promise<HeartbeatTestAnswer> {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const row = await rowOfAgent(ports.database, caller.orgId, id)
    if (row === null)
      throw new Refusal('CONFLICT', `The heartbeat of ${id} is not set; give it a checklist first: PUT …/heartbeat`)
    const [reading] = await readChecklists(ports, [row])
    if (reading === undefined) break
    const asked = await ports.turns.take(bound(askWork(ports, caller, reading), caller, (answer) => answer !== null))
    if (asked === null) continue
    const { kind, runId, why } = asked
    return {
      ran: kind === 'run',
      ...(runId === null ? {} : { run_id: runId }),
      ...(kind === 'run' ? {} : { reason: why.reason }),
      sentence: explainWhy(why),
    }
  }
  throw new Refusal('CONFLICT', `The heartbeat of ${id} is being changed by somebody; try again`)
}

/** What became of the heartbeats of an agent, newest first. */
export async function findBeats(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Caller,
  { id, ...filter }: HeartbeatLogFilter & { readonly id: string },
): Promise<Page<HeartbeatLogView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  const outcomes =
    filter.outcome?.split(',').map((word) => keep(parseWord('outcome', word.trim(), BEAT_OUTCOMES)) ?? 'skipped') ??
    null
  if (flaws.length > 0) throw invalid(flaws)
  await rowOfAgent(database, orgId, id)
  const after = cursor === null ? null : { at: cursor.createdAt, id: cursor.key }
  const listed = await listBeatPage(database, { orgId, agentId: agentId(id), outcomes, after, limit })
  return pageOfListed(listed, viewBeat, ({ at, id: key }) => writeCursor({ createdAt: at, key }))
}

/** The same for whoever counts entries: those before the offset are passed over. */
export async function findBeatRange(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Caller,
  { id, limit, offset }: { readonly id: string; readonly limit: number; readonly offset: number },
): Promise<{ readonly items: readonly HeartbeatLogView[]; readonly total: number }> {
  await rowOfAgent(database, orgId, id)
  const wanted = { orgId, agentId: agentId(id) }
  const rows = await listBeats(database, { ...wanted, outcomes: null, after: null, limit: offset + limit })
  return { items: rows.slice(offset).map(viewBeat), total: await countBeats(database, wanted) }
}
