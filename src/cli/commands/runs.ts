import type { Command } from 'commander'
import type { LineageNode, LineageView } from '../../contract/lineage.ts'
import { runFilter } from '../../features/runs/schema.ts'
import { paintState } from '../output/style.ts'
import { oneLine } from '../output/text.ts'
import { valuesOf, withFields } from '../remote/fields.ts'
import { filtersOf, only } from '../remote/schema-options.ts'
import { printJson, showDone, withPage, type PageOptions } from '../remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../remote/talk.ts'
import { addAction, addGet, addList } from '../resource.ts'
import { EXIT } from '../terminal.ts'
import { mostOf, withMost, type MostOptions } from './events.ts'
import { showExplained, whyFacts, whySentence } from './explain-look.ts'
import { ABOUT_WAIT, followRun, followRuns } from './run-follow.ts'
import { NO_RUNS, runColumns, runFacts } from './run-look.ts'
import { addScheduleOfRun } from './schedule-of-run.ts'

const FILTER = filtersOf(runFilter)
const OWNERS = only(FILTER, 'schedule_id', 'agent_id', 'session', 'agent_error_code')

/** `escapement runs …`: what was done, what is being done, and why. */
export function addRuns(group: Command, desk: Desk): void {
  addReading(group, desk)
  addLineage(group, desk)
  addActing(group, desk)
  addScheduleOfRun(group, desk)
  const watch = withMost(withFields(commandOf(group, 'watch [id]', 'watch a run until it ends, or all runs'), OWNERS))
  remote<MostOptions>(desk, watch, {
    work: async (talk, [id], options) => {
      if (id !== undefined) return followRun(talk, id)
      await followRuns(talk, valuesOf(OWNERS, options, talk.now), mostOf(options))
      return EXIT.ok
    },
  })
}

function addReading(group: Command, desk: Desk): void {
  addList(desk, commandOf(group, 'list', 'list runs, newest first'), {
    filter: FILTER,
    columns: runColumns,
    none: NO_RUNS,
    read: (talk, query) => talk.client.runs.list(query),
  })
  addGet(desk, commandOf(group, 'get <id>', 'show a run with its attempts and timeline'), {
    facts: runFacts,
    read: (talk, [id = '']) => talk.client.runs.get(id),
  })
  remote(desk, commandOf(group, 'explain <id>', 'explain the state of a run'), {
    work: async (talk, [id = '']) => {
      const why = await talk.client.runs.explain(id)
      await showExplained(talk, why, () => [
        ['run', why.run_id],
        ['status', paintState(talk.style, why.status)],
        ...whyFacts(why),
        ...(why.held_decision === null ? [] : [['held because', whySentence(why.held_decision)] as const]),
        ['made because', whySentence(why.decision)],
      ])
    },
  })
}

function addLineage(group: Command, desk: Desk): void {
  const lineage = withPage(
    commandOf(group, 'lineage <id>', 'show what triggered a run, and what it created and triggered'),
  )
  remote<PageOptions>(desk, lineage, {
    work: async (talk, [id = ''], { limit, cursor }) => {
      const asked = {
        ...(limit === undefined ? {} : { limit: Number(limit) }),
        ...(cursor === undefined ? {} : { cursor }),
      }
      await showLineage(talk, await talk.client.runs.lineage(id, asked))
    },
  })
}

interface RetryOptions {
  readonly force?: boolean
  readonly wait?: boolean
}

function addActing(group: Command, desk: Desk): void {
  addAction(desk, commandOf(group, 'cancel <id>', 'cancel a run'), {
    call: (talk, [id = '']) => talk.client.runs.cancel(id),
    say: ({ status }, id) => `${id} is ${status}.`,
  })
  const retry = commandOf(group, 'retry <id>', 'retry a run that has ended')
    .option('--force', 'even if it succeeded')
    .option('--wait', ABOUT_WAIT)
  remote<RetryOptions>(desk, retry, {
    work: async (talk, [id = ''], { force, wait }) => {
      const run = await talk.client.runs.retry(id, force === true ? { force } : {})
      if (wait === true) return followRun(talk, run.id)
      await showDone(talk, run, `${run.id} repeats ${id}. It is ${run.status}.`)
      return EXIT.ok
    },
  })
}

/** Shows where a run comes from and what it made, as a tree. */
const showLineage = (talk: Talk, lineage: LineageView): Promise<void> =>
  talk.json ? printJson(talk, lineage) : talk.print(treeOf(talk, lineage))

function treeOf({ style }: Talk, { ancestors, self, children, next_cursor: more }: LineageView): string {
  const line = (node: LineageNode, depth: number, mark: string): string =>
    `${'  '.repeat(depth)}${mark}${node.kind} ${node.id} ${paintState(style, node.status)} ${aboutOf(node)}\n`
  const above = ancestors.map((node, index) => line(node, index, index === 0 ? '' : '└ ')).join('')
  const here = line(self, ancestors.length, ancestors.length === 0 ? '' : '└ ').replace('\n', '  ← this one\n')
  const below = children.map((node) => line(node, ancestors.length + 1, '└ ')).join('')
  const rest = more === null ? '' : `${'  '.repeat(ancestors.length + 1)}… more with --cursor ${more}\n`
  return `${above}${here}${below}${rest}`
}

const aboutOf = ({ kind, name, agent_id: agent, trigger }: LineageNode): string =>
  kind === 'schedule' ? oneLine(name ?? '') : `${trigger ?? ''} of agent ${agent}`
