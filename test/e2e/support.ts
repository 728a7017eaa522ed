import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { createClient, type Client } from '../../src/client/client.ts'
import { OPERATIONS } from '../../src/operations/table.ts'
import { urlOf } from '../scenarios/url.ts'
import { HAS_BROWSER, openBrowser } from '../support/browser.ts'
import { createTestDatabase } from '../support/database.ts'
import { ROOT } from '../tooling/root.ts'

const PROGRAM = path.join(ROOT, 'dist/cli/main.js')
const SHOTS = path.join(ROOT, 'test-results/screenshots')

/** Why the console cannot be tried here; null when it can. Whoever skips says it, and counts nothing as passed. */
export const NO_BROWSER: string | null = !HAS_BROWSER
  ? 'the Chromium that comes with npm runs on Linux x64 only'
  : existsSync(path.join(ROOT, 'dist/ui/index.html'))
    ? null
    : 'the console is not built: npm run build'

/** A real server with the console as it is shipped, and a browser to look at it with. */
export interface ConsoleWorld {
  readonly url: string
  /** Asks the API as the owner. */
  readonly api: Client
  readonly browser: Browser
  /** A browser of its own: cookies, size, theme. Complaints of its pages fail the test that asks for them. */
  readonly open: (how?: Partial<Look>) => Promise<Visitor>
  /** Kills the server without a word. */
  readonly kill: () => Promise<void>
  /** Starts it again at the same address. */
  readonly restart: () => Promise<void>
  /** Everybody closes their browser. Whatever a page has asked for must stand in the OpenAPI document. */
  readonly leave: () => Promise<void>
  readonly close: () => Promise<void>
}

/** How somebody looks at the console. */
export interface Look {
  readonly width: 1440 | 390
  readonly theme: 'light' | 'dark'
  readonly locale: string
}

/** Somebody with a browser. */
export interface Visitor {
  readonly page: Page
  readonly look: () => Look
  /** Looks in another way at the page that is open: much cheaper than coming anew. */
  readonly change: (look: Partial<Look>) => Promise<void>
  /** Signs in with a key, the owner's unless given, through the form. */
  readonly signIn: (key?: string) => Promise<void>
  /** Goes to an address of the console and waits until the page is there. */
  readonly go: (address: string) => Promise<void>
  /** What pages have complained about: errors on the console of the browser, exceptions, what the policy refused. */
  readonly complaints: readonly string[]
  /** Everything that was asked of the server, as `METHOD /path`. */
  readonly requests: readonly string[]
  readonly close: () => Promise<void>
}

const LOOK: Look = { width: 1440, theme: 'light', locale: 'en-GB' }
const START_MS = 30_000
/** Longer than anything takes on a busy machine, and short enough that a test says itself what it waited for. */
const PATIENCE_MS = 12_000

