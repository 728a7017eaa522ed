import { expect } from 'vitest'
import { createSchedule, inState, NEVER, once, runNow } from '../experiment.ts'
import type { Row } from '../row.ts'
import { failed, planned } from './experiments.ts'

/** The same run-now answered with each of the endings that a runtime may report. */
const endings = once(async (world) => {
  const agent = await world.agent()
  const { id } = await createSchedule(world, { ...NEVER, agent_id: agent.id, retry_policy: { max_retries: 0 } })
  const seen: string[] = []
  for (const status of ['success', 'failed', 'timeout']) {
    agent.reply({ status, error_message: 'as asked' })
    seen.push((await world.ended(await runNow(world, id))).status)
  }
  return seen
})

/** Goals, parts and the way of a trigger: lines 7 to 50. */
export const PLANE: readonly Row[] = [
  {
    line: '7',
    says: 'Agents run by plan, not only in conversations.',
    check: async (world) => {
      const { run } = await planned(world)
      expect(run).toMatchObject({ trigger: 'schedule', status: 'success' })
    },
  },
  {
    line: '11',
    says: 'Schedules live in the control plane; the execution plane only performs.',
    check: async (world) => {
      const { agent, dispatch } = await planned(world)
      expect(dispatch).toMatchObject({ trigger_type: 'scheduled', attempt: 1 })
      const { body } = await world.get(`/api/v1/agents/${agent}`)
      expect(Object.keys(body).filter((name) => name.includes('run_at'))).toEqual([])
    },
  },
  {
    line: '12',
    says: 'A page of its own, and a shortcut in the conversation.',
    shownBy: [
      'test/e2e/work.test.ts',
      'runs and chat › talks, stops, shows what waits, and makes a schedule of an answer in three steps',
    ],
  },
  {
    line: '22',
    says: 'The execution plane can be replaced.',
    check: async (world) => {
      const agent = await world.agent()
      const { id } = await createSchedule(world, { ...NEVER, agent_id: agent.id, payload: 'x' })
      expect(await world.ended(await runNow(world, id))).toMatchObject({ status: 'success', output: 'done' })
      await world.patch(`/api/v1/agents/${agent.id}`, { executor: { kind: 'echo' } })
      expect(await world.ended(await runNow(world, id))).toMatchObject({ status: 'success', output: 'x' })
      expect(agent.dispatches).toHaveLength(1)
    },
  },
  {
    line: '31',
    says: 'The scheduler parses cron, interval and at.',
    check: async (world) => {
      const kinds = [{ cron: '*/5 * * * *' }, { every_seconds: 60 }, { at: '2030-01-01T00:00:00Z' }]
      const created = await Promise.all(kinds.map((timing) => createSchedule(world, timing)))
      expect(created.map(({ kind }) => kind)).toEqual(['cron', 'every', 'at'])
      expect((await world.post('/api/v1/schedules', { cron: '99 * * * *' })).status).toBe(400)
    },
  },
  {
    line: '32',
    says: 'The scheduler keeps next_run_at.',
    check: async (world) => {
      const { id, next_run_at } = await createSchedule(world, { every_seconds: 1 })
      await world.until(async () => {
        const { next_run_at: next } = (await world.get(`/api/v1/schedules/${id}`)).body
        return Date.parse(String(next)) > Date.parse(next_run_at ?? '')
      })
      await world.del(`/api/v1/schedules/${id}`)
    },
  },
  {
    line: '33',
    says: 'The scheduler triggers runs and arranges their retries.',
    check: async (world) => {
      const { run } = await failed(world)
      expect(run.attempts.map(({ number, status }) => [number, status])).toEqual([
        [1, 'failed'],
        [2, 'failed'],
        [3, 'failed'],
      ])
    },
  },
  {
    line: '35',
    says: 'The dispatcher turns an occurrence into the start of a session and a user message.',
    check: async (world) => {
      const { agent, created, dispatch, run } = await planned(world)
      const session = `agent:${agent}:cron:${created.id}:run:${run.id}`
      expect(dispatch).toMatchObject({ message: 'Write the report', session_id: session })
    },
  },
  {
    line: '36',
    says: 'The dispatcher writes the run and its status.',
    check: async (world) => {
      const { created, run } = await planned(world)
      expect(run).toMatchObject({ schedule_id: created.id, status: 'success', output: 'the report' })
    },
  },
  {
    line: '39',
    says: 'The execution plane reports success, failed or timeout.',
    check: async (world) => expect(await endings(world)).toEqual(['success', 'failed', 'timeout']),
  },
  {
    line: '46',
    says: 'A user creates a schedule as cron, interval or once.',
    check: async (world) => {
      const types = [
        { schedule_type: 'cron', cron_expr: '0 7 * * *' },
        { schedule_type: 'interval', interval_seconds: 600 },
        { schedule_type: 'once', run_at: '2030-01-01T00:00:00Z' },
      ]
      for (const type of types) expect(await createSchedule(world, type)).toMatchObject({ state: 'active' })
    },
  },
  {
    line: '47',
    says: 'The scan of what is due makes a `job_run_id`.',
    check: async (world) => {
      const { created, run } = await planned(world)
      expect(run.job_run_id).toContain(created.id)
    },
  },
  {
    line: '48',
    says: 'The dispatch carries `trigger_type=scheduled`, also when a person runs the schedule now.',
    check: async (world) => {
      expect((await planned(world)).dispatch).toMatchObject({ trigger_type: 'scheduled', manual: false })
      const [byHand] = (await failed(world)).dispatches
      expect(byHand).toMatchObject({ trigger_type: 'scheduled', manual: true })
    },
  },
  {
    line: '48',
    says: 'The dispatch carries the `job_run_id`.',
    check: async (world) => {
      const { dispatch, run } = await planned(world)
      expect(dispatch?.job_run_id).toBe(run.job_run_id)
    },
  },
  {
    line: '50',
    says: 'The control plane updates the run and retries by policy.',
    check: async (world) => {
      const agent = await world.agent()
      agent.respond((_, response, n) => {
        response.writeHead(n === 1 ? 503 : 200, { 'content-type': 'application/json' }).end('"done"')
      })
      const retry_policy = { max_retries: 1, strategy: 'fixed', base_ms: 1_500, jitter: 0 }
      const { id } = await createSchedule(world, { ...NEVER, agent_id: agent.id, retry_policy })
      const runId = await runNow(world, id)
      await inState(world, runId, 'waiting')
      expect(await world.ended(runId)).toMatchObject({ status: 'success', attempt: 2 })
    },
  },
]
