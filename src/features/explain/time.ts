import type { ExplainFinding, ExplainNext, Explanation, ExplainQuery, PlannedMoment } from './schema.ts'
import { invalid } from '../../api/refusals.ts'
import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { agentId, scheduleId, sessionKey, type RunId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import { isPending } from '../../domain/run/run-machine.ts'
import { confinedTo } from '../../core/rails/railed.ts'
import { nextOccurrence, previousOccurrence } from '../../domain/time/timing.ts'
import { parseZone, UTC, type Zone } from '../../core/time/zone.ts'
import { loadOrg } from '../access/orgs-store.ts'
import { listRunPage } from '../../store/run-reads.ts'
import type { RunRecord } from '../../store/run-record.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { countSchedules, listSchedulePage, loadSchedules } from '../../store/schedules.ts'
import { ownRuns, requireOwn } from '../../service/rails/own.ts'
import { readAsked, viewAsked, windowOf, type AskedAt, type Window } from '../../service/explain/asked.ts'
import { runLinks } from '../../service/explain/links.ts'
import { ACTIONS } from '../../service/explain/next.ts'
import { explainMoment, type Asker, type Reading } from './occurrence.ts'
import { nearMisses, plannedFindings, whyRan } from '../../service/explain/planned.ts'
import { surroundings } from '../../service/explain/surroundings.ts'
import { finding, sentenceAbout } from '../../service/explain/tell.ts'

/** More schedules than this are not looked at in one question, nor more runs: the answer says so. */
const MOST_SCHEDULES = 2_000
const MOST_RUNS = 200
/** Nobody reads more. */
const MOST_FINDINGS = 50

/** What is looked at when a moment is asked about. */
interface Scene {
  readonly asked: AskedAt
  readonly window: Window
  readonly rows: readonly ScheduleRow[]
  readonly inAll: number
  readonly query: ExplainQuery
}

/** Says what happened around a moment, and why nothing did. */
export async function explainTime(ports: Reading, asker: Asker, query: ExplainQuery): Promise<Explanation> {
  const scene = await readScene(ports, asker, query)
  const { asked, window, rows } = scene
  const mayPlan = asker.may('schedules:read')
  const isNamed = query.schedule_id !== undefined
  const planned = mayPlan
    ? await plannedFindings(ports, asker, { ...scene, isNamed })
    : { findings: [], told: new Set<RunId>() }
  const runs = await runsAround(ports, asker, scene)
  const around = await surroundings(ports, asker, { query, window })
  // Of a schedule that is gone its runs are left; without them, its own explanation is asked, which may know of nothing.
  const isSilent = isNamed && planned.findings.length === 0 && (rows.length > 0 || runs.length === 0)
  const silent = isSilent ? [await namedFinding(ports, asker, scene)] : []
  const near = isNamed || !mayPlan ? [] : nearMisses(rows, asked)
  const findings = ranked(
    [...planned.findings, ...silent, ...near, ...around, ...tellRuns(runs, planned.told, asker)],
    asked.at,
  )
  const nearest = mayPlan ? nearestOf(rows, asked.at) : { before: null, after: null }
  const all = findings.length > 0 ? findings : [nothingPlanned(window)]
  return {
    asked: viewAsked(asked, window),
    sentence: sentenceOf(all, nearest, asked),
    findings: all.slice(0, MOST_FINDINGS),
    steps: [],
    next: nextFor(findings, nearest, mayPlan ? nearestOf(rows, ports.clock.now()).after : null),
    nearest,
    looked_at: {
      ...{ schedules: rows.length, schedules_in_all: scene.inAll, runs: runs.length },
      complete: rows.length >= scene.inAll && runs.length < MOST_RUNS && all.length <= MOST_FINDINGS,
    },
  }
}

async function readScene({ database, clock }: Reading, asker: Asker, query: ExplainQuery): Promise<Scene> {
  const { orgId, railed } = asker
  const named = query.schedule_id
  if (named !== undefined && railed !== undefined)
    await requireOwn({ database }, { orgId, railed }, { kind: 'schedule', id: named })
  const org = await loadOrg(database, orgId)
  const [one] = named === undefined ? [] : await loadSchedules(database, { orgId, ids: [scheduleId(named)] })
  const zone = one === undefined ? zoneNamed(org?.defaultTimezone ?? 'UTC') : one.timing.zone
  const reader = { now: clock.now(), zone, zoneFrom: one === undefined ? ('org' as const) : ('schedule' as const) }
  const asked = readAsked('at', query.at ?? '', reader)
  if (!asked.ok) throw invalid(asked.flaws)
  const window = windowOf(asked.value.at, query)
  if (named !== undefined)
    return { asked: asked.value, window, query, rows: one === undefined ? [] : [one], inAll: one === undefined ? 0 : 1 }
  const agent = query.agent_id === undefined ? {} : { agentId: agentId(query.agent_id) }
  const choice = { orgId, owner: confinedTo(railed), ...agent }
  const page = { ...choice, sort: '-created_at', after: null, limit: MOST_SCHEDULES } as const
  const { rows: found, more } = await listSchedulePage(database, page)
  const rows = query.session === undefined ? found : found.filter((row) => row.sessionKey === query.session)
  const inAll = found.length < MOST_SCHEDULES && !more ? rows.length : await countSchedules(database, choice)
  return { asked: asked.value, window, query, rows, inAll }
}

/** The zone was checked when it was set; a server that has forgotten it is no reason to refuse an answer. */
function zoneNamed(name: string): Zone {
  const zone = parseZone('timezone', name)
  return zone.ok ? zone.value : UTC
}

/** The schedule that was asked about had nothing planned then: why, in the words of its own explanation. */
async function namedFinding(ports: Reading, asker: Asker, { asked, rows, query }: Scene): Promise<ExplainFinding> {
  const id = scheduleId(query.schedule_id ?? '')
  const told = await explainMoment(ports, asker, { id, at: asked.at, zone: asked.zone })
  const about = rows[0]?.name ?? id
  return {
    ...{ kind: 'schedule', about, status: told.status, at: told.at },
    // Everything that is said about a moment is a reason of the table.
    reason: told.reason,
    rule: told.rule,
    evidence: told.evidence,
    sentence: sentenceAbout(about, told.status ?? undefined, told.sentence),
    policy: told.policy,
    links: told.links,
  }
}

async function runsAround(
  { database }: Reading,
  { orgId, railed, may }: Asker,
  scene: Scene,
): Promise<readonly RunRecord[]> {
  const { query, window } = scene
  const choice = {
    orgId,
    owned: ownRuns(railed) ?? null,
    onlyOfSchedules: !may('runs:read'),
    scheduleId: query.schedule_id === undefined ? null : scheduleId(query.schedule_id),
    agentId: query.agent_id === undefined ? null : agentId(query.agent_id),
    sessionKey: query.session === undefined ? null : sessionKey(query.session),
    ...window,
  }
  return (await listRunPage(database, { ...choice, after: null, limit: MOST_RUNS })).rows
}

function tellRuns(
  runs: readonly RunRecord[],
  told: ReadonlySet<RunId>,
  { live, orgId }: Asker,
): readonly ExplainFinding[] {
  return runs
    .filter(({ id }) => !told.has(id))
    .map((run) => {
      const about = {
        ...({ kind: 'run', about: run.id, status: run.state } as const),
        ...{ at: run.nominal ?? run.createdAt, links: runLinks(run) },
      }
      if (isPending(run.state)) return finding(live.explain(orgId, run.id) ?? run.why ?? run.decision, about)
      const isUsual = run.state === 'success'
      return finding(isUsual ? whyRan(run) : (run.why ?? run.decision), about)
    })
}

/** What went well is no answer, but says that the question was wrong: a few of them are enough. */
const WENT_WELL = 9
const MOST_WELL = 5

/** Reasons of a schedule that was not there to fire. */
const IDLE: readonly ExplainFinding['reason'][] = [
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

/** What is said first: what explains silence, then what went wrong, then what nearly was, and last what went well. */
function rankOf({ kind, reason, at }: ExplainFinding, asked: Instant): number {
  const isExact = at !== null && Math.abs(Date.parse(at) - asked) < 60_000
  if (reason === 'ran' || reason === 'completed' || reason === 'not_yet') return WENT_WELL
  if (kind === 'occurrence') return isExact ? (IDLE.includes(reason) ? 2 : 0) : 3
  if (kind === 'engine') return 1
  if (kind === 'schedule') return reason === 'deleted_by' ? 2 : 5
  if (kind === 'run') return reason === 'waited' ? 6 : 4
  return kind === 'heartbeat' ? 7 : 8
}

function ranked(findings: readonly ExplainFinding[], asked: Instant): readonly ExplainFinding[] {
  const seen = new Set<string>()
  let well = 0
  const distance = ({ at }: ExplainFinding): number => (at === null ? Infinity : Math.abs(Date.parse(at) - asked))
  return findings
    .filter(({ sentence, reason, at }) => {
      // What is still to come around a moment that has passed is no answer.
      if (seen.has(sentence) || (reason === 'not_yet' && at !== null && Date.parse(at) > asked)) return false
      seen.add(sentence)
      return true
    })
    .toSorted((a, b) => rankOf(a, asked) - rankOf(b, asked) || distance(a) - distance(b))
    .filter((one) => rankOf(one, asked) < WENT_WELL || (well += 1) <= MOST_WELL)
}

const nothingPlanned = ({ from, to }: Window): ExplainFinding =>
  finding(because('nothing_planned', 'looking', { from: formatInstant(from), to: formatInstant(to) }), {
    ...{ kind: 'nothing', about: null, at: null },
  })

type Nearest = NonNullable<Explanation['nearest']>

/** What is planned before and after the moment, of all schedules that are switched on. */
function nearestOf(rows: readonly ScheduleRow[], at: Instant): Nearest {
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

function sentenceOf(findings: readonly ExplainFinding[], { before, after }: Nearest, asked: AskedAt): string {
  const [first, ...more] = findings
  const parts = first === undefined ? [] : [first.sentence]
  if (more.length > 0) parts.push(`${more.length} more ${more.length === 1 ? 'thing was' : 'things were'} found.`)
  if (first?.kind === 'nothing') {
    if (before !== null) parts.push(`Before it: ${before.name} at ${before.at}.`)
    parts.push(after === null ? 'Nothing is planned after it.' : `After it: ${after.name} at ${after.at}.`)
  }
  if (asked.zoneFrom !== 'given') parts.push(`The time was read by the clock of ${asked.zone.name}.`)
  if (asked.isInGap) parts.push('That clock never showed it: it was put forward then.')
  return parts.join(' ')
}

function nextFor(
  findings: readonly ExplainFinding[],
  { before, after }: Nearest,
  coming: PlannedMoment | null,
): ExplainNext {
  const follows = coming === null ? 'Nothing is planned next.' : `Next is ${coming.name} at ${coming.at}.`
  const asked = findings.length > 0 ? [] : [before, after].filter((one) => one !== null)
  return { sentence: follows, actions: asked.map(({ at }) => ACTIONS.askMoment(at)) }
}
