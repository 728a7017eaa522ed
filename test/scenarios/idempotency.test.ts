import { createHash } from 'node:crypto'
import { describe, expect } from 'vitest'
import { createStage } from './stage.ts'
import { chat, ended, receiptOf, refused, send } from './support.ts'
import { scenario } from './world.ts'

const once = { idempotencyKey: 'k-1' } as const

describe.concurrent('an idempotency key', () => {
  scenario('gets the first answer again, also for many at once and after a restart', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const first = await node.sessions.send(chat('s'), 'hello', once)
    const again = await Promise.all(Array.from({ length: 5 }, () => node.sessions.send(chat('s'), 'hello', once)))
    const identity = { run_id: receiptOf(first).run_id, message_id: receiptOf(first).message_id }
    for (const answer of again) expect(answer).toMatchObject(identity)
    await node.stop()
    const next = await world.start({ agents: { worker: stage.handler } })
    expect(await next.sessions.send(chat('s'), 'hello', once)).toMatchObject(identity)
    expect((await next.runs.list()).items).toHaveLength(1)
    await ended(next, identity.run_id)
    expect(stage.started()).toEqual(['hello'])
  })

  scenario('of tasks sent at the same time to two nodes makes one task', async (world) => {
    const [one, two] = [await world.start(), await world.start({ agents: { a: () => 'done' } })]
    const task = { agentId: 'a', action: 'x' }
    const receipts = await Promise.all(
      Array.from({ length: 6 }, (_, n) => (n % 2 === 0 ? one : two).tasks.submit(task, once)),
    )
    expect(new Set(receipts.map((receipt) => receipt.taskId)).size).toBe(1)
    expect((await two.tasks.list()).tasks).toHaveLength(1)
  })

  scenario('with another body is refused', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    await node.sessions.send(chat('s'), 'hello', once)
    await refused(node.sessions.send(chat('s'), 'goodbye', once), 'IDEMPOTENCY_MISMATCH')
    expect((await node.runs.list()).items).toHaveLength(1)
  })

  scenario('is bound by accepted work only', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { cap: 1, drop: 'new' } })
    await send(node, chat('s'), 'running')
    await stage.begun('running')
    const { run_id: waiting } = await send(node, chat('s'), 'waiting')
    await refused(node.sessions.send(chat('s'), 'hello', once), 'SESSION_QUEUE_FULL')
    await node.runs.cancel(waiting)
    const { run_id: id } = receiptOf(await node.sessions.send(chat('s'), 'hello', once))
    stage.open()
    expect((await ended(node, id)).status).toBe('success')
  })

  scenario('is stored as by the release before, so that its nodes recognize a repetition', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const task = { agentId: 'worker', action: 'x' }
    await node.sessions.send(chat('s'), 'hello', once)
    await node.tasks.submit(task, once)
    const hashOf = (body: unknown): string => createHash('sha256').update(JSON.stringify(body)).digest('hex')
    const stored = await world.database.outside(
      "select principal, route, encode(body_hash, 'hex') as hash from escapement.idempotency order by route",
    )
    expect(stored).toEqual([
      { principal: 'library', route: 'message', hash: hashOf({ key: chat('s'), input: { text: 'hello' } }) },
      { principal: 'library', route: 'task', hash: hashOf(task) },
    ])
  })

  scenario('of a message says nothing about a task', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    await node.sessions.send(chat('s'), 'hello', once)
    expect((await node.tasks.submit({ agentId: 'worker', action: 'x' }, once)).taskId).toMatch(/^tsk_/)
  })
})
