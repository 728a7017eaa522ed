import type { Command } from 'commander'
import { taskBatchInput, taskFilter, taskInput, type TaskStats, type TaskView } from '../../contract/task.ts'
import { paintState } from '../output/style.ts'
import { renderTable } from '../output/table.ts'
import { bodyOf, namesOf, withBody } from '../remote/fields.ts'
import { filtersOf, optionsOf } from '../remote/schema-options.ts'
import { printJson, showDone } from '../remote/show.ts'
import { remote, type Desk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { addGet, addList } from '../resource.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { commandOf } from './group.ts'
import { followRun } from './run-follow.ts'
import { batchColumns, statsFacts, taskColumns, taskFacts } from './task-look.ts'

const FLAGS = { callbackUrl: '--callback <url>' }
const FIELDS = optionsOf(taskInput, FLAGS)
const BATCH = optionsOf(taskBatchInput, { ...FLAGS, tasks: null })

/** `escapement tasks …`: work for whoever acts in browser tabs. */
export function addTasks(group: Command, desk: Desk): void {
  addSubmitting(group, desk)
  addReading(group, desk)
  remote(desk, commandOf(group, 'cancel <id>', 'cancel a task'), {
    work: async (talk, [id = '']) => {
      const answer = await talk.client.tasks.cancel(id)
      await showDone(talk, answer, `${id} is ${answer.status}.`)
    },
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
