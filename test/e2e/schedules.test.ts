import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createConsoleWorld, inspect, NO_BROWSER, type ConsoleWorld } from './support.ts'

if (NO_BROWSER !== null) process.stderr.write(`The editor of schedules is not tried in a browser: ${NO_BROWSER}\n`)

let world: ConsoleWorld
let nightly: { readonly id: string; readonly version: number }

describe.skipIf(NO_BROWSER !== null)('schedules in depth', () => {
  beforeAll(async () => {
    world = await createConsoleWorld({ ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true' })
    const timing = { cron: '0 2 * * *', timezone: 'America/New_York' }
    nightly = await world.api.schedules.create({
      name: 'Nightly report',
      agent_id: 'echo',
      payload: 'report',
      ...timing,
    })
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(() => world.close(), 30_000)

  it('makes a schedule with a preview, watches it run, says why, and switches it off', async () => {
    const { page, signIn, go, complaints, requests } = await world.open()
    await signIn()
    await go('/automation/schedules')
    await page.getByRole('button', { name: 'New schedule' }).click()
    await page.fill('[data-field="cron"]', '0 9 * * 1-5')
    await page.waitForSelector('text=At 09:00, Monday through Friday (Europe/Berlin)')
    expect(await page.locator('.preview-times > li').count()).toBe(10)
    expect(await page.locator('.preview-times > li').first().innerText()).toContain('09:00')
    // What is wrong is told while it is typed, beside the field, and what is missing when it is sent.
    await page.fill('[data-field="cron"]', '0 25 * * *')
    await page.waitForSelector('.editor [data-field="cron"][aria-invalid="true"]')
    await page.fill('[data-field="cron"]', '* * * * * *')
    await page.waitForSelector('text=Every second')
    await page.fill('[data-field="name"]', 'Ticker')
    await page.fill('[data-field="prompt"]', 'tick')
    await page.getByText('Results, session and limits').click()
    await page.fill('[data-field="jitter_seconds"]', '5')
    await page.getByText('Results, session and limits').click()
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.waitForSelector('[data-field="jitter_seconds"][aria-invalid="true"]')
    expect(await page.evaluate('document.activeElement?.dataset.field')).toBe('jitter_seconds')
    expect((await world.api.schedules.list({ q: 'Ticker' })).items).toEqual([])
    await page.fill('[data-field="jitter_seconds"]', '0')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.waitForURL(/\/automation\/schedules\/sch_/)
    await page.waitForSelector('.log .table-row >> text=Succeeded')
    const [made] = (await world.api.schedules.list({ q: 'Ticker' })).items
    expect(made).toMatchObject({ cron: '* * * * * *', timezone: 'Europe/Berlin', payload: { prompt: 'tick' } })
    // Why it ran: the moment of a run, asked about.
    const [run] = (await world.api.schedules.runs(made?.id ?? '', { status: 'success', limit: 1 })).items
    await go(`/automation/schedules/${made?.id}?tab=policy&at=${run?.nominal_time}`)
    await page.waitForSelector('.explain-answer >> text=It was due at')
    await page.getByRole('switch', { name: 'On' }).click({ force: true })
    await page.waitForSelector('text=1 schedule disabled')
    await page.waitForSelector('.one-state >> text=Paused')
    expect(await world.api.schedules.get(made?.id ?? '')).toMatchObject({ state: 'paused' })
    expect(complaints).toEqual([])
    expect(requests).toContain('POST /api/v1/schedules/preview')
  }, 60_000)

  it('leads from the log and from a run to the conversation of the run', async () => {
    const { page, signIn, go, complaints } = await world.open()
    await signIn()
    const { run_id: id = '' } = await world.api.schedules.runNow(nightly.id)
    await go(`/automation/schedules/${nightly.id}`)
    await page.waitForSelector('.log .table-row >> text=Succeeded')
    const key = encodeURIComponent(`agent:echo:cron:${nightly.id}:run:${id}`)
    await page.locator('.log').getByRole('link', { name: 'Open session' }).first().click()
    await page.waitForURL((url) => url.pathname === `/chat/${key}`)
    await page.waitForSelector('.talk >> text=report')
    await go(`/automation/runs/${id}`)
    await page.getByRole('link', { name: 'Open session' }).waitFor()
    await page.getByRole('link', { name: 'Open session' }).click()
    await page.waitForURL((url) => url.pathname === `/chat/${key}`)
    await go('/automation/runs?agent_error_code=MODEL_QUOTA')
    await page.getByRole('searchbox', { name: 'Agent error code' }).waitFor()
    expect(complaints).toEqual([])
  }, 60_000)

  it('shows the answer of a scheduled run in its conversation as it comes', async () => {
    let answer = (): void => undefined
    const agent = createServer((request, response) => {
      request.resume()
      answer = () => void response.end(JSON.stringify({ status: 'success', output: 'Three incidents' }))
    })
    await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve))
    const { port } = agent.address() as AddressInfo
    await world.api.agents.create({
      id: 'slow',
      name: 'Slow',
      executor: { kind: 'http', url: `http://127.0.0.1:${port}` },
    })
    const { id } = await world.api.schedules.create({
      name: 'Slow',
      cron: '0 3 * * *',
      agent_id: 'slow',
      payload: 'ask',
    })
    const { page, signIn, go, complaints } = await world.open()
    await signIn()
    const { run_id: run = '' } = await world.api.schedules.runNow(id)
    await go(`/chat/${encodeURIComponent(`agent:slow:cron:${id}:run:${run}`)}`)
    await page.waitForSelector('.talk >> text=ask')
    await expect.poll(async () => (await world.api.runs.get(run)).status, { timeout: 10_000 }).toBe('running')
    answer()
    await page.waitForSelector('.talk >> text=Three incidents')
    expect(complaints).toEqual([])
    agent.close()
  }, 60_000)

  it('keeps my edits when somebody else was faster, and shows what they changed', async () => {
    const { page, signIn, go } = await world.open()
    await signIn()
    await go(`/automation/schedules/${nightly.id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.fill('[data-field="description"]', 'Mine')
    await world.api.schedules.update(nightly.id, { name: 'Nightly report, theirs', cron: '0 3 * * *' })
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.waitForSelector('.conflict >> text=0 3 * * *')
    expect(await page.inputValue('[data-field="description"]')).toBe('Mine')
    expect(await page.inputValue('[data-field="name"]')).toBe('Nightly report, theirs')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.waitForSelector('.editor', { state: 'detached' })
    const saved = { name: 'Nightly report, theirs', cron: '0 3 * * *', description: 'Mine' }
    expect(await world.api.schedules.get(nightly.id)).toMatchObject(saved)
  }, 60_000)

  it('asks before edits are lost, begins with a copy or a run, and deletes with a way back', async () => {
    const { page, signIn, go } = await world.open()
    await signIn()
    await go(`/automation/schedules/${nightly.id}?edit=new&copy=${nightly.id}`)
    await page.waitForSelector('[data-field="name"][value$="(copy)"]')
    await page.fill('[data-field="name"]', 'Another')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.waitForSelector('.editor', { state: 'detached' })
    const { run_id: runId } = await world.api.schedules.runNow(nightly.id)
    await go(`/automation/schedules?edit=new&draft=${runId}`)
    await page.waitForSelector('[data-field="prompt"] >> text=report')
    await page.keyboard.press('Escape')
    await page.waitForSelector('.editor', { state: 'detached' })
    await go(`/automation/schedules/${nightly.id}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL(/\/automation\/schedules$/)
    await page.waitForSelector('text=Nightly report', { state: 'detached' })
    await page.getByRole('button', { name: /^Undo/ }).click()
    await page.waitForSelector('text=Nightly report')
    expect(await world.api.schedules.get(nightly.id)).toMatchObject({ id: nightly.id })
  }, 60_000)

  it('runs what was missed: plans a backfill, begins it, watches it to its end', async () => {
    const visitor = await world.open()
    const { page, signIn, go, complaints } = visitor
    await signIn()
    await go(`/automation/schedules/${nightly.id}`)
    await page.getByRole('button', { name: 'More' }).first().click()
    await page.getByRole('menuitem', { name: 'Backfill…' }).click()
    await page.getByRole('button', { name: 'Show plan' }).click()
    await page.waitForSelector('.backfill-plan >> text=7 occurrences')
    expect(await inspect(visitor, 'backfill')).toEqual([])
    expect((await world.api.backfills.list()).items).toEqual([])
    await page.getByRole('button', { name: 'Create 7 runs' }).click()
    await page.waitForSelector('.backfill-row >> text=7 of 7 occurrences done')
    await page.waitForSelector('.backfill-row >> text=Done')
    expect(await inspect(visitor, 'backfills')).toEqual([])
    expect(complaints).toEqual([])
  }, 60_000)

  it('is open to everybody, in every size and theme', async () => {
    const findings: string[] = []
    const visitor = await world.open()
    await visitor.signIn()
    for (const [name, address, sign] of pages()) {
      await visitor.go(address)
      await visitor.page.waitForSelector(sign)
      findings.push(...(await inspect(visitor, name)))
    }
    expect(findings).toEqual([])
    expect(visitor.complaints).toEqual([])
  }, 90_000)
})

/** Every page and drawer of a schedule, with what shows that it is there. */
const pages = (): readonly (readonly [name: string, address: string, sign: string])[] => [
  ['schedule', `/automation/schedules/${nightly.id}`, '.log .table-row'],
  ['schedule-calendar', `/automation/schedules/${nightly.id}?tab=calendar`, '.calendar-grid'],
  ['schedule-policy', `/automation/schedules/${nightly.id}?tab=policy&at=2031-01-01T00:00:00Z`, '.explain-answer'],
  ['schedule-audit', `/automation/schedules/${nightly.id}?tab=audit`, '.audit-row'],
  ['schedule-editor', `/automation/schedules/${nightly.id}?edit=${nightly.id}`, '.editor .preview-times'],
]
