import { describe, expect } from 'vitest'
import { createStage } from '../scenarios/stage.ts'
import { chat, ended, eventually, send } from '../scenarios/support.ts'
import { scenario, type Remote } from './world.ts'

const idle = { agents: { worker: () => 'done' } } as const

describe.concurrent('39: after 1 success, 1 failure and 1 timeout', () => {
  scenario('the stats show 3 triggers, one third each, and a P95', async (world) => {
    const stage = createStage({
      then: ({ label }) => {
        if (label === 'fails') throw new Error('as asked')
        return 'works'
      },
    })
    stage.release('works', 'fails')
    const node = await world.start({ agents: { worker: stage.handler } })
    await node.agents.update('worker', { timeout_seconds: 1, retry_policy: { max_retries: 0 } })
    for (const payload of ['works', 'fails', 'takes for ever']) {
      const { id } = await node.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', payload })
      await ended(node, (await node.schedules.runNow(id)).run_id ?? '')
    }
    const stats = await eventually(async () => {
      const seen = await node.client.stats.get()
      expect(seen.runs.ended).toBe(3)
      return seen
    })
    const { by_status: byStatus, share, duration_ms: duration } = stats.runs
    expect(byStatus).toMatchObject({ success: 1, failed: 1, timeout: 1 })
    for (const part of [share?.success, share?.failed, share?.timeout]) expect(part).toBeCloseTo(1 / 3, 3)
    expect(duration?.p95).toBeGreaterThan(900)
    expect(stats).toMatchObject({ org_id: 'default', pending: { waiting: 0, queued: 0, active: 0 } })
  })
})

describe.concurrent('41: what an editor asks the API', () => {
  scenario(
    '`0 9 * * 1-5` is a sentence and the next times in the chosen zone, before anything is saved',
    async (world) => {
      const node = await world.start(idle)
      const answer = await node.client.schedules.preview({
        ...{ cron: '0 9 * * 1-5', timezone: 'America/New_York', from: '2026-03-05T15:00:00Z', count: 4 },
      })
      expect(answer.sentence).toMatch(/9:00|09:00/)
      expect(answer.sentence).toMatch(/Monday/)
      // Friday before the clocks change, and the days after it.
      expect(answer.next).toEqual([
        '2026-03-06T14:00:00.000Z',
        '2026-03-09T13:00:00.000Z',
        '2026-03-10T13:00:00.000Z',
        '2026-03-11T13:00:00.000Z',
      ])
      const flawed = await node.raw('POST', '/api/v1/schedules/preview', { body: { cron: '0 9 * * 1-9' } })
      expect(flawed).toMatchObject({ status: 400, body: { errors: [{ pointer: '/cron' }] } })
      expect((await node.schedules.list()).items).toEqual([])
    },
  )

  scenario('a chat result becomes a schedule in two requests, prefilled', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const run = await node.sessions.ask(chat('s'), 'Summarise the news of today')
    const draft = await node.client.runs.schedule(run.id)
    expect(draft).toMatchObject({
      ...{
        name: 'Summarise the news of today',
        agent_id: 'worker',
        payload: { prompt: 'Summarise the news of today' },
      },
    })
    expect((await node.schedules.list()).items).toEqual([])
    const made = await node.schedules.create({ ...draft, cron: '0 9 * * 1-5' })
    expect(made).toMatchObject({ ...draft, state: 'active', kind: 'cron' })
    const { run_id: again = '' } = await node.schedules.runNow(made.id)
    expect((await ended(node, again)).status).toBe('success')
    expect(stage.started()).toEqual(['Summarise the news of today', 'Summarise the news of today'])
  })
})

/** Everything the console shows, apart from what moves with the clock and from the process that answers. */
async function truthOf(node: Remote): Promise<unknown> {
  const { client } = node
  const { items: runs } = await client.runs.list({ limit: 200 })
  const { items: schedules } = await client.schedules.list({ limit: 200 })
  const { runs: counted, pending, schedules: byState } = await client.stats.get()
  return {
    ...{ schedules, byState, pending, counted },
    runs: await Promise.all(runs.map((run) => client.runs.get(run.id))),
    explained: await Promise.all(runs.map((run) => client.runs.explain(run.id))),
    sessions: (await client.sessions.list()).items,
    messages: (await client.sessions.messages(chat('s'))).items,
    agents: (await client.agents.list()).items,
    lanes: (await client.lanes.list()).items,
    keys: (await client.keys.list()).items.map(({ id, name, state }) => ({ id, name, state })),
    // Every start makes a link that signs in, and says so.
    audit: (await client.audit.list({ limit: 200 })).items.filter(({ action }) => action !== 'member.sign_in_link'),
  }
}

describe.concurrent('42: a restart', () => {
  scenario('the API shows the same truth before and after it', async (world) => {
    const stage = createStage({
      then: ({ label }) => {
        if (label === 'fails') throw new Error('as asked')
        return label
      },
    })
    stage.release('first', 'fails')
    const agents = { worker: stage.handler }
    const before = await world.start({ agents })
    await before.agents.update('worker', { retry_policy: { max_retries: 0 } })
    await before.client.lanes.set('main', { concurrency: 7 })
    await before.client.keys.create({ name: 'Reader', role: 'viewer' })
    await before.sessions.update(chat('s'), { cap: 5 })
    for (const text of ['first', 'fails']) await before.sessions.ask(chat('s'), text)
    const far = new Date(Date.now() + 3_600_000).toISOString()
    await send(before, chat('s'), { text: 'in an hour', not_before: far })
    const schedule = await before.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', payload: 'first' })
    await ended(before, (await before.schedules.runNow(schedule.id)).run_id ?? '')
    await before.schedules.create({ agent_id: 'worker', at: far, payload: 'reminder' })
    await eventually(async () => expect((await before.client.stats.get()).runs.ended).toBe(3))
    const seen = await truthOf(before)
    await before.stop()

    const after = await world.start({ agents })
    expect(await truthOf(after)).toEqual(seen)
  })

  scenario('whoever is signed in stays signed in, and the link of the earlier start is used up', async (world) => {
    const before = await world.start(idle)
    const { token } = await before.client.auth.link()
    const signedIn = await before.raw('POST', '/api/v1/sign-in', { key: '', body: { token } })
    const [cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';', 1)
    await before.stop()

    const after = await world.start(idle)
    const headers = { cookie }
    const me = await after.raw('GET', '/api/v1/me', { key: '', headers })
    expect(me).toMatchObject({ status: 200, body: { csrf_token: signedIn.body['csrf_token'] } })
    const again = await after.raw('POST', '/api/v1/sign-in', { key: '', body: { token } })
    expect([again.status, again.body['code']]).toEqual([401, 'UNAUTHENTICATED'])
    const made = await after.raw('POST', '/api/v1/schedules', {
      ...{ key: '', headers: { ...headers, 'x-csrf-token': String(signedIn.body['csrf_token']) } },
      body: { name: 'By hand', cron: '0 9 * * 1-5' },
    })
    expect(made).toMatchObject({ status: 201, body: { created_by: expect.stringMatching(/^mem_|^mbr_/) as string } })
  })
})
