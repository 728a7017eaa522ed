import type { Command } from 'commander'
import {
  taskBatchInput,
  taskFilter,
  taskInput,
  type TaskBatchItem,
  type TaskBatchReceipt,
  type TaskStats,
  type TaskView,
} from './schema.ts'
import { paintState } from '../../cli/output/style.ts'
import { renderTable, type Column } from '../../cli/output/table.ts'
import { manyLines, oneLine, valueText } from '../../cli/output/text.ts'
import { relativeTimeText, durationText, cliTimeText } from '../../cli/output/times.ts'
import { bodyOf, namesOf, withBody, type FieldOption, type FieldValues } from '../../cli/remote/fields.ts'
import { filtersOf, optionsOf } from '../../cli/remote/schema-options.ts'
import { printJson, showResult, type Facts, type WaitOptions, waitOptionsOf, withWait } from '../../cli/remote/show.ts'
import { commandOf, type CliContext, remote, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { addAction, addGet, addList } from '../../cli/resource.ts'
import { EXIT, type ExitCode } from '../../cli/terminal.ts'
import { followRun } from '../runs/cli-show.ts'

const FLAGS = { callbackUrl: '--callback <url>' }
const TASK_FIELDS = optionsOf(taskInput, FLAGS)
const BATCH_FIELDS = optionsOf(taskBatchInput, { ...FLAGS, tasks: null })

/** `escapement tasks …`: tasks in browser tabs. */
export function addTasks(group: Command, cli: CliContext): void {
  addSubmitCommands(group, cli)
  addTaskReads(group, cli)
  addAction(cli, commandOf(group, 'cancel <id>', 'cancel a task'), {
    call: (call, [id = '']) => call.client.tasks.cancel(id),
    resultText: ({ status }, id) => `${id} is ${status}.`,
  })
  addGet<TaskStats>(cli, commandOf(group, 'stats', 'show the queue of tasks, their outcomes and the limits'), {
    facts: (_, stats) => statsFacts(stats),
    read: (call) => call.client.tasks.stats(),
  })
}

function addSubmitCommands(group: Command, cli: CliContext): void {
  const submit = withBody(commandOf(group, 'submit', 'submit a task'), TASK_FIELDS, 'new').option(
    '--wait',
    'wait until the task ends; exit with code 1 unless its state is done',
  )
  remote<{ readonly wait?: boolean }>(cli, submit, {
    names: namesOf(TASK_FIELDS),
    work: async (call, _, options): Promise<ExitCode> => {
      const body = await bodyOf(call.terminal, TASK_FIELDS, options)
      const receipt = await call.client.tasks.submit(body as never)
      if (options.wait === true) return followRun(call, receipt.taskId)
      const positionText = receipt.position === 0 ? '' : `, position ${receipt.position} of its agent`
      await showResult(call, receipt, `${receipt.taskId} is ${paintState(call.style, receipt.state)}${positionText}.`)
      return EXIT.ok
    },
  })
  addFileCommand(cli, commandOf(group, 'batch', 'submit up to 50 tasks for one agent'), {
    fields: BATCH_FIELDS,
    file: '{"agentId": …, "tasks": [{"action": …}]}',
    send: (call, body) => call.client.tasks.batch(body as never),
  })
  addFileCommand(cli, commandOf(group, 'submit-many', 'submit up to 1,000 tasks for any agents'), {
    fields: [],
    file: '{"tasks": [{"agentId": …, "action": …}]}',
    send: (call, body) => call.client.tasks.submitMany(body as never),
  })
}

/** A command that reads its tasks from a file and shows the outcome of each. */
function addFileCommand(
  cli: CliContext,
  command: Command,
  {
    fields,
    file,
    send,
  }: {
    readonly fields: readonly FieldOption[]
    readonly file: string
    readonly send: (call: CliCall, body: FieldValues) => Promise<TaskBatchReceipt>
  },
): void {
  remote<{ readonly file?: string }>(cli, withBody(command, fields, 'new'), {
    names: namesOf(fields),
    work: async (call, _, options): Promise<ExitCode> => {
      if (options.file === undefined) throw new UsageError(`Missing --file FILE with the tasks: ${file}`)
      const receipt = await send(call, await bodyOf(call.terminal, fields, options))
      await (call.json ? printJson(call, receipt) : call.print(renderTable(batchColumns(call), receipt.tasks, call)))
      return receipt.tasks.some(({ state }) => state === 'rejected') ? EXIT.refused : EXIT.ok
    },
  })
}

/** The default page size, as of the other lists. */
const DEFAULT_PAGE_SIZE = 20

function addTaskReads(group: Command, cli: CliContext): void {
  addList<TaskView>(cli, commandOf(group, 'list', 'list tasks, newest first'), {
    filter: filtersOf(taskFilter),
    none: 'No tasks. Submit one: escapement tasks submit --agent … --action click --tab …',
    columns: taskColumns,
    read: async (call, query) => {
      const { tasks, next_cursor: next = null } = await call.client.tasks.list({ limit: DEFAULT_PAGE_SIZE, ...query })
      return { items: tasks, next_cursor: next }
    },
  })
  addGet<TaskView, WaitOptions>(cli, withWait(commandOf(group, 'get <id>', 'show a task'), 'its end'), {
    facts: taskFacts,
    read: (call, [id = ''], options) => call.client.tasks.get(id, waitOptionsOf(options)),
  })
}

/** The table columns of tasks. */
const taskColumns = ({ now, style }: CliCall): readonly Column<TaskView>[] => [
  { title: 'ID', value: ({ taskId }) => taskId },
  { title: 'STATE', value: ({ state }) => state, paint: (text) => paintState(style, text) },
  { title: 'AGENT', value: ({ agentId }) => oneLine(agentId), flexible: true },
  { title: 'ACTION', value: ({ action }) => oneLine(action), flexible: true },
  { title: 'TAB', value: ({ tabId }) => oneLine(tabId ?? '-'), flexible: true },
  { title: 'CREATED', value: ({ createdAt }) => relativeTimeText(createdAt, now) },
  {
    title: 'DURATION',
    value: ({ latencyMs }) => (latencyMs === undefined ? '-' : durationText(latencyMs)),
    right: true,
  },
  { title: 'RESULT', value: resultOf, flexible: true },
]

const resultOf = ({ error, result, position }: TaskView): string =>
  error ?? (position === undefined ? valueText(result ?? null) : `position ${position} of its agent`)

/** The facts of a task. */
const taskFacts = ({ now, style }: CliCall, task: TaskView): Facts => [
  ['id', task.taskId],
  ['state', paintState(style, task.state)],
  ['position', task.position === undefined ? null : String(task.position)],
  ['agent', oneLine(task.agentId)],
  ['action', oneLine(task.action)],
  ['tab', task.tabId ?? null],
  ['selector', task.selector ?? null],
  ['ref', task.ref ?? null],
  ['params', task.params === undefined ? null : valueText(task.params)],
  ['priority', String(task.priority)],
  ['created', cliTimeText(task.createdAt, now)],
  ['started', cliTimeText(task.startedAt, now)],
  ['ended', cliTimeText(task.completedAt, now)],
  ['duration', task.latencyMs === undefined ? null : durationText(task.latencyMs)],
  ['deadline', cliTimeText(task.deadline, now)],
  ['callback', task.callbackUrl ?? null],
  ['error', task.error === undefined ? null : manyLines(task.error)],
  ['result', task.result === undefined ? null : manyLines(valueText(task.result))],
]

/** The table columns of a submitted batch. */
const batchColumns = ({ style }: CliCall): readonly Column<TaskBatchItem>[] => [
  { title: 'ID', value: ({ taskId }) => (taskId === '' ? '-' : taskId) },
  { title: 'STATE', value: ({ state }) => state, paint: (text) => paintState(style, text) },
  { title: 'POSITION', value: ({ position }) => (position === undefined ? '-' : String(position)), right: true },
  { title: 'ERROR', value: ({ error }) => oneLine(error ?? '-'), flexible: true },
]

/** The queue, outcomes and limits of tasks. */
function statsFacts({ queue, metrics, config }: TaskStats): Facts {
  const { tasksCompleted, tasksFailed, tasksCancelled, tasksExpired } = metrics
  const agents = Object.entries(queue.agents)
  return [
    ['queue', `${queue.totalQueued} queued, ${queue.totalInflight} in flight`],
    [
      'agents',
      agents.length === 0
        ? null
        : agents
            .map(([id, { queued, inflight }]) => `${oneLine(id)}: ${queued} queued, ${inflight} in flight`)
            .join('\n'),
    ],
    ['submitted', `${metrics.tasksSubmitted}, ${metrics.tasksRejected} rejected`],
    ['ended', `${tasksCompleted} done, ${tasksFailed} failed, ${tasksCancelled} cancelled, ${tasksExpired} expired`],
    [
      'queued for',
      `${durationText(Math.round(metrics.avgDispatchLatencyMs))} on average (${metrics.dispatchCount} tasks)`,
    ],
    ['limits', `${config.maxQueueSize} queued, ${config.maxPerAgent} per agent`],
    [
      'max concurrent',
      `${config.maxInflight}, ${config.maxPerAgentFlight} per agent, ${config.workerCount} on this node`,
    ],
    ['kept', `${config.resultTTL} after completion`],
  ]
}
