import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Page } from '../../api/page.ts'
import { Refusal } from '../../api/refusals.ts'
import { explainWhy } from '../../domain/reasons.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import type { RunDetail, RunView } from '../../features/runs/schema.ts'
import type { MethodScope, MethodResult } from './server.ts'
import { toolRequest, type ToolRequest, truncate } from './tools/tool.ts'

/** What tasks and resources need of the server, as the caller of the request. */
export interface ResourceAccess {
  /** Executes an operation with the access checks of the API. */
  readonly perform: (request: ToolRequest) => Promise<unknown>
  /**
   * Calls back on changes that the caller may see, until the request ends. Resolves when the subscription is active;
   * `ended` resolves when it has ended, for example because the key was revoked.
   */
  readonly watch: (
    filter: { readonly kinds: string; readonly run_id?: string },
    changed: (event: { readonly kind: string; readonly subject: string }) => void,
  ) => Promise<{ readonly ended: Promise<void>; readonly close: () => void }>
}

/** The metadata field that names the task of a message. */
const RELATED_TASK_META_KEY = 'io.modelcontextprotocol/related-task'

/** How soon a client should ask again. */
const POLL_INTERVAL_MS = 1_000
const PAGE_SIZE = 50
const MAX_TEXT_LENGTH = 50_000

/** A task in the format of revision 2025-11-25. */
interface Task {
  readonly taskId: string
  readonly status: 'working' | 'completed' | 'cancelled' | 'failed'
  readonly statusMessage: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttl: null
  readonly pollInterval: number
}

/** A run as a task. Nothing is stored for it: the id of the task is the id of the run. */
export function taskOf(run: RunView | RunDetail): Task {
  const { id, status, reason, error_message: error } = run
  const changed = 'timeline' in run ? run.timeline.at(-1)?.at : undefined
  return {
    taskId: id,
    status: taskStatusOf(run),
    statusMessage: truncate(error ?? (reason === null ? status : `${status}: ${reason}`), 500),
    createdAt: run.created_at,
    lastUpdatedAt: changed ?? run.finished_at ?? run.started_at ?? run.created_at,
    // Runs are kept as long as the retention of the deployment says, whatever a client asks for.
    ttl: null,
    pollInterval: POLL_INTERVAL_MS,
  }
}

function taskStatusOf({ status }: Pick<RunView, 'status'>): Task['status'] {
  // The ending of a run that was asked to stop is fixed.
  if (status === 'cancelled' || status === 'stopping') return 'cancelled'
  if (status === 'success') return 'completed'
  return isTerminal(status) ? 'failed' : 'working'
}

/** Answers `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel`. */
export async function answerTaskMethod(
  access: ResourceAccess,
  method: string,
  { params, scope }: { readonly params: Readonly<Record<string, unknown>>; readonly scope: MethodScope },
): Promise<MethodResult> {
  const id = String(params['taskId'])
  switch (method) {
    case 'tasks/get':
      return { ...taskOf(await runOf(access, id)) }
    case 'tasks/cancel':
      return { ...taskOf((await access.perform(toolRequest('runs.cancel', { params: { id } }))) as RunView) }
    case 'tasks/list': {
      const cursor = params['cursor'] as string | undefined
      const query = { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) }
      const page = (await access.perform(toolRequest('runs.list', { query }))) as Page<RunView>
      const next = page.next_cursor === null ? {} : { nextCursor: page.next_cursor }
      return { tasks: page.items.map(taskOf), ...next }
    }
    default:
      return { ...(await resultOf(access, { id, scope })) }
  }
}

const runOf = async (access: ResourceAccess, id: string): Promise<RunDetail> =>
  (await access.perform(toolRequest('runs.get', { params: { id } }))) as RunDetail

/** The result of a task: at once if it has ended, or else when it ends, with notifications until then. */
async function resultOf(
  access: ResourceAccess,
  { id, scope }: { readonly id: string; readonly scope: MethodScope },
): Promise<CallToolResult> {
  const before = await runOf(access, id)
  if (isTerminal(before.status)) return toolResultOf(before)
  let changed = (): void => undefined
  const subscription = await access.watch({ kinds: 'run.changed', run_id: before.id }, () => {
    changed()
  })
  const ended = subscription.ended.then(() => 'ended' as const)
  try {
    let told = ''
    for (let progress = 1; ;) {
      const change = new Promise<'changed'>((resolve) => {
        changed = () => {
          resolve('changed')
        }
      })
      // Read after the promise was created, so that no change is missed.
      const run = await runOf(access, id)
      if (isTerminal(run.status)) return toolResultOf(run)
      const task = taskOf(run)
      if (task.statusMessage !== told) {
        told = task.statusMessage
        await announce(scope, task, progress)
        progress += 1
      }
      if ((await Promise.race([change, ended])) === 'ended')
        throw new Refusal('BUSY', 'The task has not ended yet; call tasks/result again')
    }
  } finally {
    subscription.close()
  }
}

async function announce({ notify, progressToken }: MethodScope, task: Task, progress: number): Promise<void> {
  const related = { _meta: { [RELATED_TASK_META_KEY]: { taskId: task.taskId } } }
  await notify({ method: 'notifications/tasks/status', params: { ...task, ...related } })
  if (progressToken === undefined) return
  const message = task.statusMessage
  await notify({ method: 'notifications/progress', params: { progressToken, progress, message, ...related } })
}

/** The result of an ended run, in the shape of the tool that submits such runs. */
function toolResultOf(run: RunDetail): CallToolResult {
  const { status, output, error_code, error_message, usage: used } = run
  const sentence = explainWhy(run.why)
  const outcome = { status, sentence, output, error_code, error_message, usage: used }
  const structuredContent =
    run.trigger === 'task'
      ? { task_id: run.id, state: taskStatusOf(run), position: 0, outcome }
      : { ran: status !== 'skipped', run_id: run.id, reason: null, outcome }
  const isError = status !== 'success'
  const answer = typeof output === 'string' ? output : output === null ? sentence : JSON.stringify(output)
  const text = isError ? [sentence, error_message].filter((line) => line !== null).join('\n') : answer
  return {
    content: [{ type: 'text', text: truncate(text, MAX_TEXT_LENGTH) }],
    structuredContent,
    ...(isError ? { isError } : {}),
    _meta: { [RELATED_TASK_META_KEY]: { taskId: run.id } },
  }
}
