import { agentId } from '../../domain/ids.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import {
  DAY_MS,
  earlier,
  formatInstant,
  type Instant,
  later,
  parseInstant,
  parseTimeOrMs,
  SECOND_MS,
} from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import { DAY_SECONDS, dayFromText } from '../../domain/time/calendar.ts'
import { TIMING_FIELDS } from '../../domain/time/timing-fields.ts'
import { occurrencesBetween } from '../../domain/time/timing.ts'
import { formatInZone, instantOfLocal, localDayAt, localTimeAt } from '../../domain/time/wall-clock.ts'
import { UTC, type Zone } from '../../domain/time/zone.ts'
import { loadAlertsBetween } from '../alerts/store.ts'
import type { AuditRow } from '../audit/store.ts'
import { createFinding, linkTo, whyDeleted } from './evidence.ts'
import type { ExplainCaller, ExplainPorts } from './occurrence.ts'
import type { ExplainAsked, ExplainFinding, ExplainQuery, ZoneSource } from './schema.ts'
import { loadHeartbeatAgents, loadDeletions } from './store.ts'
import { type HeartbeatLogRecord, loadHeartbeatLogBetween } from '../heartbeats/log-store.ts'
import { parseNewTiming } from '../schedules/input.ts'

/** The time of the question, and how it was parsed. */
export interface QuestionTime {
  readonly at: Instant
  readonly zone: Zone
  readonly zoneFrom: ZoneSource
  /** The given local time does not exist in the zone. */
  readonly isInGap: boolean
}

/** The time zone in which a time without an offset is read, and the current time. */
export interface TimeContext {
  readonly now: Instant
  readonly zone: Zone
  readonly zoneFrom: ZoneSource
}

const WITH_ZONE = /(?:[Zz]|[+-]\d{2}:\d{2})$/
const WITHOUT_SECONDS = /^(\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2})((?:[Zz]|[+-]\d{2}:\d{2}))$/
const LOCAL = /^(?:(\d{4}-\d{2}-\d{2})(?:[Tt ](?=\d)|$))?(?:(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,3})?)?)?$/

const ALLOWED_TIMES = 'a time such as 2026-11-16T09:00:00Z, 2026-11-16T09:00 or 09:00'

/** Parses a time with an offset, or a local time in the zone of the reader. */
export function parseQuestionTime(field: string, text: string, context: TimeContext): Parsed<QuestionTime> {
  if (WITH_ZONE.test(text)) {
    const read = parseInstant(field, text.replace(WITHOUT_SECONDS, '$1:00$2'))
    return read.ok ? parsed({ at: read.value, zone: UTC, zoneFrom: 'given', isInGap: false }) : read
  }
  const match = LOCAL.exec(text)
  if (match === null || (match[1] === undefined && match[2] === undefined))
    return flawed({ field, value: text, message: 'is not a time', allowed: ALLOWED_TIMES })
  const [hour, minute, second] = [Number(match[2] ?? 0), Number(match[3] ?? 0), Number(match[4] ?? 0)]
  const day = match[1] === undefined ? null : dayFromText(match[1])
  if (hour > 23 || minute > 59 || second > 59 || (match[1] !== undefined && day === null))
    return flawed({ field, value: text, message: 'is a time that does not exist', allowed: ALLOWED_TIMES })
  return parsed(atLocalTime(day, hour * 3_600 + minute * 60 + second, context))
}

function atLocalTime(day: number | null, second: number, { now, zone, zoneFrom }: TimeContext): QuestionTime {
  const of = (date: number): QuestionTime => {
    const local = date * DAY_SECONDS + second
    const at = instantOfLocal(zone, local)
    return { at, zone, zoneFrom, isInGap: localTimeAt(zone, at) !== local }
  }
  if (day !== null) return of(day)
  // A time of day still to come today means yesterday's, because the question is about the past.
  const today = of(localDayAt(zone, now))
  return today.at <= now ? today : of(localDayAt(zone, earlier(now, DAY_MS)))
}

/** The default search range on each side of the time. */
const DEFAULT_RANGE_SECONDS = 300

/** The searched period. */
export interface SearchWindow {
  readonly from: Instant
  readonly to: Instant
}

/** The period to search around a time. */
export function searchWindowOf(
  at: Instant,
  { within_seconds: within = DEFAULT_RANGE_SECONDS }: ExplainQuery,
): SearchWindow {
  return { from: earlier(at, within * SECOND_MS), to: later(at, within * SECOND_MS) }
}

/** The API view of the parsed question. */
export const viewQuestion = ({ at, zone, zoneFrom }: QuestionTime, { from, to }: SearchWindow): ExplainAsked => ({
  id: null,
  at: formatInstant(at),
  local: formatInZone(zone, at),
  timezone: zone.name,
  timezone_from: zoneFrom,
  from: formatInstant(from),
  to: formatInstant(to),
})

const MAX_HEARTBEATS = 50
const MAX_ALERTS = 20
const MAX_DELETIONS = 20
/** How many of the newest audit entries are searched for deletions. */
const AUDITS_SEARCHED = 5_000
const DELETED_SINCE_MS = 30 * DAY_MS

interface SearchScope {
  readonly query: ExplainQuery
  readonly window: SearchWindow
}

