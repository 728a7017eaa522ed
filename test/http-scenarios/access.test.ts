import { describe, expect } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { chat, ended, refused } from '../scenarios/support.ts'
import { createCheckedClient } from './remote.ts'
import { scenario, type RawAnswer, type Remote } from './world.ts'

/** Makes an org and lets its first owner in by a link, who then makes a key: all of it as people would. */
async function clientOfNewOrg(node: Remote, id: string): Promise<Client> {
  await node.client.orgs.create({ id, name: id })
  const owner = await node.client.members.create(id, { name: 'The owner', role: 'owner' })
  const { token } = await node.client.members.invite({ org_id: id, id: owner.id })
  const signedIn = await node.raw('POST', '/api/v1/sign-in', { key: '', body: { token } })
  expect(signedIn.status).toBe(200)
  const cookie = signedIn.headers.get('set-cookie') ?? ''
  expect(cookie).toMatch(/; HttpOnly/)
  expect(cookie).toMatch(/; SameSite=Strict/)
  const [session = ''] = cookie.split(';', 1)
  const body = { name: 'First key', role: 'owner' }
  const withCookie = (headers: Readonly<Record<string, string>>): Promise<RawAnswer> =>
    node.raw('POST', '/api/v1/keys', { key: '', headers: { cookie: session, ...headers }, body })
  // The cookie alone is what any page could make a browser send.
  expect((await withCookie({})).status).toBe(403)
  const made = await withCookie({ 'x-csrf-token': String(signedIn.body['csrf_token']) })
  expect(made).toMatchObject({ status: 201, body: { org_id: id } })
  return createCheckedClient(node.url, String(made.body['key']))
}

describe.concurrent('38: permissions over HTTP', () => {
  scenario('a key with schedules:read only: GET 200; PATCH, enable, run-now and DELETE 403', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const made = await node.schedules.create({ name: 'seen', cron: '0 7 * * *', agent_id: 'worker' })
    const { key } = await node.client.keys.create({ name: 'Reader', role: 'member', scopes: ['schedules:read'] })
    const ask = (method: string, target: string, body?: unknown): Promise<RawAnswer> =>
      node.raw(method, `/api/v1/schedules${target}`, { key: key ?? '', ...(body === undefined ? {} : { body }) })
    expect((await ask('GET', `/${made.id}`)).body).toEqual(made)
    expect(await ask('GET', '')).toMatchObject({ status: 200, body: { items: [made] } })
    const refusals = [
      await ask('PATCH', `/${made.id}`, { name: 'changed' }),
      await ask('POST', `/${made.id}/enable`),
      await ask('POST', `/${made.id}/run-now`),
      await ask('DELETE', `/${made.id}`),
      await ask('POST', '', { name: 'new', cron: '0 7 * * *' }),
    ]
    expect(refusals.map(({ status, body }) => [status, body['code']])).toEqual(Array(5).fill([403, 'FORBIDDEN']))
    // It opens the runs of schedules, and no others.
    await node.sessions.ask(chat('s'), 'not of a schedule')
    expect(await node.raw('GET', '/api/v1/runs', { key: key ?? '' })).toMatchObject({
      status: 200,
      body: { items: [] },
    })
    expect((await node.schedules.list()).items).toEqual([made])
    expect((await node.runs.list()).items).toHaveLength(1)
  })

  scenario('what belongs to another org is a 404 everywhere, and in no list and no count', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const schedule = await node.schedules.create({ name: 'ours', cron: '0 7 * * *', agent_id: 'worker' })
    const { run_id: runId = '' } = await node.schedules.runNow(schedule.id)
    await ended(node, runId)
    await node.sessions.ask(chat('s'), 'ours')
    const other = await clientOfNewOrg(node, 'acme')
    const hidden: readonly (() => Promise<unknown>)[] = [
      () => other.schedules.get(schedule.id),
      () => other.schedules.update(schedule.id, { name: 'theirs' }),
      () => other.schedules.enable(schedule.id),
      () => other.schedules.disable(schedule.id),
      () => other.schedules.runNow(schedule.id),
      () => other.schedules.runs(schedule.id),
      () => other.schedules.explain(schedule.id, { at: new Date().toISOString() }),
      () => other.schedules.delete(schedule.id),
      () => other.runs.get(runId),
      () => other.runs.getScheduleRun(runId),
      () => other.runs.explain(runId),
      () => other.runs.cancel(runId),
      () => other.runs.retry(runId),
      () => other.runs.schedule(runId),
      () => other.sessions.get(chat('s')),
      () => other.sessions.messages(chat('s')),
      () => other.agents.get('worker'),
    ]
    for (const call of hidden) await refused(call(), 'NOT_FOUND')
    await refused(other.schedules.create({ name: 'theirs', cron: '0 7 * * *', agent_id: 'worker' }), 'VALIDATION')
    const { items } = await other.schedules.bulk({ action: 'delete', ids: [schedule.id] })
    expect(items).toEqual([expect.objectContaining({ ok: false, code: 'NOT_FOUND' })])

    expect((await other.schedules.list()).items).toEqual([])
    expect((await other.runs.list()).items).toEqual([])
    expect((await other.runs.list({ schedule_id: schedule.id })).items).toEqual([])
    expect((await other.sessions.list()).items).toEqual([])
    expect((await other.agents.list()).items.map((agent) => agent.id)).not.toContain('worker')
    expect((await other.keys.list()).items.map((key) => key.name)).toEqual(['First key'])
    const stats = await other.stats.get()
    expect(stats).toMatchObject({ org_id: 'acme', runs: { ended: 0, share: null }, schedules: {}, agents: [] })
    const audited = (await other.audit.list()).items.map((record) => record.org_id)
    expect(new Set(audited)).toEqual(new Set(['acme']))

    // Lanes, configuration and orgs are the operator's.
    for (const call of [
      () => other.lanes.set('main', { concurrency: 1 }),
      () => other.config.get(),
      () => other.orgs.list(),
      () => other.nodes.list(),
    ])
      expect(await refused(call(), 'FORBIDDEN')).toMatchObject({ details: { reason: 'operators_only' } })
    expect(await node.schedules.get(schedule.id)).toMatchObject({
      name: 'ours',
      state: 'active',
      version: schedule.version,
    })
  })
})
