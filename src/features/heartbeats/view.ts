import {
  type Adaptive,
  type Checklist,
  formatHeartbeatTarget,
  HEARTBEAT_DEFAULTS,
  type HeartbeatConfig,
  NO_CHECKLIST,
  parseActiveHours,
  parseHeartbeatTarget,
} from '../../domain/heartbeat/heartbeat-config.ts'
import { findRoute, heartbeatInterval } from '../../domain/heartbeat/heartbeat.ts'
import { type AgentId, type OrgId, sessionKey } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { describeFlaw, flawed, parsed, type Parsed } from '../../domain/input.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { explainWhy } from '../../domain/reasons.ts'
import { formatTimeOfDay } from '../../domain/time/calendar.ts'
import type { Zone } from '../../domain/time/zone.ts'
import type { HeartbeatLogRecord } from './log-store.ts'
import { findHeartbeatRoutes, formatRoute, NO_ROUTES } from './recipients.ts'
import type { HeartbeatInput, HeartbeatLogView, HeartbeatView } from './schema.ts'
import type { HeartbeatRow } from './store.ts'
import { viewProbe } from '../probes/view.ts'
import { formatInstantOrNull } from '../schedules/view.ts'
import type { Connection } from '../../platform/db/database.ts'

/** Reads a heartbeat: omitted and null fields take their defaults. */
export function heartbeatConfig(
  input: HeartbeatInput,
  agent: { readonly id: AgentId; readonly timezone?: Zone },
): Parsed<HeartbeatConfig> {
  const { flaws, keep } = collectFlaws()
  const { active_hours: hours = null, target = null } = input
  const checklist = readChecklistInput(input)
  const intervalSeconds = input.interval_seconds ?? HEARTBEAT_DEFAULTS.intervalSeconds
  const adaptive = readAdaptive(input.adaptive ?? false, intervalSeconds)
  if (input.enabled === true && checklist === null) flaws.push(NO_CHECKLIST)
  if (adaptive !== null && adaptive.maxIntervalSeconds < intervalSeconds)
    flaws.push({
      field: 'adaptive.max_interval_seconds',
      value: adaptive.maxIntervalSeconds,
      message: 'must not be below interval_seconds',
      allowed: `a whole number of at least ${intervalSeconds}`,
    })
  const config: HeartbeatConfig = {
    // Setting a checklist enables the heartbeat unless the input sets `enabled`.
    enabled: input.enabled ?? checklist !== null,
    intervalSeconds,
    activeHours: hours === null ? null : keep(parseActiveHours('active_hours', hours, agent.timezone)),
    checklist,
    prompt: input.prompt ?? HEARTBEAT_DEFAULTS.prompt,
    target: (target === null ? null : keep(parseHeartbeatTarget('target', target))) ?? HEARTBEAT_DEFAULTS.target,
    ackMaxChars: input.ack_max_chars ?? HEARTBEAT_DEFAULTS.ackMaxChars,
    session: sessionKey(input.session ?? `agent:${agent.id}:heartbeat:main`),
    adaptive,
    probe: input.probe ?? null,
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(config)
}

function readChecklistInput({ checklist }: HeartbeatInput): Checklist | null {
  if (checklist === undefined || checklist === null) return null
  return 'text' in checklist ? { kind: 'text', text: checklist.text } : { kind: 'file', file: checklist.file }
}

/** Reads `adaptive`; the default of its maximum depends on the interval. */
function readAdaptive(input: NonNullable<HeartbeatInput['adaptive']>, intervalSeconds: number): Adaptive | null {
  if (input === false) return null
  const { ok_step: okStep, max_interval_seconds: maxIntervalSeconds } = input === true ? {} : input
  return {
    okStep: okStep ?? HEARTBEAT_DEFAULTS.okStep,
    maxIntervalSeconds: maxIntervalSeconds ?? intervalSeconds * HEARTBEAT_DEFAULTS.maxStretch,
  }
}

/** The settings of a heartbeat, in the form of the API and of the table. */
export type HeartbeatSettings = Omit<
  HeartbeatView,
  | ('agent_id' | 'org_id' | 'next_at' | 'ok_streak' | 'current_interval_seconds' | 'version' | 'updated_at')
  | ('probe_counts' | 'route' | 'no_route')
>

/** Converts a configuration to the form of the API, with every default filled in. */
export function heartbeatSettings(config: HeartbeatConfig): HeartbeatSettings {
  const { activeHours: hours, checklist, adaptive } = config
  return {
    enabled: config.enabled,
    interval_seconds: config.intervalSeconds,
    active_hours:
      hours === null
        ? null
        : { start: formatTimeOfDay(hours.start), end: formatTimeOfDay(hours.end), timezone: hours.timezone.name },
    checklist:
      checklist === null ? null : checklist.kind === 'text' ? { text: checklist.text } : { file: checklist.file },
    prompt: config.prompt,
    target: formatHeartbeatTarget(config.target),
    ack_max_chars: config.ackMaxChars,
    session: config.session,
    adaptive:
      adaptive === null ? null : { ok_step: adaptive.okStep, max_interval_seconds: adaptive.maxIntervalSeconds },
    probe: config.probe as HeartbeatView['probe'],
  }
}

/** Masks values of the probe that look like credentials. */
export const maskedHeartbeatSettings = (settings: HeartbeatSettings): HeartbeatSettings => ({
  ...settings,
  probe: viewProbe(settings.probe),
})

/** Reads the stored configuration, which was validated when it was written. */
export function storedHeartbeatConfig({
  agentId: id,
  settings,
  enabled,
}: Pick<HeartbeatRow, 'agentId' | 'settings' | 'enabled'>): HeartbeatConfig {
  const read = heartbeatConfig(settings, { id })
  if (!read.ok) throw new Error(`The stored heartbeat of ${id} is invalid: ${read.flaws.map(describeFlaw).join('; ')}`)
  return { ...read.value, enabled }
}

/** The configuration of a heartbeat that was never set. */
export function defaultHeartbeatConfig(id: AgentId): HeartbeatConfig {
  const read = heartbeatConfig({}, { id })
  if (!read.ok) throw new Error('The default heartbeat is invalid')
  return read.value
}

/** Where an answer would be sent now, or why there is no route. */
export type CurrentRoute = Pick<HeartbeatView, 'route' | 'no_route'>

/** Finds where the answer of a heartbeat would be sent now. */
export async function findCurrentRoute(
  connection: Connection,
  row: HeartbeatRow | null,
  { orgId, agentId, now }: { readonly orgId: OrgId; readonly agentId: AgentId; readonly now: Instant },
): Promise<CurrentRoute> {
  const config = row === null ? defaultHeartbeatConfig(agentId) : storedHeartbeatConfig(row)
  const lastKnown = row ?? { lastSession: null, lookedUntil: null }
  const [found] = await findHeartbeatRoutes(connection, { orgId, now, all: [{ agentId, config, lastKnown }] })
  const route = findRoute(config.target, found?.routes ?? NO_ROUTES)
  return route.ok
    ? { route: formatRoute(route.route), no_route: null }
    : { route: null, no_route: explainWhy(route.why) }
}

/** Returns the heartbeats that have a route now. */
export async function filterRoutable(
  connection: Connection,
  rows: readonly HeartbeatRow[],
  of: { readonly orgId: OrgId; readonly now: Instant },
): Promise<readonly HeartbeatRow[]> {
  const all = rows.map((row) => ({ agentId: row.agentId, config: storedHeartbeatConfig(row), lastKnown: row }))
  const found = await findHeartbeatRoutes(connection, { ...of, all })
  return rows.filter((_, index) => {
    const [candidate, answer] = [all[index], found[index]]
    return candidate !== undefined && answer !== undefined && findRoute(candidate.config.target, answer.routes).ok
  })
}

/** The API view of a heartbeat; without a row, the default one. */
export function viewHeartbeat(
  row: HeartbeatRow | null,
  of: { readonly orgId: OrgId; readonly agentId: AgentId },
  route: CurrentRoute,
): HeartbeatView {
  const config = row === null ? defaultHeartbeatConfig(of.agentId) : storedHeartbeatConfig(row)
  const okStreak = row?.okStreak ?? 0
  return {
    ...{ agent_id: of.agentId, org_id: of.orgId, ...maskedHeartbeatSettings(heartbeatSettings(config)) },
    next_at: formatInstantOrNull(row?.nextAt ?? null),
    ...route,
    ok_streak: okStreak,
    current_interval_seconds: heartbeatInterval(config, okStreak),
    version: row?.version ?? 0,
    updated_at: formatInstantOrNull(row?.updatedAt ?? null),
  }
}

/** The API view of a log entry. */
export const viewHeartbeatLogRecord = (row: HeartbeatLogRecord): HeartbeatLogView => ({
  id: row.id,
  agent_id: row.agentId,
  kind: row.dueAt === null ? 'asked' : 'planned',
  due_at: formatInstantOrNull(row.dueAt),
  at: formatInstant(row.at),
  looks: row.looks,
  last_at: formatInstant(row.lastAt),
  outcome: row.outcome,
  reason: row.why.reason,
  sentence: explainWhy(row.why),
  why: row.why,
  target: row.target,
  run_id: row.runId,
  content: row.content,
  delivery_id: row.deliveryId,
  delivery_status: row.deliveryState,
  finished_at: formatInstantOrNull(row.finishedAt),
})
