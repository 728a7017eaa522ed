import type { Command } from 'commander'
import type { LineageNode, LineageView } from '../access/restrictions-schema.ts'
import { retryInput, type RetryInput, type RunDetail, runFilter } from './schema.ts'
import { paintState } from '../../cli/output/style.ts'
import { oneLine } from '../../cli/output/text.ts'
import { number, valuesOf, withFields } from '../../cli/remote/fields.ts'
import { filtersOf, only, optionsOf } from '../../cli/remote/schema-options.ts'
import {
  printJson,
  showResult,
  type WaitOptions,
  waitOptionsOf,
  withPage,
  withWait,
  type PageOptions,
} from '../../cli/remote/show.ts'
import { commandOf, remote, type CliContext, type CliCall } from '../../cli/remote/call.ts'
import { addAction, addGet, addList } from '../../cli/resource.ts'
import { EXIT } from '../../cli/terminal.ts'
import { countOf, withCount, type CountOptions } from '../../cli/remote/show.ts'
import { showExplained, whyFacts, whySentence } from '../explain/cli-show.ts'
import {
  comparisonText,
  WAIT_DESCRIPTION,
  followRun,
  followRuns,
  NO_RUNS,
  printLog,
  runColumns,
  runFacts,
} from './cli-show.ts'
import { addScheduleOfRun } from '../schedules/cli-draft.ts'

const FILTER = filtersOf(runFilter)
const WATCH_FILTER = only(FILTER, 'schedule_id', 'agent_id', 'session', 'agent_error_code')

/** `escapement runs …`: past, active and queued runs. */
export function addRuns(group: Command, cli: CliContext): void {
  addReadCommands(group, cli)
  addLogs(group, cli)
  addLineage(group, cli)
  addCompare(group, cli)
  addActionCommands(group, cli)
  addScheduleOfRun(group, cli)
  const watch = withCount(
    withFields(commandOf(group, 'watch [id]', 'watch a run until it ends, or all runs'), WATCH_FILTER),
  )
  remote<CountOptions>(cli, watch, {
    work: async (call, [id], options) => {
      if (id !== undefined) return followRun(call, id)
      await followRuns(call, valuesOf(WATCH_FILTER, options, call.now), countOf(options))
      return EXIT.ok
    },
  })
}

function addReadCommands(group: Command, cli: CliContext): void {
  addList(cli, commandOf(group, 'list', 'list runs, newest first'), {
    filter: FILTER,
    columns: runColumns,
    none: NO_RUNS,
    read: (call, query) => call.client.runs.list(query),
  })
  const get = withWait(commandOf(group, 'get <id>', 'show a run with its attempts and timeline'), 'its end')
  addGet<RunDetail, WaitOptions>(cli, get, {
    facts: runFacts,
    read: (call, [id = ''], options) => call.client.runs.get(id, waitOptionsOf(options)),
  })
  remote(cli, commandOf(group, 'explain <id>', 'explain the state of a run'), {
    work: async (call, [id = '']) => {
      const why = await call.client.runs.explain(id)
      await showExplained(call, why, () => [
        ['run', why.run_id],
        ['status', paintState(call.style, why.status)],
        ...whyFacts(why),
        ...(why.held_decision === null ? [] : [['held because', whySentence(why.held_decision)] as const]),
        ['created because', whySentence(why.decision)],
      ])
    },
  })
}

interface LogsOptions {
  readonly follow?: boolean
  readonly attempt?: string
}

function addLogs(group: Command, cli: CliContext): void {
  const logs = commandOf(group, 'logs <id>', 'print the output and log lines of a run')
    .option('-f, --follow', 'continue until the run ends')
    .option('--attempt <n>', 'print only this attempt')
  remote<LogsOptions>(cli, logs, {
    work: async (call, [id = ''], { follow, attempt }) => {
      const only = attempt === undefined ? null : (number(attempt, { option: '--attempt', now: call.now }) as number)
      await printLog(call, id, { attempt: only, follow: follow === true })
      return EXIT.ok
    },
  })
}

function addLineage(group: Command, cli: CliContext): void {
  const lineage = withPage(
    commandOf(group, 'lineage <id>', 'show what triggered a run, and what the run created and triggered'),
  )
  remote<PageOptions>(cli, lineage, {
    work: async (call, [id = ''], { limit, cursor }) => {
      const asked = {
        ...(limit === undefined ? {} : { limit: Number(limit) }),
        ...(cursor === undefined ? {} : { cursor }),
      }
      await showLineage(call, await call.client.runs.lineage(id, asked))
    },
  })
}

interface RetryOptions {
  readonly force?: boolean
  readonly wait?: boolean
}

const EDITS = optionsOf(retryInput, { force: null })

function addActionCommands(group: Command, cli: CliContext): void {
  addAction(cli, commandOf(group, 'cancel <id>', 'cancel a run'), {
    call: (call, [id = '']) => call.client.runs.cancel(id),
    resultText: ({ status }, id) => `${id} is ${status}.`,
  })
  const retry = withFields(commandOf(group, 'retry <id>', 'retry a run that has ended, as it was or edited'), EDITS)
    .option('--force', 'retry even if the run succeeded')
    .option('--wait', WAIT_DESCRIPTION)
  remote<RetryOptions>(cli, retry, {
    work: async (call, [id = ''], options) => {
      const edits: RetryInput = valuesOf(EDITS, options, call.now)
      const run = await call.client.runs.retry(id, { ...edits, ...(options.force === true ? { force: true } : {}) })
      if (options.wait === true) return followRun(call, run.id)
      await showResult(call, run, `Created ${run.id}, a retry of ${id}. It is ${run.status}.`)
      return EXIT.ok
    },
  })
}

function addCompare(group: Command, cli: CliContext): void {
  const compare = commandOf(group, 'compare <id> <other>', 'compare two runs: output, tokens, cost and duration')
  remote(cli, compare, {
    work: async (call, [a = '', b = '']) => {
      const comparison = await call.client.runs.compare({ id: a, other: b })
      await (call.json ? printJson(call, comparison) : call.print(comparisonText(call, comparison)))
      return EXIT.ok
    },
  })
}

/** Prints the ancestors and children of a run as a tree. */
const showLineage = (call: CliCall, lineage: LineageView): Promise<void> =>
  call.json ? printJson(call, lineage) : call.print(treeOf(call, lineage))

function treeOf({ style }: CliCall, { ancestors, self, children, next_cursor: more }: LineageView): string {
  const line = (node: LineageNode, depth: number, mark: string): string =>
    `${'  '.repeat(depth)}${mark}${node.kind} ${node.id} ${paintState(style, node.status)} ${aboutOf(node)}\n`
  const above = ancestors.map((node, index) => line(node, index, index === 0 ? '' : '└ ')).join('')
  const here = line(self, ancestors.length, ancestors.length === 0 ? '' : '└ ').replace('\n', '  ← this run\n')
  const below = children.map((node) => line(node, ancestors.length + 1, '└ ')).join('')
  const rest = more === null ? '' : `${'  '.repeat(ancestors.length + 1)}… more: --cursor ${more}\n`
  return `${above}${here}${below}${rest}`
}

const aboutOf = ({ kind, name, agent_id: agent, trigger }: LineageNode): string =>
  kind === 'schedule' ? oneLine(name ?? '') : `${trigger ?? ''}, agent ${agent}`
