import { expect } from 'vitest'
import type { Row } from '../row.ts'
import { failed, PAYLOAD, planned } from './experiments.ts'

/** What the execution plane is told and what it reports: lines 121 to 132. */
export const PROTOCOL: readonly Row[] = [
  {
    line: '121',
    says: '`trigger_type` is `scheduled` in every dispatch of a schedule.',
    check: async (world) => {
      const told = [(await planned(world)).dispatch, ...(await failed(world)).dispatches]
      expect(new Set(told.map((dispatch) => dispatch?.trigger_type))).toEqual(new Set(['scheduled']))
    },
  },
  {
    line: '122',
    says: 'The dispatch has the `schedule_id`.',
    check: async (world) => {
      const { created, dispatch } = await planned(world)
      expect(dispatch?.schedule_id).toBe(created.id)
    },
  },
  {
    line: '123',
    says: 'The dispatch has the `job_run_id` of the run.',
    check: async (world) => {
      const { run, dispatches } = await failed(world)
      expect(dispatches.map(({ job_run_id }) => job_run_id)).toEqual(Array(3).fill(run.job_run_id))
    },
  },
  {
    line: '124',
    says: 'The dispatch has the number of the attempt.',
    check: async (world) => expect((await failed(world)).dispatches.map(({ attempt }) => attempt)).toEqual([1, 2, 3]),
  },
  {
    line: '125',
    says: 'The dispatch has the `schedule_payload`.',
    check: async (world) => expect((await planned(world)).dispatch?.schedule_payload).toEqual(PAYLOAD),
  },
  {
    line: '129',
    says: 'The result names its `job_run_id`, and one that names another is not taken.',
    check: async (world) => {
      const agent = await world.agent({ retry_policy: { max_retries: 0 } })
      agent.reply({ job_run_id: 'of-another', status: 'success' })
      const { body } = await world.post(`/api/v1/sessions/${agent.session()}/messages`, { text: 'x', debounce_ms: 0 })
      expect(await world.ended(String(body['run_id']))).toMatchObject({ status: 'failed' })
      expect((await planned(world)).run.status).toBe('success')
    },
  },
  {
    line: '130',
    says: 'The result has a `status`.',
    check: async (world) => {
      const reported = [(await planned(world)).run, (await failed(world)).run]
      expect(reported.map(({ status }) => status)).toEqual(['success', 'failed'])
    },
  },
  {
    line: '131',
    says: 'The result has a `session_id`, which is kept.',
    check: async (world) => expect((await planned(world)).run).toMatchObject({ session_id: 'sess-abc' }),
  },
  {
    line: '131',
    says: 'The result has a `message_id`, which is kept.',
    check: async (world) => expect((await planned(world)).run).toMatchObject({ message_id: 'msg-xyz' }),
  },
  {
    line: '132',
    says: 'The result has an `error_code`.',
    differs: 'A code that is not in the table of Escapement is kept as `agent_error_code`, beside `agent_error`.',
    check: async (world) => {
      const { attempts, ...run } = (await failed(world)).run
      expect(run).toMatchObject({ error_code: 'agent_error', agent_error_code: 'MODEL_QUOTA' })
      expect(attempts.map(({ error_code }) => error_code)).toEqual(Array(3).fill('agent_error'))
    },
  },
  {
    line: '132',
    says: 'The result has an `error_message`.',
    check: async (world) => {
      const { attempts } = (await failed(world)).run
      expect(attempts.map(({ error_message }) => error_message)).toEqual(Array(3).fill('the quota is used up'))
    },
  },
]
