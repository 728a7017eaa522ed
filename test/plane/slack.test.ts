import { createHmac } from 'node:crypto'
import { describe, expect } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { json, startPeer, type Peer } from '../platform/outbound/peer.ts'
import { scenario, type RawAnswer, type Remote, type World } from '../http-scenarios/world.ts'
import { ended, eventually } from '../scenarios/support.ts'

const SECRET = '8f742231b10e8888abcd99yyyzzz85a5'
const TOKEN = 'xoxb-1-secret-token'

/** What was posted where, as Slack sees it. */
const posted = (slack: Peer): readonly Readonly<Record<string, unknown>>[] =>
  slack.heard
    .filter(({ url }) => url === '/api/chat.postMessage')
    .map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>)

async function withSlack(world: World, play: (node: Remote, slack: Peer) => Promise<void>): Promise<void> {
  const slack = await startPeer(({ url, headers }, response) => {
    const isKnown = headers.authorization === `Bearer ${TOKEN}` || url.startsWith('/services/')
    json(response, 200, isKnown ? { ok: true, ts: '1700000001.000100' } : { ok: false, error: 'invalid_auth' })
  })
  try {
    const worker = ({ payload }: { readonly payload: unknown }): string =>
      `You said: ${(payload as { text?: string; prompt?: string }).text ?? 'nothing'} <b>`
    const node = await world.start({
      agents: { worker },
      channels: { slack_api: `${slack.url}/api` },
      sessions: { debounce_ms: 0 },
      outbound: { allow_hosts: [`127.0.0.1:${slack.port}`] },
    })
    await play(node, slack)
  } finally {
    await slack.close()
  }
}

/** Sends what Slack sends, signed as Slack signs. */
function tell(
  node: Remote,
  id: string,
  body: unknown,
  given: { at?: number; secret?: string } = {},
): Promise<RawAnswer> {
  const text = JSON.stringify(body)
  const at = String(given.at ?? Math.floor(Date.now() / 1_000))
  const signature = `v0=${createHmac('sha256', given.secret ?? SECRET)
    .update(`v0:${at}:${text}`)
    .digest('hex')}`
  const headers = { 'x-slack-request-timestamp': at, 'x-slack-signature': signature }
  return node.raw('POST', `/api/v1/hooks/${id}`, { key: '', text, headers })
}

const event = (id: string, fields: object): object => ({
  ...{ type: 'event_callback', event_id: id, team_id: 'T1' },
  event: { user: 'U7', channel: 'C1', ts: '1700000000.000100', ...fields },
})

async function connect(node: Remote, more: object = {}): Promise<string> {
  const body = {
    name: 'slack',
    kind: 'slack',
    agent_id: 'worker',
    token: TOKEN,
    signing_secret: SECRET,
    open: true,
    ...more,
  }
  const made = await node.raw('POST', '/api/v1/channels', { body })
  expect(made).toMatchObject({ status: 201, body: { has_token: true, has_signing_secret: true, mode: null } })
  return String(made.body['id'])
}

/** What is said to a conversation, as whoever listens to events hears it. */
async function hearOutbound(node: Remote): Promise<Readonly<Record<string, unknown>>> {
  const events = createClient({ url: node.url, key: node.key }).events({
    kinds: ['outbound'],
    session: 'agent:worker:console:main',
  })
  for await (const event of events) if (event.kind === 'outbound') return event.data
  return {}
}

