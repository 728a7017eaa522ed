import { readFileSync } from 'node:fs'
import path from 'node:path'
import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { endedResponse, responseOf, TOKENS } from '../executors/chat/wires.ts'
import { surfaceOf } from '../http-scenarios/remote.ts'
import { json, startPeer, type Answering, type Heard, type Peer } from '../platform/outbound/peer.ts'
import { chat, ended, eventually, inState, send } from '../scenarios/support.ts'
import { createServeWorld, type Served, type ServeWorld } from '../serve/support.ts'

// The background mode of the Responses API: a server works, and nodes ask it how far it is.

const KEY = 'sk-canary-in-the-background'

let world: ServeWorld
let service: Peer
/** What the service answers when it is asked how far it is. */
let status: Answering
const cancelled: string[] = []

const working: Answering = (_, response) => json(response, 200, responseOf('in_progress'))
const done: Answering = (_, response) => json(response, 200, endedResponse(`Done, ${KEY}`, TOKENS, 'stop'))

beforeEach(async () => {
  status = working
  cancelled.length = 0
  world = await createServeWorld()
  service = await startPeer((heard, response, n) => {
    const [, , name, id, action] = heard.url.split('/')
    if (name !== 'responses') json(response, 404, { error: { message: 'no route' } })
    else if (heard.method === 'POST' && id === undefined)
      json(response, 200, { ...responseOf('queued', { background: true }), id: `resp_${n}` })
    else if (heard.method === 'POST' && action === 'cancel') {
      cancelled.push(id ?? '')
      json(response, 200, responseOf('cancelled'))
    } else status(heard, response, n)
  })
}, 60_000)

afterEach(async () => {
  await world.end()
  await service.close()
})

const created = (): readonly Heard[] => service.heard.filter(({ url }) => url === '/v1/responses')
const asked = (): readonly Heard[] => service.heard.filter(({ method }) => method === 'GET')

function serve(): Served {
  return world.serve({ variables: { ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true' } })
}

async function nodeOf(served: Served) {
  const client = createClient({
    url: await served.url,
    key: readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim(),
  })
  return { ...surfaceOf(client), client }
}

type Node = Awaited<ReturnType<typeof nodeOf>>

async function createAgent({ client }: Node, more: object = {}): Promise<void> {
  await client.secrets.create({ name: 'openai', value: KEY, hosts: [new URL(service.url).host] })
  await client.agents.create({
    ...{ id: 'thinker', name: 'Thinker', retry_policy: { max_retries: 0 }, ...more },
    executor: {
      ...{ kind: 'chat', api: 'openai-responses', base_url: `${service.url}/v1`, model: 'gpt-x', background: true },
      api_key: '{{secret:openai}}',
    },
  })
}

describe('a model that works in the background', () => {
  it('is created, fetched and cancelled as the official package does it', async () => {
    const { responses } = new OpenAI({ apiKey: 'sk-test', maxRetries: 0, baseURL: `${service.url}/v1` })
    const { id, status: first } = await responses.create({ model: 'gpt-x', input: 'Hello', background: true })
    expect([first, (await responses.retrieve(id)).status]).toEqual(['queued', 'in_progress'])
    expect((await responses.cancel(id)).status).toBe('cancelled')
    status = done
    expect((await responses.retrieve(id)).output_text).toContain('Done')
  })

  it('lets the run wait without a slot, across a restart, and ends it once', async () => {
    const before = serve()
    const node = await nodeOf(before)
    await createAgent(node)
    const { run_id: id } = await send(node, chat('ann', 'thinker'), 'Think')
    await inState(node, id, 'awaiting_callback')
    expect(JSON.parse(created()[0]?.body ?? '')).toMatchObject({ background: true, store: true })
    // It waits an hour by default, not the usual five minutes for a callback.
    expect((await node.client.lanes.list()).items.every(({ active }) => active === 0)).toBe(true)
    await eventually(() => expect(asked().length).toBeGreaterThan(0))
    expect(asked()[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
    before.signal('SIGTERM')
    await before.ended

    status = done
    const after = await nodeOf(serve())
    const run = await ended(after, id)
    expect(run).toMatchObject({
      ...{ status: 'success', attempt: 1, output: 'Done, ***' },
      usage: { input_tokens: 1_000, output_tokens: 50, cached_input_tokens: 800, reasoning_tokens: 30 },
    })
    expect(created()).toHaveLength(1)
    const times = asked().length
    expect((await after.client.runs.get(id)).attempts).toHaveLength(1)
    // Nothing is asked any more, and nothing is cancelled.
    await new Promise((resolve) => {
      setTimeout(resolve, 3_000)
    })
    expect([asked().length, cancelled]).toEqual([times, []])
  }, 60_000)

  it('is told when its answer is not wanted any more', async () => {
    const node = await nodeOf(serve())
    await createAgent(node)
    const { run_id: id } = await send(node, chat('ann', 'thinker'), 'Think')
    await inState(node, id, 'awaiting_callback')
    await eventually(() => expect(asked().length).toBeGreaterThan(0))
    await node.runs.cancel(id)
    expect(await ended(node, id)).toMatchObject({ status: 'cancelled' })
    await eventually(() => expect(cancelled).toEqual(['resp_1']))
  }, 60_000)

  it('is asked again after an outage, garbage ends the run with one reason', async () => {
    const node = await nodeOf(serve())
    await createAgent(node)
    const { run_id: id } = await send(node, chat('ann', 'thinker'), 'Think')
    const answers: Answering[] = [
      (_, response) => response.destroy(),
      (_, response) => json(response, 429, { error: { message: 'slow down' } }),
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
    ]
    status = (heard, response, n) => answers.shift()?.(heard, response, n)
    const run = await ended(node, id)
    expect(run).toMatchObject({ status: 'failed', attempt: 1, error_code: 'malformed_answer' })
    expect(asked()).toHaveLength(3)
    expect(answers).toEqual([])
  }, 60_000)

  it('that has failed fails the run with its own words; one that is gone, too', async () => {
    const node = await nodeOf(serve())
    await createAgent(node)
    status = (_, response) =>
      json(response, 200, responseOf('failed', { error: { code: 'server_error', message: 'out of chips' } }))
    const { run_id: failed } = await send(node, chat('ann', 'thinker'), 'Think')
    expect(await ended(node, failed)).toMatchObject({ error_code: 'executor_http_5xx', error_message: 'out of chips' })
    status = (_, response) => json(response, 404, { error: { message: 'no such response' } })
    const { run_id: gone } = await send(node, chat('bob', 'thinker'), 'Think')
    const run = await ended(node, gone)
    expect(run.error_code).toBe('executor_http_4xx')
    expect(run.error_message).toContain('no such response')
  }, 60_000)

  it('that is too slow for the run times out there, and is told', async () => {
    const node = await nodeOf(serve())
    await createAgent(node, { timeout_seconds: 3 })
    const { run_id: id } = await send(node, chat('ann', 'thinker'), 'Think')
    const run = await ended(node, id)
    expect(run).toMatchObject({ status: 'timeout', error_code: 'callback_timeout' })
    expect(run.error_message).toContain('within 3 s')
    await eventually(() => expect(cancelled).toEqual(['resp_1']))
  }, 60_000)
})
