import { describe, expect } from 'vitest'
import { ErrGatewayDraining, ErrLaneCleared, Refusal } from '../../src/api/refusals.ts'
import { createStage } from './stage.ts'
import { chat, ended, endings, eventually, nothingFor, refused, send, sendEach, statusOf } from './support.ts'
import { scenario } from './world.ts'

describe.concurrent('13: draining', () => {
  scenario('refuses new work, lets what runs end, and leaves what waits to the next process', async (world) => {
    const before = createStage()
    const old = await world.start({ agents: { worker: before.handler } })
    const [running = '', waiting = ''] = await sendEach(old, chat('s'), ['running', 'waiting'])
    await before.begun('running')
    const stopped = old.stop()
    await eventually(() => expect(old.health()).toMatchObject({ draining: true }))
    const refusal = await refused(old.sessions.send(chat('s'), 'new'), 'DRAINING')
    expect(refusal).toBeInstanceOf(ErrGatewayDraining)
    expect(refusal.retryAfterMs).toBeGreaterThan(0)
    await refused(old.tasks.submit({ agentId: 'worker', action: 'new' }), 'DRAINING')
    before.open()
    await stopped
    expect(before.started()).toEqual(['running'])

    const after = createStage({ open: true })
    const next = await world.start({ agents: { worker: after.handler } })
    expect(await endings(next, [running, waiting])).toEqual(['success', 'success'])
    expect(after.started()).toEqual(['waiting'])
    expect((await next.runs.list({ session: chat('s') })).items).toHaveLength(2)
  })

  scenario('gives what runs its grace; then it is aborted as a shutdown and tried again elsewhere', async (world) => {
    const before = createStage()
    const old = await world.start({ agents: { worker: before.handler }, drain_grace_seconds: 1 })
    const { run_id: id } = await send(old, chat('s'), 'long')
    const act = await before.begun('long')
    const askedAt = performance.now()
    await old.stop()
    expect(performance.now() - askedAt).toBeGreaterThan(900)
    expect(String(act.signal.reason)).toMatch(/shutdown/)

    const after = createStage({ open: true })
    const next = await world.start({ agents: { worker: after.handler } })
    expect(await ended(next, id)).toMatchObject({ status: 'success', attempt: 2 })
    const { attempts } = await next.runs.get(id)
    expect(attempts.map(({ number, status, error_code }) => [number, status, error_code])).toEqual([
      [1, 'failed', 'node_shutdown'],
      [2, 'success', null],
    ])
  })

  scenario('tells whoever waits in that process for what stays behind', async (world) => {
    const stage = createStage()
    const old = await world.start({ agents: { worker: stage.handler } })
    await send(old, chat('s'), 'running')
    await stage.begun('running')
    const asked = old.sessions.ask(chat('s'), 'waiting').catch((error: unknown) => error)
    const waited = old.runs.wait((await send(old, chat('s'), 'last')).run_id).catch((error: unknown) => error)
    const stopped = old.stop()
    stage.open()
    await stopped
    const told = Promise.all([asked, waited])
    const answers = await Promise.race([told, nothingFor(1_000).then(() => 'nobody was told')])
    expect(answers).toEqual([expect.any(Refusal), expect.any(Refusal)])
  })

  scenario('still obeys /stop', async (world) => {
    const stage = createStage()
    const old = await world.start({ agents: { worker: stage.handler } })
    const { run_id: id } = await send(old, chat('s'), 'running')
    await stage.begun('running')
    const stopped = old.stop()
    await eventually(() => expect(old.health()).toMatchObject({ draining: true }))
    expect(await old.sessions.send(chat('s'), '/stop')).toEqual({ stopped: 1, drained: 0 })
    await stopped
    const next = await world.start()
    expect(await next.runs.get(id)).toMatchObject({ status: 'cancelled' })
  })

  scenario('can be cut short, and asking twice is asking once', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    await send(node, chat('s'), 'running')
    await stage.begun('running')
    const askedAt = performance.now()
    await Promise.all([node.stop(), node.stop('now'), node.stop()])
    expect(performance.now() - askedAt).toBeLessThan(8_000)
  })

  scenario('does not disturb another node of the same database', async (world) => {
    const stage = createStage({ open: true })
    const leaving = await world.start({ agents: { worker: stage.handler } })
    const staying = await world.start({ agents: { worker: stage.handler } })
    await leaving.stop()
    const { run_id: id } = await send(staying, chat('s'), 'work')
    expect((await ended(staying, id)).status).toBe('success')
  })
})

