import type { BackfillCancel, BackfillFilter, BackfillInput, BackfillView } from '../../features/backfill/schema.ts'
import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { throughputOf } from '../../core/backfill/backfill.ts'
import { type OrgId, scheduleId } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because, explainWhy } from '../../domain/reasons.ts'
import {
  type BackfillRow,
  insertBackfill,
  listBackfills,
  loadBackfill,
  loadRunningBackfill,
} from '../../features/backfill/store.ts'
import type { Connection } from '../../store/database.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { loadSchedules } from '../../store/schedules.ts'
import { acted, actorOf } from '../../features/audit/entry.ts'
import type { Caller } from '../caller.ts'
import { pageOfListed, parseCursor, parseLimit, writeCursor } from '../../platform/db/cursor.ts'
import { cancelRun } from '../desk/cancel.ts'
import type { Desk } from '../desk/desk.ts'
import { agentOn } from '../desk/runs.ts'
import { bound } from '../idempotent.ts'
import type { Ports } from '../ports.ts'
import { refuseCommand } from '../rails/making.ts'
import { refusePending } from '../rails/schedules.ts'
import { noSchedule } from '../schedule-editing.ts'
import { momentOrNull } from '../schedule-view.ts'
import { keepProgress, lookAt, tellBackfill } from './advance.ts'
import { readTerms } from './input.ts'
import { type BackfillPlan, planBackfill } from './plan.ts'

