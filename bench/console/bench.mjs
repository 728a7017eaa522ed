// `npm run bench -- console [--runs n] [--schedules n] [--days n]`: the console in a real browser with a lot of data. Prints how
// long the first load of each page takes until its rows are visible, the main-thread cost of scrolling, and how long the server
// takes to answer the ranges of the timeline.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { settle, withClient } from '../engine/seeding.mjs'
import { startServer } from '../engine/server.mjs'
import { round } from '../engine/statistics.mjs'
import { withServed } from '../http/served.mjs'
import { openBrowser } from './browser.mjs'
import { seedConsole } from './seeding.mjs'

const GOAL_MS = 1_500
const LOADS = 5
/** Each page, with the selector that shows that its data is loaded. */
const PAGES = {
  overview: ['/', '.figure-value a'],
  schedules: ['/automation/schedules', '[role="row"] .schedule-name'],
  runs: ['/automation/runs', '[role="row"] a[href*="/automation/runs/run_"]'],
}

export async function run(args = []) {
  const { values } = parseArgs({
    args,
    options: {
      runs: { type: 'string', default: '100000' },
      schedules: { type: 'string', default: '10000' },
      days: { type: 'string', default: '30' },
    },
  })
  const server = await startServer()
  const browser = await openBrowser()
  try {
    return await server.withDatabase('console', async (url) => {
      const key = `esc_${randomBytes(24).toString('base64url')}`
      const serve = { outside: { url, postmaster: server.pid, key } }
      await withServed(serve, makeTemplates)
      await withClient(url, async (client) => {
        const [runs, schedules, days] = [values.runs, values.schedules, values.days].map(Number)
        await seedConsole(client, { runs, schedules, days })
        await settle(client)
      })
      return withServed(serve, async (served) => [
        ...(await lookAtAll(browser, served)),
        ...(await askForRanges(served)),
      ])
    })
  } finally {
    await browser.close()
    await server.stop()
  }
}

/** Creates the template to multiply: one schedule with one run. */
async function makeTemplates({ ask, drained }) {
  const schedule = await ask('POST', '/api/v1/schedules', {
    ...{ name: 'template', agent_id: 'echo', every_seconds: 86_400, anchor: Date.now() + 3_600_000, payload: 'go' },
  })
  await ask('POST', `/api/v1/schedules/${schedule.id}/run-now`, {})
  await drained()
}

async function lookAtAll(browser, { url, key }) {
  const rows = []
  for (const [name, [address, sign]] of Object.entries(PAGES)) {
    const loads = []
    let scrolled
    for (let load = 0; load < LOADS; load++) {
      // A new context with an empty cache, as on a first visit.
      const page = await signedIn(browser, { url, key })
      const begin = performance.now()
      await page.goto(url + address)
      await page.waitForSelector(sign)
      loads.push(performance.now() - begin)
      if (load === LOADS - 1) scrolled = await scroll(page)
      await page.context().close()
    }
    const worst = Math.max(...loads)
    rows.push({
      ...{ page: name, 'first load ms, median': round(loads.toSorted((a, b) => a - b)[LOADS >> 1], 0) },
      ...{ 'worst ms': round(worst, 0), ...scrolled, ok: worst < GOAL_MS },
    })
  }
  return rows
}

const HOUR_MS = 3_600_000
const RANGES = { '1 h': 1, '24 h': 24, '7 d': 168, '30 d': 720 }
const RANGE_GOAL_MS = 300

/** Asks for the timeline of all schedules, as a switch of its range does: with transport, some of it still to come. */
async function askForRanges({ ask }) {
  const rows = []
  for (const [name, hours] of Object.entries(RANGES)) {
    const times = []
    for (let turn = 0; turn < LOADS; turn++) {
      const [from, to] = [-0.7, 0.3].map((share) => new Date(Date.now() + share * hours * HOUR_MS).toISOString())
      const begin = performance.now()
      await ask('GET', `/api/v1/stats/timeline?limit=50&from=${from}&to=${to}`)
      times.push(performance.now() - begin)
    }
    const median = times.toSorted((a, b) => a - b)[LOADS >> 1]
    rows.push({
      ...{ page: `timeline, ${name}`, 'first load ms, median': round(median, 0) },
      ...{ 'worst ms': round(Math.max(...times), 0), ok: median < RANGE_GOAL_MS },
    })
  }
  return rows
}

/** Signs in without loading the console; a first visit needs only the cookie. */
async function signedIn(browser, { url, key }) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const headers = { 'content-type': 'application/json', origin: url }
  const answer = await context.request.post(`${url}/api/v1/sign-in`, { headers, data: { key } })
  if (!answer.ok()) throw new Error(`the sign-in was refused: ${answer.status()} ${await answer.text()}`)
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  return page
}

const SCROLLS = 60
const SCROLL_PX = 800

/** Scrolls through many rows, one wheel step per frame or two. Users notice long tasks as jank. */
async function scroll(page) {
  await page.evaluate(`window.long = []
    new PerformanceObserver((list) => window.long.push(...list.getEntries().map((one) => one.duration)))
      .observe({ entryTypes: ['longtask'] })`)
  const begin = performance.now()
  for (let turn = 0; turn < SCROLLS; turn++) {
    await page.mouse.wheel(0, SCROLL_PX)
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve(1)))')
  }
  const ms = (performance.now() - begin) / SCROLLS
  const long = await page.evaluate('window.long')
  const depth = await page.evaluate('Math.round(window.scrollY)')
  return {
    ...{ 'ms per turn of the wheel': round(ms, 1), 'long tasks': long.length },
    ...{ 'longest ms': round(Math.max(0, ...long), 0), 'scrolled px': depth },
  }
}
