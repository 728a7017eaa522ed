import type { ExplainFinding, ExplainQuery } from '../../features/explain/schema.ts'
import { agentId } from '../../domain/ids.ts'
import { DAY_MS, earlier, formatInstant, parseMoment } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import { occurrencesBetween } from '../../domain/time/timing.ts'
import { UTC } from '../../core/time/zone.ts'
import type { AuditRow } from '../../features/audit/store.ts'
import { loadAlertsBetween } from '../../features/alerts/store.ts'
import { loadBeatingAgents, loadDeletions } from '../../features/explain/store.ts'
import { loadBeatsBetween, type BeatRecord } from '../../features/heartbeats/log-store.ts'
import { TIMING_FIELDS } from '../../domain/time/timing-fields.ts'
import { parseNewTiming } from '../schedule-timing.ts'
import type { Window } from './asked.ts'
import { whyDeleted } from './history.ts'
import { linkTo } from './links.ts'
import type { Asker, Reading } from '../../features/explain/occurrence.ts'
import { finding } from './tell.ts'

const MOST_BEATS = 50
const MOST_ALERTS = 20
const MOST_DELETIONS = 20
/** So many of the newest records are searched for deletions: nobody asks about last year without naming a schedule. */
const AUDITS_SEARCHED = 5_000
const DELETED_SINCE_MS = 30 * DAY_MS

interface Around {
  readonly query: ExplainQuery
  readonly window: Window
}

/** What else was around a moment: heartbeats, alerts, and schedules that somebody has deleted since. */
export async function surroundings(ports: Reading, asker: Asker, around: Around): Promise<readonly ExplainFinding[]> {
  const { query } = around
  const isOfSchedule = query.schedule_id !== undefined
  const isWide = !isOfSchedule && query.session === undefined
  return [
    ...(isWide && asker.may('agents:read') ? await beats(ports, asker, around) : []),
    ...(asker.railed === undefined && asker.may('runs:read') ? await alerts(ports, asker, around) : []),
    ...(isWide && asker.may('audit:read') && asker.may('schedules:read') ? await deletions(ports, asker, around) : []),
  ]
}

async function beats(
  { database }: Reading,
  { orgId }: Asker,
  { query, window }: Around,
): Promise<readonly ExplainFinding[]> {
  const agent = query.agent_id === undefined ? null : agentId(query.agent_id)
  const entries = await loadBeatsBetween(database, { orgId, agentId: agent, ...window, limit: MOST_BEATS })
  if (entries.length > 0 || agent === null) return entries.map(tellBeat)
  const [heart] = await loadBeatingAgents(database, { orgId, agentId: agent, limit: 1 })
  if (heart === undefined) return []
  const why =
    heart.nextAt === null
      ? because('heartbeat_disabled', 'heartbeat.enabled', { agent })
      : because('heartbeat_waits', 'heartbeat.interval_seconds', { agent, next_at: formatInstant(heart.nextAt) })
  return [finding(why, { kind: 'heartbeat', about: agent, at: null, links: [linkTo('heartbeat', agent)] })]
}

/** A heartbeat as something that was found. */
export const tellBeat = (beat: BeatRecord): ExplainFinding =>
  finding(beat.why, {
    ...{ kind: 'heartbeat', about: `Heartbeat of ${beat.agentId}`, at: beat.at },
    links: [
      linkTo('heartbeat', beat.agentId),
      linkTo('agent', beat.agentId),
      ...(beat.runId === null ? [] : [linkTo('run', beat.runId)]),
      ...(beat.deliveryId === null ? [] : [linkTo('delivery', beat.deliveryId)]),
    ],
  })

async function alerts(
  { database }: Reading,
  { orgId }: Asker,
  { query, window }: Around,
): Promise<readonly ExplainFinding[]> {
  const rows = await loadAlertsBetween(database, { orgId, ...window, limit: MOST_ALERTS })
  const isNarrow = query.agent_id !== undefined || query.session !== undefined
  return rows
    .filter(({ kind, subjectId, raisedAt }) => {
      // What has been open for days says nothing about a moment; an engine that stands still does, however long.
      if (kind === 'engine_stalled') return true
      if (query.schedule_id !== undefined) return subjectId === query.schedule_id
      return !isNarrow && raisedAt >= window.from
    })
    .map((row) =>
      finding(row.why, {
        ...{ kind: row.kind === 'engine_stalled' ? 'engine' : 'alert', about: row.subjectId, at: row.raisedAt },
        links: [linkTo('alert', row.id)],
      }),
    )
}

async function deletions(
  { database }: Reading,
  { orgId }: Asker,
  { query, window }: Around,
): Promise<readonly ExplainFinding[]> {
  // One that was deleted before the moment is why nothing happened then; one deleted long before is not looked for.
  const looked = { orgId, since: earlier(window.from, DELETED_SINCE_MS), looks: AUDITS_SEARCHED, limit: MOST_DELETIONS }
  const entries = await loadDeletions(database, looked)
  return entries
    .filter((entry) => wasPlanned(entry, query, window))
    .flatMap((entry) => {
      const why = whyDeleted([entry])
      if (why === null) return []
      const { schedule: name } = why.evidence
      const links = [linkTo('schedule', entry.objectId), linkTo('audit', entry.objectId)]
      return [finding(why, { kind: 'schedule', about: String(name), at: entry.at, links })]
    })
}

/** Whether a schedule that is gone would have fired in the window, as far as its last words tell. */
function wasPlanned({ before }: AuditRow, query: ExplainQuery, { from, to }: Window): boolean {
  const view = (before ?? {}) as Readonly<Record<string, unknown>>
  if (query.agent_id !== undefined && view['agent_id'] !== query.agent_id) return false
  const made = parseMoment('created_at', view['created_at'])
  if (made.ok && made.value > to) return false
  const timing = parseNewTiming(timingOf(view), { now: made.ok ? made.value : from, defaultZone: UTC })
  return !timing.ok || occurrencesBetween(timing.value.timing, { after: from, upTo: to, limit: 1 }).length > 0
}

const timingOf = (view: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(TIMING_FIELDS.flatMap((name) => (view[name] === undefined ? [] : [[name, view[name]]])))
