import { Refusal } from '../../api/refusals.ts'
import type { ScheduleInput, ScheduleView } from './schema.ts'
import type { ScheduleNote } from './rules-schema.ts'
import { scheduleId, type ScheduleId } from '../../domain/ids.ts'
import { formatInstant, type Instant, parseInstant } from '../../domain/instant.ts'
import { breach, visibleOwner, type RestrictedKey } from '../../domain/access/restrictions.ts'
import {
  endOfLife,
  checkAge,
  checkCount,
  checkDepth,
  checkInterval,
  checkLifetime,
  checkLoop,
  checkSpacing,
  checkRunInterval,
} from '../../domain/access/decide-creation.ts'
import type { EditedPart } from '../../domain/run/run.ts'
import { storeTiming } from '../../domain/time/parse-timing.ts'
import {
  countOwned,
  clearFutureOccurrences,
  insertRestrictedActions,
  loadLastManualRun,
  loadNearestOccurrence,
  type RestrictedAction,
} from '../access/restrictions-store.ts'
import type { RunRecord } from '../runs/record-store.ts'
import { type Approval, loadSchedules, type ScheduleRow } from './store.ts'
import { viewSchedule } from './view.ts'
import {
  type RestrictedRequest,
  provenanceOf,
  restrictionRefusal,
  refuseBreach,
  requireRate,
} from '../access/restrictions.ts'
import { refuseReferences, refuseRejected } from '../access/restricted-input.ts'

/** The input completed by the key's restrictions, with notes about the values filled in. */
export interface RestrictedInput {
  readonly input: ScheduleInput
  readonly notes: readonly ScheduleNote[]
}

/** Fills in `ends_at` of a new schedule if the key has a maximum lifetime. */
export function restrictScheduleInput(
  { restrictions }: RestrictedKey,
  input: ScheduleInput,
  now: Instant,
): RestrictedInput {
  const end = endOfLife(restrictions, now)
  const isOnce = [input.at, input.run_at, input.atMs].some((given) => given !== undefined && given !== null)
  if (end === null || isOnce || (input.ends_at ?? null) !== null) return { input, notes: [] }
  const ends = formatInstant(end)
  return {
    input: { ...input, ends_at: ends },
    notes: [{ code: 'ends_at_set', params: { ends_at: ends, seconds: restrictions.maxLifetimeSeconds ?? 0 } }],
  }
}

/** Whether a key may see a schedule. */
export const isScheduleVisible = (
  restrictedKey: RestrictedKey | undefined,
  row: Pick<ScheduleRow, 'owner'>,
): boolean => {
  const owner = visibleOwner(restrictedKey)
  return owner === null || row.owner === owner
}

/** Checks a new schedule of a restricted key, and sets its owner. */
export async function restrictNewSchedule(request: RestrictedRequest, schedule: ScheduleRow): Promise<ScheduleRow> {
  const { tx, orgId, restricted: restrictedKey, now } = request
  const { restrictions, owner } = restrictedKey
  refuseBreach(checkDepth(restrictedKey))
  refuseBreach(checkCount(restrictions, await countOwned(tx, { orgId, owner })))
  await refuseReferences(request, { before: null, after: schedule })
  await checkTiming(request, schedule, schedule.createdAt)
  await requireRate(request, 1)
  const { parentRunId, lineage } = provenanceOf(restrictedKey)
  const owned = { ...schedule, owner, createdByRun: parentRunId, lineage }
  return restrictions.approval ? proposeChange(restrictedKey, { before: null, after: owned }, now) : owned
}

