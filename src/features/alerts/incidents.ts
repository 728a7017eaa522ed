import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { ALERT_KINDS, type AlertSubject } from '../../domain/alerts.ts'
import { agentId, type OrgId, scheduleId, targetId } from '../../domain/ids.ts'
import { collectFlaws, parseFlag, textField } from '../../domain/input-fields.ts'
import { parseWord } from '../../domain/input.ts'
import { formatInstant, type Instant, parseInstant } from '../../domain/instant.ts'
import { explainWhy } from '../../domain/reasons.ts'
import { budgetTitle } from '../../engine/org-state/budget-balance.ts'
import type { Ports } from '../../engine/ports.ts'
import { pageOf, parseCursor, parseLimit } from '../../platform/db/cursor.ts'
import type { Connection } from '../../platform/db/database.ts'
import type { Caller } from '../access/caller.ts'
import { loadAgents } from '../agents/store.ts'
import { acted, actorOf, changed } from '../audit/entry.ts'
import { loadBudgets } from '../budgets/store.ts'
import { loadHeartbeats } from '../heartbeats/store.ts'
import { listRuns } from '../runs/read-store.ts'
import { retryRun } from '../runs/retry.ts'
import { loadSchedules } from '../schedules/store.ts'
import { formatInstantOrNull } from '../schedules/view.ts'
import { loadTargets } from '../targets/store.ts'
import type { AcknowledgeInput, AlertFilter, AlertRetry, AlertView, SnoozeInput } from './schema.ts'
import { type AlertRow, listAlerts, loadAlert, saveAlertMarks } from './store.ts'

const STATUSES = ['open', 'cleared'] as const

type ReadPorts = Pick<Ports, 'database' | 'clock'>

/** A page of the org's alerts, newest first. */
export async function findAlerts(
  { database, clock }: ReadPorts,
  { orgId }: Caller,
  filter: AlertFilter = {},
): Promise<Page<AlertView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  const status = filter.status === undefined ? null : keep(parseWord('status', filter.status, STATUSES))
  const kind = filter.kind === undefined ? null : keep(parseWord('kind', filter.kind, ALERT_KINDS))
  const attention = filter.attention === undefined ? false : keep(parseFlag('attention', filter.attention))
  const subjectId =
    filter.subject_id === undefined ? null : keep(textField({ min: 1, max: 512 })('subject_id', filter.subject_id))
  if (flaws.length > 0) throw invalid(flaws)
  const rows = await listAlerts(database, {
    orgId,
    open: status === null ? null : status === 'open',
    needingAttentionAt: attention === true ? clock.now() : null,
    kind,
    subjectId,
    after: cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key },
    limit: limit + 1,
  })
  const subjects = await loadSubjects(database, orgId, rows)
  return pageOf(rows, limit, {
    view: (row) => viewAlert(row, subjects),
    cursor: ({ raisedAt, id }) => ({ createdAt: raisedAt, key: id }),
  })
}

/** What is known about the subject of an alert now. */
interface SubjectState {
  readonly name: string
  readonly streak: number | null
  readonly lastError: string | null
  readonly agentId: string | null
}

type Subjects = ReadonlyMap<string, SubjectState>

const subjectKey = ({ subjectKind, subjectId }: Pick<AlertRow, 'subjectKind' | 'subjectId'>): string =>
  `${subjectKind} ${subjectId}`