const noBackfill = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no backfill ${id}`)

/** What somebody asks of a schedule. */
interface AskedBackfill {
  readonly id: string
  readonly input: BackfillInput
}

/** Begins a backfill of past moments; with `dry_run` it says what would be done. */
export async function startBackfill(ports: Ports, caller: Caller, asked: AskedBackfill): Promise<BackfillView> {
  if (asked.input.dry_run === true) return previewBackfill(ports, caller, asked)
  const { orgId } = caller
  const schedule = scheduleId(asked.id)
  const work = {
    orgId,
    needs: { schedules: [schedule] },
    prepare: async (tx: Parameters<typeof insertBackfill>[0], now: Instant): Promise<BackfillRow> => {
      const row = await scheduleAsked(tx, orgId, asked.id)
      refusePending(row)
      const under = await loadRunningBackfill(tx, { orgId, scheduleId: row.id })
      if (under !== undefined)
        throw new Refusal(
          'CONFLICT',
          `Backfill ${under.id} of the schedule is under way; wait for it, or cancel it first`,
          {
            details: { backfill: under.id },
          },
        )
      const made = await plan(ports, tx, { caller, row, input: asked.input, now })
      const planned = { ...made.row, id: ports.newId('backfill', now) }
      await insertBackfill(tx, planned, made.moments)
      return planned
    },
    apply: (desk: Desk, prepared: unknown): BackfillView => {
      const row = prepared as BackfillRow
      const on = desk.schedules.get(schedule)
      if (on !== undefined) refuseCommand(caller, agentOn(desk, on.agentId).executorKind)
      tellBackfill(desk, row)
      const view = viewBackfill(row, desk.now)
      const { id, total, from, to, which } = view
      const how = { verb: 'backfill', after: { backfill: id, total, from, to, which } } as const
      desk.changes.audits.push(acted(actorOf(caller), { kind: 'schedule', id: schedule }, how))
      return view
    },
  }
  return ports.turns.take(bound(work, caller))
}

/** Says what a backfill would do, and changes nothing. */
async function previewBackfill(ports: Ports, caller: Caller, asked: AskedBackfill): Promise<BackfillView> {
  const { orgId } = caller
  const row = await scheduleAsked(ports.database, orgId, asked.id)
  const now = ports.clock.now()
  const view = viewPlanned((await plan(ports, ports.database, { caller, row, input: asked.input, now })).row, now)
  const under = await loadRunningBackfill(ports.database, { orgId, scheduleId: row.id })
  if (under === undefined) return view
  const note = `Backfill ${under.id} of the schedule is under way: this one can begin when it has ended`
  return { ...view, notes: [...view.notes, note] }
}

async function scheduleAsked(connection: Connection, orgId: OrgId, id: string): Promise<ScheduleRow> {
  const [row] = await loadSchedules(connection, { orgId, ids: [scheduleId(id)] })
  if (row === undefined) throw noSchedule(id)
  return row
}

interface Planned {
  readonly row: Omit<BackfillRow, 'id'>
  readonly moments: BackfillPlan['moments']
}

async function plan(
  ports: Pick<Ports, 'settings'>,
  connection: Connection,
  of: { readonly caller: Caller; readonly row: ScheduleRow; readonly input: BackfillInput; readonly now: Instant },
): Promise<Planned> {
  const { caller, row, now } = of
  const terms = readTerms(of.input, now)
  const { runDays } = ports.settings().retention
  const { moments, outlook } = await planBackfill(connection, { row, terms, now, runDays })
  const isEmpty = moments.length === 0
  return {
    moments,
    row: {
      ...{ orgId: caller.orgId, scheduleId: row.id, terms, outlook, total: moments.length, taken: 0, inFlight: [] },
      ...{ counts: {}, failuresInRow: 0, nextAt: null, createdBy: actorOf(caller), createdAt: now },
      // Where nothing is missing there is nothing to do, and that is no mistake: a script may ask every day.
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

/** How far the backfill has come. */
export async function getBackfill(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId }: Caller,
  id: string,
): Promise<BackfillView> {
  const row = await loadBackfill(database, { orgId, id })
  if (row === undefined) throw noBackfill(id)
  return viewBackfill(row, clock.now())
}

/** Ends a backfill: nothing more is made, what waits is cancelled, and what works goes on unless that is to end too. */
export async function cancelBackfill(
  ports: Ports,
  caller: Caller,
  { id, cancel }: { readonly id: string; readonly cancel: BackfillCancel },
): Promise<BackfillView> {
  const { orgId } = caller
  return ports.turns
    .take({
      orgId,
      prepare: async (tx) => {
        const { row } = (await lookAt(tx, { orgId, id })) ?? {}
        if (row === undefined) throw noBackfill(id)
        if (row.state !== 'running') throw new Refusal('ALREADY_ENDED', `Backfill ${id} is ${row.state} already`)
        return row
      },
      apply: (desk, prepared) => {
        const before = prepared as BackfillRow
        const by = actorOf(caller)
        const why = because('backfill_cancelled', 'request', { by, backfill: id })
        for (const run of before.inFlight.flatMap((one) => desk.runs.get(one) ?? []))
          if (cancel.running === 'cancel' || run.startedAt === null) cancelRun(desk, run.id, why)
        const row: BackfillRow = { ...before, state: 'cancelled', why, nextAt: null, finishedAt: desk.now }
        tellBackfill(desk, row)
        const how = {
          verb: 'backfill_cancel',
          before: { state: before.state },
          after: { backfill: id, state: row.state },
        } as const
        desk.changes.audits.push(acted(by, { kind: 'schedule', id: row.scheduleId }, how))
        return row
      },
      conclude: keepProgress,
    })
    .then((row) => viewBackfill(row, ports.clock.now()))
}

/** A backfill as every surface shows it. */
function viewBackfill(row: BackfillRow, now: Instant): BackfillView {
  const { terms, outlook, why, inFlight } = row
  const ended = Object.values(row.counts).reduce((sum, count) => sum + count, 0)
  const left = row.state === 'running' ? row.total - ended : 0
  const pace = throughputOf({ ended, left, since: row.createdAt }, row.finishedAt ?? now)
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
    ...{ total: row.total, first: momentOrNull(outlook.first), last: momentOrNull(outlook.last) },
    left_out: outlook.leftOut,
    ...{ ended, in_flight: inFlight.length, remaining: row.total - row.taken, counts: row.counts, run_ids: inFlight },
    runs_per_minute: pace.perMinute,
    eta: row.state === 'running' ? momentOrNull(pace.eta) : null,
    expected: {
      ...{ at_once: outlook.atOnce, duration_ms: outlook.durationMs, tokens: outlook.tokens, cost: outlook.cost },
    },
    notes: outlook.notes,
    ...{ created_by: row.createdBy, created_at: formatInstant(row.createdAt) },
    finished_at: momentOrNull(row.finishedAt),
  }
}

/** One that was only asked about. */
const viewPlanned = (row: Omit<BackfillRow, 'id'>, now: Instant): BackfillView => ({
  ...viewBackfill({ ...row, id: '' }, now),
  ...{ id: null, state: 'planned', why: null, sentence: null, finished_at: null },
})
