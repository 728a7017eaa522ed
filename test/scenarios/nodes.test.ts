import { describe, expect } from 'vitest'
import { orgId } from '../../src/domain/ids.ts'
import { createOrgs, openOrgNode } from './org-node.ts'
import { createStage } from './stage.ts'
import { chat, ended, endings, eventually, nothingFor, runsWhen, send, sendEach, timeOf } from './support.ts'
import { loneScenario, scenario } from './world.ts'

describe.concurrent('31: two nodes on one database', () => {
  scenario('an every-second cron: exactly one run per second', async (world) => {
    const stage = createStage({ open: true })
    const options = { agents: { worker: stage.handler } }
    const [one, two] = await Promise.all([world.start(options), world.start(options)])
    const count = 8
    const first = Math.ceil(Date.now() / 1_000) * 1_000 + 3_000
    const { id } = await one.schedules.create({
      ...{ agent_id: 'worker', cron: '* * * * * *', payload: 'tick', starts_at: new Date(first).toISOString() },
      // A busy machine may look at a second too late, and then it is made up for.
      misfire_policy: 'FIRE_NOW',
      ends_at: new Date(first + (count - 1) * 1_000).toISOString(),
    })
    await eventually(async () => expect((await two.schedules.get(id)).state).toBe('finished'))
    const runs = await runsWhen(two, id, (found) => found.every((run) => run.status === 'success'))
    expect(runs.map((run) => timeOf(run.nominal_time))).toEqual(
      Array.from({ length: count }, (_, index) => first + index * 1_000),
    )
    expect(stage.acts).toHaveLength(count)
  })

  scenario('one moment of many schedules is fired once each', async (world) => {
    const stage = createStage({ open: true })
    const options = { agents: { worker: stage.handler } }
    const nodes = await Promise.all([world.start(options), world.start(options), world.start(options)])
    const at = new Date(Date.now() + 7_000).toISOString()
    const ids = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const node = nodes[n % nodes.length] ?? nodes[0]
        return (await node.schedules.create({ agent_id: 'worker', at, payload: String(n), delete_after_run: false })).id
      }),
    )
    for (const id of ids) await runsWhen(nodes[0], id, (found) => found.length === 1 && found[0]?.status === 'success')
    expect(stage.started().toSorted()).toEqual(ids.map((_, n) => String(n)).toSorted())
  })

  scenario('a session keeps its order and its limit whoever executes it', async (world) => {
    const stage = createStage({ open: true, then: () => nothingFor(10) })
    const options = { agents: { worker: stage.handler } }
    const [one, two] = await Promise.all([world.start(options), world.start(options)])
    const texts = Array.from({ length: 10 }, (_, n) => String(n))
    const ids: string[] = []
    for (const text of texts) ids.push((await send(Number(text) % 2 === 0 ? one : two, chat('s'), text)).run_id)
    expect(await endings(two, ids)).toEqual(texts.map(() => 'success'))
    expect(stage.started()).toEqual(texts)
    expect(stage.most()).toBe(1)
  })

  scenario('the limit of an agent holds across them; lanes are per node', async (world) => {
    const limited = createStage()
    const free = createStage()
    const options = { agents: { limited: limited.handler, free: free.handler }, lanes: { main: 3 } }
    const [one, two] = await Promise.all([world.start(options), world.start(options)])
    await one.agents.update('limited', { max_concurrent: 2 })
    const peers = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const peer of peers) await send(one, chat(peer, 'limited'), peer)
    await limited.begunMany(2)
    await nothingFor(200)
    expect(limited.acts).toHaveLength(2)
    for (const peer of peers) await send(two, chat(peer, 'free'), peer)
    await free.begunMany(4)
    await nothingFor(200)
    expect(limited.busy() + free.busy()).toBe(6)
    const { items } = await one.runs.list({ agent_id: 'limited', status: 'queued' })
    expect(await one.runs.explain(items[0]?.id ?? '')).toMatchObject({ reason: 'agent_limit' })
    limited.open()
    free.open()
  })

  scenario('what one is told the other knows', async (world) => {
    const stage = createStage()
    const one = await world.start({ agents: { worker: stage.handler } })
    const two = await world.start()
    const heard: string[] = []
    two.on('run.changed', (event) => void heard.push(`${event.subject} ${String(event.data['status'])}`))
    const { run_id: id } = await send(one, chat('s'), 'work')
    await stage.begun('work')
    await two.lanes.set('main', { concurrency: 7 })
    await eventually(async () => {
      const main = (await one.lanes.list()).items.find((lane) => lane.name === 'main')
      expect(main).toMatchObject({ concurrency: 7, active: 1 })
    })
    stage.open()
    expect((await ended(two, id)).status).toBe('success')
    await eventually(() => expect(heard).toContain(`${id} success`))
    const nodes = (await two.nodes.list()).items
    expect(nodes.map((node) => [node.alive, node.draining])).toEqual([
      [true, false],
      [true, false],
    ])
    expect(nodes.map((node) => node.id)).toEqual(
      expect.arrayContaining([one.health().node_id, two.health().node_id]) as string[],
    )
  })

  scenario('each takes only what it can execute', async (world) => {
    const a = createStage({ open: true })
    const b = createStage({ open: true })
    const one = await world.start({ agents: { a: a.handler } })
    const two = await world.start({ agents: { b: b.handler } })
    const ids = [
      ...(await sendEach(two, chat('s', 'a'), ['1', '2'])),
      ...(await sendEach(one, chat('s', 'b'), ['3', '4'])),
    ]
    expect(await endings(one, ids)).toEqual(ids.map(() => 'success'))
    expect([a.started(), b.started()]).toEqual([
      ['1', '2'],
      ['3', '4'],
    ])
  })

  scenario('the same work is started without delay when it is the other that is idle', async (world) => {
    const stage = createStage()
    const options = { agents: { worker: stage.handler }, lanes: { main: 1 } }
    const [one] = await Promise.all([world.start(options), world.start(options)])
    await send(one, chat('a'), 'a')
    await send(one, chat('b'), 'b')
    const acts = await stage.begunMany(2)
    expect((acts[1]?.startedAt ?? 0) - (acts[0]?.startedAt ?? 0)).toBeLessThan(1_500)
  })
})