/** Reads the subjects of alerts, one query per kind of subject. */
async function loadSubjects(database: Connection, orgId: OrgId, rows: readonly AlertRow[]): Promise<Subjects> {
  const ids = (kind: AlertSubject): readonly string[] => [
    ...new Set(rows.filter(({ subjectKind }) => subjectKind === kind).map(({ subjectId }) => subjectId)),
  ]
  const [scheduleIds, agentIds, targetIds] = [ids('schedule'), ids('agent').map(agentId), ids('target')]
  const none = Promise.resolve([])
  const [schedules, agents, heartbeats, targets, budgets] = await Promise.all([
    scheduleIds.length === 0 ? none : loadSchedules(database, { orgId, ids: scheduleIds.map(scheduleId) }),
    agentIds.length === 0 ? none : loadAgents(database, { orgId, ids: agentIds }),
    agentIds.length === 0 ? none : loadHeartbeats(database, { orgId, agentIds }),
    targetIds.length === 0 ? none : loadTargets(database, { orgId, ids: targetIds.map(targetId) }),
    ids('budget').length === 0 ? none : loadBudgets(database, { orgId }),
  ])
  const found = new Map<string, SubjectState>()
  const keep = (subjectKind: AlertSubject, subjectId: string, state: SubjectState): void => {
    found.set(subjectKey({ subjectKind, subjectId }), state)
  }
  for (const { id, name, failureStreak: streak, lastError, agentId: agent } of schedules)
    keep('schedule', id, { name, streak, lastError, agentId: agent })
  const beats = new Map(heartbeats.map((row) => [row.agentId, row.failingStreak]))
  for (const { id, name } of agents)
    keep('agent', id, { name, streak: beats.get(id) ?? null, lastError: null, agentId: id })
  for (const { id, name, failuresInARow: streak } of targets)
    keep('target', id, { name, streak, lastError: null, agentId: null })
  for (const row of budgets)
    keep('budget', row.id, { name: budgetTitle(row), streak: null, lastError: null, agentId: null })
  return found
}

function viewAlert(row: AlertRow, subjects: Subjects): AlertView {
  const isOpen = row.clearedAt === null
  const subject = subjects.get(subjectKey(row))
  const countsFailures = isOpen && STREAK_KINDS.has(row.kind)
  const problem = row.why.evidence['problem']
  return {
    id: row.id,
    org_id: row.orgId,
    kind: row.kind,
    subject_kind: row.subjectKind,
    subject_id: row.subjectId,
    subject_name: subject?.name ?? row.subjectId,
    status: isOpen ? 'open' : 'cleared',
    why: row.why,
    sentence: explainWhy(row.why),
    raised_at: formatInstant(row.raisedAt),
    cleared_at: formatInstantOrNull(row.clearedAt),
    cleared_why: row.clearedWhy,
    streak: countsFailures ? (subject?.streak ?? null) : null,
    last_error: countsFailures ? (subject?.lastError ?? (typeof problem === 'string' ? problem : null)) : null,
    agent_id: subject?.agentId ?? null,
    acknowledged_at: formatInstantOrNull(row.acknowledgedAt),
    acknowledged_by: row.acknowledgedBy,
    snoozed_until: formatInstantOrNull(row.snoozedUntil),
  }
}

/** Kinds of alerts about failures in a row. */
const STREAK_KINDS: ReadonlySet<string> = new Set(['failures_in_a_row', 'heartbeat_failing', 'delivery_disabled'])

/** An alert with the state of its subject. */
export async function getAlert(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Caller,
  id: string,
): Promise<AlertView> {
  const row = await requireAlert(database, orgId, id)
  return viewAlert(row, await loadSubjects(database, orgId, [row]))
}

async function requireAlert(connection: Connection, orgId: OrgId, id: string): Promise<AlertRow> {
  // PostgreSQL rejects NUL in a text, and no id contains one.
  const row = id.includes('\u0000') ? undefined : await loadAlert(connection, { orgId, id })
  if (row === undefined) throw new Refusal('NOT_FOUND', `There is no alert ${id}`)
  return row
}

interface Marking {
  readonly id: string
  readonly verb: 'acknowledge' | 'snooze'
  readonly change: (row: AlertRow, now: Instant) => AlertRow
}

/** Changes the marks of an open alert, and records it in the audit log. */
async function markAlert(ports: Ports, caller: Caller, { id, verb, change }: Marking): Promise<AlertView> {
  const { orgId } = caller
  await ports.commands.execute({
    orgId,
    prepare: async (tx, now) => {
      const before = await requireAlert(tx, orgId, id)
      if (before.clearedAt !== null)
        throw new Refusal(
          'CONFLICT',
          `Alert ${id} was cleared at ${formatInstant(before.clearedAt)}; only open alerts change`,
        )
      const after = change(before, now)
      await saveAlertMarks(tx, after)
      return { before, after }
    },
    apply: (state, prepared) => {
      const { before, after } = prepared as { readonly before: AlertRow; readonly after: AlertRow }
      const views = { before: marksOf(before), after: marksOf(after), verb }
      state.changes.audits.push(changed(actorOf(caller), { kind: 'alert', id }, views))
      const { kind, subjectKind, subjectId } = after
      const data = { kind, subject_kind: subjectKind, subject_id: subjectId, change: verb }
      state.changes.events.push({ kind: 'alert.changed', subject: id, data })
    },
  })
  return getAlert(ports, caller, id)
}

