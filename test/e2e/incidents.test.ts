import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createConsoleWorld, inspect, NO_BROWSER, type ConsoleWorld } from './support.ts'

let world: ConsoleWorld
let agent: Server
let isBroken = true
const ids: string[] = []

const once = { timeout_seconds: 5, retry_policy: { max_retries: 0 } }

async function fill(port: number): Promise<void> {
  const { api } = world
  await api.agents.create({
    ...{ id: 'writer', name: 'Writer', executor: { kind: 'http', url: `http://127.0.0.1:${port}/agent` } },
  })
  await api.agents.create({
    ...{ id: 'reader', name: 'Reader', executor: { kind: 'http', url: `http://127.0.0.1:${port}/agent` } },
  })
  for (const [name, agent_id] of [
    ['Weekly summary', 'writer'],
    ['Release notes', 'writer'],
    ['Inbox triage', 'reader'],
  ] as const) {
    const made = await api.schedules.create({ ...once, name, agent_id, cron: '0 0 1 1 *', alert_after: 1 })
    ids.push(made.id)
    for (let run = 0; run < 2; run += 1) await api.schedules.runNow(made.id)
  }
  await vi.waitFor(async () => expect((await api.alerts.list({ status: 'open' })).items).toHaveLength(3), 20_000)
  await vi.waitFor(async () => {
    for (const { streak } of (await api.alerts.list({})).items) expect(streak).toBe(2)
  }, 20_000)
}

describe.skipIf(NO_BROWSER !== null)('incidents in the console', () => {
  beforeAll(async () => {
    agent = createServer((request, response) => {
      request.resume()
      response.statusCode = isBroken ? 500 : 200
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(isBroken ? { error: 'The model is overloaded' } : { output: 'done' }))
    })
    await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve))
    const { port } = agent.address() as AddressInfo
    world = await createConsoleWorld({ ESCAPEMENT_OUTBOUND_ALLOW_HOSTS: `127.0.0.1:${port}` })
    await fill(port)
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(async () => {
    await world.close()
    agent.close()
  }, 30_000)

  it('are one card per cause: two schedules of one agent are one incident of that agent', async () => {
    const visitor = await world.open()
    const { page, signIn, go, complaints } = visitor
    await signIn()
    await go('/operations/alerts')
    const writer = page.getByRole('article', { name: 'Writer' })
    await writer.waitFor()
    expect(await page.getByRole('article').count()).toBe(2)
    const words = await writer.innerText()
    expect(words).toContain('Weekly summary')
    expect(words).toContain('Release notes')
    expect(words).toContain('2 in a row')
    expect(words).toMatch(/500|overloaded/)
    expect(await page.locator('.rail .nav-badge').innerText()).toContain('2')
    expect(await inspect(visitor, 'incidents')).toEqual([])
    await go('/')
    await page.getByRole('region', { name: 'Needs attention' }).getByRole('link', { name: 'Inbox triage' }).click()
    await page.waitForURL(/\/automation\/schedules\/sch_/)
    expect(complaints).toEqual([])
  }, 60_000)

  it('are acknowledged, snoozed, retried all at once, and gone when the cause is', async () => {
    const { page, signIn, go, complaints } = await world.open()
    await signIn()
    await go('/operations/alerts')
    const reader = page.getByRole('article', { name: 'Inbox triage' })
    await reader.getByRole('button', { name: 'Acknowledge' }).click()
    await page.waitForSelector('text=acknowledged by')
    await vi.waitFor(async () => expect(await page.locator('.rail .nav-badge').innerText()).toContain('1'), 5_000)
    const writer = page.getByRole('article', { name: 'Writer' })
    await writer.getByRole('button', { name: 'Snooze' }).click()
    await page.getByRole('menuitem', { name: 'For a day' }).click()
    await page.waitForSelector('text=snoozed until')
    await vi.waitFor(async () => expect(await page.locator('.rail .nav-badge').count()).toBe(0), 5_000)
    expect((await world.api.alerts.list({ attention: true })).items).toEqual([])
    const actions = (await world.api.audit.list({ object_kind: 'alert' })).items.map(({ action }) => action)
    expect(actions.toSorted()).toEqual(['alert.acknowledge', 'alert.snooze', 'alert.snooze'])

    isBroken = false
    await writer.getByRole('button', { name: 'Retry all' }).click()
    await page.waitForSelector('text=4 runs retried')
    await vi.waitFor(async () => expect(await writer.count()).toBe(0), 10_000)
    await reader.getByRole('button', { name: 'Pause' }).click()
    await page.waitForSelector('text=1 schedule disabled')
    expect((await world.api.schedules.get(ids[2] ?? '')).enabled).toBe(false)
    expect(complaints).toEqual([])
  }, 60_000)
})
