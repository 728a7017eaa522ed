import type { Explanation, ExplainQuery, ExplainFinding, ExplainNext, PlannedMoment, ZoneSource } from './schema.ts'
import { invalid } from '../../api/refusals.ts'
import type { Permission } from '../../domain/access/access.ts'
import { type ExplainCaller, type ExplainPorts, explainOccurrenceAt } from './occurrence.ts'
import { explainObject } from './thing.ts'
import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { agentId, scheduleId, sessionKey, type RunId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import { isPending } from '../../domain/run/run-machine.ts'
import { visibleOwner } from '../../domain/access/restrictions.ts'
import { nextOccurrence, previousOccurrence } from '../../domain/time/timing.ts'
import { parseZone, UTC, type Zone } from '../../domain/time/zone.ts'
import { loadOrg } from '../access/orgs-store.ts'
import { listRunPage, type RunQuery } from '../runs/read-store.ts'
import type { RunRecord } from '../runs/record-store.ts'
import { explainQueued } from '../../engine/live-port.ts'
import { countSchedules, listSchedulePage, loadSchedules, type ScheduleRow } from '../schedules/store.ts'
import { ownRuns, requireOwn } from '../access/restrictions.ts'
import {
  type QuestionTime,
  parseQuestionTime,
  surroundingFindings,
  viewQuestion,
  type SearchWindow,
  searchWindowOf,
} from './surroundings.ts'
import { createFinding, runLinks, sentenceAbout } from './evidence.ts'
import { ACTIONS } from './next.ts'
import { nearMisses, type PlannedFindings, plannedFindings, whyRan } from './planned.ts'

/** Bounds what one question searches. The answer reports when a limit is reached. */
const MAX_SEARCHED_SCHEDULES = 2_000
const MAX_SEARCHED_RUNS = 200
/** Bounds the length of an answer. */
const MAX_FINDINGS = 50

/** The data searched for a question about a time. */
interface TimeSearch {
  readonly asked: QuestionTime
  readonly window: SearchWindow
  readonly rows: readonly ScheduleRow[]
  readonly inAll: number
  readonly query: ExplainQuery
}

/** Explains what happened around a time, or why nothing did. */
async function explainTime(ports: ExplainPorts, caller: ExplainCaller, query: ExplainQuery): Promise<Explanation> {
  const search = await loadTimeSearch(ports, caller, query)
  const { asked, window, rows } = search
  const canReadSchedules = caller.may('schedules:read')
  const isNamed = query.schedule_id !== undefined
  const planned: PlannedFindings = canReadSchedules
    ? await plannedFindings(ports, caller, { ...search, isNamed })
    : { findings: [], told: new Set<RunId>() }
  const runs = await loadRunsAround(ports, caller, search)
  const around = await surroundingFindings(ports, caller, { query, window })
  // A deleted schedule is explained by its runs; without runs, by its occurrence, which may be refused.
  const isSilent = isNamed && planned.findings.length === 0 && (rows.length > 0 || runs.length === 0)
  const silent = isSilent ? [await namedScheduleFinding(ports, caller, search)] : []
  const near = isNamed || !canReadSchedules ? [] : nearMisses(rows, asked)
  const untold = runs.filter(({ id }) => !planned.told.has(id))
  const others = await otherRunFindings(ports, caller, untold)
  const findings = rankFindings([...planned.findings, ...silent, ...near, ...around, ...others], asked.at)
  const nearest = canReadSchedules ? nearestPlanned(rows, asked.at) : { before: null, after: null }
  const all = findings.length > 0 ? findings : [nothingPlanned(window)]
  return {
    asked: viewQuestion(asked, window),
    sentence: answerSentence(all, nearest, asked),
    findings: all.slice(0, MAX_FINDINGS),
    steps: [],
    next: answerNext(findings, nearest, canReadSchedules ? nearestPlanned(rows, ports.clock.now()).after : null),
    nearest,
    looked_at: {
      ...{ schedules: rows.length, schedules_in_all: search.inAll, runs: runs.length },
      complete: rows.length >= search.inAll && runs.length < MAX_SEARCHED_RUNS && all.length <= MAX_FINDINGS,
    },
  }
}

async function loadTimeSearch(
  { database, clock }: ExplainPorts,
  caller: ExplainCaller,
  query: ExplainQuery,
): Promise<TimeSearch> {
  const { orgId, restricted } = caller
  const named = query.schedule_id
  if (named !== undefined && restricted !== undefined)
    await requireOwn({ database }, { orgId, restricted }, { kind: 'schedule', id: named })
  const org = await loadOrg(database, orgId)
  const [one] = named === undefined ? [] : await loadSchedules(database, { orgId, ids: [scheduleId(named)] })
  const context = { now: clock.now(), ...readingZone(query, one, org?.defaultTimezone ?? 'UTC') }
  const asked = parseQuestionTime('at', query.at ?? '', context)
  if (!asked.ok) throw invalid(asked.flaws)
  const window = searchWindowOf(asked.value.at, query)
  if (named !== undefined)
    return { asked: asked.value, window, query, rows: one === undefined ? [] : [one], inAll: one === undefined ? 0 : 1 }
  const agent = query.agent_id === undefined ? {} : { agentId: agentId(query.agent_id) }
  const choice = { orgId, owner: visibleOwner(restricted), ...agent }
  const page = { ...choice, sort: '-created_at', after: null, limit: MAX_SEARCHED_SCHEDULES } as const
  const { rows: found, more } = await listSchedulePage(database, page)
  const rows = query.session === undefined ? found : found.filter((row) => row.sessionKey === query.session)
  const inAll = found.length < MAX_SEARCHED_SCHEDULES && !more ? rows.length : await countSchedules(database, choice)
  return { asked: asked.value, window, query, rows, inAll }
}

/** The zone in which a local time is read: the one that is asked for, the schedule's, or the org's. */
function readingZone(
  { timezone }: ExplainQuery,
  schedule: ScheduleRow | undefined,
  zoneOfOrg: string,
): { readonly zone: Zone; readonly zoneFrom: ZoneSource } {
  if (timezone !== undefined) {
    const zone = parseZone('timezone', timezone)
    if (!zone.ok) throw invalid(zone.flaws)
    return { zone: zone.value, zoneFrom: 'given' }
  }
  return schedule === undefined
    ? { zone: zoneOrUtc(zoneOfOrg), zoneFrom: 'org' }
    : { zone: schedule.timing.zone, zoneFrom: 'schedule' }
}

/** Falls back to UTC, so that a zone missing from this server's time zone data does not prevent an answer. */
function zoneOrUtc(name: string): Zone {
  const zone = parseZone('timezone', name)
  return zone.ok ? zone.value : UTC
}

/** Explains why the named schedule had nothing planned then. */
async function namedScheduleFinding(
  ports: ExplainPorts,
  caller: ExplainCaller,
  { asked, rows, query }: TimeSearch,
): Promise<ExplainFinding> {
  const id = scheduleId(query.schedule_id ?? '')
  const told = await explainOccurrenceAt(ports, caller, { id, at: asked.at, zone: asked.zone })
  const about = rows[0]?.name ?? id
  return {
    ...{ kind: 'schedule', about, status: told.status, at: told.at },
    reason: told.reason,
    rule: told.rule,
    evidence: told.evidence,
    sentence: sentenceAbout(about, told.status ?? undefined, told.sentence),
    policy: told.policy,
    links: told.links,
  }
}

async function loadRunsAround(
  { database }: ExplainPorts,
  { orgId, restricted, may }: ExplainCaller,
  search: TimeSearch,
): Promise<readonly RunRecord[]> {
  const { query, window } = search
  const choice: RunQuery = {
    orgId,
    owned: ownRuns(restricted) ?? null,
    onlyOfSchedules: !may('runs:read'),
    scheduleId: query.schedule_id === undefined ? null : scheduleId(query.schedule_id),
    agentId: query.agent_id === undefined ? null : agentId(query.agent_id),
    sessionKey: query.session === undefined ? null : sessionKey(query.session),
    ...window,
  }
  return (await listRunPage(database, { ...choice, after: null, limit: MAX_SEARCHED_RUNS })).rows
}

async function otherRunFindings(
  { database }: ExplainPorts,
  { live }: ExplainCaller,
  runs: readonly RunRecord[],
): Promise<readonly ExplainFinding[]> {
  const waits = await explainQueued({ database, live }, runs)
  return runs.map((run) => {
    const about = {
      ...({ kind: 'run', about: run.id, status: run.state } as const),
      ...{ at: run.nominal ?? run.createdAt, links: runLinks(run) },
    }
    if (isPending(run.state)) return createFinding(waits.get(run.id) ?? run.why ?? run.decision, about)
    const isUsual = run.state === 'success'
    return createFinding(isUsual ? whyRan(run) : (run.why ?? run.decision), about)
  })
}

/** Successful runs rank last and few are listed, because they rarely answer the question. */
const SUCCESS_RANK = 9
const MAX_SUCCESSES = 5

/** Reasons of an inactive schedule. */
const INACTIVE_REASONS: readonly ExplainFinding['reason'][] = [
  ...([
    'switched_off',
    'not_active',
    'was_not_active',
    'all_fires_made',
    'given_up',
    'rule_too_dense',
    'before_creation',
  ] as const),
]

/** Ranks findings: reasons for missing runs first, then failures, near misses, and successes last. */
function findingRank({ kind, reason, at }: ExplainFinding, asked: Instant): number {
  const isExact = at !== null && Math.abs(Date.parse(at) - asked) < 60_000
  if (reason === 'ran' || reason === 'completed' || reason === 'not_yet') return SUCCESS_RANK
  if (kind === 'occurrence') return isExact ? (INACTIVE_REASONS.includes(reason) ? 2 : 0) : 3
  if (kind === 'engine') return 1
  if (kind === 'schedule') return reason === 'deleted_by' ? 2 : 5
  if (kind === 'run') return reason === 'waited' ? 6 : 4
  return kind === 'heartbeat' ? 7 : 8
}

function rankFindings(findings: readonly ExplainFinding[], asked: Instant): readonly ExplainFinding[] {
  const seen = new Set<string>()
  let successes = 0
  const distance = ({ at }: ExplainFinding): number => (at === null ? Infinity : Math.abs(Date.parse(at) - asked))
  return findings
    .filter(({ sentence, reason, at }) => {
      // An occurrence still to come does not explain a past time.
      if (seen.has(sentence) || (reason === 'not_yet' && at !== null && Date.parse(at) > asked)) return false
      seen.add(sentence)
      return true
    })
    .toSorted((a, b) => findingRank(a, asked) - findingRank(b, asked) || distance(a) - distance(b))
    .filter((one) => findingRank(one, asked) < SUCCESS_RANK || (successes += 1) <= MAX_SUCCESSES)
}

const nothingPlanned = ({ from, to }: SearchWindow): ExplainFinding =>
  createFinding(because('nothing_planned', 'looking', { from: formatInstant(from), to: formatInstant(to) }), {
    ...{ kind: 'nothing', about: null, at: null },
  })

type Nearest = NonNullable<Explanation['nearest']>

/** The nearest planned occurrences of active schedules before and after a time. */
function nearestPlanned(rows: readonly ScheduleRow[], at: Instant): Nearest {
  let [before, after]: [PlannedMoment | null, PlannedMoment | null] = [null, null]
  for (const row of rows) {
    if (row.state !== 'active') continue
    const timing = plannedTiming(row)
    const [last, next] = [previousOccurrence(timing, at), nextOccurrence(timing, at)]
    if (last !== null && last >= row.createdAt && (before === null || formatInstant(last) > before.at))
      before = { schedule_id: row.id, name: row.name, at: formatInstant(last) }
    if (next !== null && (after === null || formatInstant(next) < after.at))
      after = { schedule_id: row.id, name: row.name, at: formatInstant(next) }
  }
  return { before, after }
}

function answerSentence(findings: readonly ExplainFinding[], { before, after }: Nearest, asked: QuestionTime): string {
  const [first, ...more] = findings
  const parts = first === undefined ? [] : [first.sentence]
  if (more.length > 0) parts.push(`${more.length} more ${more.length === 1 ? 'finding' : 'findings'}.`)
  if (first?.kind === 'nothing') {
    if (before !== null) parts.push(`Before it: ${before.name} at ${before.at}.`)
    parts.push(after === null ? 'Nothing is planned after it.' : `After it: ${after.name} at ${after.at}.`)
  }
  if (asked.zoneFrom !== 'given') parts.push(`The time was read in the time zone ${asked.zone.name}.`)
  if (asked.isInGap) parts.push('This local time does not exist: a clock change skips it.')
  return parts.join(' ')
}

function answerNext(
  findings: readonly ExplainFinding[],
  { before, after }: Nearest,
  upcoming: PlannedMoment | null,
): ExplainNext {
  const sentence = upcoming === null ? 'Nothing is planned next.' : `Next is ${upcoming.name} at ${upcoming.at}.`
  const asked = findings.length > 0 ? [] : [before, after].filter((one) => one !== null)
  return { sentence, actions: asked.map(({ at }) => ACTIONS.askMoment(at)) }
}

/** The only permissions that count for a restricted key, whatever its role permits. */
const RESTRICTED_PERMISSIONS: readonly Permission[] = ['schedules:read', 'runs:read']

const asRestrictedCaller = (caller: ExplainCaller): ExplainCaller =>
  caller.restricted === undefined
    ? caller
    : { ...caller, may: (permission) => RESTRICTED_PERMISSIONS.includes(permission) && caller.may(permission) }

/** Explains one object by its id, or a time. */
export async function answerQuestion(
  ports: ExplainPorts,
  fullCaller: ExplainCaller,
  query: ExplainQuery,
): Promise<Explanation> {
  const caller = asRestrictedCaller(fullCaller)
  const { id, at } = query
  if (id !== undefined && at === undefined) return explainObject(ports, caller, { id, session: query.session ?? null })
  if (at !== undefined && id === undefined) return explainTime(ports, caller, query)
  const both = id !== undefined
  throw invalid([
    {
      ...{ field: both ? 'id' : 'at', value: both ? id : undefined },
      message: both ? 'cannot be combined with at' : 'is missing',
      allowed: 'either id, or at with timezone, schedule_id, agent_id, session and within_seconds',
    },
  ])
}