const marksOf = ({ acknowledgedAt, acknowledgedBy, snoozedUntil }: AlertRow): object => ({
  acknowledged_at: formatInstantOrNull(acknowledgedAt),
  acknowledged_by: acknowledgedBy,
  snoozed_until: formatInstantOrNull(snoozedUntil),
})

interface AlertChangeRequest<Input> {
  readonly id: string
  readonly input: Input
}

/** Acknowledges an open alert, or takes that back. The first acknowledgment stays on record. */
export const acknowledgeAlert = (
  ports: Ports,
  caller: Caller,
  { id, input: { acknowledged = true } }: AlertChangeRequest<AcknowledgeInput>,
): Promise<AlertView> =>
  markAlert(ports, caller, {
    ...{ id, verb: 'acknowledge' },
    change: (row, now) => {
      if (!acknowledged) return { ...row, acknowledgedAt: null, acknowledgedBy: null }
      return row.acknowledgedAt !== null ? row : { ...row, acknowledgedAt: now, acknowledgedBy: actorOf(caller) }
    },
  })

/** Snoozes an open alert until a time, or ends the snooze. */
export const snoozeAlert = (
  ports: Ports,
  caller: Caller,
  { id, input: { until } }: AlertChangeRequest<SnoozeInput>,
): Promise<AlertView> =>
  markAlert(ports, caller, {
    ...{ id, verb: 'snooze' },
    change: (row, now) => {
      const read = until === null ? null : parseInstant('until', until)
      if (read !== null && !read.ok) throw invalid(read.flaws)
      const snoozedUntil = read?.value ?? null
      if (snoozedUntil !== null && snoozedUntil <= now)
        throw invalid([
          { field: 'until', value: until, message: 'is not in the future', allowed: `after ${formatInstant(now)}` },
        ])
      return { ...row, snoozedUntil }
    },
  })

/** How many runs one request retries. */
const MAX_RETRIED = 100
/** How many of the newest runs are searched for the streak. */
const MAX_SEARCHED = 500

/** Retries the failed runs behind an alert about failures in a row, oldest first. */
export async function retryAlert(ports: Ports, caller: Caller, id: string): Promise<AlertRetry> {
  const { orgId } = caller
  const row = await requireAlert(ports.database, orgId, id)
  if (row.kind !== 'failures_in_a_row' || row.clearedAt !== null)
    throw new Refusal(
      'CONFLICT',
      row.clearedAt === null
        ? `An alert of kind ${row.kind} has no failed runs to retry; only failures_in_a_row has`
        : `Alert ${id} was cleared at ${formatInstant(row.clearedAt)}; retry its runs one by one`,
    )
  const failed = await failedRunsOf(ports.database, row)
  const runIds: string[] = []
  let refused: string | null = null
  // A request with an idempotency key would otherwise create one run for all.
  const each = { ...caller, once: undefined }
  for (const run of failed.slice(0, MAX_RETRIED))
    try {
      runIds.push(await retryRun(ports, each, { id: run, force: false }))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refused = error.message
      break
    }
  const answer = { retried: runIds.length, run_ids: runIds, left: failed.length - runIds.length, refused }
  await ports.commands.execute({
    orgId,
    apply: (state) => {
      const after = { retried: answer.retried, left: answer.left }
      state.changes.audits.push(acted(actorOf(caller), { kind: 'alert', id }, { verb: 'retry', after }))
    },
  })
  return answer
}

/** The failed runs since the last success of the schedule that have not been retried, oldest first. */
async function failedRunsOf(database: Connection, { orgId, subjectId }: AlertRow): Promise<readonly string[]> {
  const newest = await listRuns(database, {
    orgId,
    scheduleId: scheduleId(subjectId),
    after: null,
    limit: MAX_SEARCHED,
  })
  const lastSuccess = newest.findIndex(({ state }) => state === 'success')
  const streak = lastSuccess === -1 ? newest : newest.slice(0, lastSuccess)
  const retried = new Set(newest.map(({ retryOf }) => retryOf))
  return streak
    .filter(({ id, state }) => (state === 'failed' || state === 'timeout') && !retried.has(id))
    .map(({ id }) => id)
    .toReversed()
}
