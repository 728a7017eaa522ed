import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { json, startPeer, type Peer } from '../platform/outbound/peer.ts'
import { eventually } from '../scenarios/support.ts'
import { createConsoleWorld, NO_BROWSER, type ConsoleWorld, type Visitor } from './support.ts'

if (NO_BROWSER !== null) process.stderr.write(`The pages of seed 002 are not tried in a browser: ${NO_BROWSER}\n`)

let world: ConsoleWorld
let agent: Peer
let broken: { readonly id: string; readonly runId: string }

/** Opens the console, signed in. */
async function visit(): Promise<Visitor> {
  const visitor = await world.open()
  await visitor.signIn()
  return visitor
}

describe.skipIf(NO_BROWSER !== null)('the pages of seed 002', () => {
  beforeAll(async () => {
    agent = await startPeer((_, response) =>
      json(response, 200, { status: 'failed', error_message: 'the shelf is empty', retryable: false }),
    )
    world = await createConsoleWorld({ ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true' })
    await world.api.agents.create({ id: 'clerk', name: 'Clerk', executor: { kind: 'http', url: agent.url } })
    const never = { cron: '0 0 1 1 *', timezone: 'UTC', agent_id: 'clerk' }
    const { id } = await world.api.schedules.create({ ...never, name: 'Breaks' })
    await world.api.schedules.create({ ...never, name: 'Rests', enabled: false })
    for (let count = 0; count < 2; count += 1) {
      const { run_id: runId = '' } = await world.api.schedules.runNow(id)
      await eventually(async () => expect((await world.api.runs.get(runId)).status).toBe('failed'))
      broken = { id, runId }
    }
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(async () => {
    await world.close()
    await agent.close()
  }, 30_000)

  it('list schedules with their state, next run, last results and failures, and filter them', async () => {
    const { page, go, complaints } = await visit()
    await go('/automation/schedules')
    const breaks = page.locator('.table-row', { hasText: 'Breaks' })
    await breaks.waitFor()
    expect(await breaks.locator('time').first().getAttribute('datetime')).toMatch(/-01-01T00:00:00/)
    await breaks.locator('.sparkline').waitFor()
    expect(await breaks.innerText()).toMatch(/2 in a row[\s\S]*2 in total/)
    await page.locator('.table-row', { hasText: 'Rests' }).getByText('Paused').first().waitFor()
    await go('/automation/schedules?state=paused')
    await page.waitForSelector('text=Rests')
    expect(await page.locator('.table-row', { hasText: 'Breaks' }).count()).toBe(0)
    await go('/automation/schedules?failing=true')
    await page.waitForSelector('text=Breaks')
    expect(await page.locator('.table-row', { hasText: 'Rests' }).count()).toBe(0)
    expect(complaints).toEqual([])
  }, 60_000)

  it('edit name, timing, zone, retries and payload in one drawer', async () => {
    const { page, go } = await visit()
    await go('/automation/schedules?edit=new')
    await page.fill('[data-field="name"]', 'By hand')
    await page.fill('[data-field="description"]', 'From the drawer')
    await page.click('[data-field="agent_id"]')
    await page.getByRole('option', { name: /clerk/i }).click()
    await page.fill('[data-field="prompt"]', 'Look around')
    // Each way to say when has its field; the one that is shown last is the one that is kept.
    for (const [tab, field] of [
      ['Once', 'at'],
      ['Calendar', 'cron'],
      ['Interval', 'every'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click()
      await page.waitForSelector(`[data-field="${field}"]`)
    }
    await page.fill('[data-field="every"]', '45')
    await page.fill('[data-field="timezone"]', 'Asia/Shanghai')
    await page.getByRole('option', { name: /Asia\/Shanghai/ }).click()
    await page.getByText('Failures and retries').click()
    await page.getByLabel('Custom').check()
    await page.fill('[data-field="max_retries"]', '2')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.waitForSelector('.editor', { state: 'detached' })
    const [made] = (await world.api.schedules.list({ q: 'By hand' })).items
    expect(made).toMatchObject({
      ...{ description: 'From the drawer', agent_id: 'clerk', kind: 'every', timezone: 'Asia/Shanghai' },
      ...{ payload: { prompt: 'Look around' }, retry_policy: { max_retries: 2 } },
    })
    await go(`/automation/schedules?edit=${made?.id ?? ''}`)
    await page.fill('[data-field="name"]', 'By hand, changed')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.waitForSelector('.editor', { state: 'detached' })
    expect((await world.api.schedules.get(made?.id ?? '')).name).toBe('By hand, changed')
  }, 60_000)

  it('show the error of a failed run in the log, also after a reload', async () => {
    const { page, go } = await visit()
    await go(`/automation/schedules/${broken.id}`)
    await page.waitForSelector('.log .table-row >> text=the shelf is empty')
    const before = await page.locator('.log .table-row').count()
    await page.reload()
    await page.waitForSelector('.log .table-row >> text=the shelf is empty')
    expect(await page.locator('.log .table-row').count()).toBe(before)
  }, 60_000)

  it('lead from a failed run to its conversation', async () => {
    const { page, go } = await visit()
    await go(`/automation/schedules/${broken.id}`)
    await page.getByRole('link', { name: 'Open session' }).first().click()
    await page.waitForURL(/\/chat\//)
    await go(`/automation/runs/${broken.runId}`)
    await page.locator('a[href*="/chat/"]').first().click()
    await page.waitForURL(/\/chat\//)
  }, 60_000)
})
