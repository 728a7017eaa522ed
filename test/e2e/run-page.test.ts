import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { startModelServer, type ModelServer, type Speaking } from '../executors/model-server.ts'
import { json } from '../platform/outbound/peer.ts'
import { createConsoleWorld, inspect, NO_BROWSER, type ConsoleWorld } from './support.ts'

if (NO_BROWSER !== null) process.stderr.write(`The page of a run is not tried in a browser: ${NO_BROWSER}\n`)

let world: ConsoleWorld
let model: ModelServer
/** The models that were asked for, in order. */
const askedModels: string[] = []
/** Lets the model go on with what it was asked to say slowly. */
let goOn: (() => void) | null = null

describe.skipIf(NO_BROWSER !== null)('the page of a run', () => {
  beforeAll(async () => {
    model = await startModelServer(answer)
    world = await createConsoleWorld({ ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true' })
    await world.api.agents.create({
      ...{ id: 'clerk', name: 'Desk clerk', executor: { kind: 'chat', base_url: model.baseUrl, model: 'm' } },
      ...{ retry_policy: { max_retries: 2, strategy: 'fixed', base_ms: 300 }, timeout_seconds: 120 },
    })
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(async () => {
    await world.close()
    await model.close()
  }, 30_000)

  const send = async (session: string, text: string): Promise<string> =>
    ((await world.api.sessions.send(`agent:clerk:${session}`, { text, debounce_ms: 0 })) as { run_id: string }).run_id

  const whenEnded = async (id: string): Promise<void> => {
    await expect.poll(async () => (await world.api.runs.get(id)).finished_at, { timeout: 15_000 }).not.toBeNull()
  }

  it('shows every wait and attempt of a failed run to the millisecond, its error once, and why in a sentence', async () => {
    const id = await send('trace', 'crash')
    await whenEnded(id)
    const visitor = await world.open()
    const { page, signIn, go, complaints } = visitor
    await signIn()
    await go(`/automation/runs/${id}`)
    await page.waitForSelector('h1 >> text=Failed after 3 attempts')
    const names = page.locator('.trace-names li')
    await expect
      .poll(() => names.allInnerTexts())
      .toEqual(expect.arrayContaining(['Attempt 1', 'Attempt 2', 'Attempt 3']))
    expect((await names.allInnerTexts()).filter((name) => name === 'Waiting: retry delay')).toHaveLength(2)
    expect(
      await page
        .locator('main')
        .innerText()
        .then((text) => text.split('the shelf is empty').length - 1),
    ).toBe(1)
    await page.getByRole('button', { name: /^Attempt 2,/ }).click()
    const detail = page.getByRole('region', { name: 'Attempt 2' })
    expect(await detail.innerText()).toMatch(/\d\d:\d\d:\d\d[.,]\d{3}/)
    expect(await detail.innerText()).toContain('The same as in attempt 1')
    const before = await widthOf(page)
    await detail.getByRole('button', { name: 'Zoom to this' }).click()
    await expect.poll(() => widthOf(page)).toBeGreaterThan(before * 3)
    await page.waitForSelector('.trace-axis >> text=/ms|s/')
    await page.getByRole('button', { name: 'Show everything' }).click()
    await expect.poll(() => widthOf(page)).toBe(before)
    // The evidence is folded behind the sentence.
    const why = page.getByRole('region', { name: 'Why' })
    expect(await why.locator('.steps').isVisible()).toBe(false)
    await why.getByText('Rule, evidence and steps').click()
    expect(await why.locator('.steps').isVisible()).toBe(true)
    expect(await inspect(visitor, 'run-failed')).toEqual([])
    expect(complaints).toEqual([])
  }, 90_000)

  it('keeps words that were streamed before it was opened, goes on live, and loses nothing by a reload', async () => {
    const id = await send('slow', 'slowly')
    await expect.poll(async () => (await world.api.runs.log(id)).items.length, { timeout: 15_000 }).toBeGreaterThan(0)
    const visitor = await world.open()
    const { page, signIn, go, complaints } = visitor
    await signIn()
    await go(`/automation/runs/${id}`)
    const output = page.getByRole('region', { name: 'Live output' }).first()
    await expect.poll(() => output.innerText()).toContain('Once upon a time')
    await page.reload()
    await expect.poll(() => output.innerText()).toContain('Once upon a time')
    await go(`/chat/${encodeURIComponent('agent:clerk:slow')}`)
    await expect.poll(() => page.locator('.answer-words').innerText()).toContain('Once upon a time')
    await go(`/automation/runs/${id}`)
    goOn?.()
    await page.waitForSelector('h1 >> text=Succeeded in')
    await page.waitForSelector('[aria-label="Output"] >> text=the end')
    const lines = page.getByRole('region', { name: 'Log' })
    expect(await lines.innerText()).toContain('Once upon a time')
    await page.getByRole('button', { name: /^Attempt 1,/ }).click()
    expect(await page.getByRole('region', { name: 'Attempt 1' }).innerText()).toContain('First output after')
    expect(await inspect(visitor, 'run-streamed')).toEqual([])
    expect(complaints).toEqual([])
  }, 90_000)

  it('shows Markdown as it is meant, without its scripts and images, and JSON as a tree to search', async () => {
    const [written, listed] = [await send('markdown', 'markdown'), await send('json', 'json')]
    await Promise.all([whenEnded(written), whenEnded(listed)])
    const visitor = await world.open()
    const { page, signIn, go, complaints, requests } = visitor
    await signIn()
    await go(`/automation/runs/${written}`)
    await page.waitForSelector('.markdown table >> text=Oslo')
    await page.waitForSelector('.markdown h3 >> text=Report')
    expect(await page.locator('.markdown img, .markdown script').count()).toBe(0)
    expect(await page.locator('.markdown a', { hasText: 'a picture' }).getAttribute('href')).toBe(
      'https://example.com/x.png',
    )
    expect(await page.evaluate('"hacked" in window')).toBe(false)
    expect(await inspect(visitor, 'run-markdown')).toEqual([])
    const output = page.getByRole('region', { name: 'Output' }).first()
    await output.getByText('Raw').click()
    await page.waitForSelector('pre >> text=# Report')
    await go(`/automation/runs/${listed}`)
    const tree = page.locator('.json-tree').last()
    await expect.poll(() => tree.innerText()).toContain('cities')
    await page.getByRole('textbox', { name: 'Search: Output' }).fill('berge')
    await page.waitForSelector('.json-tree mark >> text=Berge')
    await page.waitForSelector('[role="status"] >> text=1 match')
    expect(await inspect(visitor, 'run-json')).toEqual([])
    expect(requests.filter((request) => request.includes('x.png'))).toEqual([])
    expect(complaints).toEqual([])
  }, 90_000)

  it('runs again with another prompt and model, and shows both runs side by side', async () => {
    const id = await send('again', 'one')
    await whenEnded(id)
    const visitor = await world.open()
    const { page, signIn, go, complaints } = visitor
    await signIn()
    await go(`/automation/runs/${id}`)
    await page.getByRole('button', { name: 'Edit and run' }).click()
    await page.getByRole('textbox', { name: 'Prompt' }).fill('two')
    await page.getByRole('textbox', { name: 'Model' }).fill('large')
    expect(await inspect(visitor, 'run-again')).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Run again' }).click()
    await page.waitForSelector('[aria-label="Output"] >> text=done: two')
    await page.waitForSelector('.facts >> text=Retry of')
    expect(await page.locator('.facts', { hasText: 'Changed' }).first().innerText()).toMatch(/prompt, model\s+large/)
    expect(askedModels.at(-1)).toBe('large')
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    await page.waitForSelector('.compare-lines [data-change="removed"] >> text=done: one')
    await page.waitForSelector('.compare-lines [data-change="added"] >> text=done: two')
    expect(await page.locator('.compare-figures').innerText()).toContain('Input tokens')
    expect(await inspect(visitor, 'run-compared')).toEqual([])
    // The comparison has an address of its own.
    await page.reload()
    await page.waitForSelector('.compare-lines >> text=done: one')
    expect(complaints).toEqual([])
  }, 90_000)

  it('begins a session with the cursor in its message, and asks for nothing that does not exist yet', async () => {
    const { page, signIn, go } = await world.open()
    await signIn()
    const missing: string[] = []
    page.on('response', (response) => {
      if (response.status() === 404) missing.push(response.url())
    })
    await go('/chat?begin=true')
    await page.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL(/\/chat\/agent/)
    await expect.poll(() => focused(page)).toBe('Write a message')
    await page.keyboard.type('What needs a keyboard?')
    expect(new URL(page.url()).pathname).toMatch(/^\/chat\//)
    await page.keyboard.press('Enter')
    await page.waitForSelector('.answer-words >> text=done: What needs a keyboard?')
    expect(missing).toEqual([])
  }, 60_000)
})

const widthOf = async (page: Page): Promise<number> =>
  Math.round((await page.locator('.trace-plot').boundingBox())?.width ?? 0)

const focused = (page: Page): Promise<string | null> =>
  page.evaluate<string | null>('document.activeElement?.getAttribute("aria-label") ?? null')

const MARKDOWN = `# Report

Two **cities** were asked; *one* answered. See [the source](https://example.com/) and ![a picture](https://example.com/x.png).

| City | Degrees |
| ---- | ------- |
| Oslo | 4 |
| Rome | 19 |

- [x] Oslo
- [ ] Rome

\`\`\`js
console.log('code')
\`\`\`

<script>window.hacked = true</script><img src="https://example.com/x.png" onerror="window.hacked = true">
${'A long paragraph so that it can be searched. '.repeat(12)}`

const LIST = JSON.stringify({
  cities: [
    { name: 'Oslo', degrees: 4, districts: ['Grünerløkka', 'Frogner'], capital: true },
    { name: 'Bergen', degrees: 7, rain: null },
  ],
  notes: 'measured at noon '.repeat(20),
})

/** A model that speaks slowly, breaks, or answers in Markdown or JSON, as it is told. */
function answer({ question, say, finish, response }: Speaking): void {
  askedModels.push(question.model)
  const text = String(question.messages.at(-1)?.content).split('\n').at(-1) ?? ''
  if (text === 'crash') {
    json(response, 503, { error: { message: 'the shelf is empty' } })
    return
  }
  const end = (words: string): void => {
    say(words)
    finish({ usage: { prompt_tokens: 12, completion_tokens: 3 } })
  }
  if (text === 'slowly') {
    say('Once upon', ' a time')
    goOn = () => end(' … the end')
  } else end(text === 'markdown' ? MARKDOWN : text === 'json' ? LIST : `done: ${text}`)
}