describe('a node that has missed thousands of turns', () => {
  loneScenario(
    'hears all of them, and wakes whoever waits',
    async ({ database }) => {
      const [org] = (await createOrgs(database, 1)) as [string]
      const node = await openOrgNode(database, () => undefined)
      const { parts } = node.app
      const heard: number[] = []
      let gaps = 0
      parts.listeners.add((_, turn) => void heard.push(turn.no))
      parts.gapListeners.add(() => (gaps += 1))
      try {
        await node.app.loops.start()
        await node.send(org, 'first')
        await eventually(async () => {
          const ended = await database.outside(`select 1 from run where org_id = $1 and state = 'success'`, [org])
          expect(ended).toHaveLength(1)
        })
        await parts.actorOf(orgId(org)).idle()
        const known = heard.at(-1) ?? 0
        // Another node was busy while this one was not there.
        await database.outside(
          `insert into turn (org_id, no, at, node_id, events)
           select $1, $2::int + i, now(), 'nod_other', '[]' from generate_series(1, 6000) i`,
          [org, known],
        )
        parts.actorOf(orgId(org)).wake()
        await eventually(() => expect(heard.at(-1)).toBeGreaterThanOrEqual(known + 6_000))
        const after = heard.filter((no) => no > known)
        expect(after).toEqual(after.map((_, index) => known + 1 + index))
        expect(gaps).toBe(0)
        // The history does not reach back: whoever waits for a run has to look at the record.
        const last = heard.at(-1) ?? 0
        await database.outside(
          `insert into turn (org_id, no, at, node_id, events)
           select $1, $2::int + i, now(), 'nod_other', '[]' from generate_series(1, 6000) i`,
          [org, last],
        )
        await database.outside('delete from turn where org_id = $1 and no <= $2', [org, last + 100])
        parts.actorOf(orgId(org)).wake()
        await eventually(() => expect(heard.at(-1)).toBeGreaterThanOrEqual(last + 6_000))
        expect(gaps).toBe(1)
      } finally {
        await node.stop()
      }
    },
    60_000,
  )
})
