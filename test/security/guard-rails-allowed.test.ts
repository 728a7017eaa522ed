import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attemptId, runId } from '../../src/domain/ids.ts'
import { attemptKeyText, findAttemptPrincipal } from '../../src/features/access/attempt-keys.ts'
import { connect } from '../server/mcp/support.ts'
import { KEYS } from '../server/support.ts'
import { ORG } from '../platform/db/records.ts'
import { askAll, createRailWorld, HOURLY, type Asked, type Key, type RailWorld } from './guard-rails-world.ts'
import { at, changing, DAY, handing, hourly, making, retrying } from './guard-rails-asks.ts'

// The other side of guard-rails.test.ts: what keys with rails are given them for works, on every surface; and what no row
// of a table can say: races, lists, and what becomes of something that was approved.

let rails: RailWorld
beforeAll(async () => {
  rails = await createRailWorld()
})
afterAll(() => rails.close())

const schedules = '/api/v1/schedules'

interface Shown {
  readonly id: string
  readonly state: string
  readonly version: number
  readonly ends_at?: string
  readonly notes?: readonly string[]
  readonly owner: string | null
  readonly created_by_run: string | null
  readonly approval: { readonly changes: unknown; readonly run_id: string | null } | null
}

const shown = async (id: string): Promise<Shown> => (await rails.world.ask('GET', `${schedules}/${id}`)).json<Shown>()
const make = async (as: Key, body: object = HOURLY): Promise<Shown> => {
  const response = await rails.world.ask('POST', schedules, { as, body })
  expect(response.statusCode, response.body).toBe(201)
  return response.json<Shown>()
}

/** Asks every surface, and each must do it. */
async function works(key: Key, asked: Asked): Promise<void> {
  for (const [surface, { code }] of await askAll(rails, key, asked)) expect([surface, code]).toEqual([surface, null])
}

