import type { Command } from 'commander'
import {
  taskBatchInput,
  taskFilter,
  taskInput,
  type TaskBatchItem,
  type TaskStats,
  type TaskView,
} from '../../features/tasks/schema.ts'
import { paintState } from '../output/style.ts'
import { renderTable, type Column } from '../output/table.ts'
import { manyLines, oneLine, valueText } from '../output/text.ts'
import { agoText, lengthText, momentText } from '../output/times.ts'
import { bodyOf, namesOf, withBody } from '../remote/fields.ts'
import { filtersOf, optionsOf } from '../remote/schema-options.ts'
import { printJson, showDone, type Facts } from '../remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { addAction, addGet, addList } from '../resource.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { followRun } from './run-follow.ts'

const FLAGS = { callbackUrl: '--callback <url>' }
const FIELDS = optionsOf(taskInput, FLAGS)
const BATCH = optionsOf(taskBatchInput, { ...FLAGS, tasks: null })

/** `escapement tasks …`: work for whoever acts in browser tabs. */
export function addTasks(group: Command, desk: Desk): void {
  addSubmitting(group, desk)
  addReading(group, desk)
  addAction(desk, commandOf(group, 'cancel <id>', 'cancel a task'), {
    call: (talk, [id = '']) => talk.client.tasks.cancel(id),
    say: ({ status }, id) => `${id} is ${status}.`,
  })
  addGet<TaskStats>(desk, commandOf(group, 'stats', 'show the queue of tasks, their outcomes and the limits'), {
    facts: (_, stats) => statsFacts(stats),
    read: (talk) => talk.client.tasks.stats(),
  })
}

function addSubmitting(group: Command, desk: Desk): void {
  const submit = withBody(commandOf(group, 'submit', 'submit a task'), FIELDS, 'new').option(
    '--wait',
    'wait until it ends; the exit code is 1 unless it is done',
  )
  remote<{ readonly wait?: boolean }>(desk, submit, {
    names: namesOf(FIELDS),
    work: async (talk, _, options): Promise<ExitCode> => {
      const body = await bodyOf(talk.terminal, FIELDS, options)
      const receipt = await talk.client.tasks.submit(body as never)
      if (options.wait === true) return followRun(talk, receipt.taskId)
      const place = receipt.position === 0 ? '' : `, number ${receipt.position} of its agent`
      await showDone(talk, receipt, `${receipt.taskId} is ${paintState(talk.style, receipt.state)}${place}.`)
      return EXIT.ok
    },
  })
  const batch = withBody(commandOf(group, 'batch', 'submit up to 50 tasks of one agent'), BATCH, 'new')
  remote<{ readonly file?: string }>(desk, batch, {
    names: namesOf(BATCH),
    work: async (talk, _, options): Promise<ExitCode> => {
      if (options.file === undefined)
        throw new UsageError('Name the tasks: --file FILE with {"agentId": …, "tasks": [{"action": …}]}')
      const body = await bodyOf(talk.terminal, BATCH, options)
      const receipt = await talk.client.tasks.batch(body as never)
      await (talk.json ? printJson(talk, receipt) : talk.print(renderTable(batchColumns(talk), receipt.tasks, talk)))
      return receipt.tasks.some(({ state }) => state === 'rejected') ? EXIT.refused : EXIT.ok
    },
  })
}

/** As everywhere, a list is short unless more is asked for. */
const USUAL_PAGE = 20

function addReading(group: Command, desk: Desk): void {
  addList<TaskView>(desk, commandOf(group, 'list', 'list tasks, newest first'), {
    filter: filtersOf(taskFilter),
    none: 'No tasks. Hand one in: escapement tasks submit --agent … --action click --tab …',
    columns: taskColumns,
    read: async (talk, query) => {
      const { tasks, next_cursor: next = null } = await talk.client.tasks.list({ limit: USUAL_PAGE, ...query })
      return { items: tasks, next_cursor: next }
    },
  })
  addGet(desk, commandOf(group, 'get <id>', 'show a task'), {
    facts: taskFacts,
    read: (talk, [id = '']) => talk.client.tasks.get(id),
  })
}

/** Tasks as a table. */
const taskColumns = ({ now, style }: Talk): readonly Column<TaskView>[] => [
  { title: 'ID', of: ({ taskId }) => taskId },
  { title: 'STATE', of: ({ state }) => state, paint: (text) => paintState(style, text) },
  { title: 'AGENT', of: ({ agentId }) => oneLine(agentId), flexible: true },
  { title: 'ACTION', of: ({ action }) => oneLine(action), flexible: true },
  { title: 'TAB', of: ({ tabId }) => oneLine(tabId ?? '-'), flexible: true },
  { title: 'MADE', of: ({ createdAt }) => agoText(createdAt, now) },
  { title: 'TOOK', of: ({ latencyMs }) => (latencyMs === undefined ? '-' : lengthText(latencyMs)), right: true },
  { title: 'RESULT', of: resultOf, flexible: true },
]

const resultOf = ({ error, result, position }: TaskView): string =>
  error ?? (position === undefined ? valueText(result ?? null) : `number ${position} of its agent`)

/** One task with everything there is to know about it. */
const taskFacts = ({ now, style }: Talk, task: TaskView): Facts => [
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
  ['made', momentText(task.createdAt, now)],
  ['started', momentText(task.startedAt, now)],
  ['ended', momentText(task.completedAt, now)],
  ['took', task.latencyMs === undefined ? null : lengthText(task.latencyMs)],
  ['deadline', momentText(task.deadline, now)],
  ['callback', task.callbackUrl ?? null],
  ['error', task.error === undefined ? null : manyLines(task.error)],
  ['result', task.result === undefined ? null : manyLines(valueText(task.result))],
]

/** What became of the tasks of a batch, as a table. */
const batchColumns = ({ style }: Talk): readonly Column<TaskBatchItem>[] => [
  { title: 'ID', of: ({ taskId }) => (taskId === '' ? '-' : taskId) },
  { title: 'STATE', of: ({ state }) => state, paint: (text) => paintState(style, text) },
  { title: 'POSITION', of: ({ position }) => (position === undefined ? '-' : String(position)), right: true },
  { title: 'ERROR', of: ({ error }) => oneLine(error ?? '-'), flexible: true },
]

/** What waits, how it went, and within which limits. */
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
    ['submitted', `${metrics.tasksSubmitted}, and ${metrics.tasksRejected} rejected`],
    ['ended', `${tasksCompleted} done, ${tasksFailed} failed, ${tasksCancelled} cancelled, ${tasksExpired} expired`],
    ['queued for', `${lengthText(Math.round(metrics.avgDispatchLatencyMs))} on average of ${metrics.dispatchCount}`],
    ['limits', `${config.maxQueueSize} queued, ${config.maxPerAgent} per agent`],
    ['at a time', `${config.maxInflight}, ${config.maxPerAgentFlight} per agent, ${config.workerCount} on this node`],
    ['kept', `${config.resultTTL} after the end`],
  ]
}
