import { describe, expect } from 'vitest'
import { ErrMessageStale } from '../../src/api/refusals.ts'
import type { EventView } from '../../src/features/events/schema.ts'
import { isTerminal } from '../../src/domain/run/run-machine.ts'
import { stopScenarios } from './both/stop.ts'
import { createStage } from './stage.ts'
import { chat, ended, endings, eventually, inMs, nothingFor, refused, send, sendEach } from './support.ts'
import { scenario } from './world.ts'

stopScenarios(scenario)

describe.concurrent('11: /stop', () => {
  scenario('passes over what is stopping already', async (world) => {
    const stage = createStage({ deaf: true })
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { max_concurrent: 2 } })
    const ids = await sendEach(node, chat('s'), ['1', '2'])
    await stage.begunMany(2)
    for (const expected of [1, 1, 0])
      expect(await node.sessions.stop(chat('s'))).toEqual({ stopped: expected, drained: 0 })
    stage.open()
    expect(await endings(node, ids)).toEqual(['cancelled', 'cancelled'])
  })

  scenario('with nothing to stop answers so', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    expect(await node.sessions.stop(chat('nobody'))).toEqual({ stopped: 0, drained: 0 })
    expect(await node.sessions.stopAll(chat('nobody'))).toEqual({ stopped: 0, drained: 0 })
  })

  scenario('is a message like that, in any case, with or without the name of a bot', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const key = chat('s')
    const commands = ['/stop', ' /STOP \n', '/stop@helper_bot', '/StopAll', '/stopall@bot']
    for (const [index, command] of commands.entries()) {
      const { run_id: id } = await send(node, key, 'work')
      await stage.begun('work', index + 1)
      expect(await node.sessions.send(key, { text: command, sender: 'ann' })).toEqual({ stopped: 1, drained: 0 })
      expect((await ended(node, id)).status).toBe('cancelled')
    }
    const talk = await send(node, key, '/stop it')
    expect((await node.runs.get(talk.run_id)).trigger).toBe('message')
  })

  scenario('reaches a run of a schedule in that session, too', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', cron: '0 0 1 1 *', payload: 'report', session: chat('s') },
    })
    const { run_id: run = '' } = await node.schedules.runNow(id)
    await stage.begun('report')
    expect(await node.sessions.stop(chat('s'))).toEqual({ stopped: 1, drained: 0 })
    expect((await ended(node, run)).status).toBe('cancelled')
  })

  scenario('reaches a run on another node, and its signal says why', async (world) => {
    const stage = createStage()
    const worker = await world.start({ agents: { worker: stage.handler } })
    const other = await world.start()
    const { run_id: id } = await send(other, chat('s'), 'far away')
    const act = await stage.begun('far away')
    expect(await other.sessions.stop(chat('s'))).toEqual({ stopped: 1, drained: 0 })
    await eventually(() => expect(act.signal.aborted).toBe(true), 1_500)
    expect(String(act.signal.reason)).toMatch(/cancel|stop/i)
    expect(await ended(other, id)).toMatchObject({ status: 'cancelled', reason: 'stopped' })
    expect(await ended(worker, id)).toMatchObject({ status: 'cancelled' })
  })
})

describe.concurrent('11: /stopall', () => {
  scenario('makes stale what was sent before it and surfaces later', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const key = chat('s')
    await send(node, key, 'first').then(({ run_id: id }) => ended(node, id))
    const before = inMs(-50)
    await node.sessions.stopAll(key)
    const refusal = await refused(node.sessions.ask(key, { text: 'late', sent_at: before }), 'STALE')
    expect(refusal).toBeInstanceOf(ErrMessageStale)
    expect(await node.runs.get(refusal.runId ?? '')).toMatchObject({ status: 'cancelled', reason: 'stale' })
    expect((await node.sessions.ask(key, { text: 'in time', sent_at: inMs(5) })).status).toBe('success')
    expect(stage.started()).toEqual(['first', 'in time'])
  })

  scenario('publishes exactly one empty outbound for each run it cancels', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const outbound: EventView[] = []
    node.on('outbound', (event) => void outbound.push(event))
    const ids = await sendEach(node, chat('s'), ['1', '2', '3'])
    await stage.begun('1')
    await node.sessions.stopAll(chat('s'))
    await endings(node, ids)
    await eventually(() => expect(outbound.length).toBeGreaterThanOrEqual(3))
    await nothingFor(200)
    expect(outbound.map((event) => event.subject).toSorted()).toEqual(ids.toSorted())
    expect(outbound.map((event) => event.data['empty'])).toEqual([true, true, true])
  })
})

describe.concurrent('cancelling one run', () => {
  scenario('aborts the attempt with a reason, once: what has ended is not cancelled again', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { run_id: id } = await send(node, chat('s'), 'work')
    const act = await stage.begun('work')
    expect(['stopping', 'cancelled']).toContain((await node.runs.cancel(id)).status)
    expect(await ended(node, id)).toMatchObject({ status: 'cancelled', reason: 'cancelled' })
    expect(act.signal.aborted).toBe(true)
    expect(String(act.signal.reason)).toMatch(/cancel/i)
    await refused(node.runs.cancel(id), 'ALREADY_ENDED')
    await refused(node.runs.cancel('run_unknown'), 'NOT_FOUND')
  })

  scenario('is final however late its function reports success', async (world) => {
    const stage = createStage({ deaf: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const { run_id: id } = await send(node, chat('s'), 'work')
    await stage.begun('work')
    await node.runs.cancel(id)
    stage.open()
    expect((await ended(node, id)).status).toBe('cancelled')
    const { timeline } = await node.runs.get(id)
    expect(timeline.filter((entry) => isTerminal(entry.status)).map((entry) => entry.status)).toEqual(['cancelled'])
  })
})
