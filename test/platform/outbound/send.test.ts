import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createOutboundGuard, type GuardOptions } from '../../../src/platform/outbound/resolve.ts'
import type { OutboundRequest } from '../../../src/platform/outbound/request.ts'
import { createOutbound, type Outbound } from '../../../src/platform/outbound/send.ts'
import { REFUSED_URLS } from '../../domain/outbound/spellings.ts'
import { json, startPeer, type Answering, type Peer } from './peer.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function peer(answer: Answering, host?: string): Promise<Peer> {
  const started = await startPeer(answer, host)
  ends.push(started.close)
  return started
}

function outbound(
  options: Partial<GuardOptions> & { readonly open?: boolean; readonly hosts?: readonly string[] } = {},
): Outbound {
  const { open = true, hosts = [], ...rest } = options
  const guard = createOutboundGuard({
    settings: () => ({ allowHosts: hosts, allowLoopback: open }),
    closed: () => [],
    ...rest,
  })
  const made = createOutbound(guard)
  ends.push(made.close)
  return made
}

const ask = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  ...{ url, timeoutMs: 5_000, maxBytes: 1_000_000, purpose: 'agent' },
  ...more,
})

/** A server that speaks whatever it is told, HTTP or not. */
async function rawPeer(talk: (socket: Socket) => void): Promise<{ readonly url: string; readonly port: number }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => talk(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port }
}

describe('a request', () => {
  it('is sent as it is and its answer read whole', async () => {
    const other = await peer((_, response) => json(response, 201, { ok: true }, { 'x-one': '1' }))
    const sent = ask(`${other.url}/a?b=c#d`, { method: 'PUT', headers: { 'X-Two': '2' }, body: 'hello' })
    const answer = await outbound().send(sent)
    expect(answer).toMatchObject({ kind: 'answered', status: 201, headers: { 'x-one': '1' } })
    expect(answer.kind === 'answered' && answer.body.toString()).toBe('{"ok":true}')
    expect(other.heard[0]).toMatchObject({ method: 'PUT', url: '/a?b=c', body: 'hello', headers: { 'x-two': '2' } })
    expect(other.heard[0]?.headers.host).toBe(`127.0.0.1:${other.port}`)
  })

  it('keeps its connection for the next one', async () => {
    const other = await peer((_, response) => json(response, 200, {}))
    const { send } = outbound()
    for (let n = 0; n < 10; n += 1) await send(ask(other.url))
    expect(other.connections()).toBeLessThanOrEqual(2)
  })

  it('cannot be told whose host it is, or how long it is', async () => {
    const other = await peer((_, response) => json(response, 200, {}))
    const headers = { Host: 'evil.example', 'Content-Length': '3', 'Transfer-Encoding': 'chunked', Connection: 'close' }
    await outbound().send(ask(other.url, { method: 'POST', headers, body: 'hello' }))
    expect(other.heard[0]).toMatchObject({ body: 'hello', headers: { host: `127.0.0.1:${other.port}` } })
    expect(other.heard[0]?.headers['transfer-encoding']).toBeUndefined()
  })

  it('with what cannot be a header is not sent', async () => {
    const other = await peer((_, response) => json(response, 200, {}))
    const answer = await outbound().send(ask(other.url, { headers: { 'x-a': 'one\r\nx-b: two' } }))
    expect(answer).toMatchObject({ kind: 'malformed' })
    expect(other.heard).toHaveLength(0)
  })
})