describe('a key with rails', () => {
  it('makes, changes, looks at and deletes its own on every surface', async () => {
    await works('rival', hourly())
    const { id } = await make('rival')
    await works('rival', changing(id, { name: 'Renamed' }, { name: 'Renamed' }))
    await works('rival', changing(id, { enabled: false }, { enabled: false }))
    await works('rival', {
      rest: ['GET', `${schedules}/${id}`],
      mcp: ['schedule_list', { schedule_id: id }],
      rpc: ['cron.list', {}],
    })
    await works('rival', { mcp: ['run_explain', { schedule_id: id, at: at(3_600_000) }] })
    await works('rival', { rest: ['GET', `/api/v1/explain?at=${at(3_600_000)}&schedule_id=${id}`] })
    await works('rival', { rest: ['GET', `${schedules}/${id}/explain?at=${at(3_600_000)}`] })
    for (const surface of ['rest', 'rpc', 'mcp'] as const) {
      const mine = await make('rival')
      const asked: Required<Asked> = {
        rest: ['DELETE', `${schedules}/${mine.id}`],
        rpc: ['cron.delete', { jobId: mine.id }],
        mcp: ['schedule_delete', { schedule_id: mine.id }],
      }
      await works('rival', { [surface]: asked[surface] })
      expect((await rails.world.ask('GET', `${schedules}/${mine.id}`)).statusCode).toBe(404)
    }
  })

  it('asks why its own runs are where they are, and what happened at a time, of its own alone', async () => {
    const { mineRun, mineFailed, others, othersRun } = rails.things
    for (const run of [mineRun, mineFailed])
      await works('plain', {
        rest: ['GET', `/api/v1/explain?id=${run}`],
        mcp: ['run_explain', { run_id: run }],
      })
    await works('plain', { rest: ['GET', `/api/v1/runs/${mineRun}/explain`] })
    const around = `/api/v1/explain?at=${at(0)}&within_seconds=7200`
    const [everything, own] = await Promise.all(
      ['owner', 'plain'].map(async (as) => (await rails.world.ask('GET', around, { as })).body),
    )
    for (const id of [others, othersRun]) {
      expect(everything).toContain(`"${id}"`)
      expect(own).not.toContain(`"${id}"`)
    }
    expect(own).toContain(mineFailed)
  })

  it('runs its own, hands in tasks and speaks in its own conversations', async () => {
    for (const surface of ['rest', 'rpc', 'mcp'] as const) {
      const { id } = await make('rival')
      const asked: Required<Asked> = {
        rest: ['POST', `${schedules}/${id}/run-now`],
        rpc: ['cron.run', { jobId: id }],
        mcp: ['run_now', { schedule_id: id }],
      }
      await works('rival', { [surface]: asked[surface] })
    }
    await works('rival', handing('writer'))
    const session = 'agent:writer:key:key_rival'
    await works('rival', { rest: ['POST', `/api/v1/sessions/${encodeURIComponent(session)}/messages`, { text: 'x' }] })
    await works('rival', {
      rest: ['POST', `/api/v1/sessions/${encodeURIComponent(session)}/stop`],
      rpc: ['sessions.stop', { key: session }],
      mcp: ['stop', { session }],
    })
  })

  it('repeats its own runs with another prompt, and approved ones as they are', async () => {
    const { mineFailed, approvedRun } = rails.things
    rails.world.services.pass(3_600_000)
    await works('plain', retrying(mineFailed, { prompt: 'Look again' }))
    await works('asking', retrying(approvedRun, {}))
  })

  it('may run a schedule again when the time between two has passed', async () => {
    const { id } = await make('rival')
    await works('rival', { mcp: ['run_now', { schedule_id: id }] })
    rails.world.services.pass(61_000)
    await works('rival', { mcp: ['run_now', { schedule_id: id }] })
  })

  it('sees nothing of others in lists, on any surface', async () => {
    const ids = (await rails.world.ask('GET', `${schedules}?limit=200`, { as: 'full' })).json<{ items: Shown[] }>()
    expect(ids.items.map(({ id }) => id)).toEqual([rails.things.fulls])
    const told = await (await rails.mcp('full')).call('schedule_list', { limit: 50 })
    expect((told.structured['items'] as readonly Shown[]).map(({ id }) => id)).toEqual([rails.things.fulls])
    const rpc = await rails.world.ask('POST', '/rpc', {
      as: 'full',
      body: { jsonrpc: '2.0', id: 1, method: 'cron.list', params: { includeDisabled: true } },
    })
    expect(rpc.json<{ result: { jobs: Shown[] } }>().result.jobs.map(({ id }) => id)).toEqual([rails.things.fulls])
    for (const url of ['/api/v1/runs?limit=200', '/tasks?limit=200']) {
      const list = (await rails.world.ask('GET', url, { as: 'full' })).json<{ items?: unknown[]; tasks?: unknown[] }>()
      expect(list.items ?? list.tasks, url).toEqual([])
    }
    const outcomes = await rails.world.ask('GET', `${schedules}/outcomes?ids=${rails.things.others}`, { as: 'full' })
    expect(outcomes.json<{ items: unknown[] }>().items).toEqual([])
  })

  it('changes nothing of others in bulk', async () => {
    const { others } = rails.things
    for (const action of ['disable', 'delete']) {
      const body = { action, ids: [others] }
      const answer = await rails.world.ask('POST', `${schedules}/bulk`, { as: 'plain', body })
      expect(answer.json()).toMatchObject({
        done: 0,
        refused: 1,
        items: [{ id: others, ok: false, code: 'NOT_FOUND' }],
      })
    }
    expect(await shown(others)).toMatchObject({ state: 'active' })
  })

  it('does not get past the count by coming many times at once', async () => {
    await rails.world.ask('DELETE', `${schedules}/${rails.things.fulls}`)
    const guest = await rails.mcp('full')
    const made = await Promise.all([
      ...[1, 2, 3].map(
        async () => (await rails.world.ask('POST', schedules, { as: 'full', body: HOURLY })).statusCode < 300,
      ),
      ...[1, 2, 3].map(
        async () =>
          (await guest.call('schedule_create', { name: 'x', cron: '0 * * * *', prompt: 'x' })).problem === null,
      ),
    ])
    expect(made.filter(Boolean)).toHaveLength(1)
  })

  it('is told when what it makes was given an end', async () => {
    const made = await make('mortal')
    expect(made.notes?.[0]).toContain('ends_at was set to')
    expect(Date.parse(made.ends_at ?? '')).toBe(rails.world.services.now + DAY)
    const { text } = await (
      await rails.mcp('mortal')
    ).call('schedule_create', { name: 'x', cron: '0 * * * *', prompt: 'x' })
    expect(text).toContain('ends_at was set to')
  })
})

describe('a budget', () => {
  it('of a key is spent by everything it makes, on every surface', async () => {
    const { world } = rails
    const guard_rails = { budget: { unit: 'tokens', amount: 100 } }
    const made = await world.ask('POST', '/api/v1/keys', { body: { name: 'spent', guard_rails } })
    expect(made.statusCode, made.body).toBe(201)
    const { id } = made.json<{ readonly id: string }>()
    rails.add('spent', id)
    await make('spent' as Key)
    await works('spent' as Key, handing('writer'))
    const { services } = world
    await services.db.query(
      `insert into usage (org_id, budget_id, period_start, used)
       select org_id, id, $2::timestamptz, 100 from budget where scope_id = $1`,
      [`owner:${id}`, new Date(Math.floor(services.now / DAY) * DAY).toISOString()],
    )
    for (const [surface, { code }] of await askAll(rails, 'spent' as Key, handing('writer')))
      expect([surface, code]).toEqual([surface, 'BUDGET'])
    const kept = await services.db.query('select state from run where owner = $1 order by created_at, id', [id])
    expect(kept.filter(({ state }) => state === null)).toHaveLength(2)
    expect((await askAll(rails, 'rival', handing('writer'))).map(([, { code }]) => code)).toEqual([null, null])
  })
})

