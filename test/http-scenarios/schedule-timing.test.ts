import { describe, expect } from 'vitest'
import { zoneScenarios } from '../scenarios/both/schedules.ts'
import { timeOf } from '../scenarios/support.ts'
import { scenario } from './world.ts'

const idle = { agents: { worker: () => 'done' } } as const
const at = (ms: number): string => new Date(ms).toISOString()

describe.concurrent('15: a cron in a zone, over HTTP', () => {
  zoneScenarios(scenario)

  scenario('is previewed by the clock there', async (world) => {
    const node = await world.start(idle)
    const plan = { cron: '0 7 * * *', timezone: 'Asia/Shanghai' }
    const created = '2026-01-15T00:00:00Z'
    const seen = await node.client.schedules.preview({ ...plan, from: created, count: 1 })
    expect(seen.next).toEqual(['2026-01-15T23:00:00.000Z'])
    const utc = await node.client.schedules.preview({ ...plan, timezone: 'UTC', from: created, count: 1 })
    expect(utc.next).toEqual(['2026-01-15T07:00:00.000Z'])
  })
})

describe.concurrent('16: nonsense over HTTP', () => {
  const refusals = [
    [{ cron: '61 * * * *' }, '/cron'],
    [{ cron: '* * * *' }, '/cron'],
    [{ cron: '0 7 * * *', timezone: 'Mars/Base' }, '/timezone'],
    [{ every_seconds: 0 }, '/every_seconds'],
    [{ at: '2020-01-01T00:00:00Z' }, '/at'],
  ] as const

  scenario('is refused with 400 and the name of the field, and nothing is stored', async (world) => {
    const node = await world.start(idle)
    const before = await node.schedules.create({ name: 'kept', cron: '0 7 * * *', timezone: 'UTC' })
    for (const [input, pointer] of refusals) {
      for (const [method, target] of [
        ['POST', '/api/v1/schedules'],
        ['PATCH', `/api/v1/schedules/${before.id}`],
      ] as const) {
        const answer = await node.raw(method, target, { body: { name: 'nonsense', ...input } })
        const errors = answer.body['errors'] as readonly { readonly pointer: string; readonly message: string }[]
        expect([answer.status, answer.body['code']], JSON.stringify([method, input])).toEqual([400, 'VALIDATION'])
        expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
        expect(errors.map((error) => error.pointer)).toContain(pointer)
      }
    }
    expect((await node.schedules.list()).items).toEqual([before])
  })
})

describe.concurrent('17: an anchored interval over HTTP', () => {
  scenario('comes at anchor + n × interval after now', async (world) => {
    const node = await world.start(idle)
    const nextAfter = async (now: number): Promise<number> => {
      const { next } = await node.client.schedules.preview({ everyMs: 5_000, anchor: at(1_000), from: now, count: 1 })
      return timeOf(next[0] ?? null)
    }
    expect(await nextAfter(6_500)).toBe(11_000)
    expect(await nextAfter(6_000)).toBe(11_000)
    expect(await nextAfter(22_000)).toBe(26_000)
  })

  scenario('is not moved by a new name', async (world) => {
    const node = await world.start(idle)
    const anchor = Date.now() - 22_000_000
    const made = await node.schedules.create({ agent_id: 'worker', every_seconds: 5_000, anchor: at(anchor) })
    expect(timeOf(made.next_run_at)).toBe(anchor + 25_000_000)
    const renamed = await node.schedules.update(made.id, { name: 'another name' })
    expect(renamed).toMatchObject({ name: 'another name', next_run_at: made.next_run_at })
  })
})
