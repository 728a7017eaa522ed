import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createConsoleWorld, inspect, NO_BROWSER, type ConsoleWorld, type Visitor } from './support.ts'

if (NO_BROWSER !== null) process.stderr.write(`The console is not tried in a browser: ${NO_BROWSER}\n`)

let world: ConsoleWorld
const schedule = (name: string, more: Readonly<Record<string, unknown>> = {}) =>
  world.api.schedules.create({ name, every_seconds: 3_600, agent_id: 'echo', payload: 'hello', ...more })

/** Waits until so many schedules are shown in a state. */
const dots = ({ page }: Visitor, state: string, count: number): Promise<void> =>
  vi.waitFor(async () => expect(await page.locator(`.state-dot[data-state="${state}"]`).count()).toBe(count), {
    ...{ timeout: 12_000, interval: 50 },
  })

describe.skipIf(NO_BROWSER !== null)('the console', () => {
  beforeAll(async () => {
    world = await createConsoleWorld()
    await schedule('Inbox triage')
    await schedule('Nightly report', { every_seconds: null, cron: '0 2 * * *', timezone: 'America/New_York' })
    await schedule('Paused one', { enabled: false })
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(() => world.close(), 30_000)

  it('is entered by a link that works once, and leads back to where one wanted to go', async () => {
    const { page, complaints } = await world.open()
    const { token } = await world.api.auth.link()
    await page.goto(`${world.url}/automation/schedules#signin=${token}`)
    await page.waitForSelector('text=Inbox triage')
    expect(new URL(page.url())).toMatchObject({ pathname: '/automation/schedules', hash: '' })
    const kept = await page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })')
    expect(kept).not.toContain(token)
    expect(await page.evaluate('document.cookie')).toBe('')
    const second = await world.open()
    await second.page.goto(`${world.url}/#signin=${token}`)
    await second.page.waitForSelector('text=This link has been used')
    expect(complaints).toEqual([])
  })

  it('sends whoever is not signed in to the sign-in, and tells a wrong key from a good one', async () => {
    const { page } = await world.open()
    await page.goto(`${world.url}/automation/schedules?state=paused`)
    await page.waitForSelector('form')
    await page.fill('input[type="password"]', 'esc_this-is-not-a-key-of-anybody-here')
    await page.click('button[type="submit"]')
    await page.waitForSelector('text=Unknown key')
  })

  it('shows a viewer everything and lets them change nothing', async () => {
    const { key } = await world.api.keys.create({ name: 'Looks only', role: 'viewer' })
    const viewer = await world.open()
    await viewer.signIn(key ?? '')
    await viewer.go('/automation/schedules')
    await viewer.page.waitForSelector('text=Inbox triage')
    expect(await viewer.page.locator('button[aria-label="Run now"]').count()).toBe(0)
    expect(await viewer.page.locator('[aria-label="Select Inbox triage"]').count()).toBe(0)
    await viewer.page.click('text=Inbox triage')
    const enable = viewer.page.getByRole('switch').first()
    await enable.waitFor({ state: 'attached' })
    expect(await enable.isDisabled()).toBe(true)
    expect(viewer.complaints).toEqual([])
  })

  it('disables three at once, tells two browsers, and takes it back', async () => {
    for (const name of ['Bulk one', 'Bulk two', 'Bulk three']) await schedule(name)
    const [ann, bob] = [await world.open(), await world.open()]
    for (const visitor of [ann, bob]) {
      await visitor.signIn()
      await visitor.go('/automation/schedules?q=Bulk')
      await visitor.page.waitForSelector('text=Bulk three')
    }
    await ann.page.click('[aria-label="Select all shown"]')
    await ann.page.getByRole('button', { name: 'Disable 3' }).click()
    await ann.page.waitForSelector('text=3 schedules disabled')
    await dots(bob, 'paused', 3)
    await ann.page.getByRole('button', { name: /^Undo/ }).click()
    await dots(bob, 'active', 3)
    const audit = await world.api.audit.list({ limit: 50 })
    expect(audit.items.filter(({ action }) => action.includes('disable'))).toHaveLength(3)
  })

  it('recovers by itself when the server goes away and comes back', async () => {
    const { page, signIn, go } = await world.open()
    await signIn()
    await go('/')
    await page.waitForSelector('.live[data-status="connected"]')
    await world.kill()
    await page.waitForSelector('.live[data-status="offline"]', { timeout: 15_000 })
    await page.waitForSelector('.offline')
    await world.restart()
    await page.waitForSelector('.live[data-status="connected"]', { timeout: 25_000 })
    await schedule('Made after the restart', { every_seconds: 300 })
    await page.waitForSelector('text=Made after the restart')
  }, 60_000)

  it('is open to everybody: nothing serious or critical, in every size and theme', async () => {
    const visitor = await world.open()
    await visitor.go('/sign-in')
    const findings = [...(await inspect(visitor, 'sign-in'))]
    await visitor.signIn()
    for (const [name, address, sign] of PAGES) {
      await visitor.go(address)
      await visitor.page.waitForSelector(sign)
      findings.push(...(await inspect(visitor, name)))
    }
    await visitor.page.keyboard.press('Control+k')
    await visitor.page.waitForSelector('[role="dialog"] input')
    findings.push(...(await inspect(visitor, 'palette')))
    await visitor.page.keyboard.press('Escape')
    await visitor.page.waitForSelector('[role="dialog"]', { state: 'detached' })
    await visitor.page.keyboard.press('?')
    await visitor.page.waitForSelector('[role="dialog"] kbd')
    findings.push(...(await inspect(visitor, 'help')))
    expect(findings).toEqual([])
    expect(visitor.complaints).toEqual([])
    expect(visitor.requests).toContain('GET /api/v1/schedules')
  }, 90_000)
})

/** Every page with what shows that it is there. */
const PAGES: readonly (readonly [name: string, address: string, sign: string])[] = [
  ['overview', '/', '.ribbon-canvas'],
  ['schedules', '/automation/schedules', '[role="row"] .schedule-name'],
  ['why', '/automation/why?q=09:00', '.why-answer'],
  ['simulate', '/automation/simulate?all=true&for=6h&takes=5m', '.simulate-gantt canvas'],
]
