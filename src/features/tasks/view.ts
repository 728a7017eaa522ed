import { Refusal } from '../../api/refusals.ts'
import { MAX_TASKS, type TaskContent, type TaskFilter, type TaskList, type TaskView } from './schema.ts'
import { agentId, runId, type OrgId, type RunId } from '../../domain/ids.ts'
import { earlier, formatInstant, type Instant } from '../../domain/instant.ts'
import { explainWhy } from '../../domain/reasons.ts'
import { durationOf, firstStart } from '../../domain/run/run.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import {
  DEADLINE_ERROR,
  EXPIRED_ERROR,
  FACADE_STATES,
  facadeStateOf,
  statesOfFacade,
  TIMEOUT_ERROR,
} from '../../domain/run/run-words.ts'
import { loadPositions } from '../../store/run-positions.ts'
import { listRunPage } from '../../store/run-reads.ts'
import { loadTask, type TaskRecord } from '../../store/task-reads.ts'
import type { Caller } from '../../service/caller.ts'
import { parseCursor, writeCursor } from '../../platform/db/cursor.ts'
import { read } from '../../service/messages.ts'
import type { Ports } from '../../service/ports.ts'
import { ownRuns } from '../../service/rails/own.ts'
import { momentOrNull } from '../../service/schedule-view.ts'

type Reading = Pick<Ports, 'database' | 'clock' | 'settings'>

/** A task as the façade shows it. */
export function viewTask(run: TaskRecord, position: number | null = null): TaskView {
  const { tabId, selector, ref, params, callbackUrl, action } = contentOf(run.payload)
  const { finishedAt } = run
  const latencyMs = durationOf(run)
  const error = errorOf(run)
  return {
    taskId: run.id,
    agentId: run.agentId,
    action: action ?? '',
    ...given({ tabId, selector, ref, params }),
    priority: run.priority,
    state: facadeStateOf(run.state),
    deadline: momentOrNull(run.deadline),
    createdAt: formatInstant(run.createdAt),
    startedAt: momentOrNull(firstStart(run)),
    completedAt: momentOrNull(finishedAt),
    ...(latencyMs === null ? {} : { latencyMs }),
    ...(run.state === 'success' ? { result: run.output } : {}),
    ...(error === null ? {} : { error }),
    ...given({ callbackUrl }),
    ...(position === null ? {} : { position }),
  }
}

/** What was not given does not appear. */
function given<T extends Readonly<Record<string, unknown>>>(
  fields: T,
): { readonly [Name in keyof T]?: NonNullable<T[Name]> } {
  const found = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(found) as { readonly [Name in keyof T]?: NonNullable<T[Name]> }
}

function contentOf(payload: unknown): Partial<TaskContent> {
  if (typeof payload !== 'object' || payload === null) return {}
  // A run that came through admission carries what it was sent as the fields of its content.
  return 'fields' in payload && !('action' in payload) ? contentOf(payload.fields) : payload
}

function errorOf(run: TaskRecord): string | null {
  switch (run.state) {
    case 'expired':
      return EXPIRED_ERROR
    case 'rejected':
      return explainWhy(run.why ?? run.decision)
    case 'timeout':
      // The word of the façade goes before the sentence that a run has for people.
      return isOverdue(run) ? DEADLINE_ERROR : (run.errorMessage ?? TIMEOUT_ERROR)
    case 'failed':
      return run.errorMessage ?? run.errorCode ?? explainWhy(run.why ?? run.decision)
    case 'success':
    case 'cancelled':
    case 'skipped':
    case 'dropped':
    case 'waiting':
    case 'queued':
    case 'assigned':
    case 'running':
    case 'awaiting_callback':
    case 'stopping':
      return null
  }
}

const isOverdue = ({ deadline, finishedAt }: TaskRecord): boolean =>
  deadline !== null && finishedAt !== null && finishedAt >= deadline

/** The refusal for a task that is not there, or not this org's. */
const noTask = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no task ${id}`)

/** What ended before this has outlived its time, also while it is still on record. */
const keptSince = ({ clock, settings }: Reading): Instant =>
  earlier(clock.now(), settings().tasks.resultTtlSeconds * 1_000)

/** A task that is still shown. */
export async function findTask(ports: Reading, orgId: OrgId, id: string): Promise<TaskRecord> {
  const task = await loadTask(ports.database, { orgId, id: runId(id) })
  if (task === undefined || (task.finishedAt !== null && task.finishedAt < keptSince(ports))) throw noTask(id)
  return task
}

/** The task. */
export async function getTask(ports: Reading, orgId: OrgId, id: string): Promise<TaskView> {
  const run = await findTask(ports, orgId, id)
  const positions = await positionsOf(ports, orgId, [run])
  return viewTask(run, positions.get(run.id) ?? null)
}

/** The org's tasks, newest first. */
export async function findTasks(
  ports: Reading,
  { orgId, railed }: Pick<Caller, 'orgId' | 'railed'>,
  filter: TaskFilter = {},
): Promise<TaskList> {
  const { agentId: agent = '', state = '', limit = MAX_TASKS, cursor } = filter
  const after = read(parseCursor('cursor', cursor))
  const { rows, more } = await listRunPage(ports.database, {
    ...{ orgId, limit, whole: true, endedSince: keptSince(ports), owned: ownRuns(railed) ?? null },
    trigger: 'task',
    // What is empty asks for nothing.
    states: facadeStatesIn(state),
    agentId: agent === '' ? null : agentId(agent),
    after: after === null ? null : { createdAt: after.createdAt, id: runId(after.key) },
  })
  const positions = await positionsOf(ports, orgId, rows)
  const tasks = rows.map((run) => viewTask(run, positions.get(run.id) ?? null))
  const last = rows.at(-1)
  const next = more && last !== undefined ? writeCursor({ createdAt: last.createdAt, key: last.id }) : null
  return { tasks, count: tasks.length, ...(next === null ? {} : { next_cursor: next }) }
}

async function positionsOf(
  { database }: Pick<Reading, 'database'>,
  orgId: OrgId,
  runs: readonly TaskRecord[],
): Promise<ReadonlyMap<RunId, number>> {
  const queued = runs.filter((run) => run.state === 'queued')
  const agentIds = [...new Set(queued.map((run) => run.agentId))]
  const ids = queued.map((run) => run.id)
  return agentIds.length === 0 ? new Map() : loadPositions(database, { orgId, agentIds, ids })
}

/** The states that a filter names; null: it names none. As with PinchTab, a word that is no state matches no task. */
function facadeStatesIn(value: string): readonly RunState[] | null {
  const words = value
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '')
  if (words.length === 0) return null
  return FACADE_STATES.filter((word) => words.includes(word)).flatMap(statesOfFacade)
}
