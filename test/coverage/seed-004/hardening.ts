import { expect } from 'vitest'
import { eventually } from '../../scenarios/support.ts'
import { createEscapement } from '../../../src/library/create.ts'
import { onceAlone } from '../experiment.ts'
import type { Row } from '../row.ts'
import { life, limits, post, submit } from './experiments.ts'

const hookOf = async (world: Parameters<typeof life>[0]) => {
  const { hooked, done } = await life(world)
  const [first, second] = hooked
  return { first, second, done, body: JSON.parse(first?.body ?? '{}') as Readonly<Record<string, unknown>> }
}

/** Batches of many sizes on a server that performs nothing in time. */
const batches = onceAlone(async ({ start }) => {
  const node = await start({ tasks: { executor: { instances: {} } }, outbound: { allow_hosts: ['127.0.0.1:9'] } })
  const of = (count: number) => Array.from({ length: count }, (_, n) => ({ action: `a${n}` }))
  const fifty = await post(node, '/tasks/batch', { agentId: 'many', tasks: of(50) })
  const more = await post(node, '/tasks/batch', { agentId: 'many', tasks: of(51) })
  const callbackUrl = 'http://127.0.0.1:9/hook'
  const called = await post(node, '/tasks/batch', { agentId: 'called', callbackUrl, tasks: of(2) })
  const { body } = await node.raw('GET', '/tasks?agentId=called')
  const one = await submit(node, { agentId: 'many', action: 'after' })
  return { fifty, more, called, one, tasks: body['tasks'] as readonly Readonly<Record<string, unknown>>[] }
})

const itemsOf = (
  body: Readonly<Record<string, unknown>>,
): readonly { readonly state: string; readonly error?: string }[] =>
  body['tasks'] as readonly { readonly state: string; readonly error?: string }[]

