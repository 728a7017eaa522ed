import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createChannels } from '../../../src/integrations/channels.ts'
import type { ChannelSettings } from '../../../src/domain/channel/channel-settings.ts'
import type { OpenChannel } from '../../../src/domain/channel/services.ts'
import { createOutboundGuard } from '../../../src/platform/outbound/resolve.ts'
import { createOutbound, type Outbound } from '../../../src/platform/outbound/send.ts'
import { json, startPeer, type Peer } from '../../platform/outbound/peer.ts'
import { startBotApi, type BotApi } from './bot-api.ts'

// What the services answer, through the same guarded way as in production.

const SETTINGS: ChannelSettings = {
  ...{ mode: 'polling', hears_all: false, open: true, allowed_users: [], allowed_chats: [], default_recipient: null },
  ...{ session: null, text: null, lane: null },
}
const signal = new AbortController().signal
const words = { peer: '7', text: 'hi', placeholder: null, seenMessages: [] }

let outbound: Outbound
let bot: BotApi
let slack: Peer
let slackSays: { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> }

beforeEach(async () => {
  outbound = createOutbound(
    createOutboundGuard({ settings: () => ({ allowHosts: [], allowLoopback: false }), closed: () => [] }),
  )
  bot = await startBotApi()
  slackSays = { status: 200, body: { ok: true } }
  slack = await startPeer((_, response) => json(response, slackSays.status, slackSays.body, slackSays.headers))
})
afterEach(async () => {
  await outbound.close()
  await Promise.all([bot.close(), slack.close()])
})

const services = () =>
  createChannels({ send: outbound.send, baseUrls: () => ({ telegram: `${bot.url}/`, slack: slack.url }) })
const channel = (kind: OpenChannel['kind'], token: string): OpenChannel => ({
  ...{ kind, credentials: { token }, settings: SETTINGS, identity: null },
})

describe('Telegram', () => {
  it('asks for patience, and is given it', async () => {
    bot.failNext('sendMessage', { code: 429, description: 'Too Many Requests: retry after 7', retryAfter: 7 })
    expect(await services().send(channel('telegram', bot.token), words, signal)).toMatchObject({
      ok: false,
      statusCode: 429,
      retryAfterMs: 7_000,
    })
    bot.failNext('getUpdates', { code: 409, description: 'Conflict: terminated by other getUpdates request' })
    expect(await services().pollUpdates(channel('telegram', bot.token), 3, signal)).toMatchObject({
      ok: false,
      message: expect.stringContaining('Conflict') as string,
    })
    expect(bot.calls.at(-1)?.fields).toMatchObject({ offset: 4, allowed_updates: ['message'] })
  })

  it('never reads its token in what went wrong', async () => {
    const other = '4711:AAH-not-the-token'
    bot.failNext('getMe', { code: 400, description: `no method for ${bot.token}` })
    for (const token of [bot.token, other]) {
      const found = await services().identify(channel('telegram', token), signal)
      expect(found?.outcome.ok).toBe(false)
      expect(JSON.stringify(found)).not.toContain(token)
    }
    await bot.close()
    const away = await services().send(channel('telegram', bot.token), words, signal)
    expect(away).toMatchObject({ ok: false, error: 'network' })
    expect(JSON.stringify(away)).not.toContain(bot.token)
    bot = await startBotApi()
  })

  it('takes an answer where its placeholder is, once, or anew when that is gone', async () => {
    const tg = channel('telegram', bot.token)
    const placeholder = await services().showPlaceholder(tg, '7')
    for (let tries = 0; tries < 2; tries += 1)
      expect(await services().send(tg, { ...words, placeholder }, signal)).toMatchObject({ ok: true })
    expect(bot.shown(7)).toEqual(['hi'])
    expect(await services().send(tg, { ...words, text: 'again', placeholder: '1' }, signal)).toMatchObject({ ok: true })
    expect(bot.shown(7)).toEqual(['hi', 'again'])
    await services().send(tg, { ...words, text: '', placeholder }, signal)
    expect(bot.shown(7)).toEqual(['again'])
  })

  it('is not waited for by whoever leaves', async () => {
    const leaving = new AbortController()
    const asked = services().pollUpdates(channel('telegram', bot.token), null, leaving.signal)
    leaving.abort()
    expect(await asked).toBeNull()
  })
})

describe('Slack', () => {
  const app = channel('slack', 'xoxb-secret')
  it.each([
    [{ status: 200, body: { ok: true } }, { ok: true }],
    [
      { status: 200, body: { ok: false, error: 'not_in_channel' } },
      { ok: false, error: 'http', message: 'Slack refused the call: not_in_channel' },
    ],
    [
      { status: 429, body: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': '30' } },
      { ok: false, retryAfterMs: 30_000 },
    ],
    [
      { status: 200, body: { ok: false, error: 'xoxb-secret is no token' } },
      { ok: false, message: 'Slack refused the call: *** is no token' },
    ],
    [
      { status: 500, body: 'gone' },
      { ok: false, statusCode: 500 },
    ],
  ])('%j', async (says, outcome) => {
    slackSays = says
    expect(await services().send(app, { ...words, peer: 'C1/17.01' }, signal)).toMatchObject(outcome)
    expect(slack.heard[0]).toMatchObject({ url: '/chat.postMessage', headers: { authorization: 'Bearer xoxb-secret' } })
  })
})