describe('the guard', () => {
  it('lets nothing out to any of the spellings, and opens no connection', async () => {
    const resolve = vi.fn(() => Promise.resolve(['127.0.0.1']))
    const { send } = outbound({ open: false, resolve })
    for (const [kind, urls] of Object.entries(REFUSED_URLS))
      for (const url of urls)
        for (const purpose of ['agent', 'callback', 'webhook', 'probe'] as const)
          expect((await send(ask(url, { purpose }))).kind, `${kind} ${url}`).toBe('refused')
    expect(resolve).not.toHaveBeenCalled()
  })

  it('lets an allowed host and port pass, and no other', async () => {
    const other = await peer((_, response) => json(response, 200, {}))
    const { send } = outbound({ open: false, hosts: [`127.0.0.1:${other.port}`] })
    for (const purpose of ['agent', 'callback', 'webhook', 'probe'] as const)
      expect((await send(ask(other.url, { purpose }))).kind).toBe('answered')
    expect((await send(ask(other.url.replace('127.0.0.1', '127.0.0.2')))).kind).toBe('refused')
  })

  it('resolves once and goes to what it has judged', async () => {
    const good = await peer((_, response) => json(response, 200, 'good'))
    const resolve = vi.fn(() => Promise.resolve(['127.0.0.1']))
    const { send } = outbound({ open: false, resolve, hosts: [`name.example:${good.port}`] })
    expect((await send(ask(`http://name.example:${good.port}/`))).kind).toBe('answered')
    expect(resolve).toHaveBeenCalledTimes(1)
    expect(good.heard[0]?.headers.host).toBe(`name.example:${good.port}`)
  })

  it('refuses a second answer of the resolver, also when a connection to the first is still open', async () => {
    const good = await peer((_, response) => json(response, 200, 'good'), '127.0.0.2')
    const answers = [['127.0.0.2'], ['127.0.0.2'], ['169.254.169.254'], ['127.0.0.2', '10.0.0.1']]
    const resolve = (): Promise<string[]> => Promise.resolve(answers.shift() ?? ['10.0.0.1'])
    const { send } = outbound({ open: true, resolve })
    const kinds: string[] = []
    for (let n = 0; n < 5; n += 1) kinds.push((await send(ask(`http://rebind.example:${good.port}/`))).kind)
    expect(kinds).toEqual(['answered', 'answered', 'refused', 'refused', 'refused'])
    expect(good.heard).toHaveLength(2)
  })

  it('asks a server with TLS for the name and goes to the judged address', async () => {
    let hello = ''
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (data) => {
        hello = data.toString('latin1')
        socket.destroy()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ends.push(() => new Promise((resolve) => server.close(resolve)))
    const { port } = server.address() as AddressInfo
    const { send } = outbound({ resolve: () => Promise.resolve(['127.0.0.1']) })
    expect((await send(ask(`https://name.example:${port}/`))).kind).toBe('network')
    expect(hello).toContain('name.example')
  })

  it('does not use a connection to one address for a request that was judged for another', async () => {
    const one = await peer((_, response) => json(response, 200, 'one'), '127.0.0.2')
    const answers = [['127.0.0.2'], ['127.0.0.3']]
    const { send } = outbound({ resolve: () => Promise.resolve(answers.shift() ?? []) })
    expect((await send(ask(`http://moving.example:${one.port}/`))).kind).toBe('answered')
    expect((await send(ask(`http://moving.example:${one.port}/`))).kind).toBe('network')
    expect(one.heard).toHaveLength(1)
  })

  it('judges again when the operator has changed what is open', async () => {
    const other = await peer((_, response) => json(response, 200, {}))
    let allowLoopback = true
    const { send } = outbound({ settings: () => ({ allowHosts: [], allowLoopback }) })
    expect((await send(ask(other.url))).kind).toBe('answered')
    allowLoopback = false
    expect((await send(ask(other.url))).kind).toBe('refused')
  })

  it('keeps our own listener closed whatever is open, also by a name that stands for it', async () => {
    const own = await peer((_, response) => json(response, 200, {}))
    const { send, guard } = outbound({
      hosts: [`127.0.0.1:${own.port}`, `me.example:${own.port}`],
      resolve: () => Promise.resolve(['127.0.0.1']),
      closed: () => [{ description: 'this server', host: '127.0.0.1', port: own.port }],
    })
    for (const url of [
      own.url,
      `http://me.example:${own.port}/`,
      `http://localhost:${own.port}/`,
      `http://[::1]:${own.port}`,
    ]) {
      const answer = await send(ask(url))
      expect(answer).toMatchObject({ kind: 'refused', message: expect.stringContaining('this server') as string })
    }
    expect(own.heard).toHaveLength(0)
    expect(await guard.checkAddresses(`http://me.example:${own.port}/`, 'callback')).toContain('this server')
  })

  it('keeps the database closed by what its name stands for', async () => {
    const { guard } = outbound({
      resolve: (host) => Promise.resolve(host === 'db.example' ? ['8.8.4.4'] : ['8.8.4.4', '8.8.8.8']),
      closed: () => [{ description: 'the database', host: 'db.example', port: 5432 }],
    })
    expect(await guard.checkAddresses('http://other.example:5432/', 'agent')).toContain('the database')
    expect(await guard.checkAddresses('http://other.example:80/', 'agent')).toBeNull()
  })

  it('checks what is stored without holding an unknown name against it', async () => {
    const { guard } = outbound({ resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await guard.checkAddresses('http://soon.example/', 'callback')).toBeNull()
    expect(guard.checkUrl('http://10.0.0.1/', 'callback')).toContain('private')
  })
})

describe('a redirect', () => {
  const redirect =
    (status: number, location: string): Answering =>
    (_, response) =>
      response.writeHead(status, { location }).end()

  it.each(REFUSED_URLS['metadata'] ?? [])('to %s is refused', async (location) => {
    const other = await peer(redirect(307, location))
    const answer = await outbound().send(ask(other.url, { method: 'POST', body: '{}' }))
    expect(answer).toMatchObject({ kind: 'refused', message: expect.stringContaining('redirected to') as string })
  })

  it('of an allowed host to a closed one is refused, and the closed one hears nothing', async () => {
    const inner = await peer((_, response) => json(response, 200, 'secret'), '127.0.0.2')
    const outer = await peer(redirect(308, `${inner.url}/admin`))
    const { send } = outbound({ open: false, hosts: [`127.0.0.1:${outer.port}`] })
    for (const purpose of ['callback', 'webhook', 'agent'] as const)
      expect((await send(ask(outer.url, { purpose, method: 'POST', body: 'x' }))).kind).toBe('refused')
    // The operator's own word holds for the operator's own address.
    expect((await send(ask(outer.url, { purpose: 'operator', method: 'POST', body: 'x' }))).kind).toBe('refused')
    expect(inner.heard).toHaveLength(0)
  })

  it('is followed to a checked host, the same request again, without what belongs to the first', async () => {
    const there = await peer((_, response) => json(response, 200, 'there'))
    const other = await peer(redirect(307, `${there.url}/moved?x=1`))
    const headers = { authorization: 'Bearer x', 'x-api-key': 'k', cookie: 'c', 'idempotency-key': 'i', 'x-plain': 'p' }
    const answer = await outbound().send(ask(`${other.url}/a`, { method: 'POST', body: 'hello', headers }))
    expect(answer).toMatchObject({ kind: 'answered', status: 200 })
    const [heard] = there.heard
    expect(heard).toMatchObject({ method: 'POST', url: '/moved?x=1', body: 'hello' })
    expect(heard?.headers).toMatchObject({ 'idempotency-key': 'i', 'x-plain': 'p' })
    for (const name of ['authorization', 'x-api-key', 'cookie']) expect(heard?.headers[name]).toBeUndefined()
  })

  it('that would turn a request with a body into another one is the answer', async () => {
    for (const status of [301, 302, 303]) {
      const other = await peer(redirect(status, '/elsewhere'))
      expect(await outbound().send(ask(other.url, { method: 'POST', body: 'x' }))).toMatchObject({ status })
      expect(other.heard).toHaveLength(1)
    }
  })

  it('in a circle ends', async () => {
    const other = await peer(redirect(302, '/again'))
    const answer = await outbound().send(ask(other.url))
    expect(answer).toEqual({ kind: 'refused', message: 'redirected more than 5 times' })
    expect(other.heard).toHaveLength(6)
  })

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'http://user:x@example.com/'])(
    'to %s is refused',
    async (to) => {
      const other = await peer(redirect(307, to))
      expect((await outbound().send(ask(other.url))).kind).toBe('refused')
    },
  )

  it('to what is no address is the answer', async () => {
    const other = await peer(redirect(307, 'http://[::1'))
    expect(await outbound().send(ask(other.url))).toMatchObject({ kind: 'answered', status: 307 })
  })
})

