import { expect } from 'vitest'
import { endings, runOf, send, sendAll, sessionOf, setRules } from '../conversation.ts'
import { createEscapement } from '../../../src/index.ts'
import { createStage } from '../../scenarios/stage.ts'
import { eventually, receiptOf } from '../../scenarios/support.ts'
import type { Row } from '../row.ts'

const GROUPS: Row['shownBy'] = [
  'test/plane/telegram.test.ts',
  'a bot of Telegram › answers those it knows, one at a time in private and three in a group, and says no to others',
]

/** How many runs of a session go on at the same time. */
export const SESSIONS: readonly Row[] = [
  {
    line: '63',
    says: 'Each session key has a queue of its own',
    check: async (world) => {
      const agent = await world.agent()
      agent.hold()
      const [held = '', behind = ''] = await sendAll(world, agent.session('a'), ['held', 'behind'])
      agent.release('other')
      const other = await send(world, agent.session('b'), 'other')
      expect((await world.ended(other)).status).toBe('success')
      expect((await runOf(world, behind)).status).toBe('queued')
      agent.release()
      expect(await endings(world, [held, behind])).toEqual(['success', 'success'])
    },
  },
  {
    line: '63',
    says: 'The number of concurrent runs of a session can be configured',
    check: async (world) => {
      const agent = await world.agent()
      agent.hold()
      await setRules(world, agent.session(), { max_concurrent: 2 })
      const ids = await sendAll(world, agent.session(), ['1', '2', '3'])
      await world.until(() => agent.busy() === 2)
      agent.release()
      await endings(world, ids)
      expect(agent.most()).toBe(2)
    },
  },
  {
    line: '65',
    says: 'A session runs one thing at a time by default',
    check: async (world) => {
      const agent = await world.agent()
      await send(world, agent.session(), 'hello')
      expect(await sessionOf(world, agent.session())).toMatchObject({ max_concurrent: 1 })
    },
  },
  {
    line: '65',
    says: 'A request can set another limit (`ScheduleWithOpts`)',
    check: async (world) => {
      const agent = await world.agent()
      agent.hold()
      await sendAll(world, agent.session(), ['1', '2', '3', '4'], { max_concurrent: 3 })
      await world.until(() => agent.busy() === 3)
      expect(await sessionOf(world, agent.session())).toMatchObject({ max_concurrent: 3, active: 3, waiting: 1 })
    },
  },
  { line: '68', says: 'Direct messages run one at a time', shownBy: GROUPS },
  { line: '69', says: 'Groups run three at a time', shownBy: GROUPS },
  {
    line: '70',
    says: 'The channel decides about the limit, not the scheduler',
    check: async (world) => {
      const agent = await world.agent()
      const key = `agent:${agent.id}:test:group:1`
      await send(world, key, 'hello')
      expect(await sessionOf(world, key)).toMatchObject({ max_concurrent: 1 })
    },
  },
  {
    line: '71',
    says: 'When the history exceeds 60 % of the context window, concurrency drops to 1',
    differs: 'It drops from exactly 60 % on: one of two readings had to be chosen.',
    check: async (world) => {
      const agent = await world.agent()
      agent.reply({ status: 'success', usage: { input_tokens: 500, output_tokens: 100, context_window: 1_000 } })
      const fields = { max_concurrent: 3 }
      await world.ended(await send(world, agent.session(), 'fill', fields))
      agent.hold()
      const ids = await sendAll(world, agent.session(), ['1', '2', '3'])
      await world.until(async () => (await world.server.runs.explain(ids[1] ?? '')).reason === 'context_throttle')
      expect(await sessionOf(world, agent.session())).toMatchObject({ active: 1, waiting: 2 })
    },
  },
  {
    line: '71',
    says: 'The throttle works for every agent that has a context window',
    check: async (world) => {
      const agent = await world.agent({ context_window: 1_000 })
      agent.reply({ status: 'success', usage: { input_tokens: 900 } })
      await world.ended(await send(world, agent.session(), 'fill', { max_concurrent: 3 }))
      agent.hold()
      const ids = await sendAll(world, agent.session(), ['1', '2'])
      await world.until(async () => (await world.server.runs.explain(ids[1] ?? '')).reason === 'context_throttle')
    },
  },
  {
    line: '71',
    says: 'A `TokenEstimateFunc` can be given, and decides then',
    shownBy: [
      'test/scenarios/session-order.test.ts',
      '10: a group session › at 60 % of its context starts nothing until all have ended, then one at a time',
    ],
  },
  {
    line: '108',
    says: 'Near the threshold the effective limit of a session is 1',
    shownBy: [
      'test/http-scenarios/sessions.test.ts',
      '10: a group session over HTTP › at 60 % of the context that its agent reports starts nothing until all have ended, then one at a time',
    ],
  },
  {
    line: '110',
    says: '`SetTokenEstimateFunc` sets the estimate at run time',
    check: ({ alone }) =>
      alone(async ({ databaseUrl }) => {
        const stage = createStage()
        const node = createEscapement({ database: { url: databaseUrl, pool: 4 }, agents: { worker: stage.handler } })
        const named: Readonly<Record<string, unknown>> = { ...node }
        const set = named['setTokenEstimateFunc'] as (estimate: () => object) => void
        await node.start()
        try {
          set(() => ({ tokens: 900, contextWindow: 1_000 }))
          const key = 'agent:worker:test:direct:ann'
          await node.sessions.send(key, { text: '1', max_concurrent: 2 })
          const second = receiptOf(await node.sessions.send(key, '2'))
          await stage.begun('1')
          await eventually(async () =>
            expect(await node.runs.explain(second.run_id)).toMatchObject({ reason: 'context_throttle' }),
          )
        } finally {
          await node.stop('now')
        }
      }),
  },
  {
    line: '111',
    says: 'The estimate answers with tokens and context window of a session',
    shownBy: [
      'test/scenarios/session-order.test.ts',
      '10: a group session › at 60 % of its context starts nothing until all have ended, then one at a time',
    ],
  },
  {
    line: '112',
    says: 'The estimate is asked before a new run starts',
    check: async (world) => {
      const agent = await world.agent({ context_window: 1_000 })
      agent.reply({ status: 'success', usage: { input_tokens: 900 } })
      await world.ended(await send(world, agent.session(), 'fill', { max_concurrent: 2 }))
      agent.hold()
      const [first = '', second = ''] = await sendAll(world, agent.session(), ['1', '2'])
      await world.until(async () => (await world.server.runs.explain(second)).reason === 'context_throttle')
      agent.reply({ status: 'success', usage: { input_tokens: 10 } })
      agent.release('1')
      await world.ended(first)
      await world.until(() => agent.busy() === 1)
    },
  },
  {
    line: '113',
    says: 'Runs that go on are not affected by the throttle',
    check: async (world) => {
      const agent = await world.agent({ context_window: 1_000 })
      agent.hold()
      const ids = await sendAll(world, agent.session(), ['1', '2', '3'], { max_concurrent: 3 })
      await world.until(() => agent.busy() === 3)
      agent.reply({ status: 'success', usage: { input_tokens: 900 } })
      agent.release('1')
      await world.ended(ids[0] ?? '')
      const next = await send(world, agent.session(), '4')
      await world.until(async () => (await world.server.runs.explain(next)).reason === 'context_throttle')
      expect(agent.busy()).toBe(2)
    },
  },
]
