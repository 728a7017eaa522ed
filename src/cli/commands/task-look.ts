import type { TaskBatchItem, TaskStats, TaskView } from '../../contract/task.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { manyLines, oneLine, valueText } from '../output/text.ts'
import { agoText, lengthText, momentText } from '../output/times.ts'
import type { Facts } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'

/** Tasks as a table. */
export function taskColumns({ terminal, style }: Talk): readonly Column<TaskView>[] {
  const now = terminal.now()
  return [
    { title: 'ID', of: ({ taskId }) => taskId },
    { title: 'STATE', of: ({ state }) => state, paint: (text) => paintState(style, text) },
    { title: 'AGENT', of: ({ agentId }) => oneLine(agentId), flexible: true },
    { title: 'ACTION', of: ({ action }) => oneLine(action), flexible: true },
    { title: 'TAB', of: ({ tabId }) => oneLine(tabId ?? '-'), flexible: true },
    { title: 'MADE', of: ({ createdAt }) => agoText(createdAt, now) },
    { title: 'TOOK', of: ({ latencyMs }) => (latencyMs === undefined ? '-' : lengthText(latencyMs)), right: true },
    { title: 'RESULT', of: resultOf, flexible: true },
  ]
}

const resultOf = ({ error, result, position }: TaskView): string =>
  error ?? (position === undefined ? valueText(result ?? null) : `number ${position} of its agent`)

/** One task with everything there is to know about it. */
export function taskFacts({ terminal, style }: Talk, task: TaskView): Facts {
  const now = terminal.now()
  return [
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
}

/** What became of the tasks of a batch, as a table. */
export const batchColumns = ({ style }: Talk): readonly Column<TaskBatchItem>[] => [
  { title: 'ID', of: ({ taskId }) => (taskId === '' ? '-' : taskId) },
  { title: 'STATE', of: ({ state }) => state, paint: (text) => paintState(style, text) },
  { title: 'POSITION', of: ({ position }) => (position === undefined ? '-' : String(position)), right: true },
  { title: 'ERROR', of: ({ error }) => oneLine(error ?? '-'), flexible: true },
]

/** What waits, how it went, and within which limits. */
export function statsFacts({ queue, metrics, config }: TaskStats): Facts {
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
