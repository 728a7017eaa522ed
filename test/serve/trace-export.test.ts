import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createServeWorld, type Served, type ServeWorld } from './support.ts'

const CANARY = 'collector-canary-7c1f'

interface ExportedSpan {
  readonly name: string
  readonly traceId: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

interface Export {
  readonly headers: IncomingMessage['headers']
  readonly path: string | undefined
  readonly spans: readonly ExportedSpan[]
}

interface ExportBody {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[] }[]
}

const ownerKey = (): string => readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()

/** A collector: records what it receives, and answers as the test wants. */
async function startCollector(answer: (respond: (status: number) => void) => void): Promise<Collector> {
  const received: Export[] = []
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as ExportBody
      const spans = body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
      received.push({ headers: request.headers, path: request.url, spans })
      answer((status) => response.writeHead(status, { 'content-type': 'application/json' }).end('{}'))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    end: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

interface Collector {
  readonly url: string
  readonly received: readonly Export[]
  readonly end: () => void
}

let world: ServeWorld
const ending: (() => void)[] = []

beforeEach(async () => {
  world = await createServeWorld()
}, 60_000)
afterEach(async () => {
  await world.end()
  for (const end of ending.splice(0)) end()
})

function serveWith(tracing: object): Served {
  const file = path.join(world.data, 'settings.yaml')
  writeFileSync(file, JSON.stringify({ tracing }))
  return world.serve({ config: file })
}

/** Sends a message to the built-in agent and waits for its end. */
async function runOnce(served: Served): Promise<void> {
  const url = await served.url
  const response = await fetch(`${url}/api/v1/sessions/agent:echo:web:direct:ann/messages?wait=10`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ownerKey()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'secret words of a person', debounce_ms: 0 }),
  })
  expect(await response.json()).toMatchObject({ status: 'success' })
}

const spansOf = ({ received }: Collector): readonly ExportedSpan[] => received.flatMap(({ spans }) => spans)

const attributesOf = ({ attributes }: ExportedSpan): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

describe('a collector', () => {
  it('receives the spans of a run, with the headers of the configuration', async () => {
    const collector = await startCollector((respond) => respond(200))
    ending.push(collector.end)
    const served = serveWith({
      otlp_endpoint: `${collector.url}/`,
      otlp_headers: { authorization: `Bearer ${CANARY}` },
    })
    await runOnce(served)
    served.signal('SIGTERM')
    expect(await served.ended).toBe(0)
    const spans = spansOf(collector)
    const attempt = spans.find(({ name }) => name === 'escapement attempt')
    const admit = spans.find(({ name }) => name === 'escapement admit')
    expect(attempt?.traceId).toBe(admit?.traceId)
    expect(attempt === undefined ? null : attributesOf(attempt)).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': 'echo',
      'gen_ai.conversation.id': 'agent:echo:web:direct:ann',
      'escapement.outcome': 'succeeded',
    })
    expect(collector.received[0]).toMatchObject({
      path: '/v1/traces',
      headers: { authorization: `Bearer ${CANARY}` },
    })
    expect(JSON.stringify(collector.received.map(({ spans: sent }) => sent))).not.toContain('secret words')
    expect(JSON.stringify(served.log()) + served.stderr() + served.stdout()).not.toContain(CANARY)
  })

  it('receives nothing at a ratio of 0', async () => {
    const collector = await startCollector((respond) => respond(200))
    ending.push(collector.end)
    const served = serveWith({ otlp_endpoint: collector.url, sample_ratio: 0 })
    await runOnce(served)
    served.signal('SIGTERM')
    expect(await served.ended).toBe(0)
    expect(spansOf(collector)).toEqual([])
  })

  it('has headers that the configuration shows masked', async () => {
    const collector = await startCollector((respond) => respond(200))
    ending.push(collector.end)
    const served = serveWith({ otlp_endpoint: collector.url, otlp_headers: { authorization: CANARY } })
    const url = await served.url
    const response = await fetch(`${url}/api/v1/config`, { headers: { authorization: `Bearer ${ownerKey()}` } })
    const shown = await response.text()
    expect(shown).toContain('otlp_headers')
    expect(shown).not.toContain(CANARY)
  })
})

describe('a collector that is no help', () => {
  it.each([
    ['refuses', (respond: (status: number) => void) => respond(401)],
    ['never answers', () => undefined],
    ['is broken', (respond: (status: number) => void) => respond(500)],
  ])('%s: runs succeed, and the server ends in time', async (_, answer) => {
    const collector = await startCollector(answer)
    ending.push(collector.end)
    const served = serveWith({ otlp_endpoint: collector.url })
    await runOnce(served)
    served.signal('SIGTERM')
    expect(await served.ended).toBe(0)
  })

  it('is away: the log says so once, with its address', async () => {
    const collector = await startCollector(() => undefined)
    collector.end()
    const served = serveWith({ otlp_endpoint: collector.url })
    await runOnce(served)
    const warnings = () => served.log().filter(({ msg }) => msg === 'Traces cannot be exported')
    await vi.waitFor(() => expect(warnings()).toHaveLength(1), { timeout: 40_000 })
    expect(warnings()[0]).toMatchObject({ level: 'warn', endpoint: collector.url })
  }, 60_000)
})
