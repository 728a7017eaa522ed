import { expect } from 'vitest'
import { json } from '../../platform/outbound/peer.ts'
import { send } from '../conversation.ts'
import { createJob, loggedAs, logOf } from '../jobs.ts'
import type { Row } from '../row.ts'

const FAILED = { status: 'failed', error_message: 'out of paper' }
const AT_ONCE = { strategy: 'fixed', base_ms: 1 }
const FOUR_ATTEMPTS: Row['shownBy'] = [
  'test/scenarios/both/outcomes.ts',
  '26: a failing agent turn › with 3 retries: 4 attempts after about 2, 4 and 8 s, one run `failed`',
]
const LONGEST_WAIT: Row['shownBy'] = [
  'test/domain/run/retry.test.ts',
  'a failing agent turn › never waits longer than the longest wait, give or take the jitter',
]

/** What happens when a job fails. */
export const RETRIES: readonly Row[] = [
  {
    line: '126',
    says: 'A failed run is retried while there are retries left (0 to 3)',
    check: async (world) => {
      for (const retries of [0, 1, 2, 3]) {
        const agent = await world.agent({ retry_policy: { max_retries: retries, ...AT_ONCE } })
        agent.reply(FAILED)
        const run = await world.ended(await send(world, agent.session(), 'hello'))
        expect(run).toMatchObject({ status: 'failed', attempt: retries + 1 })
      }
    },
  },
  { line: '127', says: 'Retries wait 2 s to 30 s', shownBy: LONGEST_WAIT },
  {
    line: '128',
    says: 'When the retries are exhausted, the error is logged',
    check: async (world) => {
      const agent = await world.agent({ retry_policy: { max_retries: 1, ...AT_ONCE } })
      agent.reply(FAILED)
      const { id } = await createJob(world, { kind: 'every', everyMs: 3_600_000 }, { agentId: agent.id })
      await world.rpc('cron.run', { jobId: id })
      expect(await loggedAs(world, id, 'error')).toMatchObject({ error: 'out of paper' })
      expect(agent.dispatches.map(({ attempt }) => attempt)).toEqual([1, 2])
    },
  },
  {
    line: '143',
    says: 'A job that fails is retried automatically',
    differs:
      'HTTP 4xx other than 408, 425 and 429 is final, and commands and inline executors are retried only when asked: repeating them does not help or may do harm.',
    check: async (world) => {
      const retry = { retry_policy: { max_retries: 1, ...AT_ONCE } }
      const [broken, wrong, inline] = [await world.agent(retry), await world.agent(retry), await world.agent()]
      broken.respond((_, response) => json(response, 500, {}))
      wrong.respond((_, response) => json(response, 404, {}))
      inline.respond((_, response) => json(response, 500, {}))
      const attemptsOf = async (input: object): Promise<number> => {
        const { id } = await world.server.schedules.create({ every_seconds: 3_600, payload: 'tick', ...input })
        await world.server.schedules.runNow(id)
        const [run] = await world.runsOf(id, ([first]) => first?.status === 'failed')
        return run?.attempt ?? 0
      }
      const executor = { kind: 'http', url: inline.url }
      expect(await attemptsOf({ agent_id: broken.id })).toBe(2)
      expect(await attemptsOf({ agent_id: wrong.id })).toBe(1)
      expect(await attemptsOf({ executor })).toBe(1)
      expect(await attemptsOf({ executor, ...retry })).toBe(2)
    },
  },
  {
    line: '144',
    says: 'The number of retries and their waits are settings of the deployment',
    shownBy: [
      'test/scenarios/retry.test.ts',
      '26: a failing agent turn › where nothing names a policy follows the settings of the deployment',
    ],
  },
  { line: '146', says: 'MaxRetries is 3 by default', shownBy: FOUR_ATTEMPTS },
  { line: '147', says: 'BaseDelay is 2 seconds by default', shownBy: FOUR_ATTEMPTS },
  { line: '148', says: 'MaxDelay is 30 seconds by default', shownBy: LONGEST_WAIT },
  {
    line: '149',
    says: 'The wait is min(base × 2^attempt, max) ± 25 %',
    shownBy: [
      'test/domain/run/retry.test.ts',
      'a failing agent turn › keeps each wait inside [1.5, 2.5), [3, 5) and [6, 10) s',
    ],
  },
  {
    line: '150',
    says: 'After the last failure there is another wait of 16 s before the end',
    differs: 'There is no wait after the last retry: the outcome is known.',
    shownBy: FOUR_ATTEMPTS,
  },
  {
    line: '151',
    says: 'Retries are not visible in the log; the final ok or error is',
    check: async (world) => {
      const agent = await world.agent({ retry_policy: { max_retries: 3, ...AT_ONCE } })
      agent.reply((_, n) => (n < 3 ? FAILED : { status: 'success', output: 'printed' }))
      const { id } = await createJob(world, { kind: 'every', everyMs: 3_600_000 }, { agentId: agent.id })
      await world.rpc('cron.run', { jobId: id })
      await loggedAs(world, id, 'ok')
      expect((await logOf(world, id)).map(({ status }) => status)).toEqual(['ok'])
      expect(agent.dispatches).toHaveLength(3)
    },
  },
]