/** Checks the timing against the limits on interval, lifetime and distance to other schedules of the owner. */
async function checkTiming(
  { tx, orgId, restricted: restrictedKey, now }: RestrictedRequest,
  row: ScheduleRow,
  createdAt: Instant,
): Promise<void> {
  const { restrictions, owner } = restrictedKey
  const { timing } = row
  refuseBreach(checkInterval(restrictions, { timing, jitterMs: row.rules.jitterMs }, now))
  refuseBreach(checkLifetime(restrictions, timing, createdAt))
  if (timing.kind !== 'at') return
  const nearest = await loadNearestOccurrence(tx, { orgId, owner, moment: timing.at, except: row.id })
  refuseBreach(checkSpacing(restrictions, timing.at, nearest))
}

/** The time of an `at` schedule; null for other kinds. */
const oneTimeAt = ({ timing }: ScheduleRow): Instant | null => (timing.kind === 'at' ? timing.at : null)

/** The creation of a schedule as a counted action. */
export function createAction({ id, at: request }: Pick<ScheduleView, 'id' | 'at'>): RestrictedAction {
  const time = request === undefined ? null : parseInstant('at', request)
  return { kind: 'made', scheduleId: scheduleId(id), moment: time?.ok === true ? time.value : null }
}

/** A change of a schedule. */
export interface RestrictedEdit {
  readonly before: ScheduleRow
  readonly after: ScheduleRow
}

const timingText = ({ timing, rules }: ScheduleRow): string => JSON.stringify([storeTiming(timing), rules.jitterMs])

/** Checks a change by a restricted key. Returns the schedule to store. */
export async function checkEdit(request: RestrictedRequest, edit: RestrictedEdit): Promise<ScheduleRow> {
  const { restricted: restrictedKey, now } = request
  const { before, after } = edit
  if (!isScheduleVisible(restrictedKey, before)) throw new Refusal('NOT_FOUND', `There is no schedule ${before.id}`)
  await refuseReferences(request, edit)
  const isRetimed = timingText(before) !== timingText(after)
  const isActivated = isRetimed || (before.state !== 'active' && after.state === 'active')
  if (isActivated) {
    refuseBreach(checkLoop(restrictedKey, before.id))
    await checkTiming(request, after, before.createdAt)
  }
  const stored = restrictedKey.restrictions.approval ? proposeChange(restrictedKey, { before, after }, now) : after
  const rejected = before.approval?.rejected ?? null
  if (rejected !== null && stored.state === 'active')
    throw restrictionRefusal(
      breach('approval', `The schedule was rejected: ${rejected.reason}. Change it to propose it again`),
    )
  if (isRetimed) await checkRetiming(request, edit)
  return stored
}

/** Checks a retimed schedule against its last run, so that moving it does not fire it twice. Counts like a creation. */
async function checkRetiming(request: RestrictedRequest, { before, after }: RestrictedEdit): Promise<void> {
  const { tx, orgId, restricted: restrictedKey, now } = request
  if (after.nextRunAt !== null)
    refuseBreach(checkSpacing(restrictedKey.restrictions, after.nextRunAt, before.lastRunAt))
  await requireRate(request, 1)
  await clearFutureOccurrences(tx, { orgId, id: before.id, after: now })
  const action: RestrictedAction = { kind: 'moved', scheduleId: before.id, moment: oneTimeAt(after) }
  await insertRestrictedActions(tx, { orgId, owner: restrictedKey.owner, at: now, acts: [action] })
}

/** Checks whether a restricted key may run a schedule now. */
export async function checkManualRun(request: RestrictedRequest, row: ScheduleRow): Promise<void> {
  const { tx, orgId, restricted: restrictedKey, now } = request
  const { restrictions } = restrictedKey
  if (!isScheduleVisible(restrictedKey, row)) throw new Refusal('NOT_FOUND', `There is no schedule ${row.id}`)
  refuseRejected(row)
  refuseBreach(checkLoop(restrictedKey, row.id))
  refuseBreach(checkDepth(restrictedKey))
  refuseBreach(checkAge(restrictions, row.createdAt, now))
  refuseBreach(checkRunInterval(restrictions, await loadLastManualRun(tx, { orgId, id: row.id }), now))
  await requireRate(request, 1)
}

