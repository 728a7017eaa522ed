import { expect } from 'vitest'
import type { RawAnswer } from '../../http-scenarios/world.ts'
import type { AgentStub } from '../agent-stub.ts'
import { endings, message, runOf, send, sendAll, sessionOf, setRules } from '../conversation.ts'
import type { Row } from '../row.ts'
import type { World } from '../world.ts'

/** Two messages, and a third that interrupts them. */
async function interrupt(world: World): Promise<{ readonly ids: readonly string[]; readonly messages: () => unknown }> {
  const agent = await world.agent()
  agent.hold()
  const before = await sendAll(world, agent.session(), ['active', 'waiting'])
  await world.until(() => agent.busy() === 1)
  const id = await send(world, agent.session(), 'new', { mode: 'interrupt' })
  agent.release('new')
  return { ids: [...before, id], messages: agent.messages }
}

/** A session whose cap of 2 is reached, and the answer to one message more. */
async function overfill(
  world: World,
  drop: 'old' | 'new',
): Promise<{ readonly agent: AgentStub; readonly answer: RawAnswer }> {
  const agent = await world.agent()
  agent.hold()
  await setRules(world, agent.session(), { cap: 2, drop })
  await send(world, agent.session(), '1')
  await world.until(() => agent.busy() === 1)
  await sendAll(world, agent.session(), ['2', '3'])
  const answer = await message(world, agent.session(), { text: '4' })
  agent.release()
  return { agent, answer }
}

const isInOrder =
  (mode: string) =>
  async (world: World): Promise<void> => {
    const agent = await world.agent()
    await setRules(world, agent.session(), { mode })
    expect(await endings(world, await sendAll(world, agent.session(), ['1', '2', '3']))).not.toContain('cancelled')
    expect([agent.messages(), agent.most()]).toEqual([['1', '2', '3'], 1])
  }

const hasDefault =
  (rule: string, value: unknown) =>
  async (world: World): Promise<void> => {
    const agent = await world.agent()
    await send(world, agent.session(), 'hello')
    expect(await sessionOf(world, agent.session())).toMatchObject({ [rule]: value })
  }

export const QUEUES: readonly Row[] = [
  { line: '75', says: 'Mode `queue`: messages wait in order of arrival; it is the default', check: isInOrder('queue') },
  { line: '76', says: 'Mode `followup` is the same as `queue`', check: isInOrder('followup') },
  {
    line: '77',
    says: 'Mode `interrupt` cancels the active run',
    check: async (world) => {
      const { ids } = await interrupt(world)
      expect(await world.ended(ids[0] ?? '')).toMatchObject({ status: 'cancelled', reason: 'interrupted' })
    },
  },
  {
    line: '77',
    says: 'Mode `interrupt` drains the queue',
    check: async (world) => {
      const { ids, messages } = await interrupt(world)
      expect(await endings(world, ids)).toEqual(['cancelled', 'cancelled', 'success'])
      expect(messages()).toEqual(['active', 'new'])
    },
  },
  {
    line: '77',
    says: 'Mode `interrupt` starts the new message immediately',
    differs:
      'It starts when the cancelled run has ended, after 5 s at the latest: two runs of one conversation would write over each other.',
    shownBy: [
      'test/scenarios/interrupt.test.ts',
      '9: an interrupting message › never overlaps what it interrupted: it is queued, awaiting its stop',
    ],
  },
  {
    line: '82',
    says: 'Drop policy `old`: the oldest waiting message makes room for the new one',
    check: async (world) => {
      const { agent, answer } = await overfill(world, 'old')
      expect(answer.status).toBe(202)
      expect((await runOf(world, String(answer.body['dropped_run_id']))).status).toBe('dropped')
      await world.ended(String(answer.body['run_id']))
      expect(agent.messages()).toEqual(['1', '3', '4'])
    },
  },
  {
    line: '82',
    says: 'The caller whose message was dropped gets `ErrQueueDropped`',
    shownBy: [
      'test/scenarios/session-order.test.ts',
      'a full session › 5: cap 2, drop old: the caller is told by ErrQueueDropped, and listeners by an event',
    ],
  },
  {
    line: '83',
    says: 'Drop policy `new`: the incoming message is rejected',
    check: async (world) => {
      const { answer } = await overfill(world, 'new')
      expect([answer.status, answer.body['code']]).toEqual([429, 'SESSION_QUEUE_FULL'])
      expect((await runOf(world, String(answer.body['run_id']))).status).toBe('rejected')
    },
  },
  {
    line: '83',
    says: 'The caller whose message was rejected gets `ErrQueueFull`',
    shownBy: [
      'test/scenarios/session-order.test.ts',
      'a full session › 5: cap 2, drop new: the newcomer is rejected at once',
    ],
  },
  {
    line: '84',
    says: 'The queue is configured by the names `mode`, `cap`, `drop` and `debounce_ms`',
    check: async (world) => {
      const agent = await world.agent()
      const rules = { mode: 'interrupt', cap: 3, drop: 'new', debounce_ms: 50 }
      await setRules(world, agent.session(), rules)
      expect(await sessionOf(world, agent.session())).toMatchObject(rules)
      await world.alone(async ({ start }) => {
        const { raw } = await start({ sessions: rules })
        const { body } = await raw('GET', '/api/v1/config')
        const values = body['values'] as Readonly<Record<string, { readonly value: unknown }>>
        for (const [name, value] of Object.entries(rules)) expect(values[`sessions.${name}`]?.value).toBe(value)
      })
    },
  },
  { line: '87', says: '`mode` is `queue` by default', check: hasDefault('mode', 'queue') },
  {
    line: '88',
    says: '`cap` is 10 by default',
    shownBy: [
      'test/scenarios/both/sessions.ts',
      'a full session › 6: cap 10 takes 1 running and 10 waiting; the 12th meets the drop policy',
    ],
  },
  { line: '89', says: '`drop` is `old` by default', check: hasDefault('drop', 'old') },
  { line: '90', says: '`debounce_ms` is 800 by default', check: hasDefault('debounce_ms', 800) },
  {
    line: '90',
    says: 'Rapid messages within the window become one',
    check: async (world) => {
      const agent = await world.agent()
      await setRules(world, agent.session(), { debounce_ms: 3_000 })
      const answers = []
      for (const text of ['a', 'b', 'c'])
        answers.push(await message(world, agent.session(), { text, debounce_ms: undefined }))
      const [first] = answers
      expect(answers.map(({ body }) => body['merged_into'] ?? body['run_id'])).toEqual(
        answers.map(() => first?.body['run_id']),
      )
      await world.ended(String(first?.body['run_id']))
      expect(agent.messages()).toEqual(['a\nb\nc'])
    },
  },
]
