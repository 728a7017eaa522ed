import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createConsoleWorld, inspect, NO_BROWSER, type ConsoleWorld } from './support.ts'

let world: ConsoleWorld
let model: Server
let port = 0
let isBroken = false
const authorizations: (string | undefined)[] = []

/** A model with the API that most have: it answers in one piece, or says that it is overloaded. */
function createModel(): Server {
  return createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      authorizations.push(request.headers.authorization)
      response.setHeader('Content-Type', 'application/json')
      if (isBroken) {
        response.statusCode = 503
        response.end(JSON.stringify({ error: { message: 'The model is overloaded' } }))
        return
      }
      const asked = JSON.parse(body) as { messages: { content: string }[] }
      const content = `You said: ${asked.messages.at(-1)?.content ?? ''}`
      response.end(
        JSON.stringify({
          choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
        }),
      )
    })
  })
}

describe.skipIf(NO_BROWSER !== null)('the first minutes in the console', () => {
  beforeAll(async () => {
    model = createModel()
    await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve))
    ;({ port } = model.address() as AddressInfo)
    world = await createConsoleWorld({ ESCAPEMENT_SECRET_KEY: '7'.repeat(64) })
  }, 60_000)
  afterAll(async () => {
    await world.leave()
    await world.close()
    model.close()
  }, 30_000)

  it('lead from an empty overview to a local model that answers', async () => {
    const visitor = await world.open()
    const { page, signIn, complaints } = visitor
    await signIn()
    const steps = page.getByRole('region', { name: 'First steps' })
    await steps.waitFor()
    expect(await inspect(visitor, 'first-steps')).toEqual([])
    await steps.getByRole('link', { name: 'Connect an agent' }).click()
    await page.getByRole('button', { name: 'Ollama' }).waitFor()
    expect(await inspect(visitor, 'connect-choose')).toEqual([])
    await page.getByRole('button', { name: 'Ollama' }).click()
    // Only what a model needs is asked for; the rest is folded.
    await page.getByLabel('Name').fill('Local writer')
    expect(await page.locator('.form > .mantine-InputWrapper-root').count()).toBeLessThanOrEqual(6)
    await page.getByLabel('Base URL').fill(`http://127.0.0.1:${port}/v1`)
    await page.getByLabel('API key').fill('sk-pasted-inline-key')
    await page.getByRole('button', { name: 'Save and test' }).click()
    // The operator allows the address of this machine right there.
    await page.getByRole('button', { name: `Allow 127.0.0.1:${port} and continue` }).waitFor()
    expect(await inspect(visitor, 'connect-refused')).toEqual([])
    await page.getByRole('button', { name: `Allow 127.0.0.1:${port} and continue` }).click()
    await page.waitForSelector('text=/The agent answered after/')
    await page.waitForSelector('text=/You said: Hello!/')
    expect(await inspect(visitor, 'connect-answered')).toEqual([])
    const agent = await world.api.agents.get('local-writer')
    expect(agent).toMatchObject({ name: 'Local writer', executor: { api_key: '{{secret:LOCAL_WRITER_KEY}}' } })
    expect(authorizations).toEqual(['Bearer sk-pasted-inline-key'])
    expect((await world.api.secrets.get('LOCAL_WRITER_KEY')).hosts).toEqual([`127.0.0.1:${port}`])

    isBroken = true
    await page.getByRole('button', { name: 'Test again' }).click()
    await page.waitForSelector('text=The agent did not answer')
    await page.waitForSelector('text=/The model is overloaded/')
    isBroken = false
    await page.getByRole('button', { name: 'Test again' }).click()
    await page.getByRole('link', { name: 'Talk to it' }).click()
    await page.waitForURL(/\/chat\/agent/)
    expect(complaints).toEqual([])
  }, 120_000)

  it('go on to a schedule and to being told when it fails', async () => {
    const { page, signIn, go, complaints } = await world.open()
    await signIn()
    const steps = page.getByRole('region', { name: 'First steps' })
    await vi.waitFor(async () => expect(await steps.getByRole('img', { name: 'Done' }).count()).toBe(2), 10_000)
    await steps.getByRole('button', { name: 'New schedule' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await world.api.schedules.create({
      ...{ name: 'Morning', agent_id: 'local-writer', cron: '0 8 * * *', payload: 'Good morning' },
    })
    await vi.waitFor(async () => expect(await steps.getByRole('img', { name: 'Done' }).count()).toBe(3), 10_000)
    await steps.getByRole('link', { name: 'Add a target' }).click()
    await page.waitForURL(/\/settings\/targets/)
    await world.api.targets.create({
      name: 'Ops',
      kind: 'session',
      settings: { session: 'agent:echo:ops' },
      alerts: true,
    })
    await go('/')
    await page.getByRole('region', { name: 'Timeline' }).waitFor()
    expect(await steps.count()).toBe(0)
    expect(complaints).toEqual([])
  }, 60_000)

  it('show on the page of the agent how it does, what uses it and what limits it', async () => {
    const { api } = world
    await api.budgets.create({ agent_id: 'local-writer', unit: 'tokens', amount: 5_000, period: 'day' })
    const visitor = await world.open()
    const { page, signIn, go, complaints } = visitor
    await signIn()
    await go('/agents')
    await page.getByRole('link', { name: 'Local writer', exact: true }).click()
    await page.waitForURL(/\/agents\/local-writer/)
    await page.waitForSelector('text=/succeeded$/')
    expect(await page.locator('.figures').innerText()).toMatch(/Runs\s+3\s+66\.7% succeeded/)
    expect(await page.locator('.agent-facts').innerText()).toMatch(/of 5,000 tokens/)
    await page.getByRole('region', { name: 'Schedules' }).getByRole('link', { name: 'Morning' }).waitFor()
    expect(await inspect(visitor, 'agent-page')).toEqual([])
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByLabel('Message').fill('How are you?')
    await page.getByRole('dialog').getByRole('button', { name: 'Test', exact: true }).click()
    await page.waitForSelector('text=/You said: How are you/')
    expect(complaints).toEqual([])
  }, 60_000)
})
