import { writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { createStage } from '../scenarios/stage.ts'
import { chat, eventually, send } from '../scenarios/support.ts'
import { scenario, type Remote } from './world.ts'

const LANES = { main: 10 }

const mainOf = async (node: Remote) => (await node.client.lanes.list()).items.find(({ name }) => name === 'main')

/** Sends so many that hang, each to a session of its own. */
const hang = (node: Remote, count: number): Promise<readonly string[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => (await send(node, chat(`hang-${index}`), { text: 'x' })).run_id),
  )

describe.concurrent('orgs that share a lane over HTTP', () => {
  scenario('are limited from the answer that created the second org on, as the settings say', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, lanes: LANES })
    expect(await mainOf(node)).toMatchObject({ concurrency: 10, max_per_org: null, largest_org: null })
    await node.client.orgs.create({ id: 'acme', name: 'Acme' })
    const ids = await hang(node, 10)
    await stage.begunMany(8)
    await eventually(async () => expect(await mainOf(node)).toMatchObject({ active: 8, pending: 2 }))
    expect(await mainOf(node)).toMatchObject({ max_per_org: 8, largest_org: { org_id: 'default', held: 8 } })
    const waiting = (await node.client.runs.list({ status: 'queued' })).items[0]?.id ?? ''
    expect(ids).toContain(waiting)
    expect(await node.client.runs.explain(waiting)).toMatchObject({ reason: 'org_share' })
    const metrics = await (
      await fetch(`${node.url}/metrics`, { headers: { authorization: `Bearer ${node.key}` } })
    ).text()
    expect(metrics).toMatch(/^escapement_lane_org_limit\{[^}]*lane="main"[^}]*\} 8$/m)
    expect(metrics).toMatch(/^escapement_lane_largest_org_held\{[^}]*lane="main"[^}]*\} 8$/m)

    // By the API, for every node.
    await node.client.config.update({ lanes: { max_org_share: 0.9 } })
    await stage.begunMany(9)
    expect(await mainOf(node)).toMatchObject({ max_per_org: 9 })
    await node.client.config.update({ lanes: { max_org_share: null } })
    expect(await mainOf(node)).toMatchObject({ max_per_org: 8 })
    // By the file.
    writeFileSync(node.file, JSON.stringify({ lanes: { ...LANES, max_org_share: 1 }, database: { pool: 4 } }))
    await stage.begunMany(10)
    expect(await mainOf(node)).toMatchObject({ active: 10, max_per_org: null })
    const refused = await node.raw('PUT', '/api/v1/lanes/max_org_share', { body: { concurrency: 5 } })
    expect([refused.status, refused.body['code']]).toEqual([400, 'VALIDATION'])
    stage.open()
  })

  scenario('are limited as the environment says', async (world) => {
    const node = await world.start({ lanes: LANES, variables: { ESCAPEMENT_LANES_MAX_ORG_SHARE: '0.5' } })
    await node.client.orgs.create({ id: 'acme', name: 'Acme' })
    expect(await mainOf(node)).toMatchObject({ max_per_org: 5 })
    const { values } = await node.client.config.get()
    expect(values['lanes.max_org_share']).toMatchObject({ value: 0.5, source: 'environment', default: 0.8, hot: true })
    expect(values['lanes.main']).toMatchObject({ default: 30 })
  })
})