/** Refuses to run a schedule that is pending approval, for every caller. */
export function refusePendingApproval(row: Pick<ScheduleRow, 'id' | 'state'>): void {
  if (row.state === 'pending_approval')
    throw new Refusal('PENDING_APPROVAL', `Schedule ${row.id} is pending approval: approve or reject it first`)
}

/** Fields that need no approval: the name, the description, `enabled`, and fields derived from others. */
const UNREVIEWED_FIELDS: ReadonlySet<string> = new Set([
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

type ViewFields = Readonly<Record<string, unknown>>

function changedFields(previous: ViewFields, current: ViewFields): ViewFields {
  const names = [...new Set([...Object.keys(previous), ...Object.keys(current)])].filter(
    (name) => !UNREVIEWED_FIELDS.has(name) && JSON.stringify(previous[name]) !== JSON.stringify(current[name]),
  )
  return Object.fromEntries(names.map((name) => [name, previous[name] ?? null]))
}

/** The schedule as pending approval, with the previous values of the changed fields for the reviewer. */
function proposeChange(
  { attempt, owner }: RestrictedKey,
  { before, after }: { readonly before: ScheduleRow | null; readonly after: ScheduleRow },
  now: Instant,
): ScheduleRow {
  const previous = before === null ? null : changedFields({ ...viewSchedule(before) }, { ...viewSchedule(after) })
  if (previous !== null && Object.keys(previous).length === 0) return after
  const open = before?.approval ?? null
  const isOpen = before?.state === 'pending_approval' && open !== null
  const approval: Approval = {
    requestedBy: attempt === null ? owner : `attempt:${attempt.id}`,
    runId: attempt?.runId ?? null,
    requestedAt: now,
    // A second proposal extends the open one, so it is still compared with the last approved values.
    before: isOpen ? (open.before === null ? null : { ...previous, ...open.before }) : previous,
    rests: isOpen ? open.rests : (before ?? after).state === 'paused',
    rejected: null,
  }
  return { ...after, state: 'pending_approval', nextRunAt: null, approval }
}

/** A manual run as a counted action. */
export const manualRunAction = (id: ScheduleId | null): RestrictedAction => ({
  kind: 'woken',
  scheduleId: id,
  moment: null,
})

async function checkScheduleRun(request: RestrictedRequest, id: ScheduleId): Promise<boolean> {
  const [row] = await loadSchedules(request.tx, { orgId: request.orgId, ids: [id] })
  if (row === undefined) return false
  await checkManualRun(request, row)
  return true
}

/** Checks a `run-now` request of a restricted key. */
export const checkRunNow =
  (id: string) =>
  async (request: RestrictedRequest): Promise<void> => {
    if (!(await checkScheduleRun(request, scheduleId(id)))) throw new Refusal('NOT_FOUND', `There is no schedule ${id}`)
  }

/** Refuses changes of a retry that people decide about: which model an agent calls, and what needs an approval. */
function refuseRetryEdits({ restrictions }: RestrictedKey, edited: readonly EditedPart[]): void {
  if (edited.includes('model'))
    throw restrictionRefusal(breach('executor', "A restricted key cannot choose a model; its runs use the agent's"))
  if (edited.length > 0 && restrictions.approval)
    throw restrictionRefusal(
      breach(
        'approval',
        'What this key changes has to be approved, and this would start at once; change the schedule instead',
      ),
    )
}

/** Checks a retry by a restricted key. The retry of a schedule's run counts as a manual run of the schedule. */
export const checkRetry =
  (record: RunRecord, edited: readonly EditedPart[]) =>
  async (request: RestrictedRequest): Promise<void> => {
    refuseRetryEdits(request.restricted, edited)
    if (record.scheduleId !== null && (await checkScheduleRun(request, record.scheduleId))) return
    refuseBreach(checkDepth(request.restricted))
    await requireRate(request, 1)
  }
