import type { Command } from 'commander'
import { namesOf, valuesOf, withFields, type FieldOption } from '../remote/fields.ts'
import { readPages, showDone, showOne, withPages, type PageOptions } from '../remote/show.ts'
import { remote, type Desk } from '../remote/talk.ts'
import { paintState } from '../output/style.ts'
import { EXIT } from '../terminal.ts'
import { commandOf, groupOf } from './group.ts'
import { mostOf, withMost, type MostOptions } from './events.ts'
import { showLineage } from './lineage-look.ts'
import { followRun, followRuns } from './run-follow.ts'
import { RUN_FILTER, runFacts, showRuns } from './run-look.ts'
import { showExplained, whyFacts, whySentence } from './explain-look.ts'
import { addScheduleOfRun } from './schedule-of-run.ts'

const OWNERS: readonly FieldOption[] = [
  { flags: '--schedule <id>', field: 'schedule_id', about: 'of this schedule' },
  { flags: '--agent <id>', field: 'agent_id', about: 'of this agent' },
  { flags: '--session <key>', field: 'session', about: 'of this session' },
  { flags: '--agent-error-code <code>', field: 'agent_error_code', about: 'with this error code of the agent' },
]

const FILTER: readonly FieldOption[] = [...OWNERS, ...RUN_FILTER]

/** `escapement runs …`: what was done, what is being done, and why. */
export function addRuns(program: Command, desk: Desk): void {
  const group = groupOf(program, 'runs', 'see, end, repeat and watch runs')
  addReading(group, desk)
  addLineage(group, desk)
  addActing(group, desk)
  addScheduleOfRun(group, desk)
  const watch = withMost(withFields(commandOf(group, 'watch [id]', 'follow a run to its end, or all runs'), OWNERS))
  remote<MostOptions>(desk, watch, {
    work: async (talk, [id], options) => {
      if (id !== undefined) return followRun(talk, id)
      await followRuns(talk, valuesOf(OWNERS, options, talk.terminal.now()), mostOf(options))
      return EXIT.ok
    },
  })
}

function addReading(group: Command, desk: Desk): void {
  remote<PageOptions>(desk, withPages(withFields(commandOf(group, 'list', 'list runs, newest first'), FILTER)), {
    names: namesOf(FILTER),
    work: async (talk, _, options) => {
      const filter = valuesOf(FILTER, options, talk.terminal.now())
      await showRuns(talk, await readPages(talk, options, (asked) => talk.client.runs.list({ ...filter, ...asked })))
    },
  })
  remote(desk, commandOf(group, 'get <id>', 'show a run with its attempts and its way so far'), {
    work: async (talk, [id = '']) => {
      const run = await talk.client.runs.get(id)
      await showOne(talk, run, () => runFacts(talk, run))
    },
  })
  remote(desk, commandOf(group, 'explain <id>', 'say why a run is where it is'), {
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
  const lineage = commandOf(group, 'lineage <id>', 'show where a run comes from, and what it made and woke')
    .option('--limit <n>', 'how many below it, 1 to 200 (default 20)')
    .option('--cursor <cursor>', 'go on behind an earlier page')
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
  remote(desk, commandOf(group, 'cancel <id>', 'end a run'), {
    work: async (talk, [id = '']) => {
      const run = await talk.client.runs.cancel(id)
      await showDone(talk, run, `${id} is ${run.status}.`)
    },
  })
  const retry = commandOf(group, 'retry <id>', 'repeat a run that has ended')
    .option('--force', 'also one that succeeded')
    .option('--wait', 'follow it to its end; the exit code is 1 unless it succeeds')
  remote<RetryOptions>(desk, retry, {
    work: async (talk, [id = ''], { force, wait }) => {
      const run = await talk.client.runs.retry(id, force === true ? { force } : {})
      if (wait === true) return followRun(talk, run.id)
      await showDone(talk, run, `${run.id} repeats ${id}. It is ${run.status}.`)
      return EXIT.ok
    },
  })
}