describe('approval', () => {
  it('is asked for again when what was approved is changed', async () => {
    const { approved } = rails.things
    expect(await shown(approved)).toMatchObject({ state: 'active', approval: null })
    await works('asking', { mcp: ['schedule_update', { schedule_id: approved, cron: '15 * * * *' }] })
    expect(await shown(approved)).toMatchObject({ state: 'pending_approval' })
    expect((await shown(approved)).approval?.changes).toMatchObject({
      cron: { before: '30 * * * *', after: '15 * * * *' },
    })
  })

  it('is given to the version that was looked at, by owners and admins alone', async () => {
    const { proposed } = rails.things
    const { version } = await shown(proposed)
    const approve = (as: string, seen: number) =>
      rails.world.ask('POST', `${schedules}/${proposed}/approve`, { as, headers: { 'if-match': `"${seen}"` } })
    expect((await approve('member', version)).statusCode).toBe(403)
    expect((await approve('admin', version - 1)).statusCode).toBe(412)
    for (const change of [{ enabled: true }, { name: 'By a member' }]) {
      await rails.world.ask('PATCH', `${schedules}/${proposed}`, { as: 'member', body: change })
      expect(await shown(proposed)).toMatchObject({ state: 'pending_approval' })
    }
    const { version: now } = await shown(proposed)
    expect((await approve('admin', now)).statusCode).toBe(200)
    expect(await shown(proposed)).toMatchObject({ state: 'active', approval: null })
    await works('asking', { mcp: ['run_now', { schedule_id: proposed }] })
  })

  it('is not got by switching on what was proposed', async () => {
    const { id } = await make('asking')
    await askAll(rails, 'asking', changing(id, { enabled: true }, { enabled: true }))
    expect(await shown(id)).toMatchObject({ state: 'pending_approval' })
  })
})

describe('an attempt', () => {
  it('makes what belongs to its agent and comes from its run', async () => {
    const made = await make('working')
    expect(made).toMatchObject({ owner: 'agent:writer', created_by_run: 'run_working' })
    rails.world.services.pass(1)
    const { structured } = await (await rails.mcp('working')).call('task_submit', { agent_id: 'reader', action: 'x' })
    const run = await rails.world.ask('GET', `/api/v1/runs/${String(structured['task_id'])}`)
    expect(run.json()).toMatchObject({ parent_run_id: 'run_working' })
    const lineage = await rails.world.ask('GET', '/api/v1/runs/run_working/lineage')
    expect(lineage.json()).toMatchObject({ children: [{ kind: 'schedule', id: made.id }, { kind: 'run' }] })
  })
})

describe('the key of an attempt, as it is handed to the agent', () => {
  it('works on every surface, and on none as soon as the attempt has ended', async () => {
    const { world } = rails
    const { ports, db } = world.services
    await world.ask('PATCH', '/api/v1/agents/writer', { body: { self_service: {} } })
    const named = { orgId: ORG, runId: runId('run_nested'), attemptId: attemptId('att_run_nested') }
    const text = await attemptKeyText(ports, named)
    world.change({
      authenticate: (given) =>
        given.startsWith('esa_') ? findAttemptPrincipal(ports, given) : (KEYS.get(given) ?? null),
    })
    const guest = await connect(world, text)
    const rpc = { jsonrpc: '2.0', id: 1, method: 'cron.status' }
    const statuses = async (): Promise<readonly number[]> => [
      (await world.ask('GET', schedules, { as: text })).statusCode,
      (await world.ask('POST', '/rpc', { as: text, body: rpc })).statusCode,
    ]
    expect(await statuses()).toEqual([200, 200])
    const { structured } = await guest.call('schedule_create', { name: 'Later', cron: '0 9 * * *', prompt: 'x' })
    expect(await shown(String(structured['id']))).toMatchObject({ owner: 'agent:writer', created_by_run: 'run_nested' })
    await db.query(`delete from pending where id = 'run_nested'`, [])
    expect(await statuses()).toEqual([401, 401])
    await expect(guest.call('schedule_list')).rejects.toThrow('401')
  })
})

describe('a key without rails', () => {
  it('reaches the command executor over REST, and through MCP never', async () => {
    const body = { ...HOURLY, agent_id: 'runner' }
    expect((await rails.world.ask('POST', schedules, { body })).statusCode).toBe(201)
    const [, mcp] = await askAll(rails, 'owner', {
      rest: ['GET', `${schedules}/${rails.things.commands}`],
      mcp: ['run_now', { schedule_id: rails.things.commands }],
    })
    expect(mcp).toEqual(['MCP', { code: 'GUARD_RAIL', rail: 'executor' }])
  })

  it('makes as many and as fast as its role permits', async () => {
    await works('owner', making({ every_seconds: 5 }, { kind: 'every', everyMs: 5_000 }))
  })
})
