import type { Command } from 'commander'
import type { TaskBatchInput, TaskInput } from '../../contract/task.ts'
import { paintState } from '../output/style.ts'
import { renderTable } from '../output/table.ts'
import {
  bodyOf,
  json,
  moment,
  namesOf,
  number,
  valuesOf,
  withBody,
  withFields,
  type FieldOption,
} from '../remote/fields.ts'
import { printJson, readPages, showDone, showList, showOne, withPages, type PageOptions } from '../remote/show.ts'
import { remote, type Desk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { commandOf, groupOf } from './group.ts'
import { followRun } from './run-follow.ts'
import { batchColumns, statsFacts, taskColumns, taskFacts } from './task-look.ts'

const AGENT: FieldOption = { flags: '--agent <id>', field: 'agentId', about: 'whom it is for: any text' }
const CALLBACK: FieldOption = {
  flags: '--callback <url>',
  field: 'callbackUrl',
  about: 'where to send what came of it',
}

const FIELDS: readonly FieldOption[] = [
  AGENT,
  { flags: '--action <action>', field: 'action', about: 'what is to be done: click, type, …' },
  { flags: '--tab <id>', field: 'tabId', about: 'in which tab' },
  { flags: '--selector <selector>', field: 'selector', about: 'to which element' },
  { flags: '--ref <ref>', field: 'ref', about: 'to which element, by its reference' },
  { flags: '--params <json>', field: 'params', read: json, about: 'what else the action needs, as a JSON object' },
  { flags: '--priority <n>', field: 'priority', read: number, about: 'lower is sooner (default 0)' },
  { flags: '--deadline <time>', field: 'deadline', read: moment, about: 'a time, or how long from now (default 60s)' },
  CALLBACK,
]

const BATCH: readonly FieldOption[] = [AGENT, CALLBACK]

const FILTER: readonly FieldOption[] = [
  { flags: '--agent <id>', field: 'agentId', about: 'of this agent' },
  {
    flags: '--state <states>',
    field: 'state',
    about: 'queued, assigned, running, done, failed, cancelled or rejected, with commas between them',
  },
]

/** `escapement tasks …`: work for whoever acts in browser tabs. */
export function addTasks(program: Command, desk: Desk): void {
  const group = groupOf(program, 'tasks', 'hand in, see and cancel tasks')
  addSubmitting(group, desk)
  addReading(group, desk)
  remote(desk, commandOf(group, 'cancel <id>', 'end a task'), {
    work: async (talk, [id = '']) => {
      const answer = await talk.client.tasks.cancel(id)
      await showDone(talk, answer, `${id} is ${answer.status}.`)
    },
  })
  remote(desk, commandOf(group, 'stats', 'show what waits, how tasks went, and within which limits'), {
    work: async (talk) => {
      const stats = await talk.client.tasks.stats()
      await showOne(talk, stats, () => statsFacts(stats))
    },
  })
}

function addSubmitting(group: Command, desk: Desk): void {
  const submit = withBody(commandOf(group, 'submit', 'hand in a task'), FIELDS, 'new').option(
    '--wait',
    'follow it to its end; the exit code is 1 unless it is done',
  )
  remote<{ readonly wait?: boolean }>(desk, submit, {
    names: namesOf(FIELDS),
    work: async (talk, _, options): Promise<ExitCode> => {
      const body = await bodyOf(talk.terminal, FIELDS, options)
      const receipt = await talk.client.tasks.submit(body as unknown as TaskInput)
      if (options.wait === true) return followRun(talk, receipt.taskId)
      const place = receipt.position === 0 ? '' : `, number ${receipt.position} of its agent`
      await showDone(talk, receipt, `${receipt.taskId} is ${paintState(talk.style, receipt.state)}${place}.`)
      return EXIT.ok
    },
  })
  const batch = withBody(commandOf(group, 'batch', 'hand in up to fifty tasks of one agent'), BATCH, 'new')
  remote<{ readonly file?: string }>(desk, batch, {
    names: namesOf(BATCH),
    work: async (talk, _, options): Promise<ExitCode> => {
      if (options.file === undefined)
        throw new UsageError('Name the tasks: --file FILE with {"agentId": …, "tasks": [{"action": …}]}')
      const body = await bodyOf(talk.terminal, BATCH, options)
      const receipt = await talk.client.tasks.batch(body as unknown as TaskBatchInput)
      await (talk.json ? printJson(talk, receipt) : talk.print(renderTable(batchColumns(talk), receipt.tasks, talk)))
      return receipt.tasks.some(({ state }) => state === 'rejected') ? EXIT.refused : EXIT.ok
    },
  })
}

/** As everywhere, a list is short unless more is asked for. */
const USUAL_PAGE = 20

function addReading(group: Command, desk: Desk): void {
  remote<PageOptions>(desk, withPages(withFields(commandOf(group, 'list', 'list tasks, newest first'), FILTER)), {
    names: namesOf(FILTER),
    work: async (talk, _, options) => {
      const filter = valuesOf(FILTER, options, talk.terminal.now())
      const page = await readPages(talk, options, async (asked) => {
        const { tasks, next_cursor: next = null } = await talk.client.tasks.list({
          limit: USUAL_PAGE,
          ...filter,
          ...asked,
        })
        return { items: tasks, next_cursor: next }
      })
      const none = 'No tasks. Hand one in: escapement tasks submit --agent … --action click --tab …'
      await showList(talk, page, { columns: taskColumns(talk), none })
    },
  })
  remote(desk, commandOf(group, 'get <id>', 'show a task'), {
    work: async (talk, [id = '']) => {
      const task = await talk.client.tasks.get(id)
      await showOne(talk, task, () => taskFacts(talk, task))
    },
  })
}