/** Webhooks, batches and hot reload: lines 745 to 782. */
export const HARDENING: readonly Row[] = [
  {
    line: '745',
    says: 'The end of a task is posted to its `callbackUrl` with the snapshot as JSON.',
    check: async (world) => {
      const { first, done, body } = await hookOf(world)
      expect(first?.method).toBe('POST')
      expect(body).toMatchObject({ taskId: done.taskId, state: 'done', result: { success: true } })
    },
  },
  {
    line: '745',
    says: 'The webhook is sent asynchronously.',
    check: async (world) => {
      const { hooked, done } = await life(world)
      // The task had ended, and others were run, before the receiver answered with success.
      expect(hooked).toHaveLength(2)
      expect(done.completedAt).not.toBeNull()
    },
  },
  {
    line: '749',
    says: 'Only `http` and `https` are accepted.',
    check: async (world) => {
      const [ftp, file] = (await life(world)).refused
      expect([ftp?.status, file?.status]).toEqual([400, 400])
    },
  },
  {
    line: '749',
    says: 'Any other `http` and `https` address is accepted.',
    differs:
      'Loopback and private addresses are refused unless `outbound.allow_hosts` names them: a task must not reach inside.',
    check: async (world) => {
      const [, , local] = (await life(world)).refused
      expect([local?.status, JSON.stringify(local?.body)]).toEqual([400, expect.stringContaining('outbound.allow')])
    },
  },
  {
    line: '750',
    says: 'A receiver has 10 seconds to answer.',
    shownBy: [
      'test/http-scenarios/deliveries.test.ts',
      '46: a delivery target that is down › that hangs is given 10 s',
    ],
  },
  {
    line: '751',
    says: 'A delivery that fails does not change its task.',
    check: async (world) => {
      const { done, after, hooked } = await life(world)
      expect(hooked).toHaveLength(2)
      expect(after).toEqual(done)
    },
  },
  {
    line: '745',
    says: 'The webhook is sent once.',
    differs:
      'It is tried up to 10 times under the same id, so that a receiver that was away gets it and knows it again (D17).',
    check: async (world) => {
      const { first, second } = await hookOf(world)
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
      expect(second?.body).toBe(first?.body)
    },
  },
  {
    line: '753',
    says: 'It has the header `X-PinchTab-Event: task.completed`.',
    check: async (world) => expect((await hookOf(world)).first?.headers['x-pinchtab-event']).toBe('task.completed'),
  },
  {
    line: '753',
    says: 'It has the header `X-PinchTab-Task-ID`.',
    check: async (world) => {
      const { first, done } = await hookOf(world)
      expect(first?.headers['x-pinchtab-task-id']).toBe(done.taskId)
    },
  },
  {
    line: '761',
    says: 'A batch has up to 50 tasks.',
    check: async (world) => {
      const { status, body } = (await batches(world)).fifty
      expect([status, body['submitted'], itemsOf(body).length]).toEqual([202, 50, 50])
    },
  },
  {
    line: '761',
    says: 'A batch of 51 tasks is refused.',
    check: async (world) => {
      const { status, body } = (await batches(world)).more
      expect([status, body['code']]).toEqual([400, 'batch_too_large'])
    },
  },
  {
    line: '761',
    says: 'The tasks of a batch share one `agentId`.',
    check: async (world) =>
      expect((await batches(world)).tasks.map((task) => task['agentId'])).toEqual(['called', 'called']),
  },
  {
    line: '761',
    says: 'The tasks of a batch may share a `callbackUrl`.',
    check: async (world) =>
      expect((await batches(world)).tasks.map((task) => task['callbackUrl'])).toEqual(
        Array(2).fill('http://127.0.0.1:9/hook'),
      ),
  },
  {
    line: '761',
    says: 'Each task of a batch is admitted by itself.',
    check: async (world) =>
      expect(itemsOf((await limits(world)).batch.body).map(({ state }) => state)).toEqual([
        ...['queued', 'queued', 'queued', 'rejected'],
      ]),
  },
  {
    line: '763',
    says: 'A batch may fail in part, and the answer has the status of each task.',
    check: async (world) => {
      const { status, body } = (await limits(world)).batch
      expect([status, itemsOf(body).at(-1)?.error]).toEqual([202, expect.any(String)])
    },
  },
  {
    line: '767',
    says: '`ReloadConfig` changes settings at run time.',
    shownBy: ['test/scenarios/tasks.test.ts', '34: the limits of tasks › can be changed while running'],
  },
  {
    line: '769',
    says: 'Queue limits change at run time.',
    check: async (world) => expect((await limits(world)).raised).toMatchObject({ maxQueueSize: 20, maxPerAgent: 10 }),
  },
  {
    line: '770',
    says: 'In-flight limits change at run time.',
    check: async (world) => {
      const { raised, most } = await limits(world)
      expect([raised.maxInflight, most]).toEqual([5, 5])
    },
  },
  {
    line: '771',
    says: 'The time to live changes at run time.',
    check: async (world) => {
      const { full, raised } = await limits(world)
      expect([full.config.resultTTL, raised.resultTTL]).toEqual(['5m0s', '1s'])
    },
  },
  {
    line: '773',
    says: 'Zero keeps the setting in force.',
    check: async (world) => expect((await limits(world)).unchanged.maxInflight).toBe(5),
  },
  {
    line: '775',
    says: '`ConfigWatcher` asks a function for settings again and again, and applies them.',
    shownBy: ['test/scenarios/runs.test.ts', 'a node › asks for settings again and again, and takes what is valid'],
  },
  {
    line: '775',
    says: '`ConfigWatcher` is started and stopped cleanly.',
    check: (world) =>
      world.alone(async ({ databaseUrl }) => {
        const node = createEscapement({ database: { url: databaseUrl } })
        await node.start()
        const watch = (): { readonly asked: () => number; readonly stop: () => void } => {
          let asked = 0
          const stop = node.watchConfig(() => ({ tasks: { max_queue: (asked += 1) } }), 20)
          return { stop, asked: () => asked }
        }
        const first = watch()
        await eventually(() => expect(first.asked()).toBeGreaterThan(1))
        first.stop()
        const before = first.asked()
        // As long as another one is asked at the same pace, the first would be.
        const second = watch()
        await eventually(() => expect(second.asked()).toBeGreaterThan(3))
        second.stop()
        expect(first.asked()).toBe(before)
        await node.stop()
      }),
  },
  {
    line: '781',
    says: '`SetLimits` changes the thresholds of admission.',
    check: async (world) => {
      const { perAgent, raised, waiting } = await limits(world)
      // With four waiting tasks of one agent, which were too many before.
      expect([perAgent.status, raised.maxPerAgent, waiting]).toEqual([429, 10, 4])
    },
  },
  {
    line: '782',
    says: '`SetTTL` changes when results are evicted.',
    check: async (world) => {
      const { raised, evicted } = await limits(world)
      expect([raised.resultTTL, evicted.body['code']]).toEqual(['1s', 'not_found'])
    },
  },
]
