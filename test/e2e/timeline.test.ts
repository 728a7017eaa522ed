import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createConsoleWorld, inspect, NO_BROWSER, type ConsoleWorld, type Visitor } from './support.ts'

let world: ConsoleWorld
let id: string

/** Clicks a share of the width of the timeline, in a row counted from 0. */
async function clickAt({ page }: Visitor, share: number, row = 0): Promise<void> {
  const box = await page.locator('.ribbon-canvas').first().boundingBox()
  if (box === null) throw new Error('The timeline is not there')
  await page.mouse.click(box.x + box.width * share, box.y + 26 + row * 30 + 15)
}

describe.skipIf(NO_BROWSER !== null)('the timeline of the console', () => {
  beforeAll(async () => {
    world = await createConsoleWorld()
    const agent = { agent_id: 'echo', payload: 'hello', enabled: false } as const
    for (let number = 1; number <= 30; number += 1)
      await world.api.schedules.create({ ...agent, name: `Quiet ${number}`, every_seconds: 3_600, enabled: true })
    const schedule = await world.api.schedules.create({ ...agent, name: 'Pulse', every_seconds: 600, enabled: true })
    id = schedule.id
    for (let run = 0; run < 5; run += 1) await world.api.schedules.runNow(id)
    await vi.waitFor(async () => {
      const { items } = await world.api.runs.list({ schedule_id: id, status: 'success' })
      expect(items).toHaveLength(5)
    })
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(() => world.close(), 30_000)

  it('has every row, finds one by name, and is switched to agents', async () => {
    const { page, signIn, go, complaints, requests } = await world.open()
    await signIn()
    await go('/')
    await page.waitForSelector('text=31 rows, most failures first')
    expect(await page.locator('.ribbon-rows li').count()).toBe(12)
    await page.locator('.ribbon-rows').hover()
    await page.mouse.wheel(0, 3_000)
    await page.waitForSelector('.ribbon-rows li:has-text("Quiet 9")')
    await page.getByLabel('Find by name').fill('pulse')
    await page.waitForSelector('text=1 row, most failures first')
    await page.getByLabel('Find by name').fill('')
    await page.getByText('Agents', { exact: true }).last().click()
    await page.waitForSelector('.ribbon-rows li:has-text("echo")')
    expect(requests.filter((request) => request.includes('/schedules/preview'))).toEqual([])
    expect(complaints).toEqual([])
  })

  it('leads from a bucket to its runs', async () => {
    const visitor = await world.open()
    await visitor.signIn()
    await visitor.go(`/automation/schedules/${id}`)
    await visitor.page.waitForSelector('.ribbon-canvas canvas')
    await visitor.page.getByText('1 h', { exact: true }).click()
    await visitor.page.waitForSelector('text=Succeeded')
    await visitor.page.locator('.ribbon-canvas').focus()
    await visitor.page.keyboard.press('n')
    await visitor.page.keyboard.press('Enter')
    await visitor.page.waitForURL(/\/automation\/runs\?.*schedule_id/)
    const asked = new URL(visitor.page.url()).searchParams
    const runs = await world.api.runs.list({
      ...{ schedule_id: id, from: asked.get('from') ?? '', to: asked.get('to') ?? '' },
    })
    expect(runs.items.length).toBeGreaterThan(0)
    await vi.waitFor(async () =>
      expect(await visitor.page.locator('[role="row"] a[href*="/automation/runs/run_"]').count()).toBe(
        runs.items.length,
      ),
    )
    expect(visitor.complaints).toEqual([])
  })

  it('answers a gap where it is clicked, with a button that runs the schedule', async () => {
    const visitor = await world.open()
    await visitor.signIn()
    await visitor.go(`/automation/schedules/${id}`)
    await visitor.page.waitForSelector('.ribbon-canvas canvas')
    await clickAt(visitor, 0.2)
    const answer = visitor.page.locator('.ribbon-asked-answer')
    await answer.locator('text=Pulse').first().waitFor()
    expect(await answer.innerText()).not.toMatch(/T\d{2}:\d{2}:\d{2}/)
    expect(await inspect(visitor, 'timeline-why')).toEqual([])
    await answer.getByRole('button', { name: 'Run the schedule now' }).click()
    await vi.waitFor(async () => {
      const { items } = await world.api.runs.list({ schedule_id: id, status: 'success' })
      expect(items).toHaveLength(6)
    })
    expect(visitor.complaints).toEqual([])
  }, 60_000)

  it('reads a time on the clock of the person who asks, and finds a schedule by its name', async () => {
    const visitor = await world.open({ locale: 'en-GB' })
    await visitor.signIn()
    await visitor.go('/automation/why?q=Pulse')
    await visitor.page.waitForSelector('.why-answer >> text=Pulse')
    const zone = await visitor.page.evaluate<string>('Intl.DateTimeFormat().resolvedOptions().timeZone')
    await visitor.go('/automation/why?q=09:00')
    await visitor.page.waitForSelector(`.why-answer >> text=in ${zone}`)
    expect(visitor.complaints).toEqual([])
  })
})
