import { invalid, Refusal } from '../contract/refusals.ts'
import type { TaskView } from '../contract/task.ts'
import { agentId, runId, type OrgId, type RunId } from '../core/ids.ts'
import { flawed, parsed, type Parsed } from '../core/input.ts'
import { formatInstant } from '../core/instant.ts'
import { explainWhy } from '../core/reasons.ts'
import type { RunState } from '../core/run/run-machine.ts'
import { EXPIRED_ERROR, facadeStateOf, statesOfFacade, type FacadeState } from '../core/run/run-words.ts'
import { listRuns, loadPositions, loadRun, type RunRecord } from '../store/run-reads.ts'
import { parseLimit } from './cursor.ts'
import { collectFlaws, textField } from './input-fields.ts'
import type { Ports } from './ports.ts'
import { momentOrNull } from './schedule-view.ts'

type Reading = Pick<Ports, 'database'>

/** What a task was asked to do, as its run keeps it. */
export interface TaskContent {
  readonly action: string
  readonly tabId?: string
  readonly selector?: string
  readonly ref?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly callbackUrl?: string
}

/** A task as the façade shows it. */
export function viewTask(run: RunRecord, position: number | null = null): TaskView {
  const { tabId, selector, ref, params, callbackUrl, action } = contentOf(run.payload)
  const { startedAt, finishedAt } = run
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
    startedAt: momentOrNull(startedAt),
    completedAt: momentOrNull(finishedAt),
    ...(startedAt === null || finishedAt === null ? {} : { latencyMs: Math.max(0, finishedAt - startedAt) }),
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

function errorOf(run: RunRecord): string | null {
  switch (run.state) {
    case 'expired':
      return EXPIRED_ERROR
    case 'rejected':
      return explainWhy(run.why ?? run.decision)
    case 'failed':
    case 'timeout':
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

/** The refusal for a task that is not there, or not this org's. */
export const noTask = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no task ${id}`)

/** The task. */
export async function getTask({ database }: Reading, orgId: OrgId, id: string): Promise<TaskView> {
  const run = await loadRun(database, { orgId, id: runId(id) })
  if (run?.trigger !== 'task') throw noTask(id)
  const positions = await positionsOf({ database }, orgId, [run])
  return viewTask(run, positions.get(run.id) ?? null)
}

/** Tasks are listed in one answer unless somebody wants fewer. */
const MOST_TASKS = 1_000

export interface TaskFilter {
  readonly agentId?: string | undefined
  /** Words of the façade, separated by commas. */
  readonly state?: string | undefined
  readonly limit?: number | undefined
}

/** The org's tasks, newest first. */
export async function findTasks(
  { database }: Reading,
  orgId: OrgId,
  filter: TaskFilter = {},
): Promise<readonly TaskView[]> {
  const { flaws, keep } = collectFlaws()
  const agent = filter.agentId === undefined ? null : keep(textField({ min: 1, max: 200 })('agentId', filter.agentId))
  const states = filter.state === undefined || filter.state === '' ? null : keep(parseFacadeStates(filter.state))
  const limit = filter.limit === undefined ? MOST_TASKS : keep(parseLimit('limit', filter.limit))
  if (flaws.length > 0 || limit === null) throw invalid(flaws)
  const runs = await listRuns(database, {
    ...{ orgId, states, limit, trigger: 'task', after: null },
    agentId: agent === null ? null : agentId(agent),
  })
  const positions = await positionsOf({ database }, orgId, runs)
  return runs.map((run) => viewTask(run, positions.get(run.id) ?? null))
}

async function positionsOf(
  { database }: Reading,
  orgId: OrgId,
  runs: readonly RunRecord[],
): Promise<ReadonlyMap<RunId, number>> {
  const agentIds = [...new Set(runs.filter((run) => run.state === 'queued').map((run) => run.agentId))]
  return agentIds.length === 0 ? new Map() : loadPositions(database, { orgId, agentIds })
}

const FACADE_WORDS: readonly FacadeState[] = [
  ...(['queued', 'assigned', 'running', 'done', 'failed', 'cancelled', 'rejected'] as const),
]

function parseFacadeStates(value: string): Parsed<readonly RunState[]> {
  const words = value.split(',').map((word) => word.trim().toLowerCase())
  const known = FACADE_WORDS.filter((word) => words.includes(word))
  const unknown = words.find((word) => !FACADE_WORDS.some((facade) => facade === word))
  return unknown === undefined
    ? parsed(known.flatMap(statesOfFacade))
    : flawed({
        field: 'state',
        value: unknown,
        message: 'is not a state of a task',
        allowed: FACADE_WORDS.join(', '),
      })
}
