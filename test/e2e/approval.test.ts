import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../src/client/client.ts'
import { createConsoleWorld, inspect, NO_BROWSER, type ConsoleWorld, type Visitor } from './support.ts'

// What a key with guard rails proposes, and what a person says to it; and the tree of what woke what.

let world: ConsoleWorld
let agent: Client
let proposed = ''
let middle = ''

/** Three runs of which each woke the next. */
async function chain(): Promise<string> {
  let parent: string | undefined
  const ids: string[] = []
  for (const user of ['1', '2', '3']) {
    const body = { text: `hello ${user}`, ...(parent === undefined ? {} : { parent_run_id: parent }) }
    const sent = await world.api.sessions.send(`agent:echo:web:user:${user}`, body)
    if (!('run_id' in sent)) throw new Error('nothing was made')
    parent = sent.run_id
    ids.push(parent)
  }
  return ids[1] ?? ''
}

describe.skipIf(NO_BROWSER !== null)('the console, for whoever approves', () => {
  beforeAll(async () => {
    world = await createConsoleWorld()
    const { api } = world
    const { key } = await api.keys.create({ name: 'Desk', guard_rails: { approval: true } })
    agent = createClient({ url: world.url, key: key ?? '' })
    ;({ id: proposed } = await agent.schedules.create({
      name: 'Morning mail',
      cron: '0 9 * * *',
      payload: 'Sum it up',
    }))
    middle = await chain()
  }, 60_000)
  afterEach(() => world.leave())
  afterAll(() => world.close(), 30_000)

  it('shows what waits for a person, what it would change, and lets it run once it is approved', async () => {
    const visitor = await world.open()
    const { page } = visitor
    await visitor.signIn()
    await visitor.go('/')
    await page.getByRole('link', { name: 'Morning mail' }).click()
    await page.getByText('Proposed by key “Desk”').waitFor()
    await approve(visitor)
    await page.getByText('Active', { exact: true }).waitFor()
    await agent.schedules.update(proposed, { cron: '*/5 * * * *' })
    await page.getByText('Change proposed by key “Desk”').waitFor()
    await page.getByRole('cell', { name: '*/5 * * * *' }).waitFor()
    expect(await inspect(visitor, 'approval')).toEqual([])
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByLabel('Reason').fill('Too often')
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
    await page.getByText('Too often').waitFor()
    expect(await agent.schedules.get(proposed)).toMatchObject({ state: 'paused' })
    expect(visitor.complaints).toEqual([])
  })

  it('shows where a run comes from as a tree that is walked with the arrow keys', async () => {
    const visitor = await world.open()
    const { page } = visitor
    await visitor.signIn()
    await visitor.go(`/automation/runs/${middle}`)
    const items = page.getByRole('treeitem')
    await items.nth(2).waitFor()
    expect(await items.count()).toBe(3)
    await items.first().focus()
    for (const key of ['ArrowDown', 'ArrowLeft']) await page.keyboard.press(key)
    await expect.poll(() => items.count()).toBe(2)
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => items.count()).toBe(3)
    expect(await inspect(visitor, 'lineage')).toEqual([])
    expect(visitor.complaints).toEqual([])
  })
})

async function approve({ page }: Visitor): Promise<void> {
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('dialog', { name: 'Approve “Morning mail”?' }).getByRole('button', { name: 'Approve' }).click()
}
