import { describe, expect } from 'vitest'
import { callbackScenarios, createAsync } from './both/outcomes.ts'
import { createStage } from './stage.ts'
import { chat, ended, endings, eventually, inState, refused, send, sendEach, statusOf } from './support.ts'
import { scenario } from './world.ts'

callbackScenarios(scenario)

describe.concurrent('28: an agent that reports later', () => {
  scenario('waits for its callback, is settled by it once, and a repeat is ignored', async (world) => {
    const agent = createAsync()
    const node = await world.start({ agents: { worker: agent.handler } })
    const { run_id: id } = await send(node, chat('s'), 'later')
    await inState(node, id, 'awaiting_callback')
    const token = await agent.first()
    expect(await node.callbacks.settle(token, { status: 'success', output: 'the result' })).toEqual({
      ...{ status: 'success', ignored: false },
    })
    expect(await node.runs.get(id)).toMatchObject({ status: 'success', output: 'the result', attempt: 1 })
    for (const status of ['success', 'failed'] as const)
      expect(await node.callbacks.settle(token, { status, output: 'another' })).toEqual({
        ...{ status: 'success', ignored: true },
      })
    expect(await node.runs.get(id)).toMatchObject({ status: 'success', output: 'the result' })
  })

  scenario('gets nothing with a wrong token', async (world) => {
    const agent = createAsync()
    const node = await world.start({ agents: { worker: agent.handler } })
    const { run_id: id } = await send(node, chat('s'), 'later')
    const token = await agent.first()
    expect(token.length).toBeGreaterThanOrEqual(43)
    for (const wrong of ['nonsense', `${token}x`, token.slice(0, -1)])
      await refused(node.callbacks.settle(wrong, { status: 'success' }), 'NOT_FOUND')
    await refused(node.callbacks.settle('', { status: 'success' }), 'VALIDATION')
    await inState(node, id, 'awaiting_callback')
    const stored = await world.database.outside(
      `select (select count(*) from escapement.callback where callback::text like $1)::int as in_callbacks,
              (select count(*) from escapement.run where run::text like $1)::int as in_runs`,
      [`%${token}%`],
    )
    expect(stored).toEqual([{ in_callbacks: 0, in_runs: 0 }])
  })

  scenario('gives back its lane slot but keeps its session', async (world) => {
    const agent = createAsync()
    const node = await world.start({ agents: { worker: agent.handler }, lanes: { main: 1 } })
    const [deferred = '', behind = ''] = await sendEach(node, chat('s'), ['later', 'behind'])
    await inState(node, deferred, 'awaiting_callback')
    const { run_id: other } = await send(node, chat('t'), 'other')
    expect((await ended(node, other)).status).toBe('success')
    expect(await statusOf(node, behind)).toBe('queued')
    await node.callbacks.settle(await agent.first(), { status: 'success' })
    expect(await endings(node, [deferred, behind])).toEqual(['success', 'success'])
  })

  scenario('may report a failure, which is retried; the token of an earlier attempt is ignored', async (world) => {
    const agent = createAsync()
    const node = await world.start({ agents: { worker: agent.handler } })
    await node.agents.update('worker', { retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 50 } })
    const { run_id: id } = await send(node, chat('s'), 'later')
    const first = await agent.first()
    await inState(node, id, 'awaiting_callback')
    expect(await node.callbacks.settle(first, { status: 'failed', error_message: 'busy' })).toMatchObject({
      ignored: false,
    })
    await eventually(() => expect(agent.tokens).toHaveLength(2))
    await inState(node, id, 'awaiting_callback')
    expect(await node.callbacks.settle(first, { status: 'success' })).toMatchObject({ ignored: true })
    expect(await statusOf(node, id)).toBe('awaiting_callback')
    await node.callbacks.settle(agent.tokens[1] ?? '', { status: 'success', output: 2 })
    expect(await ended(node, id)).toMatchObject({ status: 'success', attempt: 2, output: 2 })
  })

  scenario('may report to any node, also after the one that started it has gone', async (world) => {
    const agent = createAsync()
    const first = await world.start({ agents: { worker: agent.handler } })
    const { run_id: id } = await send(first, chat('s'), 'later')
    await inState(first, id, 'awaiting_callback')
    await first.stop()
    const second = await world.start()
    expect(await statusOf(second, id)).toBe('awaiting_callback')
    expect(await second.callbacks.settle(await agent.first(), { status: 'success' })).toMatchObject({
      status: 'success',
    })
    expect((await ended(second, id)).status).toBe('success')
  })

  scenario('is cancelled at once: there is nobody to ask', async (world) => {
    const agent = createAsync()
    const node = await world.start({ agents: { worker: agent.handler } })
    const { run_id: id } = await send(node, chat('s'), 'later')
    await inState(node, id, 'awaiting_callback')
    expect(await node.runs.cancel(id)).toMatchObject({ status: 'cancelled' })
    expect(await node.callbacks.settle(await agent.first(), { status: 'success' })).toEqual({
      ...{ status: 'cancelled', ignored: true },
    })
  })

  scenario('is settled once by many that report at the same time', async (world) => {
    const agent = createAsync()
    const node = await world.start({ agents: { worker: agent.handler } })
    const other = await world.start()
    const { run_id: id } = await send(node, chat('s'), 'later')
    await inState(node, id, 'awaiting_callback')
    const token = await agent.first()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? node : other).callbacks.settle(token, { output: n })),
    )
    expect(answers.filter((answer) => !answer.ignored)).toHaveLength(1)
    expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill('success'))
    const { timeline } = await node.runs.get(id)
    expect(timeline.filter((entry) => entry.status === 'success')).toHaveLength(1)
  })
})

describe.concurrent('what a function reports while it works', () => {
  scenario('is heard, and its usage is on record', async (world) => {
    const stage = createStage({
      then: (_, context) => {
        context.progress('half way')
        context.usage({ inputTokens: 10, outputTokens: 5, contextWindow: 1_000 })
        return { answer: 42 }
      },
    })
    const node = await world.start({ agents: { worker: stage.handler } })
    const heard: unknown[] = []
    node.on('run.output', (event) => void heard.push(event.data))
    const { run_id: id } = await send(node, chat('s'), 'work')
    stage.open()
    expect(await ended(node, id)).toMatchObject({
      output: { answer: 42 },
      usage: { input_tokens: 10, output_tokens: 5, context_window: 1_000 },
    })
    await eventually(() => expect(JSON.stringify(heard)).toContain('half way'))
  })
})