/** Starts a server on a database of its own, and a browser. */
export async function createConsoleWorld(variables: Readonly<Record<string, string>> = {}): Promise<ConsoleWorld> {
  const data = mkdtempSync(path.join(os.tmpdir(), 'escapement-console-'))
  chmodSync(data, 0o755)
  const database = await createTestDatabase()
  const environment = { ...variables, ESCAPEMENT_DATABASE_URL: urlOf(database.target) }
  let server = await startServer(['--port', '0', '--data', data], environment)
  const { url } = server
  const key = readFileSync(path.join(data, 'owner.key'), 'utf8').trim()
  const browser = await openBrowser()
  const visitors: Visitor[] = []
  const leave = async (): Promise<void> => {
    const gone = visitors.splice(0)
    for (const visitor of gone) await visitor.close()
    expect(gone.flatMap(({ requests }) => undocumented(requests))).toEqual([])
  }
  return {
    ...{ url, browser, api: createClient({ url, key }) },
    open: async (how = {}) => {
      const visitor = await openVisitor({ browser, url, key }, { ...LOOK, ...how })
      visitors.push(visitor)
      return visitor
    },
    kill: () => server.end('SIGKILL'),
    restart: async () => {
      server = await startServer(['--port', new URL(url).port, '--data', data], environment)
    },
    leave,
    close: async () => {
      await leave()
      await browser.close()
      await server.end('SIGKILL')
      await database.drop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/** What is asked for is no page and no file of the console. */
const isOfApi = (request: string): boolean =>
  !/^GET \/(?:assets\/|early\.js|mark\.svg|(?:sign-in|automation|chat|agents|operations|settings)\b|$)/.test(request)

const KNOWN = Object.values(OPERATIONS).map(
  ({ method, path: address }) => new RegExp(`^${method} ${address.replaceAll(/:\w+/g, '[^/]+')}$`),
)

/** Requests to the API that are no operation of the table that OpenAPI is made from. */
const undocumented = (requests: readonly string[]): readonly string[] =>
  requests.filter((request) => isOfApi(request) && !KNOWN.some((pattern) => pattern.test(request)))

interface Server {
  readonly url: string
  readonly end: (signal: NodeJS.Signals) => Promise<void>
}

async function startServer(args: readonly string[], variables: Readonly<Record<string, string>>): Promise<Server> {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, 'serve', ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')))
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const said = (): string | undefined => /listens on (\S+)/.exec(out)?.[1]
  await vi.waitFor(() => expect(said(), err).toBeDefined(), { timeout: START_MS, interval: 20 })
  return {
    url: said() ?? '',
    end: async (signal) => {
      child.kill(signal)
      await ended
    },
  }
}

interface Door {
  readonly browser: Browser
  readonly url: string
  readonly key: string
}

const viewportOf = ({ width }: Look) => ({ width, height: width === 390 ? 844 : 900 })

async function openVisitor({ browser, url, key: ownerKey }: Door, first: Look): Promise<Visitor> {
  const context: BrowserContext = await browser.newContext({
    ...{ viewport: viewportOf(first), colorScheme: first.theme, locale: first.locale },
    ...{ timezoneId: 'Europe/Berlin', reducedMotion: 'reduce' },
  })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  let look = first
  const complaints: string[] = []
  const requests: string[] = []
  page.on('console', (message) => {
    // What the server refuses is also told to the console by the browser; tests look at the page for that.
    if (message.type() === 'error' && !/Failed to load resource|ERR_CONNECTION/.test(message.text()))
      complaints.push(message.text())
  })
  page.on('pageerror', (error) => void complaints.push(error.message))
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url())
    if (origin === url) requests.push(`${request.method()} ${pathname}`)
  })
  const go = async (address: string): Promise<void> => {
    await page.goto(url + address)
    await page.waitForSelector('main h1')
  }
  return {
    ...{ page, complaints, requests, go, look: () => look },
    change: async (change) => {
      look = { ...look, ...change }
      await page.setViewportSize(viewportOf(look))
      await page.emulateMedia({ colorScheme: look.theme, reducedMotion: 'reduce' })
      await page.waitForSelector(`html[data-mantine-color-scheme="${look.theme}"]`)
    },
    signIn: async (key = ownerKey) => {
      await go('/sign-in')
      await page.fill('input[type="password"]', key)
      await page.click('button[type="submit"]')
      await page.waitForSelector('.shell')
    },
    close: () => context.close(),
  }
}

/** Keeps a picture of the page under `<name>-<width>-<theme>.png`. */
async function screenshot({ page, look }: Visitor, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true })
  await page.evaluate('document.fonts.ready.then(() => true)')
  await page.screenshot({
    path: path.join(SHOTS, `${name}-${look().width}-${look().theme}.png`),
    animations: 'disabled',
  })
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly impact: string | null
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

/** What axe finds on the page that is serious or critical, each with where it is and why; all of it, or by some rules only. */
async function seriousFindings({ page }: Visitor, rules?: readonly string[]): Promise<readonly string[]> {
  // Evaluated by the driver: the policy of the page would refuse a script element, and should.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(`(() => { ${AXE} })()`)
  const options = { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: rules }) }
  const result = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)
  return (result as AxeResult).violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    )
}

/**
 * Every way to look at the console that a page must stand, and what axe is asked about it. A theme changes colours and
 * nothing else, a small window moves things and hides some: asking everything four times would find the same four times.
 */
const LOOKS: readonly (Partial<Look> & { readonly rules: readonly string[] | undefined | null })[] = [
  { width: 1440, theme: 'light', rules: undefined },
  { width: 1440, theme: 'dark', rules: ['color-contrast'] },
  // Nothing is asked about it that was not asked before: it is there to be looked at, when somebody wants to.
  ...(process.env['ESCAPEMENT_SCREENSHOTS'] === '1' ? [{ width: 390, theme: 'dark', rules: null } as const] : []),
  {
    width: 390,
    theme: 'light',
    rules: ['button-name', 'link-name', 'label', 'aria-allowed-attr', 'scrollable-region-focusable'],
  },
]

/**
 * Looks at the page that is open in every size and theme: keeps a picture of each, and answers with what axe finds serious
 * or critical and with what is wider than its window.
 */
export async function inspect(visitor: Visitor, name: string): Promise<readonly string[]> {
  const findings: string[] = []
  const before = visitor.look()
  for (const { rules, ...look } of LOOKS) {
    await visitor.change(look)
    await screenshot(visitor, name)
    const { width, theme } = visitor.look()
    const found = rules === null ? [] : await seriousFindings(visitor, rules)
    findings.push(...found.map((finding) => `${name} ${width} ${theme}: ${finding}`))
    const wide = await visitor.page.evaluate<number>('document.documentElement.scrollWidth')
    if (wide > width) findings.push(`${name} is ${wide} px wide in a window of ${width} px`)
  }
  await visitor.change(before)
  return findings
}
