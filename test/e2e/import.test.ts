import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createConsoleWorld, inspect, NO_BROWSER, type ConsoleWorld } from './support.ts'

if (NO_BROWSER !== null) process.stderr.write(`Sentences and imports are not tried in a browser: ${NO_BROWSER}\n`)

let world: ConsoleWorld

describe.skipIf(NO_BROWSER !== null)('schedules from elsewhere', () => {
  beforeAll(async () => {
    world = await createConsoleWorld()
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(() => world.close(), 30_000)

  it('come from a sentence in the editor, and from a crontab that is planned before it is applied', async () => {
    const visitor = await world.open()
    const { page, signIn, go } = visitor
    await signIn()
    await go('/automation/schedules?edit=new')
    await page.fill('[data-field="words"]', 'every other week on Friday at 9 in Tokyo: look at the inbox')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.words-read >> text=Every 2 weeks on Friday at 09:00 (Asia/Tokyo)')
    await page.fill('[data-field="name"]', 'Inbox')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.waitForURL(/\/automation\/schedules\/sch_/)
    const [made] = (await world.api.schedules.list({ q: 'Inbox' })).items
    expect(made).toMatchObject({ timezone: 'Asia/Tokyo', payload: { prompt: 'look at the inbox' } })
    expect(made?.anchor).toBe(made?.next_run_at)

    await go('/automation/schedules')
    await page.getByRole('button', { name: 'Import' }).click()
    await page.fill('[data-field="import"]', '# Good morning\n0 9 * * 1-5 say good morning\n61 * * * * true\n')
    await page.click('[data-field="import-agent"]')
    await page.getByRole('option', { name: 'echo' }).click()
    await page.getByRole('button', { name: 'Show plan' }).click()
    await page.waitForSelector('.import-refused')
    expect((await world.api.schedules.list({ q: 'good morning' })).items).toEqual([])
    expect(await inspect(visitor, 'import')).toEqual([])
    await page.getByRole('button', { name: 'Import 1 schedule' }).click()
    await page.waitForSelector('text=1 schedule imported')
    expect((await world.api.schedules.list({ q: 'good morning' })).items).toHaveLength(1)
  }, 60_000)
})
