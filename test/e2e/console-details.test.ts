import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createConsoleWorld, NO_BROWSER, type ConsoleWorld } from './support.ts'

let world: ConsoleWorld
let runId = ''

const IDLE_MS = 20_000

describe.skipIf(NO_BROWSER !== null)('the console, in its details', () => {
  beforeAll(async () => {
    world = await createConsoleWorld()
    const { api } = world
    for (const name of ['Writer', 'Reader', 'Sorter'])
      await api.agents.create({ id: name.toLowerCase(), name: `${name} of news`, executor: { kind: 'echo' } })
    for (const agent_id of ['writer', 'reader'])
      await api.schedules.create({ name: `Every second with ${agent_id}`, every_seconds: 1, agent_id, payload: 'x' })
    const made = await api.schedules.create({
      name: 'Once a year',
      cron: '0 0 1 1 *',
      agent_id: 'sorter',
      payload: 'x',
    })
    ;({ run_id: runId = '' } = await api.schedules.runNow(made.id))
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(() => world.close(), 30_000)

  it('asks at most once a second while one looks at the overview of a busy deployment', async () => {
    const { page, signIn, requests } = await world.open()
    await signIn()
    await page.waitForSelector('.figures .bars')
    await page.waitForTimeout(3_000)
    const before = requests.length
    await page.waitForTimeout(IDLE_MS)
    const asked = requests.slice(before)
    // The timeline reads the occurrences of its rows once per step.
    expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(20)
  }, 90_000)

  it('asks once for the outcomes of all agents', async () => {
    const { page, signIn, go, requests } = await world.open()
    await signIn()
    await go('/agents')
    await page.getByRole('link', { name: 'Sorter of news' }).waitFor()
    await page.waitForSelector('.sparkline')
    const asked = requests.filter((request) => request === 'GET /api/v1/agent-outcomes')
    expect(asked.length).toBeGreaterThan(0)
    expect(requests.slice(requests.indexOf('GET /api/v1/agent-outcomes'))).not.toContain('GET /api/v1/runs')
  }, 60_000)

  it('shows an address that leads nowhere in its frame', async () => {
    const { page, signIn, complaints } = await world.open()
    await signIn()
    await page.goto(`${world.url}/settings/nonsense/deeper`)
    await page.getByRole('heading', { name: 'Not found' }).waitFor()
    expect(await page.locator('.rail').count()).toBe(1)
    expect(complaints).toEqual([])
  }, 60_000)

  it('finds runs, agents and what can be created from the palette', async () => {
    const { page, signIn } = await world.open()
    await signIn()
    const open = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill(text)
    }
    await open(runId)
    await page.getByRole('option', { name: runId }).first().click()
    await page.waitForURL(new RegExp(`/automation/runs/${runId}`))
    await open('sorter of')
    await page.getByRole('option', { name: 'Sorter of news' }).click()
    await page.waitForURL(/\/agents\/sorter/)
    await open('new agent')
    await page.getByRole('option', { name: 'New agent' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Ollama' }).waitFor()
  }, 60_000)

  it('reads a time that is typed by the clock of the person', async () => {
    const { page, signIn, go } = await world.open()
    await signIn()
    const [request] = await Promise.all([page.waitForRequest(/\/api\/v1\/explain/), go('/automation/why?q=14%3A15')])
    expect(new URL(request.url()).searchParams.get('timezone')).toBe('Europe/Berlin')
    await page.waitForSelector('text=/read in your time zone, Europe.Berlin/')
  }, 60_000)

  it('offers no selection to those who may only look', async () => {
    const key = await world.api.keys.create({ name: 'Look', scopes: ['schedules:read', 'runs:read', 'agents:read'] })
    const { page, signIn, go } = await world.open()
    await signIn(key.key ?? '')
    await go('/automation/schedules')
    await page.waitForSelector('text=Once a year')
    expect(await page.getByRole('checkbox', { name: /^Select/ }).count()).toBe(0)
  }, 60_000)

  it('gives the focus back when the editor is closed', async () => {
    const { page, signIn, go } = await world.open()
    await signIn()
    await go('/automation/schedules')
    await page.getByRole('button', { name: 'New schedule' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.waitForTimeout(300)
    expect(await page.evaluate<string>('document.activeElement.textContent')).toContain('New schedule')
  }, 60_000)
})
