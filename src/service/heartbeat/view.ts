import type { HeartbeatLogView, HeartbeatView } from '../../features/heartbeats/schema.ts'
import { formatHeartbeatTarget, type HeartbeatConfig } from '../../domain/heartbeat/heartbeat-config.ts'
import { findRoute, heartbeatInterval } from '../../domain/heartbeat/heartbeat.ts'
import type { AgentId, OrgId } from '../../domain/ids.ts'
import { describeFlaw } from '../../domain/input.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { explainWhy } from '../../domain/reasons.ts'
import { formatTimeOfDay } from '../../domain/time/calendar.ts'
import type { Connection } from '../../store/database.ts'
import type { BeatRecord } from '../../features/heartbeats/log-store.ts'
import type { HeartbeatRow } from '../../features/heartbeats/store.ts'
import { viewProbe } from '../../features/probes/view.ts'
import { heartbeatConfig } from './config.ts'
import { findHeartbeatRoutes, formatRoute, NOWHERE } from '../../features/heartbeats/recipients.ts'
import { momentOrNull } from '../schedule-view.ts'

/** What a person decides about a heartbeat, as everybody reads it and as it is kept. */
export type HeartbeatSettings = Omit<
  HeartbeatView,
  | ('agent_id' | 'org_id' | 'next_at' | 'ok_streak' | 'current_interval_seconds' | 'version' | 'updated_at')
  | ('probe_counts' | 'route' | 'no_route')
>

/** A configuration in the words it was given in, with every default filled in. */
export function settingsOf(config: HeartbeatConfig): HeartbeatSettings {
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

/** The settings as they are shown: what looks like a credential is hidden. */
export const shownSettings = (settings: HeartbeatSettings): HeartbeatSettings => ({
  ...settings,
  probe: viewProbe(settings.probe),
})

/** The configuration that is kept. It was checked when it was written. */
export function configOf({
  agentId: id,
  settings,
  enabled,
}: Pick<HeartbeatRow, 'agentId' | 'settings' | 'enabled'>): HeartbeatConfig {
  const read = heartbeatConfig(settings, { id })
  if (!read.ok) throw new Error(`the heartbeat of ${id} cannot be read: ${read.flaws.map(describeFlaw).join('; ')}`)
  return { ...read.value, enabled }
}

/** The configuration of an agent whose heartbeat nobody has set. */
export function defaultConfig(id: AgentId): HeartbeatConfig {
  const read = heartbeatConfig({}, { id })
  if (!read.ok) throw new Error('a heartbeat needs no settings')
  return read.value
}

/** Where an answer would go at present, or why nowhere. */
export type ShownRoute = Pick<HeartbeatView, 'route' | 'no_route'>

/** Finds out where the answer of a heartbeat would go at present. */
export async function findShownRoute(
  connection: Connection,
  row: HeartbeatRow | null,
  { orgId, agentId, now }: { readonly orgId: OrgId; readonly agentId: AgentId; readonly now: Instant },
): Promise<ShownRoute> {
  const config = row === null ? defaultConfig(agentId) : configOf(row)
  const lastKnown = row ?? { lastSession: null, lookedUntil: null }
  const [found] = await findHeartbeatRoutes(connection, { orgId, now, all: [{ agentId, config, lastKnown }] })
  const route = findRoute(config.target, found?.routes ?? NOWHERE)
  return route.ok
    ? { route: formatRoute(route.route), no_route: null }
    : { route: null, no_route: explainWhy(route.why) }
}

/** The heartbeats whose answers would go somewhere at present. */
export async function withRoute(
  connection: Connection,
  rows: readonly HeartbeatRow[],
  of: { readonly orgId: OrgId; readonly now: Instant },
): Promise<readonly HeartbeatRow[]> {
  const all = rows.map((row) => ({ agentId: row.agentId, config: configOf(row), lastKnown: row }))
  const found = await findHeartbeatRoutes(connection, { ...of, all })
  return rows.filter((_, place) => {
    const [asked, answer] = [all[place], found[place]]
    return asked !== undefined && answer !== undefined && findRoute(asked.config.target, answer.routes).ok
  })
}

/** The heartbeat of an agent; without a row the one that everybody has until it is set. */
export function viewHeartbeat(
  row: HeartbeatRow | null,
  of: { readonly orgId: OrgId; readonly agentId: AgentId },
  route: ShownRoute,
): HeartbeatView {
  const config = row === null ? defaultConfig(of.agentId) : configOf(row)
  const okStreak = row?.okStreak ?? 0
  return {
    ...{ agent_id: of.agentId, org_id: of.orgId, ...shownSettings(settingsOf(config)) },
    next_at: momentOrNull(row?.nextAt ?? null),
    ...route,
    ok_streak: okStreak,
    current_interval_seconds: heartbeatInterval(config, okStreak),
    version: row?.version ?? 0,
    updated_at: momentOrNull(row?.updatedAt ?? null),
  }
}

/** An entry of the log as every surface shows it. */
export const viewBeat = (row: BeatRecord): HeartbeatLogView => ({
  id: row.id,
  agent_id: row.agentId,
  kind: row.dueAt === null ? 'asked' : 'planned',
  due_at: momentOrNull(row.dueAt),
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
  finished_at: momentOrNull(row.finishedAt),
})
