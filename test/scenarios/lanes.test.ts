import { afterEach, describe, expect, vi } from 'vitest'
import { laneOf, laneScenarios, sendApart } from './both/lanes.ts'
import { createStage } from './stage.ts'
import { chat, ended, endings, eventually, nothingFor, send, statusOf } from './support.ts'
import { loneScenario, scenario } from './world.ts'

laneScenarios(scenario)

describe('lanes', () => {
  scenario('have their default sizes, and `delegate` is another name of team', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const sizes = Object.fromEntries((await node.lanes.list()).items.map((lane) => [lane.name, lane.concurrency]))
    expect(sizes).toEqual({ main: 30, subagent: 50, team: 100, cron: 30, task: 20 })
    const [id = ''] = await sendApart(node, ['a'], 'delegate')
    await stage.begun('a')
    expect(await laneOf(node, 'team')).toMatchObject({ active: 1 })
    stage.open()
    expect((await ended(node, id)).status).toBe('success')
  })

  scenario('do not know of each other: a full one holds up nothing elsewhere', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 1 } })
    const [held, waiting] = await sendApart(node, ['held', 'waiting'])
    const [held2 = ''] = await sendApart(node, ['elsewhere'], 'team')
    await stage.begun('elsewhere')
    stage.release('elsewhere')
    expect((await ended(node, held2)).status).toBe('success')
    expect(stage.busy()).toBe(1)
    const queued = [held ?? '', waiting ?? ''].filter((id) => !stage.acts.some((act) => act.attempt.runId === id))
    expect(queued).toHaveLength(1)
    expect(await node.runs.explain(queued[0] ?? '')).toMatchObject({ reason: 'lane_full', evidence: { lane: 'main' } })
  })

  scenario('make work wait that can be cancelled meanwhile, and then never runs', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 1 } })
    const [held = ''] = await sendApart(node, ['held'])
    await stage.begun('held')
    const [waiting = ''] = await sendApart(node, ['waiting'])
    expect((await node.runs.cancel(waiting)).status).toBe('cancelled')
    stage.open()
    expect((await ended(node, held)).status).toBe('success')
    const [later = ''] = await sendApart(node, ['later'])
    await ended(node, later)
    expect(stage.started()).toEqual(['held', 'later'])
  })

  scenario('can be made larger and smaller while work goes on; shrinking kills nothing', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 1 } })
    const ids = await sendApart(node, ['a', 'b', 'c', 'd'])
    await stage.begunMany(1)
    expect(await node.lanes.set('main', { concurrency: 3 })).toMatchObject({ name: 'main', concurrency: 3 })
    await stage.begunMany(3)
    await node.lanes.set('main', { concurrency: 1 })
    await eventually(async () => expect(await laneOf(node, 'main')).toMatchObject({ concurrency: 1, active: 3 }))
    const [first, second] = stage.acts
    first?.release()
    second?.release()
    await eventually(async () => expect(await laneOf(node, 'main')).toMatchObject({ active: 1, pending: 1 }))
    expect(stage.acts).toHaveLength(3)
    stage.open()
    expect(await endings(node, ids)).toEqual(Array(4).fill('success'))
  })

  scenario('do not forget a slot that is given back while something else is going on', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 1 } })
    for (let round = 0; round < 30; round += 1) {
      const [running = ''] = await sendApart(node, [`${round} running`])
      const act = await stage.begun(`${round} running`)
      const [waiting = ''] = await sendApart(node, [`${round} waiting`])
      stage.release(`${round} waiting`)
      const other = node.sessions.stop(chat('nobody'))
      await nothingFor(round % 5)
      act.release()
      expect((await ended(node, waiting, 2_500)).status, `round ${round}`).toBe('success')
      await Promise.all([other, ended(node, running)])
    }
  })

  scenario('are created on demand, and an existing one wins', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    expect(await node.lanes.getOrCreate('research', 2)).toMatchObject({ name: 'research', concurrency: 2 })
    expect(await node.lanes.getOrCreate('research', 9)).toMatchObject({ concurrency: 2 })
    expect(await node.lanes.getOrCreate('main', 1)).toMatchObject({ concurrency: 30 })
    const ids = await sendApart(node, ['a', 'b', 'c'], 'research')
    await stage.begunMany(2)
    await eventually(async () => expect(await laneOf(node, 'research')).toMatchObject({ active: 2, pending: 1 }))
    stage.open()
    expect(await endings(node, ids)).toEqual(Array(3).fill('success'))
    expect(stage.most()).toBe(2)
  })

  scenario('that come while a turn is under way are known to what is sent next', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 100 } })
    for (let round = 0; round < 20; round += 1) {
      const name = `research-${round}`
      const busy = send(node, chat(`busy-${round}`), 'keeps the node at work')
      // The turn of that message has begun, and takes in what is handed in before it has heard from the database.
      for (let breath = 0; breath < round; breath += 1) await Promise.resolve()
      node.reload({ lanes: { [name]: 1 } })
      await Promise.all([busy, send(node, chat(name), { text: name, lane: name })])
      await stage.begun(name)
      expect(await laneOf(node, name)).toMatchObject({ active: 1 })
    }
    stage.open()
  })

  scenario('are taken by default according to what woke the work', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { run_id: parent } = await send(node, chat('a'), 'message')
    const { run_id: child } = await send(node, chat('b'), { text: 'child', parent_run_id: parent })
    const { taskId } = await node.tasks.submit({ agentId: 'worker', action: 'task' })
    const { id } = await node.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', payload: 'manual' })
    const { run_id: manual = '' } = await node.schedules.runNow(id)
    await stage.begunMany(4)
    const lanes = await Promise.all([parent, child, taskId, manual].map(async (run) => (await node.runs.get(run)).lane))
    expect(lanes).toEqual(['main', 'subagent', 'task', 'cron'])
    expect(await statusOf(node, parent)).toBe('running')
  })
})

describe('2: ESCAPEMENT_LANE_MAIN', () => {
  afterEach(() => void vi.unstubAllEnvs())

  loneScenario('5 → 5', async (world) => {
    vi.stubEnv('ESCAPEMENT_LANE_MAIN', '5')
    expect(await laneOf(await world.start(), 'main')).toMatchObject({ concurrency: 5 })
    expect(world.log.filter((entry) => entry.level === 'warn')).toEqual([])
  })

  for (const text of ['0', '-1', 'abc', ''])
    loneScenario(`${JSON.stringify(text)} → 30, with a warning`, async (world) => {
      vi.stubEnv('ESCAPEMENT_LANE_MAIN', text)
      expect(await laneOf(await world.start(), 'main')).toMatchObject({ concurrency: 30 })
      const warnings = world.log.filter((entry) => entry.level === 'warn').map((entry) => JSON.stringify(entry))
      expect(warnings.join()).toContain('ESCAPEMENT_LANE_MAIN')
    })
})
