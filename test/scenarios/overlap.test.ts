import { describe, expect } from 'vitest'
import { everySecond, overlapScenarios } from './both/schedules.ts'
import { createStage } from './stage.ts'
import { ended, inShort, nothingFor, runsOf, runsWhen } from './support.ts'
import { scenario } from './world.ts'

overlapScenarios(scenario)

describe.concurrent('an occurrence while the previous run is pending', () => {
  scenario(
    '21: CANCEL_PREV, concurrency SKIP, max 1: the previous is superseded, the new one starts',
    async (world) => {
      const stage = createStage()
      const node = await world.start({ agents: { worker: stage.handler } })
      const { id } = await node.schedules.create({
        ...everySecond,
        ...{ overlap_action: 'CANCEL_PREV', concurrency_policy: 'SKIP', max_concurrency: 1, max_fires: 3 },
      })
      await stage.begunMany(3)
      stage.open()
      const runs = await runsWhen(node, id, (found) => found[2]?.status === 'success')
      expect(runs.map((run) => [run.status, run.superseded, run.first_attempt])).toEqual([
        ['cancelled', true, 1],
        ['cancelled', true, 1],
        ['success', false, 1],
      ])
      expect(runs[0]?.reason).toBe('superseded')
      expect(stage.acts.map((act) => act.signal.aborted)).toEqual([true, true, false])
      expect(await node.schedules.get(id)).toMatchObject({ failure_streak: 0 })
    },
  )

  scenario('21: CANCEL_PREV: a previous run that has succeeded stays a success', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ ...everySecond, overlap_action: 'CANCEL_PREV', max_fires: 2 })
    const runs = await runsWhen(node, id, (found) => found[1]?.status === 'success')
    expect(runs.map((run) => [run.status, run.superseded])).toEqual([
      ['success', false],
      ['success', false],
    ])
  })

  scenario('21: CANCEL_PREV: what does not listen keeps its session until it has ended', async (world) => {
    const stage = createStage({ deaf: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...{ ...everySecond, overlap_action: 'CANCEL_PREV', max_fires: 2, session: 'agent:worker:test:direct:s' },
    })
    const runs = await runsWhen(node, id, (found) => found.length === 2)
    await nothingFor(150)
    expect((await runsOf(node, id)).map(inShort)).toEqual(['stopping', 'queued'])
    expect(stage.acts).toHaveLength(1)
    stage.open()
    expect((await ended(node, runs[1]?.id ?? '')).status).toBe('success')
    expect(stage.most()).toBe(1)
  })

  scenario('22: PARALLEL goes no further than max_parallel', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...everySecond,
      ...{ overlap_action: 'PARALLEL', concurrency_policy: 'SKIP', max_parallel: 2 },
    })
    const runs = await runsWhen(node, id, (found) => found.length >= 3)
    expect(runs.slice(0, 3).map(inShort)).toEqual(['running', 'running', 'skipped/overlap_limit'])
  })

  scenario('BUFFER_ONE: one may wait, also under concurrency SKIP; further ones are skipped', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...{ ...everySecond, overlap_action: 'BUFFER_ONE', concurrency_policy: 'SKIP' },
    })
    const runs = await runsWhen(node, id, (found) => found.length >= 3)
    expect(runs.slice(0, 3).map(inShort)).toEqual(['running', 'queued', 'skipped/overlap'])
    await node.schedules.disable(id)
    stage.open()
    expect((await ended(node, runs[1]?.id ?? '')).status).toBe('success')
    expect(stage.most()).toBe(1)
  })
})
