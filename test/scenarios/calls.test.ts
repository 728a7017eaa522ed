import { describe, expect } from 'vitest'
import { createStage } from './stage.ts'
import { chat, refused, send } from './support.ts'
import { scenario } from './world.ts'

// The library calls what a server calls, without HTTP between: what a caller may say beside the input holds here too.

describe('a call of the library', () => {
  scenario('is refused for another version, and answers with what is its own', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const made = await node.schedules.create({ name: 'Hourly', cron: '0 * * * *', agent_id: 'worker', payload: 'Look' })
    await refused(node.schedules.update(made.id, { name: 'Late' }, { ifMatch: made.version + 1 }), 'STALE_VERSION')
    expect(await node.schedules.update(made.id, { name: 'In time' }, { ifMatch: made.version })).toMatchObject({
      ...{ name: 'In time', cron_expr: '0 * * * *' },
    })
    // What a caller does with an answer is nobody else's business.
    const page = await node.lanes.list()
    Object.assign(page.items[0] ?? {}, { concurrency: 0 })
    expect((await node.lanes.list()).items[0]?.concurrency).toBeGreaterThan(0)
  })

  scenario('ends for its caller when the signal says so, or the time is up', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { run_id: id } = await send(node, chat('s'), 'held')
    const over = AbortSignal.abort(new Error('I am gone'))
    await expect(node.runs.get(id, { signal: over })).rejects.toThrow('I am gone')
    const late = node.sessions.send(chat('s'), 'waits', { timeoutMs: 0 })
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' })
    expect((await node.sessions.messages(chat('s'))).items.length).toBeGreaterThan(0)
    stage.open()
  })

  scenario('knows no filter that the API does not know', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const { message } = await refused(node.runs.list({ state: 'failed' } as never), 'VALIDATION')
    expect(message).toContain('state')
    await refused(node.tasks.submit({ agentId: 'worker', action: 'x' }, { idempotencyKey: '' }), 'VALIDATION')
  })
})
