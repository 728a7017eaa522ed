import type { ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { createScriptedServer, cut, problem, type Answering, type ScriptedServer } from './scripted-server.ts'

setFlagsFromString('--expose-gc')
const collectMemory = runInNewContext('gc') as () => void

let server: ScriptedServer

afterEach(() => server.end())

const event = (id: string): string =>
  `id: ${id}\nevent: run.changed\ndata: ${JSON.stringify({ id, kind: 'run.changed' })}\n\n`

const streaming =
  (ids: readonly string[], more: (response: ServerResponse) => void = () => undefined): Answering =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(ids.map(event).join(''))
    more(response)
  }

const idsOf = async (events: AsyncIterable<{ readonly id: string }>, count: number): Promise<readonly string[]> => {
  const ids: string[] = []
  for await (const { id } of events) if (ids.push(id) === count) break
  return ids
}

describe('the stream of events', () => {
  it('asks for what is wanted', async () => {
    server = await createScriptedServer(streaming(['1-0']))
    const filter = { kinds: ['run.changed', 'run.output'], run_id: 'run_1' } as const
    const events = createClient({ url: server.url, key: 'esc_k' }).events(filter, { lastEventId: '0-9' })
    expect(await idsOf(events, 1)).toEqual(['1-0'])
    expect(server.arrived[0]?.url).toBe('/api/v1/events?kinds=run.changed%2Crun.output&run_id=run_1')
    expect(server.arrived[0]?.headers).toMatchObject({ authorization: 'Bearer esc_k', 'last-event-id': '0-9' })
  })

  it('goes on behind the last event when the connection breaks', async () => {
    // The id behind the events moves the place on; the one of an event that breaks off does not.
    const broken = streaming(['1-0', '1-1'], (response) => response.end('id: 1-5\n\nid: 1-6\ndata: {'))
    server = await createScriptedServer(
      broken,
      cut,
      problem({ status: 503, code: 'DATABASE_AWAY' }),
      streaming(['2-0']),
    )
    const opened: number[] = []
    const options = { onOpen: () => void opened.push(server.arrived.length) }
    const events = createClient({ url: server.url }).events({}, options)
    expect(await idsOf(events, 3)).toEqual(['1-0', '1-1', '2-0'])
    expect(server.arrived.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1-5', '1-5', '1-5'])
    expect(opened).toEqual([1, 4])
  })

  it('says when events were lost', async () => {
    const reset = { reason: 'too_old', asked: '1-0', id: '9-0' }
    server = await createScriptedServer(
      streaming([], (response) => response.write(`id: 9-0\nevent: reset\ndata: ${JSON.stringify(reset)}\n\n`)),
    )
    const heard: unknown[] = []
    for await (const one of createClient({ url: server.url }).events()) {
      heard.push(one)
      break
    }
    expect(heard).toEqual([{ kind: 'reset', ...reset }])
  })

  it('ends without an error when it is told to', async () => {
    server = await createScriptedServer(streaming(['1-0']))
    const controller = new AbortController()
    const ids: string[] = []
    for await (const { id } of createClient({ url: server.url }).events({}, { signal: controller.signal })) {
      ids.push(id)
      controller.abort()
    }
    expect(ids).toEqual(['1-0'])
  })

  it('ends when it is told to, also after memory was collected', async () => {
    server = await createScriptedServer(streaming(['1-0']))
    const controller = new AbortController()
    const events = createClient({ url: server.url }).events({}, { signal: controller.signal })
    const ids: string[] = []
    const listening = (async () => {
      for await (const { id } of events) ids.push(id)
    })()
    await expect.poll(() => ids).toEqual(['1-0'])
    for (let round = 0; round < 10; round += 1) {
      collectMemory()
      await turn()
    }
    controller.abort()
    await listening
    expect(ids).toEqual(['1-0'])
  }, 10_000)

  it('fails when it is refused, and when nobody is there', async () => {
    server = await createScriptedServer(problem({ status: 403, code: 'FORBIDDEN' }))
    await expect(idsOf(createClient({ url: server.url }).events(), 1)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const nobody = createClient({ url: 'http://127.0.0.1:1', retries: 1 })
    await expect(idsOf(nobody.events(), 1)).rejects.toMatchObject({ code: 'UNREACHABLE' })
  })
})
