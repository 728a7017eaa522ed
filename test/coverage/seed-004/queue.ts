import { expect } from 'vitest'
import type { Row } from '../row.ts'
import { life, limits, managed, order, restarted } from './experiments.ts'

/** Components and the life of a task: lines 569 to 621. */
export const QUEUE: readonly Row[] = [
  {
    line: '569',
    says: 'The scheduler owns its configuration.',
    check: async (world) =>
      expect((await limits(world)).full.config).toMatchObject({
        ...{ maxQueueSize: 6, maxPerAgent: 3, maxInflight: 4, maxPerAgentFlight: 2 },
      }),
  },
  {
    line: '572',
    says: 'Live tasks can be looked up.',
    check: async (world) => expect((await life(world)).running).toMatchObject({ state: 'running', completedAt: null }),
  },
  {
    line: '573',
    says: 'What runs can be cancelled by its id.',
    check: async (world) => {
      const { cancel, cancelled } = await life(world)
      expect(cancel.body).toEqual({ status: 'cancelled', taskId: cancelled.taskId })
    },
  },
  {
    line: '581',
    says: 'The queue has a global limit.',
    check: async (world) => {
      const { status, body } = (await limits(world)).inAll
      expect([status, body['details']]).toMatchObject([429, { agentId: 'c', maxQueue: 6 }])
    },
  },
  {
    line: '582',
    says: 'The queue has a limit per agent.',
    check: async (world) => {
      const { status, body } = (await limits(world)).perAgent
      expect([status, body['details']]).toMatchObject([429, { agentId: 'b', maxPerAgent: 3 }])
    },
  },
  {
    line: '583',
    says: 'Within an agent, tasks are ordered by priority.',
    check: async (world) => expect((await order(world)).at(-1)).toBe('five'),
  },
  {
    line: '588',
    says: 'The lower `priority` value wins.',
    check: async (world) => expect((await order(world)).slice(0, 3)).toEqual(['held', 'zero', 'one']),
  },
  {
    line: '589',
    says: 'Equal priorities go in order of creation.',
    check: async (world) => expect((await order(world)).slice(2, 4)).toEqual(['one', 'one again']),
  },
  {
    line: '593',
    says: 'Between agents, the one with the fewest tasks in flight is served first.',
    shownBy: [
      'test/http-scenarios/tasks.test.ts',
      '33: the order of tasks › that reach a browser, of two agents, one with 3 and one with 1: the first two are of different agents',
    ],
  },
  {
    line: '597',
    says: 'Snapshots of ended tasks are kept and evicted after the time to live.',
    check: async (world) => {
      const { expired, evicted } = await limits(world)
      expect([expired.state, evicted.status]).toEqual(['failed', 404])
    },
  },
  {
    line: '601',
    says: 'A tab is resolved to its instance through the manager.',
    check: async (world) => {
      const { listed, acted } = await managed(world)
      expect([listed.state, acted]).toEqual(['done', ['/tabs/tab/action']])
    },
  },
  {
    line: '610',
    says: 'A task can be `queued`.',
    check: async (world) => expect((await limits(world)).queued.state).toBe('queued'),
  },
  {
    line: '610',
    says: 'A task is `assigned` just before it is executed.',
    differs:
      'Only work that a remote worker has taken is `assigned`; a claim of the node itself is `running` at once (D16).',
    shownBy: [
      'test/plane/worker.test.ts',
      'an agent whose work is done by workers › is handed out, begun, shown and reported step by step, and each step is answered once',
    ],
  },
  {
    line: '610',
    says: 'A task can be `running`.',
    check: async (world) => expect((await life(world)).running.state).toBe('running'),
  },
  {
    line: '610',
    says: 'A task can end as `done`.',
    check: async (world) => expect((await life(world)).done.state).toBe('done'),
  },
  {
    line: '611',
    says: 'A task can end as `failed`.',
    check: async (world) => expect((await life(world)).broken.state).toBe('failed'),
  },
  {
    line: '612',
    says: 'A queued task can be `cancelled`.',
    check: async (world) =>
      expect((await limits(world)).cancel).toMatchObject({ status: 200, body: { status: 'cancelled' } }),
  },
  {
    line: '613',
    says: 'A task can be `rejected`.',
    check: async (world) => {
      const tasks = (await limits(world)).rejected.body['tasks'] as readonly { readonly state: string }[]
      expect(new Set(tasks.map(({ state }) => state))).toEqual(new Set(['rejected']))
    },
  },
  {
    line: '620',
    says: '`done`, `failed` and `cancelled` are final.',
    check: async (world) => {
      const { again } = await life(world)
      expect([again.status, again.body['code']]).toEqual([409, 'conflict'])
      expect((await restarted(world)).stopped.completedAt).not.toBeNull()
    },
  },
  {
    line: '621',
    says: 'Rejected tasks are stored as ended.',
    check: async (world) => {
      const { rejected, perAgent, inAll } = await limits(world)
      const tasks = rejected.body['tasks'] as readonly { readonly taskId: string; readonly completedAt: string }[]
      const ids = [perAgent, inAll].map(({ body }) => (body['details'] as { readonly taskId: string }).taskId)
      expect(tasks.map(({ taskId }) => taskId)).toEqual(expect.arrayContaining(ids))
      expect(tasks.map(({ completedAt }) => completedAt)).not.toContain(null)
    },
  },
]
