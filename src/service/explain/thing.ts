import type { ExplainFinding, ExplainNext, Explanation, ExplainStep } from '../../features/explain/schema.ts'
import { Refusal } from '../../api/refusals.ts'
import { agentId, runId, scheduleId, sessionKey, targetId } from '../../domain/ids.ts'
import { formatInstant, later, parseInstant, SECOND_MS, type Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { RUN_STATES, isPending } from '../../domain/run/run-machine.ts'
import { UTC } from '../../core/time/zone.ts'
import { loadAgents } from '../../features/agents/store.ts'
import { loadAlert } from '../../features/alerts/store.ts'
import { loadDelivery } from '../../features/deliveries/store.ts'
import { findRunOfAttempt, findRunOfMessage, loadAuditsOf } from '../../features/explain/store.ts'
import { loadBeat } from '../../features/heartbeats/log-store.ts'
import { listRunPage, loadRun } from '../../store/run-reads.ts'
import type { RunRecord } from '../../store/run-record.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { loadSchedules } from '../../store/schedules.ts'
import { loadSessions } from '../../store/sessions.ts'
import { loadTargets } from '../../store/targets.ts'
import { isOwn } from '../rails/own.ts'
import { ID_PREFIXES, idTimeOf, type IdKind } from '../../engine/ids.ts'
import { linkTo, runLinks } from './links.ts'
import { ACTIONS, NOTHING_FOLLOWS, nextOfSchedule } from './next.ts'
import { explainMoment, MOST_AUDITS, type Asker, type Reading } from '../../features/explain/occurrence.ts'
import { knowRun, tellRun, trySteps, whyOfRun } from '../../features/explain/run.ts'
import { tellBeat } from './surroundings.ts'
import { finding } from './tell.ts'
import { whyDeleted, whyOff } from './history.ts'
import { whyFailed } from '../../features/explain/unrecorded.ts'

/** What was found about one thing. */
interface Found {
  readonly findings: readonly ExplainFinding[]
  readonly steps?: readonly ExplainStep[]
  readonly next?: ExplainNext
}

/** What is asked about: an id, and where it may be looked for. */
interface AskedThing {
  readonly id: string
  readonly session: string | null
}

type Look = (ports: Reading, asker: Asker, asked: AskedThing) => Promise<Found | null>

/** Who knows of what, by what an id begins with. */
const LOOKS: Readonly<Partial<Record<IdKind, Look>>> = {
  run: ofRun,
  task: ofRun,
  schedule: ofSchedule,
  delivery: ofDelivery,
  alert: ofAlert,
  beat: ofBeat,
  target: ofTarget,
  attempt: ofAttempt,
  message: ofMessage,
}

/** Says why one thing is as it is, whatever it is. */
export async function explainThing(ports: Reading, asker: Asker, asked: AskedThing): Promise<Explanation> {
  const found = (await lookFor(ports, asker, asked)) ?? null
  if (found === null)
    throw new Refusal(
      'NOT_FOUND',
      `There is nothing called ${asked.id}; ask about a run, task, schedule, message, attempt, delivery, alert, ` +
        'heartbeat, target, agent or session, or about a time',
    )
  const { findings, steps = [], next = NOTHING_FOLLOWS } = found
  return {
    asked: { id: asked.id, at: null, local: null, timezone: null, timezone_from: null, from: null, to: null },
    sentence: findings.map(({ sentence }) => sentence).join(' '),
    ...{ findings, steps, next, nearest: null, looked_at: null },
  }
}

async function lookFor(ports: Reading, asker: Asker, asked: AskedThing): Promise<Found | null> {
  // PostgreSQL takes no NUL in a text, and no id has one.
  if (asked.id.includes('\u0000')) return null
  const kinds = Object.keys(LOOKS) as readonly IdKind[]
  const kind = kinds.find((one) => asked.id.startsWith(ID_PREFIXES[one]))
  const known = kind === undefined ? null : await LOOKS[kind]?.(ports, asker, asked)
  if (known !== null && known !== undefined) return known
  // People name agents, sessions, runs and messages as they like.
  for (const look of [ofRun, ofAgent, ofSession, ofMessage]) {
    const found = await look(ports, asker, asked)
    if (found !== null) return found
  }
  return null
}

/** Readers of schedules read the runs of schedules; any other run is for readers of runs. */
const readsRun = ({ may }: Asker, { scheduleId: of }: Pick<RunRecord, 'scheduleId'>): boolean =>
  may('runs:read') || (of !== null && may('schedules:read'))

async function ofRun(ports: Reading, asker: Asker, { id }: AskedThing): Promise<Found | null> {
  const { orgId, live } = asker
  if (!(await isOwn(ports, asker, { kind: 'run', id }))) return null
  const run = await loadRun(ports.database, { orgId, id: runId(id) })
  if (run === undefined || !readsRun(asker, run)) return null
  const known = await knowRun(ports, run, live)
  const { steps, next, links } = tellRun(known)
  const at = run.finishedAt ?? run.startedAt ?? run.createdAt
  const about = { kind: 'run', about: null, at, status: run.state, links } as const
  return { findings: [finding(whyOfRun(known), about)], steps, next }
}

/** `sch_…@2026-11-16T09:00:00.000Z` is a moment of a schedule; with more behind it, a run that somebody asked for. */
const JOB_RUN = /^(sch_[^@]+)@([^/]+?)(?:\/\w+:(.+))?$/

async function ofSchedule(ports: Reading, asker: Asker, { id, session }: AskedThing): Promise<Found | null> {
  const [, schedule, at, run] = JOB_RUN.exec(id) ?? []
  if (run !== undefined) return ofRun(ports, asker, { id: run, session })
  if (!(await isOwn(ports, asker, { kind: 'schedule', id: schedule ?? id }))) return null
  if (schedule !== undefined && at !== undefined) return ofMoment(ports, asker, { schedule, at })
  if (!asker.may('schedules:read')) return null
  const { orgId } = asker
  const [row] = await loadSchedules(ports.database, { orgId, ids: [scheduleId(id)] })
  const audits = asker.may('audit:read')
    ? await loadAuditsOf(ports.database, { orgId, kind: 'schedule', ids: [id], limit: MOST_AUDITS })
    : []
  const why = row === undefined ? whyDeleted(audits) : (whyOff(audits, later(ports.clock.now(), 1)) ?? standingOf(row))
  if (why === null) return null
  const links = [linkTo('schedule', id), ...(audits.length === 0 ? [] : [linkTo('audit', id)])]
  const about = { kind: 'schedule', about: row?.name ?? null, at: row?.nextRunAt ?? null, links } as const
  const pace = row?.pace ?? null
  const paced = pace === null || row?.nextRunAt === null ? [] : [finding(pace.why, about)]
  return { findings: [finding(why, about), ...paced], next: nextOfSchedule(row ?? null) }
}

async function ofMoment(
  ports: Reading,
  asker: Asker,
  { schedule, at }: { readonly schedule: string; readonly at: string },
): Promise<Found | null> {
  const read = parseInstant('id', at)
  if (!read.ok || !asker.may('schedules:read')) return null
  const id = scheduleId(schedule)
  const { steps, next, sentence, policy, links, ...told } = await explainMoment(ports, asker, {
    ...{ id, at: read.value, zone: UTC },
  })
  const { reason, rule, evidence } = told as Why
  return {
    findings: [
      {
        ...{ kind: 'occurrence', about: null, status: told.status, at: told.at },
        ...{ reason, rule, evidence, sentence, policy, links },
      },
    ],
    steps,
    next,
  }
}

/** Where a schedule stands. */
function standingOf(row: ScheduleRow): Why {
  const { state, nextRunAt, rules, fires } = row
  if (nextRunAt !== null) return because('planned', 'timing', { next: formatInstant(nextRunAt), state })
  if (state === 'pending_approval') return because('awaits_approval', 'approval', { state })
  if (state === 'failed') return whyFailed(row)
  if (rules.maxFires !== null && fires >= rules.maxFires)
    return because('all_fires_made', 'max_fires', { max_fires: rules.maxFires, state })
  return state === 'paused' ? because('not_active', 'state', { state }) : because('no_moment_left', 'timing', { state })
}

async function ofDelivery({ database }: Reading, asker: Asker, { id }: AskedThing): Promise<Found | null> {
  const { orgId, railed } = asker
  if (railed !== undefined) return null
  const row = await loadDelivery(database, { orgId, id })
  if (row === undefined) return null
  const run = row.runId === null ? undefined : await loadRun(database, { orgId, id: row.runId })
  if (!readsRun(asker, run ?? { scheduleId: null })) return null
  const links = [
    linkTo('delivery', id),
    ...(row.runId === null ? [] : [linkTo('run', row.runId)]),
    ...(row.targetId === null ? [] : [linkTo('target', row.targetId)]),
    ...(row.alertId === null ? [] : [linkTo('alert', row.alertId)]),
    ...(row.digestId === null ? [] : [linkTo('delivery', row.digestId, 'digest')]),
  ]
  const at = row.finishedAt ?? row.nextTryAt ?? row.createdAt
  const next: ExplainNext =
    row.state === 'delivered'
      ? NOTHING_FOLLOWS
      : {
          sentence:
            row.nextTryAt === null ? 'Nothing follows by itself.' : `Tried again at ${formatInstant(row.nextTryAt)}.`,
          actions: [ACTIONS.retryDelivery(id)],
        }
  return {
    findings: [finding(row.why, { kind: 'delivery', about: null, at, status: row.state, links })],
    steps: await trySteps(database, row),
    next,
  }
}

async function ofAlert({ database }: Reading, asker: Asker, { id }: AskedThing): Promise<Found | null> {
  const { orgId, railed } = asker
  if (railed !== undefined || !asker.may('runs:read')) return null
  const row = await loadAlert(database, { orgId, id })
  if (row === undefined) return null
  const links = [linkTo('alert', id), ...(row.subjectKind === 'node' ? [] : [linkTo(row.subjectKind, row.subjectId)])]
  const raised = finding(row.why, { kind: 'alert', about: null, at: row.raisedAt, links })
  if (row.clearedWhy === null)
    return { findings: [raised], next: { sentence: 'It clears itself when it is over.', actions: [] } }
  return { findings: [raised, finding(row.clearedWhy, { kind: 'alert', about: null, at: row.clearedAt, links })] }
}

async function ofBeat({ database }: Reading, asker: Asker, { id }: AskedThing): Promise<Found | null> {
  if (!asker.may('agents:read')) return null
  const row = await loadBeat(database, { orgId: asker.orgId, id })
  return row === undefined ? null : { findings: [tellBeat(row)] }
}

async function ofTarget({ database }: Reading, asker: Asker, { id }: AskedThing): Promise<Found | null> {
  if (!asker.may('targets:read')) return null
  const [row] = await loadTargets(database, { orgId: asker.orgId, ids: [targetId(id)] })
  if (row === undefined) return null
  const isOff = row.disabledAt !== null
  const off = row.disabledWhy ?? because('target_off', 'target.enabled', { target: row.name })
  const why = isOff ? off : because('target_open', 'target.enabled', { target: row.name })
  const about = { kind: 'target', about: null, at: row.disabledAt, links: [linkTo('target', id)] } as const
  const next = isOff
    ? { sentence: 'What is sent to it is held.', actions: [ACTIONS.enableTarget(id)] }
    : NOTHING_FOLLOWS
  return { findings: [finding(why, about)], next }
}

/** So many of the newest runs are searched for a message or an attempt: neither has an index of its own. */
const RUNS_SEARCHED = 2_000
/** A message may join a run that was made before it, and an attempt is made after its run. */
const SLACK_MS = 5 * SECOND_MS

const searchedBefore = ({ clock }: Reading, id: string): Instant => later(idTimeOf(id) ?? clock.now(), SLACK_MS)

async function ofAttempt(ports: Reading, asker: Asker, { id, session }: AskedThing): Promise<Found | null> {
  const wanted = { orgId: asker.orgId, attemptId: id, before: searchedBefore(ports, id), looks: RUNS_SEARCHED }
  const run = await findRunOfAttempt(ports.database, wanted)
  return run === undefined ? null : ofRun(ports, asker, { id: run, session })
}

async function ofMessage(ports: Reading, asker: Asker, { id, session }: AskedThing): Promise<Found | null> {
  const run = await findRunOfMessage(ports.database, {
    ...{ orgId: asker.orgId, messageId: id, session: session === null ? null : sessionKey(session) },
    ...{ before: searchedBefore(ports, id), looks: RUNS_SEARCHED },
  })
  const found = run === undefined ? null : await ofRun(ports, asker, { id: run, session })
  if (run === undefined || found === null) return null
  const record = await loadRun(ports.database, { orgId: asker.orgId, id: run })
  const ids = messageIdsOf(record?.payload)
  if (ids[0] === id) return found
  // It came while another of the same sender was still waiting, and is part of that one's run.
  const merged = because('merged', 'session.debounce_ms', { into: run, messages: ids.length })
  const told = finding(merged, { kind: 'run', about: null, at: record?.createdAt ?? null })
  return { ...found, findings: [told, ...found.findings] }
}

function messageIdsOf(payload: unknown): readonly unknown[] {
  const ids: unknown =
    typeof payload === 'object' && payload !== null && 'messageIds' in payload ? payload.messageIds : undefined
  return Array.isArray(ids) ? ids : []
}

/** Of what is at work, no more than this is told one by one. */
const MOST_AT_WORK = 20

async function ofAgent(ports: Reading, asker: Asker, { id }: AskedThing): Promise<Found | null> {
  if (!asker.may('agents:read')) return null
  const [agent] = await loadAgents(ports.database, { orgId: asker.orgId, ids: [agentId(id)] })
  return agent === undefined ? null : atWork(ports, asker, { kind: 'agent', id })
}

async function ofSession(ports: Reading, asker: Asker, { id }: AskedThing): Promise<Found | null> {
  if (!asker.may('sessions:read')) return null
  const [session] = await loadSessions(ports.database, { orgId: asker.orgId, keys: [sessionKey(id)] })
  return session === undefined ? null : atWork(ports, asker, { kind: 'session', id })
}

/** What waits for an agent, or in a session, and why each of it does. */
async function atWork(
  { database }: Reading,
  asker: Asker,
  { kind, id }: { readonly kind: 'agent' | 'session'; readonly id: string },
): Promise<Found> {
  const { orgId, live } = asker
  const onlyOfSchedules = !asker.may('runs:read')
  const choice = { ...(kind === 'agent' ? { agentId: agentId(id) } : { sessionKey: sessionKey(id) }), onlyOfSchedules }
  const states = RUN_STATES.filter(isPending)
  const { rows: runs } = await listRunPage(database, { orgId, ...choice, states, after: null, limit: MOST_AT_WORK })
  const waiting = runs.filter(({ state }) => state === 'waiting' || state === 'queued')
  const why =
    runs.length === 0
      ? because('nothing_waits', 'looking', { of: id })
      : because('at_work', 'looking', { of: id, queued: waiting.length, active: runs.length - waiting.length })
  const told = runs.map((run) =>
    finding(live.explain(orgId, run.id) ?? run.why ?? run.decision, {
      ...{ kind: 'run', about: run.id, at: run.createdAt, status: run.state, links: runLinks(run) },
    }),
  )
  return { findings: [finding(why, { kind, about: null, at: null, links: [linkTo(kind, id)] }), ...told] }
}