describe('an app of Slack', () => {
  scenario('answers in the thread it is named in, and in private, once for each event', (world) =>
    withSlack(world, async (node, slack) => {
      const id = await connect(node)
      expect(await tell(node, id, { type: 'url_verification', challenge: 'c-1' })).toMatchObject({
        status: 200,
        body: { challenge: 'c-1' },
      })
      expect(await tell(node, id, event('E0', { type: 'app_mention', text: 'x' }), { secret: 'guess' })).toMatchObject({
        status: 401,
        body: { code: 'BAD_SIGNATURE' },
      })
      const late = await tell(node, id, event('E0', { type: 'app_mention', text: 'x' }), {
        at: Math.floor(Date.now() / 1_000) - 301,
      })
      expect([late.status, String(late.body['detail'])]).toEqual([401, expect.stringContaining('300 s')])

      const mention = event('E1', { type: 'app_mention', text: '<@UBOT> is &lt;main&gt; green?' })
      const heard = await tell(node, id, mention)
      expect(heard).toMatchObject({ status: 200, body: { outcome: 'accepted' } })
      // Slack sends again what it thinks nobody has heard.
      expect((await tell(node, id, mention)).body).toEqual(heard.body)
      await eventually(() => expect(posted(slack)).toHaveLength(1))
      expect(posted(slack)).toEqual([
        { channel: 'C1', thread_ts: '1700000000.000100', text: 'You said: U7: is &lt;main&gt; green? &lt;b&gt;' },
      ])

      // What is said further on in the thread belongs to the same conversation.
      await tell(
        node,
        id,
        event('E2', {
          type: 'app_mention',
          text: '<@UBOT> and now?',
          ts: '1700000009.000100',
          thread_ts: '1700000000.000100',
        }),
      )
      await tell(node, id, event('E3', { type: 'message', channel_type: 'im', channel: 'D1', text: 'psst' }))
      for (const own of [{ bot_id: 'B1' }, { subtype: 'message_changed' }])
        expect(
          (
            await tell(
              node,
              id,
              event('E4', { type: 'message', channel_type: 'im', channel: 'D1', text: 'loop', ...own }),
            )
          ).body,
        ).toEqual({ run_id: null, outcome: 'ignored' })
      expect(
        (await tell(node, id, event('E5', { type: 'message', channel_type: 'channel', text: 'not for you' }))).body,
      ).toMatchObject({ outcome: 'ignored' })
      await eventually(() => expect(posted(slack)).toHaveLength(3))
      expect(posted(slack).slice(1)).toEqual(
        expect.arrayContaining([
          { channel: 'C1', thread_ts: '1700000000.000100', text: 'You said: U7: and now? &lt;b&gt;' },
          { channel: 'D1', text: 'You said: psst &lt;b&gt;' },
        ]),
      )
      const { items } = await node.runs.list({ session: 'agent:worker:slack:group:C1/1700000000.000100' })
      expect(items.map(({ status }) => status)).toEqual(['success', 'success'])
      expect((await tell(node, id, event('E6', { type: 'app_mention', text: '<@UBOT> /stop' }))).body).toEqual({
        run_id: null,
        outcome: 'stopped',
      })
      await node.raw('POST', `/api/v1/channels/${id}/disable`)
      expect(await tell(node, id, event('E7', { type: 'app_mention', text: 'x' }))).toMatchObject({ status: 409 })
    }),
  )

  scenario('is a place that results of schedules go to, as are incoming webhooks and conversations', (world) =>
    withSlack(world, async (node, slack) => {
      await connect(node, { open: false })
      const hidden = `${slack.url}/services/T1/B1/very-secret`
      const targets = [
        { name: 'hook', kind: 'slack', url: hidden },
        { name: 'through', kind: 'slack', settings: { channel: 'slack', to: 'C9' } },
        { name: 'talk', kind: 'session', settings: { session: 'agent:worker:console:main' } },
      ]
      const heard = hearOutbound(node)
      for (const body of targets) {
        const made = await node.raw('POST', '/api/v1/targets', { body })
        expect([made.status, JSON.stringify(made.body).includes('very-secret')]).toEqual([201, false])
        const { id } = await node.schedules.create({
          ...{
            agent_id: 'worker',
            name: body.name,
            cron: '0 0 1 1 *',
            payload: 'go',
            delivery: { target_id: String(made.body['id']) },
          },
        })
        const { run_id: run = '' } = await node.schedules.runNow(id)
        await ended(node, run)
        await eventually(async () => {
          const { items } = await node.client.deliveries.list({ run_id: run })
          expect(items).toMatchObject([{ status: 'delivered', kind: 'target' }])
        })
      }
      expect(slack.heard.filter(({ url }) => url.startsWith('/services/')).map(({ body }) => body)).toEqual([
        JSON.stringify({ text: 'You said: nothing &lt;b&gt;' }),
      ])
      expect(posted(slack)).toEqual([{ channel: 'C9', text: 'You said: nothing &lt;b&gt;' }])
      // Who follows the conversation at the console hears it there.
      expect(await heard).toMatchObject({
        session: 'agent:worker:console:main',
        empty: false,
        text: 'You said: nothing <b>',
      })
      const wrong = [
        [{ name: 'x', kind: 'slack' }, '/url'],
        [{ name: 'x', kind: 'slack', url: hidden, settings: { channel: 'slack', to: 'C9' } }, '/settings'],
        [{ name: 'x', kind: 'telegram', settings: { channel: 'slack', chat_id: 1 } }, '/settings/channel'],
        [{ name: 'x', kind: 'telegram', settings: { channel: 'nope', chat_id: 1 } }, '/settings/channel'],
      ] as const
      for (const [body, pointer] of wrong)
        expect(await node.raw('POST', '/api/v1/targets', { body })).toMatchObject({
          status: 400,
          body: { errors: [{ pointer }] },
        })
    }),
  )
})
