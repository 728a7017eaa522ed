import { describe, expect } from 'vitest'
import { createStage } from './stage.ts'
import { chat, ended, endings, eventually, nothingFor, runsWhen, send, statusOf } from './support.ts'
import { scenario } from './world.ts'

const remote = { id: 'remote', name: 'remote', executor: { kind: 'in-process' } } as const

describe.concurrent('32: an agent that no live node can execute', () => {
  scenario('its run stays queued with a reason, and starts when somebody connects', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    await node.agents.create(remote)
    const { run_id: id } = await send(node, chat('s', 'remote'), 'work')
    await nothingFor(200)
    expect(await statusOf(node, id)).toBe('queued')
    expect(await node.runs.explain(id)).toMatchObject({ reason: 'executor_offline', evidence: { agent: 'remote' } })
    expect((await node.runs.get(id)).why.reason).toBe('executor_offline')
    const stage = createStage({ open: true })
    await world.start({ agents: { remote: stage.handler } })
    expect((await ended(node, id)).status).toBe('success')
    expect(stage.started()).toEqual(['work'])
  })

  scenario('or when the node itself learns how', async (world) => {
    const node = await world.start()
    await node.agents.create(remote)
    const { run_id: id } = await send(node, chat('s', 'remote'), 'work')
    const stage = createStage({ open: true })
    await node.agents.register('remote', stage.handler)
    expect((await ended(node, id)).status).toBe('success')
  })

  scenario('holds up nobody else', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' }, lanes: { main: 1 } })
    await node.agents.create(remote)
    for (const peer of ['a', 'b', 'c']) await send(node, chat(peer, 'remote'), 'stuck')
    const { run_id: id } = await send(node, chat('s'), 'work')
    expect((await ended(node, id)).status).toBe('success')
  })

  scenario('the same for a schedule: occurrences are made on time and run later', async (world) => {
    const node = await world.start()
    await node.agents.create(remote)
    const { id } = await node.schedules.create({ agent_id: 'remote', every_seconds: 1, max_fires: 2, payload: 'tick' })
    const runs = await runsWhen(node, id, (found) => found.length === 2)
    expect(runs.map((run) => run.status)).toEqual(['queued', 'queued'])
    const stage = createStage({ open: true })
    await world.start({ agents: { remote: stage.handler } })
    expect(
      await endings(
        node,
        runs.map((run) => run.id),
      ),
    ).toEqual(['success', 'success'])
  })

  scenario('a node that has left counts as gone', async (world) => {
    const node = await world.start()
    const other = await world.start({ agents: { remote: () => 'done' } })
    await eventually(async () => expect((await node.nodes.list()).items.filter((each) => each.alive)).toHaveLength(2))
    await other.stop()
    const { run_id: id } = await send(node, chat('s', 'remote'), 'work')
    await eventually(async () => expect(await node.runs.explain(id)).toMatchObject({ reason: 'executor_offline' }))
    expect(await statusOf(node, id)).toBe('queued')
    expect((await node.nodes.list()).items.filter((each) => each.alive)).toHaveLength(1)
  })
})
