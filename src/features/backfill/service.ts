import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { type OrgId, scheduleId } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import type { Flaw } from '../../domain/input.ts'
import { formatInstant, type Instant, validatedInstant } from '../../domain/instant.ts'
import { resolveLaneAlias } from '../../domain/queue/lanes.ts'
import { because, explainWhy } from '../../domain/reasons.ts'
import { BACKFILL_DEFAULTS, type BackfillSettings, throughputOf } from '../../domain/schedule/backfill.ts'
import { type Command } from '../../engine/commands-port.ts'
import { cancelRun } from '../../engine/commands/cancel.ts'
import { agentInState } from '../../engine/commands/runs.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Caller } from '../access/caller.ts'
import { refuseCommandExecutor } from '../access/restrictions.ts'
import { acted, actorOf } from '../audit/entry.ts'
import { saveBackfillProgress, loadCountedBackfill, emitBackfillEvent } from './advance.ts'
import { type BackfillPlan, planBackfill } from './plan.ts'
import type { BackfillCancel, BackfillFilter, BackfillInput, BackfillView } from './schema.ts'
import { type BackfillRow, insertBackfill, listBackfills, loadBackfill, loadRunningBackfill } from './store.ts'
import { scheduleNotFound } from '../schedules/editing.ts'
import { refusePendingApproval } from '../schedules/restrictions.ts'
import { loadSchedules, type ScheduleRow } from '../schedules/store.ts'
import { formatInstantOrNull } from '../schedules/view.ts'
import { pageOfListed, parseCursor, parseLimit, writeCursor } from '../../platform/db/cursor.ts'
import type { Connection } from '../../platform/db/database.ts'

/** The terms of a backfill with their defaults. Refuses an invalid range. */
function parseBackfillTerms(input: BackfillInput, now: Instant): BackfillSettings {
  const from = validatedInstant(input.from)
  const to = input.to === undefined ? now : validatedInstant(input.to)
  const range = rangeFlaws({ from, to }, input, now)
  if (range.length > 0) throw invalid(range)
  return {
    ...{ from, to },
    which: input.which ?? BACKFILL_DEFAULTS.which,
    order: input.order ?? BACKFILL_DEFAULTS.order,
    policy: input.policy ?? BACKFILL_DEFAULTS.policy,
    maxActive: input.max_active ?? BACKFILL_DEFAULTS.maxActive,
    spacingMs: input.spacing_ms ?? BACKFILL_DEFAULTS.spacingMs,
    lane: typeof input.lane === 'string' ? resolveLaneAlias(input.lane) : null,
    stopOnFailures: input.stop_on_failures === undefined ? BACKFILL_DEFAULTS.stopOnFailures : input.stop_on_failures,
    deliver: input.deliver ?? BACKFILL_DEFAULTS.deliver,
  }
}

function rangeFlaws(
  { from, to }: Pick<BackfillSettings, 'from' | 'to'>,
  input: BackfillInput,
  now: Instant,
): readonly Flaw[] {
  const flaws: Flaw[] = []
  if (from >= to) flaws.push({ field: 'from', value: input.from, message: 'must be before to' })
  if (to > now)
    flaws.push({
      ...{
        field: 'to',
        value: input.to,
        message: 'is in the future; the schedule runs future occurrences itself',
      },
      allowed: `up to ${formatInstant(now)}`,
    })
  return flaws
}

const backfillNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no backfill ${id}`)

/** A backfill request: the schedule's id and the input. */
interface BackfillRequest {
  readonly id: string
  readonly input: BackfillInput
}

/** Starts a backfill of past occurrences; with `dry_run`, returns the plan only. */
export async function startBackfill(ports: Ports, caller: Caller, request: BackfillRequest): Promise<BackfillView> {
  if (request.input.dry_run === true) return previewBackfill(ports, caller, request)
  const { orgId } = caller
  const schedule = scheduleId(request.id)
  const command: Command<BackfillView> = {
    orgId,
    needs: { schedules: [schedule] },
    prepare: async (tx, now): Promise<BackfillRow> => {
      const row = await requireSchedule(tx, orgId, request.id)
      refusePendingApproval(row)
      const running = await loadRunningBackfill(tx, { orgId, scheduleId: row.id })
      if (running !== undefined)
        throw new Refusal(
          'CONFLICT',
          `Backfill ${running.id} of the schedule is still running; wait for it to end, or cancel it first`,
          {
            details: { backfill: running.id },
          },
        )
      const result = await planRequestedBackfill(ports, tx, { caller, row, input: request.input, now })
      const planned = { ...result.row, id: ports.newId('backfill', now) }
      await insertBackfill(tx, planned, result.occurrences)
      return planned
    },
    apply: (state, prepared) => {
      const row = prepared as BackfillRow
      const current = state.schedules.get(schedule)
      if (current !== undefined) refuseCommandExecutor(caller, agentInState(state, current.agentId).executorKind)
      emitBackfillEvent(state, row)
      const view = viewBackfill(row, state.now)
      const { id, total, from, to, which } = view
      const auditChange = { verb: 'backfill', after: { backfill: id, total, from, to, which } } as const
      state.changes.audits.push(acted(actorOf(caller), { kind: 'schedule', id: schedule }, auditChange))
      return view
    },
  }
  return ports.commands.execute(bindToKey(command, caller))
}

/** Returns the plan of a backfill without starting it. */
async function previewBackfill(ports: Ports, caller: Caller, request: BackfillRequest): Promise<BackfillView> {
  const { orgId } = caller
  const row = await requireSchedule(ports.database, orgId, request.id)
  const now = ports.clock.now()
  const view = viewDryRun(
    (await planRequestedBackfill(ports, ports.database, { caller, row, input: request.input, now })).row,
    now,
  )
  const running = await loadRunningBackfill(ports.database, { orgId, scheduleId: row.id })
  if (running === undefined) return view
  const note = `Backfill ${running.id} of the schedule is still running; this one can start when it has ended`
  return { ...view, notes: [...view.notes, note] }
}

async function requireSchedule(connection: Connection, orgId: OrgId, id: string): Promise<ScheduleRow> {
  const [row] = await loadSchedules(connection, { orgId, ids: [scheduleId(id)] })
  if (row === undefined) throw scheduleNotFound(id)
  return row
}

interface PlannedBackfill {
  readonly row: Omit<BackfillRow, 'id'>
  readonly occurrences: BackfillPlan['occurrences']
}

async function planRequestedBackfill(
  ports: Pick<Ports, 'settings'>,
  connection: Connection,
  request: { readonly caller: Caller; readonly row: ScheduleRow; readonly input: BackfillInput; readonly now: Instant },
): Promise<PlannedBackfill> {
  const { caller, row, now } = request
  const terms = parseBackfillTerms(request.input, now)
  const { runDays } = ports.settings().retention
  const { occurrences, outlook } = await planBackfill(connection, { row, terms, now, runDays })
  const isEmpty = occurrences.length === 0
  return {
    occurrences,
    row: {
      ...{ orgId: caller.orgId, scheduleId: row.id, terms, outlook, total: occurrences.length, taken: 0, inFlight: [] },
      ...{ counts: {}, failuresInRow: 0, nextAt: null, createdBy: actorOf(caller), createdAt: now },
      // An empty backfill is done at once and not refused, so that a script can request one every day.
      state: isEmpty ? 'done' : 'running',
      why: isEmpty ? because('backfill_done', 'backfill', { total: 0 }) : null,
      finishedAt: isEmpty ? now : null,
    },
  }
}

/** A page of the org's backfills, newest first. */
export async function findBackfills(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId }: Caller,
  filter: BackfillFilter = {},
): Promise<Page<BackfillView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const listed = await listBackfills(database, {
    ...{ orgId, state: filter.state ?? null, limit },
    scheduleId: filter.schedule_id === undefined ? null : scheduleId(filter.schedule_id),
    after: cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key },
  })
  const now = clock.now()
  return pageOfListed(
    listed,
    (row) => viewBackfill(row, now),
    ({ createdAt, id }) => writeCursor({ createdAt, key: id }),
  )
}

/** Returns a backfill with its progress. */
export async function getBackfill(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId }: Caller,
  id: string,
): Promise<BackfillView> {
  const row = await loadBackfill(database, { orgId, id })
  if (row === undefined) throw backfillNotFound(id)
  return viewBackfill(row, clock.now())
}

/** Cancels a backfill and its waiting runs; active runs continue unless `running` is `cancel`. */
export async function cancelBackfill(
  ports: Ports,
  caller: Caller,
  { id, cancel }: { readonly id: string; readonly cancel: BackfillCancel },
): Promise<BackfillView> {
  const { orgId } = caller
  return ports.commands
    .execute({
      orgId,
      prepare: async (tx) => {
        const { row } = (await loadCountedBackfill(tx, { orgId, id })) ?? {}
        if (row === undefined) throw backfillNotFound(id)
        if (row.state !== 'running')
          throw new Refusal('ALREADY_ENDED', `Backfill ${id} has already ended: it is ${row.state}`)
        return row
      },
      apply: (state, prepared) => {
        const before = prepared as BackfillRow
        const by = actorOf(caller)
        const why = because('backfill_cancelled', 'request', { by, backfill: id })
        for (const run of before.inFlight.flatMap((one) => state.runs.get(one) ?? []))
          if (cancel.running === 'cancel' || run.startedAt === null) cancelRun(state, run.id, why)
        const row: BackfillRow = { ...before, state: 'cancelled', why, nextAt: null, finishedAt: state.now }
        emitBackfillEvent(state, row)
        const auditChange = {
          verb: 'backfill_cancel',
          before: { state: before.state },
          after: { backfill: id, state: row.state },
        } as const
        state.changes.audits.push(acted(by, { kind: 'schedule', id: row.scheduleId }, auditChange))
        return row
      },
      afterApply: saveBackfillProgress,
    })
    .then((row) => viewBackfill(row, ports.clock.now()))
}

/** The API view of a backfill. */
function viewBackfill(row: BackfillRow, now: Instant): BackfillView {
  const { terms, outlook, why, inFlight } = row
  const ended = Object.values(row.counts).reduce((sum, count) => sum + count, 0)
  const remaining = row.state === 'running' ? row.total - ended : 0
  const throughput = throughputOf({ ended, left: remaining, since: row.createdAt }, row.finishedAt ?? now)
  return {
    ...{ id: row.id, org_id: row.orgId, schedule_id: row.scheduleId, state: row.state },
    ...{ why, sentence: why === null ? null : explainWhy(why) },
    ...{ from: formatInstant(terms.from), to: formatInstant(terms.to) },
    ...{ which: terms.which, order: terms.order, policy: terms.policy, max_active: terms.maxActive },
    ...{
      spacing_ms: terms.spacingMs,
      lane: terms.lane,
      stop_on_failures: terms.stopOnFailures,
      deliver: terms.deliver,
    },
    ...{ total: row.total, first: formatInstantOrNull(outlook.first), last: formatInstantOrNull(outlook.last) },
    left_out: outlook.leftOut,
    ...{ ended, in_flight: inFlight.length, remaining: row.total - row.taken, counts: row.counts, run_ids: inFlight },
    runs_per_minute: throughput.perMinute,
    eta: row.state === 'running' ? formatInstantOrNull(throughput.eta) : null,
    expected: {
      ...{ at_once: outlook.atOnce, duration_ms: outlook.durationMs, tokens: outlook.tokens, cost: outlook.cost },
    },
    notes: outlook.notes,
    ...{ created_by: row.createdBy, created_at: formatInstant(row.createdAt) },
    finished_at: formatInstantOrNull(row.finishedAt),
  }
}

/** The API view of a dry run. */
const viewDryRun = (row: Omit<BackfillRow, 'id'>, now: Instant): BackfillView => ({
  ...viewBackfill({ ...row, id: '' }, now),
  ...{ id: null, state: 'planned', why: null, sentence: null, finished_at: null },
})