describe('the other side', () => {
  it('that is not there is a network error', async () => {
    const gone = await startPeer(() => undefined)
    await gone.close()
    const answer = await outbound().send(ask(gone.url))
    expect(answer).toMatchObject({ kind: 'network', message: expect.stringContaining('ECONNREFUSED') as string })
  })

  it('that nobody knows is a network error with its name', async () => {
    const resolve = (): Promise<string[]> => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    expect(await outbound({ resolve }).send(ask('http://gone.example/'))).toEqual({
      ...{ kind: 'network', message: 'cannot resolve gone.example (ENOTFOUND)' },
    })
  })

  it('that never answers is a timeout, and its connection is dropped', async () => {
    const other = await peer(() => undefined)
    const answer = await outbound().send(ask(other.url, { timeoutMs: 100 }))
    expect(answer).toEqual({ kind: 'timeout', message: 'no complete response within 100 ms' })
    await vi.waitFor(() => expect(other.dropped()).toBe(1))
  })

  it.each([
    ['that sends headers a byte at a time', 'HTTP/1.1 200 OK\r\nx: '],
    ['that sends a body a byte at a time', 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n'],
  ])('%s is a timeout', async (_, beginning) => {
    const { url } = await rawPeer((socket) => {
      socket.write(beginning)
      const timer = setInterval(() => socket.write('a'), 5)
      socket.on('close', () => clearInterval(timer))
    })
    expect((await outbound().send(ask(url, { timeoutMs: 150 }))).kind).toBe('timeout')
  })

  it('whose resolver hangs is a timeout', async () => {
    const { send } = outbound({ resolve: () => new Promise(() => undefined) })
    expect((await send(ask('http://slow.example/', { timeoutMs: 50 }))).kind).toBe('timeout')
  })

  it.each([
    ['with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
    ['in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
  ])('that closes in the middle of a body %s is a network error', async (_, text) => {
    const { url } = await rawPeer((socket) => socket.end(text))
    const answer = await outbound().send(ask(url))
    expect(answer).toMatchObject({
      kind: 'network',
      message: expect.stringContaining('bytes of the response') as string,
    })
  })

  it('that closes before it says anything is a network error', async () => {
    const { url } = await rawPeer((socket) => socket.destroy())
    expect((await outbound().send(ask(url))).kind).toBe('network')
  })

  it.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9\r\n'],
    ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}`],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  ])('that speaks %s is malformed', async (_, text) => {
    const { url } = await rawPeer((socket) => socket.write(text))
    expect((await outbound().send(ask(url))).kind).toBe('malformed')
  })

  it('whose answer is 10 GiB ends at the limit, whether it says so or not, with little memory', async () => {
    const block = Buffer.alloc(1 << 20, 'x')
    let written = 0
    const flood: Answering = ({ url }, response) => {
      response.writeHead(200, url === '/said' ? { 'content-length': String(10 * 2 ** 30) } : {})
      const more = (): void => {
        while (written < 10 * 2 ** 30 && !response.destroyed) {
          written += block.length
          if (!response.write(block)) return
        }
      }
      response.on('drain', more)
      more()
    }
    const other = await peer(flood)
    const before = process.memoryUsage().rss
    for (const path of ['/said', '/unsaid'])
      expect(await outbound().send(ask(`${other.url}${path}`, { maxBytes: 65_536 }))).toEqual({
        ...{ kind: 'too_large', status: 200, message: 'the response is larger than 65536 bytes' },
      })
    await vi.waitFor(() => expect(other.dropped()).toBe(2))
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20)
    expect(written).toBeLessThan(100 * 2 ** 20)
  })

  it('that was answering exactly the limit is fine', async () => {
    const other = await peer((_, response) => response.end('x'.repeat(1_000)))
    expect((await outbound().send(ask(other.url, { maxBytes: 1_000 }))).kind).toBe('answered')
    expect((await outbound().send(ask(other.url, { maxBytes: 999 }))).kind).toBe('too_large')
  })
})

describe('a signal', () => {
  it('drops the connection at once, before and during the answer', async () => {
    const other = await peer(({ url }, response) => {
      if (url === '/half') response.writeHead(200).write('half')
    })
    for (const [n, path] of ['/never', '/half'].entries()) {
      const controller = new AbortController()
      const answer = outbound().send(ask(`${other.url}${path}`, { signal: controller.signal }))
      await vi.waitFor(() => expect(other.heard).toHaveLength(n + 1))
      controller.abort()
      expect(await answer).toEqual({ kind: 'aborted', message: 'the request was cancelled' })
      await vi.waitFor(() => expect(other.dropped()).toBe(n + 1))
    }
  })

  it('that was given before sends nothing', async () => {
    const other = await peer((_, response) => json(response, 200, {}))
    expect((await outbound().send(ask(other.url, { signal: AbortSignal.abort() }))).kind).toBe('aborted')
    expect(other.heard).toHaveLength(0)
  })
})
