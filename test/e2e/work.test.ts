import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startModelServer, type ModelServer, type Speaking } from '../executors/model-server.ts'
import { json } from '../platform/outbound/peer.ts'
import { createConsoleWorld, inspect, NO_BROWSER, type ConsoleWorld, type Visitor } from './support.ts'

if (NO_BROWSER !== null) process.stderr.write(`Runs and chat are not tried in a browser: ${NO_BROWSER}\n`)

let world: ConsoleWorld
let model: ModelServer
/** What is said to `clerk`, by its name. */
const TALK = 'agent:clerk:front-desk'

describe.skipIf(NO_BROWSER !== null)('runs and chat', () => {
  beforeAll(async () => {
    model = await startModelServer(answer)
    world = await createConsoleWorld({ ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true' })
    await world.api.agents.create({
      ...{ id: 'clerk', name: 'Desk clerk', executor: { kind: 'chat', base_url: model.baseUrl, model: 'm' } },
      ...{ retry_policy: { max_retries: 0 }, timeout_seconds: 120 },
    })
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(async () => {
    await world.close()
    await model.close()
  }, 30_000)

  it('repeats a failed run from its page, and another browser sees it happen', async () => {
    const schedule = await world.api.schedules.create({
      ...{ name: 'Sort the inbox', every_seconds: 86_400, agent_id: 'clerk', payload: { prompt: 'break' } },
    })
    const [ann, bob] = [await world.open(), await world.open()]
    await Promise.all([ann.signIn(), bob.signIn()])
    await bob.go(`/automation/runs?schedule_id=${schedule.id}`)
    await bob.page.waitForSelector('text=No matching runs')
    await world.api.schedules.runNow(schedule.id)
    await bob.page.waitForSelector('.table-row >> text=Failed')
    expect(await bob.page.locator('.table-row .run-error').innerText()).toContain('the shelf is empty')
    await ann.go('/automation/runs?status=failed')
    await ann.page.click('.table-row >> text=Sort the inbox')
    await ann.page.waitForSelector('h1 >> text=Failed after')
    await ann.page.waitForSelector('.why >> text=which is not retried')
    await ann.page.waitForSelector('.run-failure >> text=the shelf is empty')
    isBroken = false
    await ann.page.getByRole('button', { name: 'Retry' }).click()
    await ann.page.waitForSelector('h1 >> text=Succeeded in')
    await ann.page.waitForSelector('[aria-label="Output"] >> text=done: break')
    await ann.page.waitForSelector('.facts >> text=Retry of')
    await bob.page.waitForSelector('.table-row >> text=Succeeded')
    expect(await bob.page.locator('.table-row').count()).toBe(2)
    await ann.page.goBack()
    await ann.page.waitForSelector('h1 >> text=Failed after')
    expect([...ann.complaints, ...bob.complaints]).toEqual([])
  }, 60_000)

  it('talks, stops, shows what waits, and makes a schedule of an answer in three steps', async () => {
    const visitor = await world.open()
    const { page, signIn, go, complaints } = visitor
    await signIn()
    await go('/chat?begin=true')
    await page.getByLabel('Session name').fill('front desk')
    await page.getByRole('combobox', { name: 'Agent' }).click()
    await page.getByRole('option', { name: /Desk clerk/ }).click()
    await page.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL(/\/chat\/agent/)
    await speak(page, 'hold the line')
    await page.waitForSelector('.answer-words >> text=One moment, please')
    await page.waitForSelector('.answer-state >> text=Answering')
    for (const text of ['Are you', 'still there?'])
      await world.api.sessions.send(TALK, { text, sender: 'bob', debounce_ms: 3_000 })
    await page.waitForSelector('text=2 messages merged')
    await page.waitForSelector('.talk-lead >> text=1 waiting')
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.waitForSelector('.answer-ended >> text=It was stopped with /stop')
    // What was said before stays said.
    expect(await page.locator('.answer-words').first().innerText()).toBe('One moment, please')
    await page.waitForSelector('.answer-words >> text=done: still there?')
    await page.waitForSelector('.talk-lead .chip', { state: 'detached' })
    expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0)
    // One, two, three.
    await page.locator('.exchange').last().getByRole('button', { name: 'Create a schedule from this' }).click()
    const filled = () => page.inputValue('[data-field="name"]')
    await expect.poll(filled, { timeout: 12_000 }).toBe('Are you')
    await page.waitForSelector('.from-run >> text=The chat does not say when')
    expect(await page.getByLabel('Answer in one line.').isChecked()).toBe(true)
    expect(await inspect(visitor, 'editor-from-conversation')).toEqual([])
    await page.getByRole('button', { name: 'daily at nine' }).click()
    await page.waitForSelector('.from-run >> text=The chat does not say when', { state: 'detached' })
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.waitForSelector('.editor', { state: 'detached' })
    const [made] = (await world.api.schedules.list({ agent_id: 'clerk', q: 'Are you' })).items
    expect(made).toMatchObject({
      cron: '0 9 * * *',
      payload: { prompt: 'Are you\nstill there?', output: 'Answer in one line.' },
    })
    // The answer it was made from beside the one it gives, and each page leads to the other.
    await page.getByRole('region', { name: 'Created from a chat' }).getByRole('button', { name: 'Run now' }).click()
    await page.waitForSelector('[aria-label="Latest answer"] >> text=done: Answer in one line.')
    expect(await inspect(visitor, 'schedule-from-conversation')).toEqual([])
    await page.getByRole('link', { name: 'Original answer' }).click()
    await page.waitForURL(`**/automation/runs/${made?.created_by_run ?? 'none'}`)
    await page.waitForSelector(`[href$="/automation/schedules/${made?.id ?? ''}"]`)
    expect(complaints).toEqual([])
  }, 60_000)

  it('lets a viewer read everything, cancel nothing and say nothing', async () => {
    const held = 'agent:clerk:held'
    const { run_id: id } = (await world.api.sessions.send(held, { text: 'hold the line' })) as Receipt
    const { key } = await world.api.keys.create({ name: 'Looks only', role: 'viewer' })
    const { page, signIn, go } = await world.open()
    await signIn(key ?? '')
    await go(`/automation/runs/${id}`)
    await page.waitForSelector('h1 >> text=Running for')
    const cancel = page.getByRole('button', { name: 'Cancel run' })
    expect(await cancel.isDisabled()).toBe(true)
    await cancel.locator('..').hover()
    await page.waitForSelector('text=Requires the permission runs:write')
    await go('/automation/runs?status=running')
    await page.waitForSelector('.table-row >> text=hold the line')
    expect(await page.locator('.run-actions').count()).toBe(0)
    await go(`/chat/${encodeURIComponent(held)}`)
    await page.waitForSelector('.answer >> text=Answering')
    expect(await page.getByRole('textbox', { name: 'Write a message' }).isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: 'Stop all' }).isDisabled()).toBe(true)
    await world.api.sessions.stopAll(held)
    await page.waitForSelector('.answer-ended >> text=The session was stopped')
  }, 60_000)

  it('is open to everybody: nothing serious or critical, in every size and theme', async () => {
    const talk = await fillTalk()
    const visitor = await world.open()
    await visitor.signIn()
    const findings: string[] = []
    const failed = (await world.api.runs.list({ status: 'failed', limit: 1 })).items[0]?.id ?? ''
    for (const [name, address, sign] of [
      ['runs', '/automation/runs', '.table-row'],
      ['run', `/automation/runs/${failed}?raw=true`, '.trace'],
      ['chat', '/chat', '.talk-link'],
      ['conversation', `/chat/${encodeURIComponent(talk)}`, 'text=replaced this one'],
    ] as const) {
      await visitor.go(address)
      await visitor.page.waitForSelector(sign)
      findings.push(...(await inspect(visitor, name)))
    }
    await world.api.sessions.stopAll(talk)
    expect(findings).toEqual([])
    expect(visitor.complaints).toEqual([])
  }, 120_000)
})

interface Receipt {
  readonly run_id: string
}

async function speak(page: Visitor['page'], text: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Write a message' })
  await field.fill(text)
  await field.press('Enter')
}

/** A conversation in which much happens: one is answered, one has failed, one is on its way, one was pushed out. */
async function fillTalk(): Promise<string> {
  const key = 'agent:clerk:a-long-name-for-a-conversation-about-everything-and-nothing'
  await world.api.sessions.update(key, { cap: 2, debounce_ms: 0 })
  const say = (text: string) => world.api.sessions.send(key, { text, sender: 'ann' })
  await world.api.sessions.send(key, { text: `Please sum up. ${'All of it, '.repeat(20)}` }, { query: { wait: 10 } })
  await world.api.sessions.send(key, { text: 'crash' }, { query: { wait: 10 } })
  for (const text of ['hold the line', 'second', 'third', 'fourth']) await say(text)
  return key
}

/** Whether the model cannot do what it is asked to break at. */
let isBroken = true

/** A model that says what it was told, breaks, or begins to speak and does not end, as it is told. */
function answer({ question, say, finish, response }: Speaking): void {
  // What was said before may stand before it.
  const text = String(question.messages.at(-1)?.content).split('\n').at(-1) ?? ''
  if (text === 'hold the line') say('One moment', ', please')
  else if (text === 'crash' || (text === 'break' && isBroken))
    json(response, 422, { error: { message: 'the shelf is empty' } })
  else {
    say('done: ', text)
    finish({ usage: { prompt_tokens: 12, completion_tokens: 3 } })
  }
}
