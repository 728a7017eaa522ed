import { describe, expect } from 'vitest'
import { createStage } from './stage.ts'
import { ended, inShort, nothingFor, runsOf, runsWhen } from './support.ts'
import { scenario } from './world.ts'

const everySecond = { agent_id: 'worker', every_seconds: 1, payload: 'x' } as const

describe.concurrent('an occurrence while the previous run is pending', () => {
  scenario('20: overlap SKIP: skipped, and again for the second and third while it runs', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ ...everySecond, overlap_action: 'SKIP' })
    const runs = await runsWhen(node, id, (found) => found.length >= 4)
    expect(runs.slice(0, 4).map(inShort)).toEqual(['running', ...Array<string>(3).fill('skipped/overlap')])
    expect(runs[1]?.decision).toMatchObject({
      ...{ reason: 'overlap', rule: 'overlap_action=SKIP' },
      evidence: { previous_run: runs[0]?.id, previous_state: 'running' },
    })
    expect(runs[1]?.finished_at).not.toBeNull()
    stage.open()
    const later = await runsWhen(node, id, (found) => found.filter((run) => run.status === 'success').length >= 2)
    expect(later[0]?.status).toBe('success')
    expect(stage.most()).toBe(1)
  })

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

  scenario(
    '22: PARALLEL, concurrency SKIP, full: runs; but only while the previous run itself is pending',
    async (world) => {
      const stage = createStage()
      const node = await world.start({ agents: { worker: stage.handler } })
      const { id } = await node.schedules.create({
        ...everySecond,
        ...{ overlap_action: 'PARALLEL', concurrency_policy: 'SKIP', max_concurrency: 1 },
      })
      const [, second] = await stage.begunMany(2)
      second?.release()
      const runs = await runsWhen(node, id, (found) => found.length >= 3)
      expect(runs.slice(0, 3).map(inShort)).toEqual(['running', 'success', 'skipped/concurrency'])
      stage.open()
      expect((await ended(node, runs[0]?.id ?? '')).status).toBe('success')
    },
  )

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
