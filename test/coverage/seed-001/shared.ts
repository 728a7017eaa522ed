import { expect } from 'vitest'
import { runOf, send } from '../conversation.ts'
import { createJob } from '../jobs.ts'
import type { Row } from '../row.ts'
import { SEED_000 } from '../seed-000.ts'

/** A statement that the later document makes as well: what executes it there executes it here. */
function again(line: string, says: string): Row {
  const found = SEED_000.filter((row) => row.says === says)
  if (found[0] === undefined || found.length > 1) throw new Error(`not one statement of 000: ${says}`)
  return { ...found[0], line }
}

/** The same by other words. */
const like = (line: string, says: string, of: string): Row => ({ ...again(line, of), says })

const LATER_SIZE = 'The later document gives other sizes, and they hold: 001 is an earlier version of 000.'

export const LANES: readonly Row[] = [
  like('5', 'Jobs and logs are stored in PostgreSQL', 'Cron jobs are stored in PostgreSQL'),
  {
    line: '5',
    says: 'In standalone mode the state is in JSON files',
    differs: 'There is an embedded PostgreSQL instead, with nothing to install: files lose what was accepted.',
    shownBy: [
      'test/platform/db/embedded-start.test.ts',
      'an empty directory › becomes a database that is durable, private and ours',
    ],
  },
  again('5', 'Changes of jobs are announced as the event `cache:cron`'),
  like('9', 'The scheduler has lanes and a queue for each session', 'The scheduler limits concurrency by lane'),
  like('10', 'Jobs are of three kinds, logged and retried', 'A job is of kind at, every or cron'),
  like('17', 'Lanes are named pools, and an unknown lane is `main`', 'An unknown lane falls back to `main`'),
  { ...like('21,52', 'Lane `main` has 2 slots', 'Lane `main` has 30 slots'), differs: LATER_SIZE },
  { ...like('26,53', 'Lane `subagent` has 4 slots', 'Lane `subagent` has 50 slots'), differs: LATER_SIZE },
  {
    line: '33,54',
    says: 'Lane `delegate` has 100 slots',
    check: async (world) => {
      const agent = await world.agent()
      const run = await runOf(world, await send(world, agent.session(), 'hello', { lane: 'delegate' }))
      expect(['delegate', 'team']).toContain(run.lane)
      const { items } = await world.server.client.lanes.list()
      expect(items.find(({ name }) => name === 'team')).toMatchObject({ concurrency: 100 })
    },
  },
  {
    ...like('38,55', 'Lane `cron` has 1 slot, so that jobs run one after the other', 'Lane `cron` has 30 slots'),
    differs: 'It has 30 slots as in the later document; runs of the same schedule still follow each other.',
  },
  again('52', '`GOCLAW_LANE_MAIN` sets the size of `main`'),
  again('53', '`GOCLAW_LANE_SUBAGENT` sets the size of `subagent`'),
  {
    line: '54',
    says: '`GOCLAW_LANE_DELEGATE` sets the size of `delegate`',
    check: ({ alone }) =>
      alone(async ({ start }) => {
        const node = await start({ variables: { GOCLAW_LANE_DELEGATE: '9' } })
        const { items } = await node.client.lanes.list()
        expect(items.find(({ name }) => name === 'team')).toMatchObject({ concurrency: 9 })
      }),
  },
  again('55', '`GOCLAW_LANE_CRON` sets the size of `cron`'),
  again('57', '`GetOrCreate()` creates lanes on demand'),
]

export const SESSIONS: readonly Row[] = [
  again('63', 'Each session key has a queue of its own'),
  again('69', 'Direct messages run one at a time'),
  again('70', 'Groups run three at a time'),
  again('72', 'When the history exceeds 60 % of the context window, concurrency drops to 1'),
  again('78', 'Mode `queue`: messages wait in order of arrival; it is the default'),
  again('79', 'Mode `followup` is the same as `queue`'),
  again('80', 'Mode `interrupt` starts the new message immediately'),
  again('88', 'The caller whose message was dropped gets `ErrQueueDropped`'),
  again('89', 'The caller whose message was rejected gets `ErrQueueFull`'),
  again('95', '`mode` is `queue` by default'),
  again('96', '`cap` is 10 by default'),
  again('97', '`drop` is `old` by default'),
  like('98', 'Rapid messages within 800 ms become one', 'Rapid messages within the window become one'),
  again('108', '`/stop` cancels the oldest running task, and the others go on'),
  again('109', '`/stopall` cancels all running tasks and drains the queue'),
  again('113', 'The commands bypass the debouncer'),
  again('114', 'Cancelling reaches the agent'),
  again('115', 'On cancel an empty outbound message is published'),
  again('116', 'The trace of a cancelled run is finished with status `cancelled`'),
  again('117', 'Trace and collected output survive cancelling'),
]

export const JOBS: readonly Row[] = [
  again('123', 'Due jobs are looked for every second'),
  again('127', 'The next run of a new job is computed (`nextRunAtMs`)'),
  again('134', 'A failed run is retried while there are retries left (0 to 3)'),
  again('138', 'An `at` job with `deleteAfterRun` is deleted after its run'),
  again('145', 'Kind `at` takes `atMs`'),
  again('146', 'Kind `every` takes `everyMs`, such as 1,800,000'),
  again('147', 'Kind `cron` takes `expr`, such as "0 9 * * 1-5"'),
  {
    line: '151',
    says: 'A job is `active` or `paused`',
    check: async (world) => {
      const { id } = await createJob(world, { kind: 'every', everyMs: 3_600_000 })
      expect(await world.server.schedules.get(id)).toMatchObject({ state: 'active', enabled: true })
      await world.rpc('cron.toggle', { jobId: id, enabled: false })
      expect(await world.server.schedules.get(id)).toMatchObject({ state: 'paused', enabled: false })
    },
  },
  again('155', 'The number of retries and their waits are settings of the deployment'),
  again('157', 'MaxRetries is 3 by default'),
  again('158', 'BaseDelay is 2 seconds by default'),
  again('159', 'MaxDelay is 30 seconds by default'),
  again('161', 'The wait is min(base × 2^attempt, max) ± 25 %'),
]