/** Other events around a time: heartbeats, alerts, and schedules deleted since. */
export async function surroundingFindings(
  ports: ExplainPorts,
  caller: ExplainCaller,
  scope: SearchScope,
): Promise<readonly ExplainFinding[]> {
  const { query } = scope
  const isOfSchedule = query.schedule_id !== undefined
  const isWide = !isOfSchedule && query.session === undefined
  return [
    ...(isWide && caller.may('agents:read') ? await heartbeatFindings(ports, caller, scope) : []),
    ...(caller.restricted === undefined && caller.may('runs:read') ? await alertFindings(ports, caller, scope) : []),
    ...(isWide && caller.may('audit:read') && caller.may('schedules:read')
      ? await deletionFindings(ports, caller, scope)
      : []),
  ]
}

async function heartbeatFindings(
  { database }: ExplainPorts,
  { orgId }: ExplainCaller,
  { query, window }: SearchScope,
): Promise<readonly ExplainFinding[]> {
  const agent = query.agent_id === undefined ? null : agentId(query.agent_id)
  const entries = await loadHeartbeatLogBetween(database, { orgId, agentId: agent, ...window, limit: MAX_HEARTBEATS })
  if (entries.length > 0 || agent === null) return entries.map(heartbeatFinding)
  const [heartbeat] = await loadHeartbeatAgents(database, { orgId, agentId: agent, limit: 1 })
  if (heartbeat === undefined) return []
  const why =
    heartbeat.nextAt === null
      ? because('heartbeat_disabled', 'heartbeat.enabled', { agent })
      : because('heartbeat_waits', 'heartbeat.interval_seconds', { agent, next_at: formatInstant(heartbeat.nextAt) })
  return [createFinding(why, { kind: 'heartbeat', about: agent, at: null, links: [linkTo('heartbeat', agent)] })]
}

/** A heartbeat as a finding. */
export const heartbeatFinding = (heartbeat: HeartbeatLogRecord): ExplainFinding =>
  createFinding(heartbeat.why, {
    ...{ kind: 'heartbeat', about: `Heartbeat of ${heartbeat.agentId}`, at: heartbeat.at },
    links: [
      linkTo('heartbeat', heartbeat.agentId),
      linkTo('agent', heartbeat.agentId),
      ...(heartbeat.runId === null ? [] : [linkTo('run', heartbeat.runId)]),
      ...(heartbeat.deliveryId === null ? [] : [linkTo('delivery', heartbeat.deliveryId)]),
    ],
  })

async function alertFindings(
  { database }: ExplainPorts,
  { orgId }: ExplainCaller,
  { query, window }: SearchScope,
): Promise<readonly ExplainFinding[]> {
  const rows = await loadAlertsBetween(database, { orgId, ...window, limit: MAX_ALERTS })
  const isNarrow = query.agent_id !== undefined || query.session !== undefined
  return rows
    .filter(({ kind, subjectId, raisedAt }) => {
      // An alert raised long before says nothing about this time, except that the engine is stalled.
      if (kind === 'engine_stalled') return true
      if (query.schedule_id !== undefined) return subjectId === query.schedule_id
      return !isNarrow && raisedAt >= window.from
    })
    .map((row) =>
      createFinding(row.why, {
        ...{ kind: row.kind === 'engine_stalled' ? 'engine' : 'alert', about: row.subjectId, at: row.raisedAt },
        links: [linkTo('alert', row.id)],
      }),
    )
}

async function deletionFindings(
  { database }: ExplainPorts,
  { orgId }: ExplainCaller,
  { query, window }: SearchScope,
): Promise<readonly ExplainFinding[]> {
  // A schedule deleted shortly before the time can explain it; older deletions are not searched.
  const search = { orgId, since: earlier(window.from, DELETED_SINCE_MS), looks: AUDITS_SEARCHED, limit: MAX_DELETIONS }
  const entries = await loadDeletions(database, search)
  return entries
    .filter((entry) => wouldHaveFired(entry, query, window))
    .flatMap((entry) => {
      const why = whyDeleted([entry])
      if (why === null) return []
      const { schedule: name } = why.evidence
      const links = [linkTo('schedule', entry.objectId), linkTo('audit', entry.objectId)]
      return [createFinding(why, { kind: 'schedule', about: String(name), at: entry.at, links })]
    })
}

/** Whether a deleted schedule would have fired in the window, by its last stored timing. */
function wouldHaveFired({ before }: AuditRow, query: ExplainQuery, { from, to }: SearchWindow): boolean {
  const view = (before ?? {}) as Readonly<Record<string, unknown>>
  if (query.agent_id !== undefined && view['agent_id'] !== query.agent_id) return false
  const createdAt = parseTimeOrMs('created_at', view['created_at'])
  if (createdAt.ok && createdAt.value > to) return false
  const timing = parseNewTiming(storedTimingFields(view), {
    now: createdAt.ok ? createdAt.value : from,
    defaultZone: UTC,
  })
  return !timing.ok || occurrencesBetween(timing.value.timing, { after: from, upTo: to, limit: 1 }).length > 0
}

const storedTimingFields = (view: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(TIMING_FIELDS.flatMap((name) => (view[name] === undefined ? [] : [[name, view[name]]])))
