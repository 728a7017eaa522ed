import { expect } from 'vitest'
import type { Row } from '../row.ts'
import { life, limits, order, restarted } from './experiments.ts'

/** Scope, placement and flow: lines 529 to 556. */
export const FLOW: readonly Row[] = [
  {
    line: '529',
    says: 'The dispatch layer is opt-in.',
    differs: 'It is on by default, and `tasks.enabled: false` switches it off: work that is accepted is durable (D15).',
    check: (world) =>
      world.alone(async ({ start }) => {
        const on = await start()
        expect((await on.raw('GET', '/tasks')).status).toBe(200)
        const off = await start({ tasks: { enabled: false } })
        expect((await off.raw('GET', '/tasks')).status).toBe(404)
      }),
  },
  {
    line: '531',
    says: 'It adds limits of queue admission.',
    check: async (world) => expect((await limits(world)).perAgent.status).toBe(429),
  },
  {
    line: '532',
    says: 'It adds fairness between agents.',
    shownBy: [
      'test/http-scenarios/tasks.test.ts',
      '33: the order of tasks › that reach a browser, of two agents, one with 3 and one with 1: the first two are of different agents',
    ],
  },
  {
    line: '533',
    says: 'It adds bounded concurrency.',
    check: async (world) => expect((await limits(world)).full.queue.totalInflight).toBe(4),
  },
  {
    line: '534',
    says: 'It adds cooperative cancellation.',
    check: async (world) => {
      const { cancel, cancelled } = await life(world)
      expect([cancel.status, cancelled.state]).toEqual([200, 'cancelled'])
    },
  },
  {
    line: '535',
    says: 'It adds result retention with a time to live.',
    check: async (world) => expect((await limits(world)).evicted.status).toBe(404),
  },
  {
    line: '537',
    says: 'It does not replace the direct action endpoints.',
    differs: 'Those stay at the browser instances; Escapement calls them and has none of its own.',
    check: async (world) => {
      const { tabs, acted } = await life(world)
      expect([tabs.status, acted.url]).toEqual([404, '/tabs/tab/action'])
    },
  },
  {
    line: '541',
    says: 'The configuration key `scheduler.enabled` switches it.',
    check: (world) =>
      world.alone(async ({ start }) => {
        const node = await start({ scheduler: { enabled: false } })
        expect((await node.raw('GET', '/tasks')).status).toBe(404)
      }),
  },
  {
    line: '543',
    says: '`POST /tasks` takes a task.',
    check: async (world) => {
      const { status, body } = (await life(world)).answer
      expect([status, body]).toMatchObject([
        202,
        { taskId: expect.any(String) as string, state: expect.any(String) as string },
      ])
    },
  },
  {
    line: '543',
    says: '`POST /tasks` needs no token.',
    differs: 'It needs one, as everything does: who can hand in tasks can drive a browser.',
    check: async (world) => {
      const { status, body } = (await life(world)).bare
      expect([status, body['code']]).toEqual([401, 'missing_token'])
    },
  },
  {
    line: '544',
    says: '`GET /tasks` lists tasks.',
    check: async (world) => {
      const { list, done } = await life(world)
      const tasks = list.body['tasks'] as readonly { readonly taskId: string }[]
      expect(tasks.map(({ taskId }) => taskId)).toContain(done.taskId)
    },
  },
  {
    line: '545',
    says: '`GET /tasks/{id}` shows one.',
    check: async (world) => expect((await life(world)).done).toMatchObject({ agentId: 'a', action: 'type' }),
  },
  {
    line: '546',
    says: '`POST /tasks/{id}/cancel` cancels one.',
    check: async (world) => {
      const { status, body } = (await life(world)).cancel
      expect([status, body['status']]).toEqual([200, 'cancelled'])
    },
  },
  {
    line: '547',
    says: '`GET /scheduler/stats` shows how it goes.',
    check: async (world) =>
      expect(Object.keys((await life(world)).stats).toSorted()).toEqual(['config', 'metrics', 'queue']),
  },
  {
    line: '548',
    says: '`POST /tasks/batch` takes several tasks.',
    check: async (world) => expect((await limits(world)).batch).toMatchObject({ status: 202, body: { submitted: 4 } }),
  },
  {
    line: '554',
    says: 'A task goes through admission, queue, worker, tab and instance to its result.',
    check: async (world) => {
      const { done, acted } = await life(world)
      expect(acted).toMatchObject({ method: 'POST', url: '/tabs/tab/action' })
      expect(done).toMatchObject({ state: 'done', result: { success: true, did: 'type' } })
      expect(await order(world)).toHaveLength(5)
    },
  },
  {
    line: '556',
    says: 'The queue is in memory.',
    differs: 'It is in PostgreSQL: work that was accepted survives a restart (D15).',
    check: async (world) => expect((await restarted(world)).recovered).toMatchObject({ state: 'done' }),
  },
]
