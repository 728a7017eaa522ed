import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/operations/table.ts'
import { REFUSAL_CODES } from '../../src/api/refusals.ts'
import { HAS_BROWSER, openBrowser } from '../support/browser.ts'
import { createHttpWorld, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

const read = (url: string) => world.ask('GET', url, { as: null })

describe('the documentation', () => {
  it.each(['/docs', '/docs/errors', '/docs/docs.css', '/docs/docs.js'])(
    '%s needs no key, and nothing from elsewhere',
    async (url) => {
      const response = await read(url)
      expect(response.statusCode).toBe(200)
      expect(response.headers['content-security-policy']).toContain("default-src 'none'")
      expect(response.headers['x-content-type-options']).toBe('nosniff')
      const loaded = [...response.body.matchAll(/(?:src|href)="([^"#][^"]*)"|url\(([^)]*)\)|@import/g)]
      for (const [, address = ''] of loaded) expect(address).toMatch(/^(?:\/docs|\/openapi\.json|data:,)/)
    },
  )

  it('has every operation and every shape, each under its name', async () => {
    const { body } = await read('/docs')
    for (const [id, spec] of Object.entries(OPERATIONS)) {
      expect(body).toContain(`id="${id}"`)
      expect(body).toContain(`<code class="path">${spec.path}</code>`)
    }
    const ids = [...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const links = [...body.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id)
    expect(links.filter((id) => !ids.includes(id))).toEqual([])
    expect(body).toContain('id="shape-Schedule"')
  })

  it('is where the type of every problem leads', async () => {
    const problem = problemIn(await read('/api/v1/nothing'), 'NOT_FOUND')
    const [page = '', code = ''] = problem.type.split('#')
    const { body } = await read(page)
    expect(body).toContain(`id="${code}"`)
    for (const known of Object.keys(REFUSAL_CODES)) expect(body).toContain(`id="${known}"`)
  })

  it('is not sent again to whoever has it, and takes nothing', async () => {
    const { headers } = await read('/docs')
    const again = await world.ask('GET', '/docs', { as: null, headers: { 'if-none-match': String(headers.etag) } })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    const posted = await world.ask('POST', '/docs', { as: null })
    problemIn(posted, 'METHOD_NOT_ALLOWED')
    expect(posted.headers['allow']).toBe('GET, HEAD')
  })
})

describe.skipIf(!HAS_BROWSER)('the documentation in a browser', () => {
  let browser: Browser | undefined
  let page: Page
  let origin: string
  const complaints: string[] = []
  const asked: string[] = []

  beforeAll(async () => {
    await world.app.listen({ host: '127.0.0.1', port: 0 })
    origin = `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}`
    browser = await openBrowser()
    page = await browser.newPage({ viewport: { width: 390, height: 800 } })
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    page.on('pageerror', (error) => void complaints.push(error.message))
    page.on('request', (request) => void asked.push(request.url()))
    await page.goto(`${origin}/docs`)
  }, 60_000)
  afterAll(() => browser?.close())

  const shown = () => page.locator('details.operation:visible').count()

  it('is styled, fits a phone, and asks nobody else', async () => {
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    const border = `getComputedStyle(document.querySelector('.operation')).borderTopStyle`
    expect(await page.evaluate<string>(border)).toBe('solid')
    expect(asked.filter((url) => !url.startsWith(origin) && !url.startsWith('data:'))).toEqual([])
    expect(complaints).toEqual([])
  })

  it('finds what is searched for, from the keyboard', async () => {
    const all = await shown()
    expect(all).toBeGreaterThan(Object.keys(OPERATIONS).length)
    await page.keyboard.press('/')
    await page.keyboard.type('schedules run-now')
    expect(await shown()).toBe(1)
    await page.keyboard.type(' nobody')
    expect(await shown()).toBe(0)
    expect(await page.locator('#none').isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    expect(await shown()).toBe(all)
  })

  it('opens what its address names', async () => {
    await page.goto(`${origin}/docs#schedules.create`)
    expect(await page.locator('[id="schedules.create"] .inside').isVisible()).toBe(true)
    await page.locator('[id="schedules.create"] a[href="#shape-ScheduleInput"]').click()
    // The browser follows the link when it has a moment.
    await page.locator('#shape-ScheduleInput table').waitFor({ state: 'visible', timeout: 5_000 })
    expect(complaints).toEqual([])
  })

  it('is dark where people want it dark', async () => {
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await background()).toBe('rgb(255, 255, 255)')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await background()).not.toBe('rgb(255, 255, 255)')
  })
})
