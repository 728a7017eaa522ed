import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import type { OperationSpec } from '../../src/api/operation.ts'
import type { RunView } from '../../src/features/runs/schema.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { ALL_OPERATIONS } from '../server/contract/objects.ts'
import { createHttpWorld, type HttpWorld } from '../server/support.ts'
import { FILLERS } from './large-rows.ts'

// Every list, with the largest rows it can have: a page never takes much memory, and following the cursors shows
// everything once. Lists come from the table of operations, so one that is added there is asked here.

const hasCursor = ({ query }: OperationSpec): boolean =>
  query !== undefined && 'cursor' in ((query as z.ZodObject).shape as Readonly<Record<string, unknown>>)

const LISTS = ALL_OPERATIONS.filter(([, spec]) => hasCursor(spec)).map(([id]) => id)

/** A page ends after 4 MiB, and has names and brackets around its rows. */
const MAX_BYTES = 5 << 20

let world: HttpWorld
beforeEach(async () => {
  world = await createHttpWorld()
})
afterEach(() => world.close())

interface AnyPage {
  readonly items?: readonly Readonly<Record<string, unknown>>[]
  readonly tasks?: readonly Readonly<Record<string, unknown>>[]
  readonly children?: readonly Readonly<Record<string, unknown>>[]
  readonly next_cursor?: string | null
}

const nameOf = (row: Readonly<Record<string, unknown>>): string =>
  String(row['taskId'] ?? row['id'] ?? row['run_id'] ?? row['no'] ?? row['key'] ?? row['name'])

/** Every row, page by page, and how large the largest page was. */
async function readAll(url: string, as = 'owner'): Promise<{ readonly names: string[]; readonly largest: number }> {
  const names: string[] = []
  let [largest, cursor] = [0, '']
  do {
    const response = await world.ask('GET', `${url}?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`, { as })
    expect(response.statusCode, response.body.slice(0, 500) + JSON.stringify(world.logged)).toBe(200)
    largest = Math.max(largest, Buffer.byteLength(response.body))
    const page = response.json<AnyPage>()
    const rows = page.items ?? page.tasks ?? page.children ?? []
    expect(rows.length).toBeGreaterThan(0)
    names.push(...rows.map(nameOf))
    cursor = page.next_cursor ?? ''
  } while (cursor !== '')
  return { names, largest }
}

describe.each(LISTS)('%s with the largest rows it can have', (id) => {
  it('answers with pages of limited size that show everything once', async () => {
    const fill = FILLERS[id]
    if (fill === undefined) throw new Error(`say in large-rows.ts how ${id} is filled`)
    const { url, rows, as } = await fill(world)
    const { names, largest } = await readAll(url, as)
    expect(largest).toBeLessThan(MAX_BYTES)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThanOrEqual(rows)
  }, 120_000)
})

describe('a payload that is too large for a list', () => {
  const payload = { text: 'x'.repeat(20_000) }

  it('is left out of a list of schedules, which says so, and stands in the schedule itself', async () => {
    const made = (
      await world.ask('POST', '/api/v1/schedules', { body: { every_seconds: 60, payload } })
    ).json<ScheduleView>()
    await world.ask('POST', '/api/v1/schedules', { body: { every_seconds: 60, payload: { text: 'Hello' } } })
    const { items } = (await world.ask('GET', '/api/v1/schedules?sort=created_at')).json<{ items: ScheduleView[] }>()
    const [large, small] = [items.find(({ id }) => id === made.id), items.find(({ id }) => id !== made.id)]
    expect(large).toMatchObject({ payload: null, payload_omitted: true, payload_bytes: 20_012 })
    expect(small?.payload).toEqual({ text: 'Hello' })
    expect(small).not.toHaveProperty('payload_omitted')
    const alone = (await world.ask('GET', `/api/v1/schedules/${made.id}`)).json<ScheduleView>()
    expect(alone.payload).toEqual(payload)
    expect(alone).not.toHaveProperty('payload_omitted')
  })

  it('is left out of a list of runs, which still names the message', async () => {
    const text = payload.text
    const url = '/api/v1/sessions/agent:writer:talk/messages'
    const sent = (await world.ask('POST', url, { body: { text, message_id: 'm-1' } })).json<{ run_id: string }>()
    const { items } = (await world.ask('GET', '/api/v1/runs')).json<{ items: RunView[] }>()
    expect(items[0]).toMatchObject({ id: sent.run_id, payload: null, payload_omitted: true, message_id: 'm-1' })
    const alone = (await world.ask('GET', `/api/v1/runs/${sent.run_id}`)).json<RunView>()
    expect(alone.payload).toMatchObject({ text })
  })

  it('stands in the jobs of JSON-RPC, where none can be asked for alone', async () => {
    await world.ask('POST', '/api/v1/schedules', { body: { every_seconds: 60, payload: { prompt: payload.text } } })
    const body = { jsonrpc: '2.0', id: 1, method: 'cron.list', params: {} }
    const answer = (await world.ask('POST', '/rpc', { body })).body
    expect(answer).toContain(payload.text)
  })
})
