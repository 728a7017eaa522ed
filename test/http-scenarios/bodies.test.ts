import { describe, expect } from 'vitest'
import { ended, inMs, runsWhen } from '../scenarios/support.ts'
import { SAMPLE_JSON, SAMPLE_POLICIES, SAMPLE_TEXT } from '../support/seed-003-sample.ts'
import { scenario } from './world.ts'

describe.concurrent('bodies of other schedulers over HTTP', () => {
  scenario('the sample with its remark removed and nothing else changed is a schedule that runs', async (world) => {
    const node = await world.start()
    const withRemark = await node.raw('POST', '/api/v1/schedules', { text: SAMPLE_TEXT })
    expect([withRemark.status, withRemark.body['code']]).toEqual([400, 'MALFORMED'])
    const made = await node.raw('POST', '/api/v1/schedules', { text: SAMPLE_JSON })
    expect(made).toMatchObject({
      status: 201,
      body: {
        ...{ name: 'demo-task', kind: 'cron', cron: '*/5 * * * * *', agent_id: 'echo', state: 'active' },
        ...SAMPLE_POLICIES,
      },
    })
    const [run] = await runsWhen(node, String(made.body['id']), ([first]) => first?.status === 'success')
    expect(run).toMatchObject({ trigger: 'schedule', attempt: 1, agent_id: 'echo' })
  })

  scenario('GoClaw: kind with atMs, everyMs, or expr and tz', async (world) => {
    const node = await world.start()
    const atMs = Date.now() + 3_600_000
    const create = (body: Readonly<Record<string, unknown>>): Promise<unknown> =>
      node.raw('POST', '/api/v1/schedules', { body })
    expect(await create({ name: 'reminder', kind: 'at', atMs, payload: 'Call back' })).toMatchObject({
      ...{ status: 201, body: { kind: 'at', at: new Date(atMs).toISOString(), delete_after_run: true } },
    })
    expect(await create({ name: 'often', kind: 'every', everyMs: 1_800_000 })).toMatchObject({
      ...{ status: 201, body: { kind: 'every', every_seconds: 1_800 } },
    })
    expect(await create({ name: 'weekdays', kind: 'cron', expr: '0 9 * * 1-5', tz: 'Asia/Ho_Chi_Minh' })).toMatchObject(
      {
        ...{ status: 201, body: { kind: 'cron', cron: '0 9 * * 1-5', timezone: 'Asia/Ho_Chi_Minh' } },
      },
    )
  })

  scenario(
    'Semibot: schedule_type with cron_expr, interval_seconds or run_at, a payload and a retry policy',
    async (world) => {
      const node = await world.start()
      const common = {
        ...{ agent_id: 'echo', description: 'As it was', enabled: true, timezone: 'Asia/Shanghai' },
        payload: { prompt: 'Write the daily report', context: { team: 'data' }, output: 'markdown' },
        retry_policy: { max_retries: 5, strategy: 'ladder', ladder_seconds: [30, 60, 300, 900, 3_600] },
      }
      const create = (body: Readonly<Record<string, unknown>>) =>
        node.raw('POST', '/api/v1/schedules', { body: { ...common, ...body } })
      const daily = await create({ name: 'daily', schedule_type: 'cron', cron_expr: '0 7 * * *' })
      expect(daily).toMatchObject({
        ...{ status: 201, body: { kind: 'cron', cron: '0 7 * * *', payload: common.payload, enabled: true } },
      })
      expect(daily.body['retry_policy']).toMatchObject(common.retry_policy)
      expect(await create({ name: 'sync', schedule_type: 'interval', interval_seconds: 600 })).toMatchObject({
        ...{ status: 201, body: { kind: 'every', every_seconds: 600 } },
      })
      const runAt = inMs(3_600_000)
      expect(await create({ name: 'once', schedule_type: 'once', run_at: runAt })).toMatchObject({
        ...{ status: 201, body: { kind: 'at', at: runAt } },
      })
      const { run_id: id = '' } = await node.schedules.runNow(String(daily.body['id']))
      expect(await ended(node, id)).toMatchObject({ status: 'success' })
      expect(await node.client.runs.getScheduleRun(id)).toMatchObject({ id, status: 'success' })
      const both = await create({ name: 'both', cron: '0 7 * * *', cron_expr: '0 8 * * *' })
      expect([both.status, both.body['code']]).toEqual([400, 'VALIDATION'])
    },
  )
})
