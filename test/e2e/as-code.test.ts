import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createConsoleWorld, inspect, NO_BROWSER, type ConsoleWorld } from './support.ts'

if (NO_BROWSER !== null) process.stderr.write(`Schedules as code are not tried in a browser: ${NO_BROWSER}\n`)

let world: ConsoleWorld

describe.skipIf(NO_BROWSER !== null)('schedules as code', () => {
  beforeAll(async () => {
    world = await createConsoleWorld()
    await world.api.schedules.create({ name: 'Nightly', cron: '0 2 * * *', agent_id: 'echo', payload: 'Look' })
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(() => world.close(), 30_000)

  it('are exported, changed, planned with the line of what is wrong, and applied as they were planned', async () => {
    const visitor = await world.open()
    const { page, signIn, go } = visitor
    await signIn()
    await go('/automation/as-code')
    await page.waitForSelector('pre >> text=name: Nightly')
    expect(await inspect(visitor, 'as-code')).toEqual([])
    await page.getByText('Plan and apply').click()
    await page.getByRole('button', { name: 'Start from the current configuration' }).click()
    const field = page.locator('[data-field="as-code"]')
    await expect.poll(() => field.inputValue()).toContain('cron: 0 2 * * *')
    const stored = await field.inputValue()
    await field.fill(stored.replace('cron: 0 2', 'crom: 0 2'))
    await page.getByRole('button', { name: 'Show plan' }).click()
    const line = stored.split('\n').findIndex((one) => one.includes('cron:')) + 1
    await page.waitForSelector(`.as-code-place >> text=Line ${line}, column 5`)
    await field.fill(stored.replace('cron: 0 2', 'cron: 0 3'))
    await page.getByRole('button', { name: 'Show plan' }).click()
    await page.waitForSelector('.as-code-plan ins >> text=0 3 * * *')
    expect((await world.api.schedules.list({ q: 'Nightly' })).items[0]?.cron).toBe('0 2 * * *')
    expect(await inspect(visitor, 'as-code-plan')).toEqual([])
    await page.getByRole('button', { name: 'Apply 1 change' }).click()
    await page.waitForSelector('text=1 change applied')
    expect((await world.api.schedules.list({ q: 'Nightly' })).items[0]?.cron).toBe('0 3 * * *')
  }, 60_000)
})