describe.concurrent('13: a reset', () => {
  scenario('clears what waits: its callers get ErrLaneCleared', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const key = chat('s')
    const { run_id: running } = await send(node, key, 'running')
    await stage.begun('running')
    const asked = ['a', 'b'].map((text) => node.sessions.ask(key, text).catch((error: unknown) => error))
    await eventually(async () => expect(await node.sessions.get(key)).toMatchObject({ waiting: 2 }))
    const { generation } = await node.sessions.get(key)
    expect(await node.sessions.reset(key)).toEqual({ stopped: 1, drained: 2 })
    for (const error of await Promise.all(asked)) {
      expect(error).toBeInstanceOf(ErrLaneCleared)
      const { runId } = error as ErrLaneCleared
      expect(await node.runs.get(runId ?? '')).toMatchObject({ status: 'cancelled', reason: 'lane_cleared' })
    }
    expect((await ended(node, running)).status).toBe('cancelled')
    expect(await node.sessions.get(key)).toMatchObject({ generation: generation + 1, active: 0, waiting: 0 })
    expect(stage.started()).toEqual(['running'])
  })

  scenario('makes a late completion change no counter and start nothing', async (world) => {
    const stage = createStage({ deaf: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const key = chat('s')
    const caller = node.sessions.ask(key, 'old').then(
      (run) => run.status,
      (error: unknown) => (error instanceof ErrLaneCleared ? 'cleared' : error),
    )
    await stage.begun('old')
    await node.sessions.reset(key)
    const [first = '', second = ''] = await sendEach(node, key, ['new 1', 'new 2'])
    await stage.begun('new 1')
    stage.release('old')
    expect(['cancelled', 'cleared']).toContain(await caller)
    await nothingFor(200)
    expect(stage.started()).toEqual(['old', 'new 1'])
    expect(await node.sessions.get(key)).toMatchObject({ active: 1, waiting: 1 })
    expect(await statusOf(node, second)).toBe('queued')
    stage.open()
    expect(await endings(node, [first, second])).toEqual(['success', 'success'])
  })

  scenario('of a node resets the sessions that are at work in it or waited for in it', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const other = await world.start({ agents: { elsewhere: stage.handler } })
    const { run_id: running } = await send(node, chat('s'), 'running')
    const { run_id: far } = await send(node, chat('t', 'elsewhere'), 'far')
    await stage.begunMany(2)
    const asked = node.sessions.ask(chat('s'), 'waiting').catch((error: unknown) => error)
    await eventually(async () => expect(await node.sessions.get(chat('s'))).toMatchObject({ waiting: 1 }))
    await node.reset()
    expect(await asked).toBeInstanceOf(ErrLaneCleared)
    expect((await ended(node, running)).status).toBe('cancelled')
    expect(await node.sessions.get(chat('s'))).toMatchObject({ generation: 1, active: 0, waiting: 0 })
    expect(await statusOf(other, far)).toBe('running')
  })

  scenario('touches no other session', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { run_id: id } = await send(node, chat('t'), 'other')
    await stage.begun('other')
    await node.sessions.reset(chat('s'))
    expect(await statusOf(node, id)).toBe('running')
    stage.open()
    expect((await ended(node, id)).status).toBe('success')
  })
})
