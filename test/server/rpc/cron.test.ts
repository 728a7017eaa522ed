import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CronJob, CronRunEntry } from '../../../src/server/rpc/schema.ts'
import { seedRun } from '../../platform/db/records.ts'
import { createHttpWorld, type HttpWorld } from '../support.ts'
import { call, pointers, result } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

const hourly = { kind: 'every', everyMs: 3_600_000 } as const
const make = async (more: object = {}): Promise<CronJob> =>
  (await result<{ job: CronJob }>(world, 'cron.create', { name: 'Job', schedule: hourly, message: 'Look', ...more }))
    .job
const scheduleOf = async ({ id }: CronJob): Promise<Readonly<Record<string, unknown>>> =>
  (await world.ask('GET', `/api/v1/schedules/${id}`)).json()

describe('cron.create', () => {
  it('makes the schedule that REST would have made, shown as GoClaw does', async () => {
    const job = await make({
      ...{ name: 'Mornings', agentId: 'writer', schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' } },
    })
    const schedule = await scheduleOf(job)
    expect(schedule).toMatchObject({
      ...{
        name: 'Mornings',
        kind: 'cron',
        cron: '0 9 * * 1-5',
        timezone: 'Europe/Berlin',
        payload: { prompt: 'Look' },
      },
    })
    expect(job).toEqual({
      ...{ id: schedule['id'], name: 'Mornings', agentId: 'writer', userId: 'key_owner', enabled: true },
      schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' },
      payload: { kind: 'agent_turn', message: 'Look' },
      state: { nextRunAtMs: Date.parse(String(schedule['next_run_at'])) },
      ...{ deleteAfterRun: false, stateless: true, deliver: false },
      createdAtMs: Date.parse(String(schedule['created_at'])),
      updatedAtMs: Date.parse(String(schedule['updated_at'])),
    })
  })

  it('takes an interval, and a moment that is gone after its run', async () => {
    expect((await make()).schedule).toEqual({ kind: 'every', everyMs: 3_600_000, tz: 'UTC' })
    const atMs = world.services.now + 60_000
    const job = await make({ schedule: { kind: 'at', atMs } })
    expect(job).toMatchObject({ schedule: { kind: 'at', atMs }, deleteAfterRun: true, state: { nextRunAtMs: atMs } })
    expect(await make({ schedule: { kind: 'at', atMs }, deleteAfterRun: false })).toMatchObject({
      deleteAfterRun: false,
    })
  })

  it('takes what GoClaw sends along although there is nothing to say', async () => {
    const nothing = { deliver: false, deliverChannel: '', deliverTo: '', wakeHeartbeat: false, promptFile: '' }
    const job = await make({ ...nothing, agentId: '', stateless: null })
    expect(job.agentId).toBe('writer')
  })

  it('keeps the memory of a conversation when it is not stateless', async () => {
    const job = await make({ stateless: false })
    expect(job.stateless).toBe(false)
    expect(await scheduleOf(job)).toMatchObject({ session: 'main' })
  })

  it.each([
    [{ schedule: { kind: 'cron', expr: '61 * * * *' } }, '/schedule/expr'],
    [{ schedule: { kind: 'cron', expr: '* * * *' } }, '/schedule/expr'],
    [{ schedule: { kind: 'cron', expr: '0 9 * * *', tz: 'Mars/Base' } }, '/schedule/tz'],
    [{ schedule: { kind: 'every', everyMs: 0 } }, '/schedule/everyMs'],
    [{ schedule: { kind: 'at', atMs: 1 } }, '/schedule/atMs'],
    [{ schedule: { kind: 'weekly' } }, '/schedule/kind'],
    [{ schedule: { ...hourly, every: 3 } }, '/schedule/every'],
    [{ schedule: undefined }, '/schedule'],
    [{ message: '' }, '/message'],
    [{ message: undefined }, '/message'],
    [{ agentId: 'nobody' }, '/agentId'],
    [{ deliver: true }, '/deliverTo'],
    [{ deliver: true, deliverTo: 'nowhere' }, '/deliverTo'],
    [{ deliver: true, deliverChannel: 'whatsapp', deliverTo: '1' }, '/deliverChannel'],
    [{ wakeHeartbeat: true }, '/wakeHeartbeat'],
    [{ enabled: 'yes' }, '/enabled'],
  ])('refuses %j and names %s; nothing is stored', async (wrong, pointer) => {
    const before = await result<{ jobs: number }>(world, 'cron.status')
    const answer = await call(world, 'cron.create', { name: 'Bad', schedule: hourly, message: 'Look', ...wrong })
    expect(answer.error).toMatchObject({ code: -32602, data: { code: 'VALIDATION', status: 400 } })
    expect(pointers(answer)).toEqual([pointer])
    expect(await result(world, 'cron.status')).toEqual(before)
  })

  it('says which kind is meant by fields of two', async () => {
    const answer = await call(world, 'cron.create', { schedule: { everyMs: 5_000, expr: '* * * * *' }, message: 'x' })
    expect(answer.error?.code).toBe(-32602)
    expect(pointers(answer)[0]).toMatch(/^\/schedule/)
  })

  it('does the same call once under the same key', async () => {
    const params = { name: 'Once', schedule: hourly, message: 'Look' }
    const headers = { 'idempotency-key': 'a-key' }
    const first = await result<{ job: CronJob }>(world, 'cron.create', params, { headers })
    expect(await result(world, 'cron.create', params, { headers })).toEqual(first)
    const other = await call(world, 'cron.create', { ...params, name: 'Other' }, { headers })
    expect(other.error).toMatchObject({ code: -32009, data: { code: 'IDEMPOTENCY_MISMATCH' } })
  })
})

describe('a job that delivers', () => {
  const bot = { name: 'news', kind: 'telegram', agent_id: 'writer', token: '4711:AAH-made', allowed_users: ['1001'] }
  const targets = async (): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (await world.ask('GET', '/api/v1/targets')).json<{ items: readonly Readonly<Record<string, unknown>>[] }>().items

  it('sends its results to a chat of a channel, of which there is one target', async () => {
    expect((await world.ask('POST', '/api/v1/channels', { body: bot })).statusCode).toBe(201)
    const place = { deliver: true, deliverChannel: 'telegram', deliverTo: '12345' }
    const job = await make(place)
    const [target, ...others] = await targets()
    expect(others).toEqual([])
    expect(target).toMatchObject({ kind: 'telegram', settings: { channel: 'news', chat_id: '12345' } })
    expect(job).toMatchObject({ deliver: true, deliverTo: target?.['id'] })
    expect(await scheduleOf(job)).toMatchObject({ delivery: { target_id: target?.['id'] } })
    // The same chat again, under the name of the channel, and the target by its id and by its name.
    for (const again of [
      { deliverChannel: 'news', deliverTo: '12345' },
      { deliver: true, deliverTo: target?.['id'] },
      { deliver: true, deliverTo: target?.['name'] },
    ])
      expect(await make(again)).toMatchObject({ deliver: true, deliverTo: target?.['id'] })
    expect(await targets()).toHaveLength(1)
  })

  it('leaves no target behind when it is refused for another field', async () => {
    const before = (await targets()).length
    const place = { deliver: true, deliverChannel: 'news', deliverTo: '777' }
    const wrong = { name: 'Bad', schedule: hourly, message: 'Look', agentId: 'nobody', ...place }
    expect(pointers(await call(world, 'cron.create', wrong))).toEqual(['/agentId'])
    const job = await make()
    const patch = { schedule: { kind: 'cron', expr: 'x' }, ...place }
    expect(pointers(await call(world, 'cron.update', { jobId: job.id, patch }))).toEqual(['/patch/schedule/expr'])
    const full = { name: 'Full', schedule: hourly, message: 'Look', ...place }
    await world.services.db.query('update org set max_schedules = 1')
    expect((await call(world, 'cron.create', full)).error).toMatchObject({ data: { code: 'CONFLICT' } })
    await world.services.db.query('update org set max_schedules = null')
    expect(await targets()).toHaveLength(before)
    expect(await make(place)).toMatchObject({ deliver: true })
    expect(await targets()).toHaveLength(before + 1)
  })

  it('is told to stop, and to begin, by a patch', async () => {
    const [target] = await targets()
    const job = await make()
    const patched = async (patch: object): Promise<CronJob> =>
      (await result<{ job: CronJob }>(world, 'cron.update', { jobId: job.id, patch })).job
    expect(await patched({ deliver: true, deliverTo: target?.['id'] })).toMatchObject({ deliver: true })
    expect(await patched({ name: 'Renamed' })).toMatchObject({ deliver: true })
    expect(await patched({ deliver: false })).toMatchObject({ deliver: false })
    const wrong = await call(world, 'cron.update', { jobId: job.id, patch: { deliver: true, deliverTo: 'no' } })
    expect(pointers(wrong)).toEqual(['/patch/deliverTo'])
  })
})

describe('cron.update', () => {
  it('changes what the patch says and nothing else', async () => {
    const job = await make()
    const patch = { name: 'Renamed', message: 'Read', enabled: false }
    const { job: changed } = await result<{ job: CronJob }>(world, 'cron.update', { jobId: job.id, patch })
    expect(changed).toMatchObject({ name: 'Renamed', payload: { message: 'Read' }, enabled: false })
    expect(changed.schedule).toEqual(job.schedule)
  })

  it('moves a job to another kind, and to another zone alone', async () => {
    const job = await make()
    const update = async (schedule: object): Promise<CronJob> =>
      (await result<{ job: CronJob }>(world, 'cron.update', { id: job.id, patch: { schedule } })).job
    expect((await update({ kind: 'cron', expr: '0 7 * * *', tz: 'Asia/Shanghai' })).schedule).toEqual({
      ...{ kind: 'cron', expr: '0 7 * * *', tz: 'Asia/Shanghai' },
    })
    expect((await update({ tz: 'UTC' })).schedule).toEqual({ kind: 'cron', expr: '0 7 * * *', tz: 'UTC' })
  })

  it('brings the default agent back with an empty one, and leaves what is empty otherwise', async () => {
    const job = await make({ agentId: 'writer' })
    const patch = { agentId: '', name: '', message: '' }
    const { job: changed } = await result<{ job: CronJob }>(world, 'cron.update', { jobId: job.id, patch })
    expect(changed).toMatchObject({ agentId: 'writer', name: 'Job', payload: { message: 'Look' } })
  })

  it('names what is wrong inside the patch', async () => {
    const job = await make()
    const answer = await call(world, 'cron.update', {
      ...{ jobId: job.id, patch: { schedule: { kind: 'cron', expr: '61 * * * *' } } },
    })
    expect(pointers(answer)).toEqual(['/patch/schedule/expr'])
    expect(pointers(await call(world, 'cron.update', { jobId: job.id, patch: { nme: 'x' } }))).toEqual(['/patch/nme'])
  })
})

describe('a job', () => {
  it.each(['cron.update', 'cron.delete', 'cron.toggle', 'cron.run', 'cron.runs'])(
    'of %s has to be named',
    async (method) => {
      const more = method === 'cron.update' ? { patch: {} } : method === 'cron.toggle' ? { enabled: true } : {}
      expect(pointers(await call(world, method, { ...more }))).toEqual(['/jobId'])
      expect(pointers(await call(world, method, { ...more, jobId: 'a', id: 'b' }))).toEqual(['/id'])
    },
  )

  it.each(['cron.update', 'cron.delete', 'cron.toggle', 'cron.run', 'cron.runs'])(
    'of %s that is nobody’s, or another org’s, is not there',
    async (method) => {
      const more = method === 'cron.update' ? { patch: {} } : method === 'cron.toggle' ? { enabled: true } : {}
      const job = await make()
      const missing = await call(world, method, { ...more, jobId: 'sch_nobody' })
      const foreign = await call(world, method, { ...more, jobId: job.id }, { as: 'stranger' })
      expect(missing.error).toMatchObject({ code: -32004, data: { code: 'NOT_FOUND' } })
      expect(foreign.error).toMatchObject({ code: -32004, data: { code: 'NOT_FOUND' } })
    },
  )

  it('is switched off and on, and listed accordingly', async () => {
    const job = await make({ name: 'Switched' })
    const idsOf = async (params?: object): Promise<readonly string[]> =>
      (await result<{ jobs: CronJob[] }>(world, 'cron.list', params)).jobs.map(({ id }) => id)
    expect(await result(world, 'cron.toggle', { jobId: job.id, enabled: false })).toEqual({
      ...{ jobId: job.id, enabled: false },
    })
    expect(await idsOf()).not.toContain(job.id)
    expect(await idsOf({ includeDisabled: true })).toContain(job.id)
    await result(world, 'cron.toggle', { id: job.id, enabled: true })
    expect(await idsOf()).toContain(job.id)
    expect(await idsOf({ agentId: 'somebody-else' })).toEqual([])
  })

  it('is deleted', async () => {
    const job = await make()
    expect(await result(world, 'cron.delete', { jobId: job.id })).toEqual({ deleted: true })
    expect((await world.ask('GET', `/api/v1/schedules/${job.id}`)).statusCode).toBe(404)
  })

  it('is run now, or only when it is due', async () => {
    const job = await make()
    const ran = await result<{ runId: string }>(world, 'cron.run', { jobId: job.id })
    expect(ran).toEqual({ ok: true, ran: true, runId: ran.runId })
    const due = await result(world, 'cron.run', { jobId: job.id, mode: 'due' })
    expect(due).toEqual({ ok: true, ran: false, reason: 'not-due' })
    expect(pointers(await call(world, 'cron.run', { jobId: job.id, mode: 'now' }))).toEqual(['/mode'])
  })

  it('that is full is not run', async () => {
    const body = { every_seconds: 60, payload: 'x', concurrency_policy: 'SKIP', max_concurrency: 1 }
    const { id } = (await world.ask('POST', '/api/v1/schedules', { body })).json<{ id: string }>()
    await result(world, 'cron.run', { jobId: id })
    const { error } = await call(world, 'cron.run', { jobId: id })
    expect(error).toMatchObject({ code: -32009, data: { code: 'CONCURRENCY_LIMIT' } })
  })
})

describe('cron.list', () => {
  it('shows what was made otherwise too: recurrences, and payloads that are no message', async () => {
    const body = { rrule: 'FREQ=DAILY', payload: { task: 'sweep' }, name: 'Made by REST' }
    const { id } = (await world.ask('POST', '/api/v1/schedules', { body })).json<{ id: string }>()
    const { jobs, status } = await result<{ jobs: CronJob[]; status: object }>(world, 'cron.list')
    expect(jobs.find((job) => job.id === id)).toMatchObject({
      ...{ schedule: { kind: 'rrule', rrule: 'FREQ=DAILY' }, payload: { message: '{"task":"sweep"}' } },
    })
    expect(status).toMatchObject({ enabled: true })
  })

  it('goes on where the page before ended', async () => {
    for (const name of ['One', 'Two', 'Three']) {
      world.services.pass(1_000)
      await make({ name })
    }
    const first = await result<{ jobs: CronJob[]; nextCursor: string }>(world, 'cron.list', { limit: 2 })
    expect(first.jobs.map(({ name }) => name)).toEqual(['Three', 'Two'])
    const second = await result<{ jobs: CronJob[] }>(world, 'cron.list', { limit: 1, cursor: first.nextCursor })
    expect(second.jobs.map(({ name }) => name)).toEqual(['One'])
  })
})

describe('cron.runs', () => {
  it('says ok and error, newest first, and how many there are', async () => {
    const job = await make()
    const of = { schedule: job.id, trigger: 'schedule' } as const
    await seedRun(world.services.db, 'run_log_1', {
      ...of,
      state: 'success',
      usage: { inputTokens: 12, outputTokens: 3 },
    })
    await seedRun(world.services.db, 'run_log_2', {
      ...{ ...of, state: 'failed', errorCode: 'agent_error', errorMessage: 'It broke' },
    })
    await seedRun(world.services.db, 'run_log_3', { ...of, state: 'timeout', errorCode: 'timeout' })
    const log = await result<{ entries: CronRunEntry[]; total: number }>(world, 'cron.runs', { jobId: job.id })
    expect(log.total).toBe(3)
    expect(Object.fromEntries(log.entries.map(({ runId, status, error }) => [runId, [status, error]]))).toEqual({
      run_log_1: ['ok', undefined],
      run_log_2: ['error', 'It broke'],
      run_log_3: ['error', 'timeout'],
    })
    for (const entry of log.entries) expect(entry).toMatchObject({ jobId: job.id, ts: expect.any(Number) as number })
    expect(log.entries.find(({ runId }) => runId === 'run_log_1')).toMatchObject({
      ...{ inputTokens: 12, outputTokens: 3, durationMs: 0 },
    })
  })

  it('passes over those before the offset', async () => {
    const job = await make()
    const of = { schedule: job.id, trigger: 'schedule', state: 'success' } as const
    for (let index = 0; index < 5; index += 1) await seedRun(world.services.db, `run_page_${index}`, of)
    const page = async (limit: number, offset: number): Promise<readonly string[]> =>
      (await result<{ entries: CronRunEntry[] }>(world, 'cron.runs', { id: job.id, limit, offset })).entries.map(
        ({ runId }) => runId,
      )
    const all = await page(200, 0)
    expect(all).toHaveLength(5)
    expect([...(await page(2, 0)), ...(await page(2, 2)), ...(await page(2, 4))]).toEqual(all)
    expect(await page(2, 9)).toEqual([])
    expect(pointers(await call(world, 'cron.runs', { id: job.id, limit: 0, offset: -1 }))).toEqual([
      '/limit',
      '/offset',
    ])
  })
})

describe('sessions.stop and stopall', () => {
  const key = 'agent:writer:chat:direct:anna'
  const send = (text: string) =>
    world.ask('POST', `/api/v1/sessions/${encodeURIComponent(key)}/messages`, { body: { text, debounce_ms: 0 } })

  it('do what the commands do', async () => {
    for (const text of ['one', 'two', 'three']) await send(text)
    expect(await result(world, 'sessions.stop', { key })).toEqual({ stopped: 0, drained: 0 })
    expect(await result(world, 'sessions.stopall', { sessionKey: key })).toEqual({ stopped: 0, drained: 3 })
  })

  it('want to know which session', async () => {
    expect(pointers(await call(world, 'sessions.stop'))).toEqual(['/key'])
    const long = await call(world, 'sessions.stopall', { key: 'x'.repeat(600) })
    expect(long.error).toMatchObject({ code: -32602, data: { code: 'VALIDATION' } })
  })
})
