import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { createConsoleWorld, inspect, NO_BROWSER, type ConsoleWorld } from './support.ts'

let world: ConsoleWorld
let receiver: Server
let port = 0

const CHECKLIST = '- Is anything in the inbox urgent?\n- Has a nightly build failed?'
const SIGNING = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const fill = async (): Promise<void> => {
  const { api } = world
  for (const name of ['Audit one', 'Audit two', 'Audit three'])
    await api.schedules.create({ name, every_seconds: 3_600, agent_id: 'echo', payload: 'hello' })
  await api.agents.create({
    ...{ id: 'writer', name: 'Writer of the long weekly summary', description: 'Writes what happened, for everybody' },
    executor: { kind: 'http', url: `http://127.0.0.1:${port}/agent`, headers: { 'X-Team': 'ops' } },
    ...{ max_concurrent: 3, timeout_seconds: 90 },
  })
  const target = await api.targets.create({ name: 'Operations', url: `http://127.0.0.1:${port}/hook` })
  const broken = await api.targets.create({ name: 'Broken receiver', url: `http://127.0.0.1:${port}/broken` })
  for (const { id } of [target, broken]) {
    const made = await api.schedules.create({
      ...{ name: `Report for ${id.slice(-4)}`, every_seconds: 3_600, agent_id: 'echo', payload: 'report' },
      delivery: { target_id: id },
    })
    await api.schedules.runNow(made.id)
  }
  await api.secrets.create({ name: 'WRITER_KEY', value: 'a-value-that-nobody-sees', hosts: ['api.example.com'] })
  await api.channels.create({ name: 'builds', kind: 'hook', agent_id: 'echo', signing_secret: SIGNING })
  await api.heartbeat.set('echo', { checklist: { text: CHECKLIST }, interval_seconds: 900, target: 'none' })
  await api.heartbeat.test('echo')
  await api.budgets.create({ unit: 'tokens', amount: 1_000_000, period: 'day', on_exceed: 'queue' })
  await api.providers.create({ name: 'openai', requests_per_minute: 60, tokens_per_minute: 90_000 })
}

describe.skipIf(NO_BROWSER !== null)('the console, for whoever operates it', () => {
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      request.resume()
      response.statusCode = request.url === '/broken' ? 500 : 200
      response.end('ok')
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    ;({ port } = receiver.address() as AddressInfo)
    world = await createConsoleWorld({
      ESCAPEMENT_OUTBOUND_ALLOW_HOSTS: `127.0.0.1:${port}`,
      ESCAPEMENT_SECRET_KEY: '7'.repeat(64),
    })
    await fill()
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(async () => {
    await world.close()
    receiver.close()
  }, 30_000)

  it('shows in the audit who disabled three at once, and what that changed', async () => {
    const { page, signIn, go, complaints } = await world.open()
    await signIn()
    await go('/automation/schedules?q=Audit')
    await page.waitForSelector('text=Audit three')
    await page.click('[aria-label="Select all shown"]')
    await page.getByRole('button', { name: 'Disable 3' }).click()
    await page.waitForSelector('text=3 schedules disabled')
    await go('/operations/audit?action=schedule.disable')
    await vi.waitFor(async () => expect(await page.getByRole('row').count()).toBe(4), { timeout: 10_000 })
    await page.getByRole('button', { name: 'schedule.disable' }).first().click()
    await page.waitForSelector('.diff')
    expect(await page.locator('.diff').innerText()).toMatch(/enabled\s+true\s+false/)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Verify chain' }).click()
    await page.waitForSelector('text=The chain is intact')
    expect(complaints).toEqual([])
  })

  it('sets a lane, makes a key that is shown once, and tries targets out', async () => {
    const { page, signIn, go, complaints } = await world.open()
    await signIn()
    await go('/automation/queue')
    await page.getByLabel('Slots per node in main').fill('12')
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    await page.waitForSelector('text=Lane main now has 12 slots per node')
    expect((await world.api.lanes.list()).items.find(({ name }) => name === 'main')?.concurrency).toBe(12)

    await go('/settings/keys?open=new')
    await page.getByLabel('Name').fill('Nightly reports')
    await page.getByLabel('Permissions').fill('no:such')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.waitForSelector('text=/is not a permission/')
    await page.getByLabel('Permissions').fill('runs:read')
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = await page.locator('.shown-once code').innerText()
    expect(await createClient({ url: world.url, key }).auth.me()).toMatchObject({ permissions: ['runs:read'] })
    await page.getByRole('button', { name: "I've saved it" }).click()
    await page.waitForSelector('text=Nightly reports')
    expect(await page.content()).not.toContain(key)

    await go('/settings/targets')
    await page.getByRole('button', { name: 'Test' }).first().click()
    await page.getByRole('button', { name: 'Test' }).last().click()
    await page.waitForSelector('text=/Operations answered after/')
    await page.waitForSelector('text=/Broken receiver could not be reached/')
    expect(complaints).toEqual([])
  })

  it('is open to everybody on every page, in every size and theme', async () => {
    const visitor = await world.open()
    await visitor.signIn()
    const findings: string[] = []
    for (const [name, address, sign] of PAGES) {
      await visitor.go(address)
      await visitor.page.waitForSelector(sign)
      findings.push(...(await inspect(visitor, name)))
    }
    expect(findings).toEqual([])
    expect(visitor.complaints).toEqual([])
  }, 180_000)
})

const ROW = '[role="row"] [role="cell"]'

/** Every page with what shows that it is there. */
const PAGES: readonly (readonly [name: string, address: string, sign: string])[] = [
  ['queue', '/automation/queue', '.lane-cells'],
  ['agents', '/agents', ROW],
  ['agent-editor', '/agents?agent=writer', '.form'],
  ['heartbeats', '/agents/heartbeats', '.beats-log [role="cell"]'],
  ['deliveries', '/operations/deliveries', ROW],
  ['alerts', '/operations/alerts', '.empty'],
  ['audit', '/operations/audit', ROW],
  ['nodes', '/operations/nodes', '.node'],
  ['targets', '/settings/targets', ROW],
  ['target-editor', '/settings/targets?open=new', '.form'],
  ['channels', '/settings/channels', ROW],
  ['secrets', '/settings/secrets', ROW],
  ['keys', '/settings/keys', ROW],
  ['members', '/settings/members', ROW],
  ['limits', '/settings/limits', ROW],
  ['providers', '/settings/providers', ROW],
  ['config', '/settings/config', ROW],
  ['orgs', '/settings/orgs', ROW],
]
