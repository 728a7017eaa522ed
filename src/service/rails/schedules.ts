import { Refusal } from '../../api/refusals.ts'
import type { ScheduleInput, ScheduleView } from '../../contract/schedule.ts'
import type { ScheduleNote } from '../../contract/schedule-note.ts'
import { scheduleId, type ScheduleId } from '../../domain/ids.ts'
import { formatInstant, type Instant, parseInstant } from '../../domain/instant.ts'
import { breach } from '../../core/rails/breach.ts'
import {
  endOfLife,
  judgeAge,
  judgeCount,
  judgeDepth,
  judgeInterval,
  judgeLifetime,
  judgeLoop,
  judgeMoment,
  judgeWaking,
} from '../../core/rails/judge-making.ts'
import { confinedTo, type Railed } from '../../core/rails/railed.ts'
import { storeTiming } from '../../core/time/stored-timing.ts'
import {
  countOwned,
  forgetMoments,
  insertRailActs,
  loadLastWaking,
  loadNearestMoment,
  type RailAct,
} from '../../features/access/restrictions-store.ts'
import type { RunRecord } from '../../store/run-record.ts'
import type { Approval, ScheduleRow } from '../../store/schedule-row.ts'
import { loadSchedules } from '../../store/schedules.ts'
import { viewSchedule } from '../schedule-view.ts'
import { type AtWork, makingOf, requireRate } from './making.ts'
import { refuseReferences, refuseRejected } from './references.ts'
import { railRefusal, refuse } from './refusals.ts'

/** What was sent, with what the rails fill in, and what to say about that. */
export interface RailedInput {
  readonly input: ScheduleInput
  readonly notes: readonly ScheduleNote[]
}

/** Fills in when a new schedule ends, where its maker may make nothing that lives longer. */
export function railedInput({ rails }: Railed, input: ScheduleInput, now: Instant): RailedInput {
  const end = endOfLife(rails, now)
  const isOnce = [input.at, input.run_at, input.atMs].some((given) => given !== undefined && given !== null)
  if (end === null || isOnce || (input.ends_at ?? null) !== null) return { input, notes: [] }
  const ends = formatInstant(end)
  return {
    input: { ...input, ends_at: ends },
    notes: [{ code: 'ends_at_set', params: { ends_at: ends, seconds: rails.maxLifetimeSeconds ?? 0 } }],
  }
}

/** Whether a schedule is there for somebody. */
export const isSeen = (who: Railed | undefined, row: Pick<ScheduleRow, 'owner'>): boolean => {
  const owner = confinedTo(who)
  return owner === null || row.owner === owner
}

/** Judges a new schedule of somebody with guard rails, and makes it theirs. */
export async function underRails(at: AtWork, made: ScheduleRow): Promise<ScheduleRow> {
  const { tx, orgId, railed: who, now } = at
  const { rails, owner } = who
  refuse(judgeDepth(who))
  refuse(judgeCount(rails, await countOwned(tx, { orgId, owner })))
  await refuseReferences(at, { before: null, after: made })
  await judgePlan(at, made, made.createdAt)
  await requireRate(at, 1)
  const { parentRunId, lineage } = makingOf(who)
  const owned = { ...made, owner, createdByRun: parentRunId, lineage }
  return rails.approval ? proposalOf(who, { before: null, after: owned }, now) : owned
}

/** When a schedule fires: not too often, not for too long, and not right beside another of the same owner. */
async function judgePlan({ tx, orgId, railed: who, now }: AtWork, row: ScheduleRow, madeAt: Instant): Promise<void> {
  const { rails, owner } = who
  const { timing } = row
  refuse(judgeInterval(rails, { timing, jitterMs: row.rules.jitterMs }, now))
  refuse(judgeLifetime(rails, timing, madeAt))
  if (timing.kind !== 'at') return
  const nearest = await loadNearestMoment(tx, { orgId, owner, moment: timing.at, except: row.id })
  refuse(judgeMoment(rails, timing.at, nearest))
}

/** The one moment of a schedule that has one. */
const momentOf = ({ timing }: ScheduleRow): Instant | null => (timing.kind === 'at' ? timing.at : null)

/** What counts of a schedule that was made. */
export function madeAct({ id, at }: Pick<ScheduleView, 'id' | 'at'>): RailAct {
  const moment = at === undefined ? null : parseInstant('at', at)
  return { kind: 'made', scheduleId: scheduleId(id), moment: moment?.ok === true ? moment.value : null }
}

/** A change of a schedule. */
export interface RailedEdit {
  readonly before: ScheduleRow
  readonly after: ScheduleRow
}

const planOf = ({ timing, rules }: ScheduleRow): string => JSON.stringify([storeTiming(timing), rules.jitterMs])

