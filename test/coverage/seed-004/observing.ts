import { expect } from 'vitest'
import type { TaskStats } from '../../../src/features/tasks/schema.ts'
import type { LogLine } from '../../serve/support.ts'
import type { Row } from '../row.ts'
import type { World } from '../world.ts'
import { life, limits, restarted } from './experiments.ts'

const counted = async (world: World): Promise<TaskStats> => (await life(world)).stats

const isLogged =
  (
    experiment: (world: World) => Promise<{ readonly log: readonly LogLine[] }>,
    msg: string,
  ): NonNullable<Row['check']> =>
  async (world) =>
    expect((await experiment(world)).log.map((line) => line.msg)).toContain(msg)

/** Retention, metrics, stats and the log: lines 694 to 741. */
export const OBSERVING: readonly Row[] = [
  {
    line: '694',
    says: 'Ended tasks are evicted after the time to live.',
    check: async (world) => {
      const { raised, evicted } = await limits(world)
      expect([raised.resultTTL, evicted.status]).toEqual(['1s', 404])
    },
  },
  {
    line: '704',
    says: 'There is no durable recovery after a restart.',
    differs: 'There is: a task that waited is executed by the next process (D15).',
    check: async (world) =>
      expect((await restarted(world)).recovered).toMatchObject({ state: 'done', result: { did: 'waits' } }),
  },
  {
    line: '716',
    says: 'Counters are kept in all and per agent.',
    check: async (world) => {
      const { metrics } = await counted(world)
      expect(metrics.agents['a']).toMatchObject({ submitted: 5, completed: 1, cancelled: 1 })
      expect(metrics.agents['b']).toMatchObject({ submitted: 1, failed: 1 })
      expect(metrics.tasksSubmitted).toBe(6)
    },
  },
  {
    line: '720',
    says: '`TasksSubmitted` is counted.',
    check: async (world) => expect((await counted(world)).metrics.tasksSubmitted).toBe(6),
  },
  {
    line: '720',
    says: '`TasksCompleted` is counted.',
    check: async (world) => expect((await counted(world)).metrics.tasksCompleted).toBe(1),
  },
  {
    line: '720',
    says: '`TasksFailed` is counted.',
    check: async (world) => expect((await counted(world)).metrics.tasksFailed).toBe(4),
  },
  {
    line: '721',
    says: '`TasksCancelled` is counted.',
    check: async (world) => expect((await counted(world)).metrics.tasksCancelled).toBe(1),
  },
  {
    line: '721',
    says: '`TasksRejected` is counted.',
    check: async (world) => expect((await limits(world)).full.metrics.tasksRejected).toBe(3),
  },
  {
    line: '721',
    says: '`TasksExpired` is counted.',
    shownBy: [
      'test/http-scenarios/tasks.test.ts',
      '35: a deadline › that passes in the queue: `deadline exceeded while queued`',
    ],
  },
  {
    line: '722',
    says: '`DispatchTotal` is counted.',
    check: async (world) => expect((await counted(world)).metrics.dispatchCount).toBe(6),
  },
  {
    line: '722',
    says: '`DispatchLatency` is added up, for an average.',
    check: async (world) => {
      const {
        dispatchLatencyTotalMs: total,
        avgDispatchLatencyMs: average,
        dispatchCount,
      } = (await counted(world)).metrics
      expect(total).toBeGreaterThanOrEqual(0)
      expect(average).toBeCloseTo(total / dispatchCount, 0)
    },
  },
  {
    line: '724',
    says: 'A snapshot of the metrics has its part for each agent.',
    check: async (world) => expect(Object.keys((await counted(world)).metrics.agents).toSorted()).toEqual(['a', 'b']),
  },
  {
    line: '730',
    says: 'The stats have a section `queue`.',
    check: async (world) =>
      expect((await limits(world)).full.queue).toMatchObject({ totalQueued: 6, totalInflight: 4 }),
  },
  {
    line: '731',
    says: 'The stats have a section `metrics`.',
    check: async (world) => expect((await counted(world)).metrics).toMatchObject({ tasksSubmitted: 6 }),
  },
  {
    line: '732',
    says: 'The stats have a section `config`.',
    check: async (world) =>
      expect((await limits(world)).full.config).toMatchObject({ maxQueueSize: 6, resultTTL: '5m0s' }),
  },
  { line: '738', says: 'The log has the submission of a task.', check: isLogged(life, 'Task queued') },
  { line: '738', says: 'The log has its dispatch.', check: isLogged(life, 'Task dispatched') },
  { line: '738', says: 'The log has its completion.', check: isLogged(life, 'Task completed') },
  { line: '738', says: 'The log has its failure.', check: isLogged(life, 'Task failed') },
  { line: '738', says: 'The log has its cancellation.', check: isLogged(life, 'Task cancelled') },
  { line: '739', says: 'The log has rejections.', check: isLogged(limits, 'Task rejected') },
  {
    line: '740',
    says: 'The log has reloads of the configuration.',
    shownBy: [
      'test/serve/reload.test.ts',
      'a running server › follows its file, whether it is written, replaced, or appears',
    ],
  },
  {
    line: '741',
    says: 'The log has the outcomes of webhooks.',
    check: async (world) => {
      const { log } = await life(world)
      const outcomes = log.filter(({ delivery }) => delivery !== undefined).map(({ msg }) => msg)
      expect(outcomes).toEqual(['A message was not delivered', 'A message was delivered'])
    },
  },
]
