import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it } from 'vitest'
import type { OutgoingMessage } from '../../../src/domain/delivery/message.ts'
import { orgId } from '../../../src/domain/ids.ts'
import { signatureOf } from '../../../src/integrations/webhook/signature.ts'
import { createWebhookSender } from '../../../src/integrations/webhook/send.ts'
import { createOutboundGuard, type Resolve } from '../../../src/platform/outbound/resolve.ts'
import { createOutbound, type Outbound } from '../../../src/platform/outbound/send.ts'
import { json, startPeer, type Answering, type Peer } from '../../platform/outbound/peer.ts'

const SECRET = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`
const NOW = Date.now()
const never = new AbortController().signal

const opened: { readonly close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function receiver(answer: Answering): Promise<Peer> {
  const peer = await startPeer(answer)
  opened.push(peer)
  return peer
}

function outbound(allowHosts: readonly string[], resolve?: Resolve): Outbound {
  const settings = () => ({ allowHosts, allowLoopback: false })
  const guard = createOutboundGuard({ settings, closed: () => [], ...(resolve === undefined ? {} : { resolve }) })
  const made = createOutbound(guard)
  opened.unshift(made)
  return made
}

const messageTo = (url: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  ...{
    id: 'msg_1',
    kind: 'webhook',
    orgId: orgId('default'),
    settings: {},
    url,
    body: '{"a":"é"}',
    headers: {},
    secrets: [SECRET],
    purpose: 'webhook',
    ...more,
  },
})

const posting = (way: Outbound): ReturnType<typeof createWebhookSender> =>
  createWebhookSender({ send: way.send, now: () => NOW, program: 'escapement 0.0.0' })

const open = (peer: Peer): ReturnType<typeof createWebhookSender> => posting(outbound([`127.0.0.1:${peer.port}`]))

describe('a signature', () => {
  it('is the one of the published example of Standard Webhooks', () => {
    const message = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampSeconds: 1_614_265_330,
      body: '{"test": 2432232314}',
    }
    expect(signatureOf(message, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    )
  })
})

describe('a message', () => {
  it('is posted with its id, its time and a signature that others verify', async () => {
    const peer = await receiver((_, response) => json(response, 200, {}))
    const headers = { 'X-PinchTab-Event': 'task.completed' }
    expect(await open(peer)(messageTo(`${peer.url}/in`, { headers }), never)).toEqual({ ok: true, statusCode: 200 })
    const [heard] = peer.heard
    expect(heard).toMatchObject({
      ...{ method: 'POST', url: '/in', body: '{"a":"é"}' },
      headers: {
        ...{ 'webhook-id': 'msg_1', 'idempotency-key': 'msg_1', 'webhook-timestamp': String(Math.floor(NOW / 1_000)) },
        ...{ 'x-pinchtab-event': 'task.completed', 'user-agent': 'escapement/0.0.0' },
      },
    })
    expect(new Webhook(SECRET).verify(heard?.body ?? '', heard?.headers as Record<string, string>)).toEqual({ a: 'é' })
  })

  it.each([
    [201, {}, { ok: true, statusCode: 201 }],
    [302, { location: '/elsewhere' }, { ok: false, statusCode: 302, error: 'http' }],
    [400, {}, { ok: false, statusCode: 400, error: 'http', message: 'answered 400: {"why":"so"}' }],
    [429, { 'retry-after': '7' }, { ok: false, statusCode: 429, retryAfterMs: 7_000 }],
    [503, { 'retry-after': '2' }, { ok: false, statusCode: 503, retryAfterMs: 2_000 }],
    [500, { 'retry-after': '9' }, { ok: false, statusCode: 500, retryAfterMs: undefined }],
  ])('that is answered %i is judged by it', async (status, headers, outcome) => {
    const peer = await receiver((_, response) => json(response, status, { why: 'so' }, headers))
    expect(await open(peer)(messageTo(peer.url), never)).toMatchObject(outcome)
  })

  it('arrived also when the receiver goes on talking', async () => {
    const peer = await receiver((_, response) => void response.writeHead(200).end('x'.repeat(1_000_000)))
    expect(await open(peer)(messageTo(peer.url), never)).toEqual({ ok: true, statusCode: 200 })
  })

  it('that was stopped has no outcome: nobody knows', async () => {
    const stop = new AbortController()
    const peer = await receiver(() => stop.abort())
    expect(await open(peer)(messageTo(peer.url), stop.signal)).toBeNull()
    expect(peer.heard).toHaveLength(1)
  })

  it('does not go where a name leads that stood for something else when it was stored', async () => {
    const peer = await receiver((_, response) => json(response, 200, {}))
    const answers = ['93.184.216.34', '127.0.0.1']
    const way = outbound([], () => Promise.resolve([answers.shift() ?? '127.0.0.1']))
    const url = `http://rebound.example:${peer.port}/in`
    expect(await way.guard.checkAddresses(url, 'callback')).toBeNull()
    const outcome = await posting(way)(messageTo(url, { purpose: 'callback' }), never)
    expect(outcome).toMatchObject({ ok: false, statusCode: null, error: 'refused' })
    expect(peer.heard).toEqual([])
  })

  it('is not carried on to where the guard does not let it go', async () => {
    const inside = await receiver((_, response) => json(response, 200, {}))
    const peer = await receiver((_, response) => void response.writeHead(308, { location: `${inside.url}/x` }).end())
    expect(await open(peer)(messageTo(peer.url), never)).toMatchObject({ ok: false, error: 'refused' })
    expect(inside.heard).toEqual([])
  })
})
