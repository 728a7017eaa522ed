import type { ExplainFinding, ExplainNext, Explanation, ExplainStep } from './schema.ts'
import { Refusal } from '../../api/refusals.ts'
import { agentId, runId, scheduleId, sessionKey, targetId } from '../../domain/ids.ts'
import { formatInstant, later, parseInstant, SECOND_MS, type Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { RUN_STATES, isPending } from '../../domain/run/run-machine.ts'
import { UTC } from '../../domain/time/zone.ts'
import { loadAgents } from '../agents/store.ts'
import { loadAlert } from '../alerts/store.ts'
import { loadDelivery } from '../deliveries/store.ts'
import { findRunOfAttempt, findRunOfMessage, loadAuditsOf } from './store.ts'
import { loadHeartbeatLogRecord } from '../heartbeats/log-store.ts'
import { listRunPage, loadRun } from '../runs/read-store.ts'
import type { RunRecord } from '../runs/record-store.ts'
import { listSchedules, loadSchedules, type ScheduleRow } from '../schedules/store.ts'
import { loadSessions } from '../sessions/store.ts'
import { loadTargets } from '../targets/store.ts'
import { visibleOwner } from '../../domain/access/restrictions.ts'
import { isOwn } from '../access/restrictions.ts'
import { explainQueued } from '../../engine/live-port.ts'
import { ID_PREFIXES, idTimeOf, type IdKind } from '../../engine/ids.ts'
import { createFinding, linkTo, runLinks, whyDeleted, whyDisabled } from './evidence.ts'
import { ACTIONS, NO_NEXT_STEP, nextOfSchedule } from './next.ts'
import { explainOccurrenceAt, MAX_AUDITS, type ExplainCaller, type ExplainPorts } from './occurrence.ts'
import { loadExplainedRun, buildRunExplanation, trySteps, whyOfRun } from './run.ts'
import { heartbeatFinding } from './surroundings.ts'
import { whyFailed } from './unrecorded.ts'

/** The findings about one object. */
interface ObjectFindings {
  readonly findings: readonly ExplainFinding[]
  readonly steps?: readonly ExplainStep[]
  readonly next?: ExplainNext
}

/** The id of the question, and the session to search for a message. */
interface ObjectQuestion {
  readonly id: string
  readonly session: string | null
}

type Lookup = (ports: ExplainPorts, caller: ExplainCaller, question: ObjectQuestion) => Promise<ObjectFindings | null>

/** The lookup for each kind of id, chosen by its prefix. */
const LOOKUPS: Readonly<Partial<Record<IdKind, Lookup>>> = {
  run: lookupRun,
  task: lookupRun,
  schedule: lookupSchedule,
  delivery: lookupDelivery,
  alert: lookupAlert,
  beat: lookupHeartbeat,
  target: lookupTarget,
  attempt: lookupAttempt,
  message: lookupMessage,
}

/** Explains the state of one object of any kind. */
export async function explainObject(
  ports: ExplainPorts,
  caller: ExplainCaller,
  question: ObjectQuestion,
): Promise<Explanation> {
  const found = (await lookupObject(ports, caller, question)) ?? null
  if (found === null)
    throw new Refusal(
      'NOT_FOUND',
      `No object has the id or name ${question.id}. Use the id of a run, task, schedule, message, attempt, delivery, ` +
        'alert, heartbeat, target, agent or session, the name of a schedule, or a time',
    )
  const { findings, steps = [], next = NO_NEXT_STEP } = found
  return {
    asked: { id: question.id, at: null, local: null, timezone: null, timezone_from: null, from: null, to: null },
    sentence: findings.map(({ sentence }) => sentence).join(' '),
    ...{ findings, steps, next, nearest: null, looked_at: null },
  }
}

async function lookupObject(
  ports: ExplainPorts,
  caller: ExplainCaller,
  question: ObjectQuestion,
): Promise<ObjectFindings | null> {
  // PostgreSQL rejects NUL in text, and no id contains one.
  if (question.id.includes('\u0000')) return null
  const kinds = Object.keys(LOOKUPS) as readonly IdKind[]
  const kind = kinds.find((one) => question.id.startsWith(ID_PREFIXES[one]))
  const result = kind === undefined ? null : await LOOKUPS[kind]?.(ports, caller, question)
  if (result !== null && result !== undefined) return result
  // Agents, sessions, runs and messages may have user-chosen ids without a prefix.
  for (const lookup of [lookupRun, lookupAgent, lookupSession, lookupByName, lookupMessage]) {
    const found = await lookup(ports, caller, question)
    if (found !== null) return found
  }
  return null
}

/** `schedules:read` is enough for runs of schedules; other runs require `runs:read`. */
const mayReadRun = ({ may }: ExplainCaller, { scheduleId: of }: Pick<RunRecord, 'scheduleId'>): boolean =>
  may('runs:read') || (of !== null && may('schedules:read'))

async function lookupRun(
  ports: ExplainPorts,
  caller: ExplainCaller,
  { id }: ObjectQuestion,
): Promise<ObjectFindings | null> {
  const { orgId, live } = caller
  if (!(await isOwn(ports, caller, { kind: 'run', id }))) return null
  const run = await loadRun(ports.database, { orgId, id: runId(id) })
  if (run === undefined || !mayReadRun(caller, run)) return null
  const result = await loadExplainedRun(ports, run, live)
  const { steps, next, links } = buildRunExplanation(result)
  const at = run.finishedAt ?? run.startedAt ?? run.createdAt
  const about = { kind: 'run', about: null, at, status: run.state, links } as const
  return { findings: [createFinding(whyOfRun(result), about)], steps, next }
}

/** How many schedules of a similar name are explained. */
const MAX_NAMED = 10

/** Schedules with this name, else those whose name or description contains it. */
async function lookupByName(
  ports: ExplainPorts,
  caller: ExplainCaller,
  question: ObjectQuestion,
): Promise<ObjectFindings | null> {
  const { orgId, restricted } = caller
  if (!caller.may('schedules:read')) return null
  const page = { orgId, owner: visibleOwner(restricted), text: question.id, after: null, limit: MAX_NAMED } as const
  const similar = await listSchedules(ports.database, { ...page, sort: 'name' })
  const same = similar.filter(({ name }) => name.toLowerCase() === question.id.toLowerCase())
  const found: ObjectFindings[] = []
  for (const { id } of same.length > 0 ? same : similar) {
    const one = await lookupSchedule(ports, caller, { ...question, id })
    if (one !== null) found.push(one)
  }
  const [first, ...more] = found
  if (first === undefined) return null
  return more.length === 0 ? first : { findings: found.flatMap(({ findings }) => findings) }
}

/** `sch_…@2026-11-16T09:00:00.000Z` is an occurrence of a schedule; with `/manual:` and a run id, a manual run. */
const JOB_RUN_ID = /^(sch_[^@]+)@([^/]+?)(?:\/\w+:(.+))?$/

async function lookupSchedule(
  ports: ExplainPorts,
  caller: ExplainCaller,
  { id, session }: ObjectQuestion,
): Promise<ObjectFindings | null> {
  const [, schedule, at, run] = JOB_RUN_ID.exec(id) ?? []
  if (run !== undefined) return lookupRun(ports, caller, { id: run, session })
  if (!(await isOwn(ports, caller, { kind: 'schedule', id: schedule ?? id }))) return null
  if (schedule !== undefined && at !== undefined) return lookupOccurrence(ports, caller, { schedule, at })
  if (!caller.may('schedules:read')) return null
  const { orgId } = caller
  const [row] = await loadSchedules(ports.database, { orgId, ids: [scheduleId(id)] })
  const audits = caller.may('audit:read')
    ? await loadAuditsOf(ports.database, { orgId, kind: 'schedule', ids: [id], limit: MAX_AUDITS })
    : []
  const why =
    row === undefined ? whyDeleted(audits) : (whyDisabled(audits, later(ports.clock.now(), 1)) ?? whyScheduleState(row))
  if (why === null) return null
  const links = [linkTo('schedule', id), ...(audits.length === 0 ? [] : [linkTo('audit', id)])]
  const about = { kind: 'schedule', about: row?.name ?? null, at: row?.nextRunAt ?? null, links } as const
  const pace = row?.pace ?? null
  const paced = pace === null || row?.nextRunAt === null ? [] : [createFinding(pace.why, about)]
  return { findings: [createFinding(why, about), ...paced], next: nextOfSchedule(row ?? null) }
}

async function lookupOccurrence(
  ports: ExplainPorts,
  caller: ExplainCaller,
  { schedule, at }: { readonly schedule: string; readonly at: string },
): Promise<ObjectFindings | null> {
  const read = parseInstant('id', at)
  if (!read.ok || !caller.may('schedules:read')) return null
  const id = scheduleId(schedule)
  const { steps, next, sentence, policy, links, ...told } = await explainOccurrenceAt(ports, caller, {
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

/** The reason for the state of a schedule. */
function whyScheduleState(row: ScheduleRow): Why {
  const { state, nextRunAt, rules, fires } = row
  if (nextRunAt !== null) return because('planned', 'timing', { next: formatInstant(nextRunAt), state })
  if (state === 'pending_approval') return because('awaits_approval', 'approval', { state })
  if (state === 'failed') return whyFailed(row)
  if (rules.maxFires !== null && fires >= rules.maxFires)
    return because('all_fires_made', 'max_fires', { max_fires: rules.maxFires, state })
  return state === 'paused' ? because('not_active', 'state', { state }) : because('no_moment_left', 'timing', { state })
}

async function lookupDelivery(
  { database }: ExplainPorts,
  caller: ExplainCaller,
  { id }: ObjectQuestion,
): Promise<ObjectFindings | null> {
  const { orgId, restricted } = caller
  if (restricted !== undefined) return null
  const row = await loadDelivery(database, { orgId, id })
  if (row === undefined) return null
  const run = row.runId === null ? undefined : await loadRun(database, { orgId, id: row.runId })
  if (!mayReadRun(caller, run ?? { scheduleId: null })) return null
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
      ? NO_NEXT_STEP
      : {
          sentence: row.nextTryAt === null ? NO_NEXT_STEP.sentence : `Next attempt: ${formatInstant(row.nextTryAt)}.`,
          actions: [ACTIONS.retryDelivery(id)],
        }
  return {
    findings: [createFinding(row.why, { kind: 'delivery', about: null, at, status: row.state, links })],
    steps: await trySteps(database, row),
    next,
  }
}

async function lookupAlert(
  { database }: ExplainPorts,
  caller: ExplainCaller,
  { id }: ObjectQuestion,
): Promise<ObjectFindings | null> {
  const { orgId, restricted } = caller
  if (restricted !== undefined || !caller.may('runs:read')) return null
  const row = await loadAlert(database, { orgId, id })
  if (row === undefined) return null
  const links = [linkTo('alert', id), ...(row.subjectKind === 'node' ? [] : [linkTo(row.subjectKind, row.subjectId)])]
  const raised = createFinding(row.why, { kind: 'alert', about: null, at: row.raisedAt, links })
  if (row.clearedWhy === null)
    return { findings: [raised], next: { sentence: 'The alert clears when its cause is resolved.', actions: [] } }
  return { findings: [raised, createFinding(row.clearedWhy, { kind: 'alert', about: null, at: row.clearedAt, links })] }
}

async function lookupHeartbeat(
  { database }: ExplainPorts,
  caller: ExplainCaller,
  { id }: ObjectQuestion,
): Promise<ObjectFindings | null> {
  if (!caller.may('agents:read')) return null
  const row = await loadHeartbeatLogRecord(database, { orgId: caller.orgId, id })
  return row === undefined ? null : { findings: [heartbeatFinding(row)] }
}

async function lookupTarget(
  { database }: ExplainPorts,
  caller: ExplainCaller,
  { id }: ObjectQuestion,
): Promise<ObjectFindings | null> {
  if (!caller.may('targets:read')) return null
  const [row] = await loadTargets(database, { orgId: caller.orgId, ids: [targetId(id)] })
  if (row === undefined) return null
  const isOff = row.disabledAt !== null
  const off = row.disabledWhy ?? because('target_off', 'target.enabled', { target: row.name })
  const why = isOff ? off : because('target_open', 'target.enabled', { target: row.name })
  const about = { kind: 'target', about: null, at: row.disabledAt, links: [linkTo('target', id)] } as const
  const next = isOff ? { sentence: 'Deliveries to it are held.', actions: [ACTIONS.enableTarget(id)] } : NO_NEXT_STEP
  return { findings: [createFinding(why, about)], next }
}

/** How many of the newest runs are searched for a message or an attempt, because neither has an index. */
const RUNS_SEARCHED = 2_000
/** A message may join a run created shortly before it, and an attempt is created after its run. */
const SLACK_MS = 5 * SECOND_MS

const searchUntil = ({ clock }: ExplainPorts, id: string): Instant => later(idTimeOf(id) ?? clock.now(), SLACK_MS)

async function lookupAttempt(
  ports: ExplainPorts,
  caller: ExplainCaller,
  { id, session }: ObjectQuestion,
): Promise<ObjectFindings | null> {
  const wanted = { orgId: caller.orgId, attemptId: id, before: searchUntil(ports, id), looks: RUNS_SEARCHED }
  const run = await findRunOfAttempt(ports.database, wanted)
  return run === undefined ? null : lookupRun(ports, caller, { id: run, session })
}

async function lookupMessage(
  ports: ExplainPorts,
  caller: ExplainCaller,
  { id, session }: ObjectQuestion,
): Promise<ObjectFindings | null> {
  const run = await findRunOfMessage(ports.database, {
    ...{ orgId: caller.orgId, messageId: id, session: session === null ? null : sessionKey(session) },
    ...{ before: searchUntil(ports, id), looks: RUNS_SEARCHED },
  })
  const found = run === undefined ? null : await lookupRun(ports, caller, { id: run, session })
  if (run === undefined || found === null) return null
  const record = await loadRun(ports.database, { orgId: caller.orgId, id: run })
  const ids = messageIdsOf(record?.payload)
  if (ids[0] === id) return found
  // The message was merged into the run of an earlier message of the same sender that was still waiting.
  const merged = because('merged', 'session.debounce_ms', { into: run, messages: ids.length })
  const told = createFinding(merged, { kind: 'run', about: null, at: record?.createdAt ?? null })
  return { ...found, findings: [told, ...found.findings] }
}

function messageIdsOf(payload: unknown): readonly unknown[] {
  const ids: unknown =
    typeof payload === 'object' && payload !== null && 'messageIds' in payload ? payload.messageIds : undefined
  return Array.isArray(ids) ? ids : []
}

/** How many pending runs are listed. */
const MAX_LISTED_RUNS = 20

async function lookupAgent(
  ports: ExplainPorts,
  caller: ExplainCaller,
  { id }: ObjectQuestion,
): Promise<ObjectFindings | null> {
  if (!caller.may('agents:read')) return null
  const [agent] = await loadAgents(ports.database, { orgId: caller.orgId, ids: [agentId(id)] })
  return agent === undefined ? null : pendingRunFindings(ports, caller, { kind: 'agent', id })
}

async function lookupSession(
  ports: ExplainPorts,
  caller: ExplainCaller,
  { id }: ObjectQuestion,
): Promise<ObjectFindings | null> {
  if (!caller.may('sessions:read')) return null
  const [session] = await loadSessions(ports.database, { orgId: caller.orgId, keys: [sessionKey(id)] })
  return session === undefined ? null : pendingRunFindings(ports, caller, { kind: 'session', id })
}

/** Explains the pending runs of an agent or a session. */
async function pendingRunFindings(
  { database }: ExplainPorts,
  caller: ExplainCaller,
  { kind, id }: { readonly kind: 'agent' | 'session'; readonly id: string },
): Promise<ObjectFindings> {
  const { orgId, live } = caller
  const onlyOfSchedules = !caller.may('runs:read')
  const choice = { ...(kind === 'agent' ? { agentId: agentId(id) } : { sessionKey: sessionKey(id) }), onlyOfSchedules }
  const states = RUN_STATES.filter(isPending)
  const { rows: runs } = await listRunPage(database, { orgId, ...choice, states, after: null, limit: MAX_LISTED_RUNS })
  const waiting = runs.filter(({ state }) => state === 'waiting' || state === 'queued')
  const why =
    runs.length === 0
      ? because('nothing_waits', 'looking', { of: id })
      : because('at_work', 'looking', { of: id, queued: waiting.length, active: runs.length - waiting.length })
  const waits = await explainQueued({ database, live }, runs)
  const told = runs.map((run) =>
    createFinding(waits.get(run.id) ?? run.why ?? run.decision, {
      ...{ kind: 'run', about: run.id, at: run.createdAt, status: run.state, links: runLinks(run) },
    }),
  )
  return { findings: [createFinding(why, { kind, about: null, at: null, links: [linkTo(kind, id)] }), ...told] }
}