/** Judges a change by somebody with guard rails. Answers with what becomes of the schedule. */
export async function judgeEdit(at: AtWork, edit: RailedEdit): Promise<ScheduleRow> {
  const { railed: who, now } = at
  const { before, after } = edit
  if (!isSeen(who, before)) throw new Refusal('NOT_FOUND', `There is no schedule ${before.id}`)
  await refuseReferences(at, edit)
  const isMoved = planOf(before) !== planOf(after)
  const isWoken = isMoved || (before.state !== 'active' && after.state === 'active')
  if (isWoken) {
    refuse(judgeLoop(who, before.id))
    await judgePlan(at, after, before.createdAt)
  }
  const kept = who.rails.approval ? proposalOf(who, { before, after }, now) : after
  const rejected = before.approval?.rejected ?? null
  if (rejected !== null && kept.state === 'active')
    throw railRefusal(breach('approval', `It was rejected: ${rejected.reason}; change it, and it is proposed anew`))
  if (isMoved) await move(at, edit)
  return kept
}

/** What fired a moment ago does not fire again because it was moved; moving counts like making. */
async function move(at: AtWork, { before, after }: RailedEdit): Promise<void> {
  const { tx, orgId, railed: who, now } = at
  if (after.nextRunAt !== null) refuse(judgeMoment(who.rails, after.nextRunAt, before.lastRunAt))
  await requireRate(at, 1)
  await forgetMoments(tx, { orgId, id: before.id, after: now })
  const act: RailAct = { kind: 'moved', scheduleId: before.id, moment: momentOf(after) }
  await insertRailActs(tx, { orgId, owner: who.owner, at: now, acts: [act] })
}

/** Judges the wish for a run of a schedule now. */
export async function judgeWake(at: AtWork, row: ScheduleRow): Promise<void> {
  const { tx, orgId, railed: who, now } = at
  const { rails } = who
  if (!isSeen(who, row)) throw new Refusal('NOT_FOUND', `There is no schedule ${row.id}`)
  refuseRejected(row)
  refuse(judgeLoop(who, row.id))
  refuse(judgeDepth(who))
  refuse(judgeAge(rails, row.createdAt, now))
  refuse(judgeWaking(rails, await loadLastWaking(tx, { orgId, id: row.id }), now))
  await requireRate(at, 1)
}

/** Refuses a run of what nobody has approved yet, whoever asks. */
export function refusePending(row: Pick<ScheduleRow, 'id' | 'state'>): void {
  if (row.state === 'pending_approval')
    throw new Refusal('PENDING_APPROVAL', `Schedule ${row.id} waits for approval: approve it first, or reject it`)
}

/** What may change without anybody's leave: how it is called, and whether it rests. What merely follows is no change. */
const UNASKED: ReadonlySet<string> = new Set([
  ...[
    'name',
    'description',
    'sentence',
    'state',
    'enabled',
    'next_run_at',
    'updated_at',
    'version',
    'approval',
    'notes',
    'note_codes',
  ],
  ...['delivery_disabled', 'alerts'],
])

type Fields = Readonly<Record<string, unknown>>

function changedFields(was: Fields, is: Fields): Fields {
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => !UNASKED.has(name) && JSON.stringify(was[name]) !== JSON.stringify(is[name]),
  )
  return Object.fromEntries(names.map((name) => [name, was[name] ?? null]))
}

/** A schedule as somebody wants it who has to ask: it waits, and what it was is kept for whoever decides. */
function proposalOf(
  { attempt, owner }: Railed,
  { before, after }: { readonly before: ScheduleRow | null; readonly after: ScheduleRow },
  now: Instant,
): ScheduleRow {
  const was = before === null ? null : changedFields({ ...viewSchedule(before) }, { ...viewSchedule(after) })
  if (was !== null && Object.keys(was).length === 0) return after
  const open = before?.approval ?? null
  const isOpen = before?.state === 'pending_approval' && open !== null
  const approval: Approval = {
    requestedBy: attempt === null ? owner : `attempt:${attempt.id}`,
    runId: attempt?.runId ?? null,
    requestedAt: now,
    // What is proposed on top of a proposal is one proposal: it is compared with what was last approved.
    before: isOpen ? (open.before === null ? null : { ...was, ...open.before }) : was,
    rests: isOpen ? open.rests : (before ?? after).state === 'paused',
    rejected: null,
  }
  return { ...after, state: 'pending_approval', nextRunAt: null, approval }
}

/** A run that was asked for. */
export const wokenAct = (id: ScheduleId | null): RailAct => ({ kind: 'woken', scheduleId: id, moment: null })

async function judgeSchedule(at: AtWork, id: ScheduleId): Promise<boolean> {
  const [row] = await loadSchedules(at.tx, { orgId: at.orgId, ids: [id] })
  if (row === undefined) return false
  await judgeWake(at, row)
  return true
}

/** Judges the wish for a run of a schedule now. */
export const judgeRunNow =
  (id: string) =>
  async (at: AtWork): Promise<void> => {
    if (!(await judgeSchedule(at, scheduleId(id)))) throw new Refusal('NOT_FOUND', `There is no schedule ${id}`)
  }

/** Judges the wish for a run to be repeated; one of a schedule counts as one that is asked for. */
export const judgeRetry =
  (record: RunRecord) =>
  async (at: AtWork): Promise<void> => {
    if (record.scheduleId !== null && (await judgeSchedule(at, record.scheduleId))) return
    refuse(judgeDepth(at.railed))
    await requireRate(at, 1)
  }
