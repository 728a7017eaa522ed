import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hookFlaw } from '../../../src/integrations/channels.ts'
import { readSlackEvent, slackFlaw } from '../../../src/integrations/slack/events.ts'
import { readUpdate } from '../../../src/integrations/telegram/updates.ts'
import { dm, inGroup } from './bot-api.ts'

const BOT = { id: '4711', username: 'esc_bot' }
const quiet = { hearsAll: false }
const update = (message: object): object => ({ update_id: 5, message: { message_id: 9, ...message } })

describe('an update of Telegram', () => {
  const ann = { id: 7, name: 'Ann' }
  it.each([
    ['nothing', {}],
    ['an edit', { update_id: 5, edited_message: dm(7, 'x') }],
    ['a bot', update({ ...dm(7, 'x'), from: { id: 8, is_bot: true } })],
    ['silence', update(dm(7, '  '))],
    ['talk among others', update(inGroup(-5, ann, 'hello all'))],
    ['somebody else by a similar name', update(inGroup(-5, ann, 'hello @esc_bot2'))],
    ['a command for another bot', update(inGroup(-5, ann, '/stop@other'))],
    ['nonsense', { update_id: 5, message: { chat: 'x', from: [], text: 7 } }],
  ])('is nothing for us: %s', (_, given) => {
    expect(readUpdate(given, BOT, quiet)).toBeNull()
  })

  it.each([
    ['a name', inGroup(-5, ann, 'hey @Esc_Bot, how are you?'), 'hey , how are you?'],
    ['a command', inGroup(-5, ann, '/stop@esc_bot'), '/stop'],
    ['a bare command', inGroup(-5, ann, '/stopall'), '/stopall'],
    ['an answer', { ...inGroup(-5, ann, 'and now?'), reply_to_message: { from: { id: 4711 } } }, 'and now?'],
  ])('speaks to the bot in a group by %s', (_, message, text) => {
    expect(readUpdate(update(message), BOT, quiet)).toMatchObject({ text, chat: { kind: 'group', peer: '-5' } })
  })

  it('shows what no row can hold', () => {
    expect(readUpdate(update(dm(7, 'a\u0000b\ud83d')), BOT, quiet)).toMatchObject({ text: 'a\u2400b\ufffd' })
  })

  it('hears everything in a group when told to, knows topics and takes files by reference', () => {
    const topic = { ...inGroup(-5, ann, 'hello all'), is_topic_message: true, message_thread_id: 3 }
    expect(readUpdate(update(topic), BOT, { hearsAll: true })).toMatchObject({ chat: { peer: '-5/3' } })
    const { text: _text, ...photo } = dm(7, '')
    const sent = update({ ...photo, caption: 'look', photo: [{ file_id: 'small' }, { file_id: 'large' }] })
    expect(readUpdate(sent, BOT, quiet)).toMatchObject({
      text: 'look',
      attachments: [{ kind: 'photo', file_id: 'large' }],
    })
  })
})

describe('an event of Slack', () => {
  it('may have anything where its type should be', () => {
    const odd = { toString: 1 }
    expect(readSlackEvent({ type: odd })).toEqual({ kind: 'ignored', why: 'is of type object' })
    expect(readSlackEvent({ type: 'event_callback', event: { type: odd } }).kind).toBe('ignored')
  })

  it.each([
    ['blank space', ' '.repeat(500_000), ''],
    ['names that nobody closes', '<@U1|'.repeat(100_000), '>'],
  ])('is read quickly when its text is a lot of %s', (_, much, end) => {
    const event = { type: 'message', channel_type: 'im', user: 'U2', channel: 'D1', ts: '1.2', text: `a${much}b${end}` }
    const begin = process.cpuUsage().user
    expect(readSlackEvent({ type: 'event_callback', event_id: 'Ev1', event }).kind).toBe('message')
    expect(process.cpuUsage().user - begin).toBeLessThan(1_000_000)
  })

  it('is passed over when it is no message of a person', () => {
    for (const body of [
      null,
      [],
      { type: 'event_callback' },
      { type: 'event_callback', event: { type: 'app_mention' } },
    ])
      expect(readSlackEvent(body).kind).toBe('ignored')
  })
})

describe('signatures', () => {
  const [now, body] = [1_700_000_000_000, Buffer.from('{"a":1}')]
  const timestamp = '1700000000'
  // The example of Slack's own documentation: secret, time and body are theirs, and so is the result.
  it('of Slack are the documented ones', () => {
    const documented = Buffer.from(
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
        '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
        '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    )
    const signature = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503'
    const request = { timestamp: '1531420618', signature, body: documented, now: 1_531_420_618_000 }
    expect(slackFlaw(request, '8f742231b10e8888abcd99yyyzzz85a5')).toBeNull()
    expect(slackFlaw({ ...request, now: request.now + 301_000 }, '8f742231b10e8888abcd99yyyzzz85a5')).toContain('300 s')
    expect(slackFlaw({ ...request, body }, '8f742231b10e8888abcd99yyyzzz85a5')).toContain('does not match')
  })

  it('of hooks may be several, of which one has to fit', () => {
    const secret = `whsec_${Buffer.from('a secret of some length').toString('base64')}`
    const good = createHmac('sha256', Buffer.from('a secret of some length'))
      .update(`m1.${timestamp}.{"a":1}`)
      .digest('base64')
    const flawOf = (signature: string, id = 'm1'): string | null =>
      hookFlaw({ id, timestamp, signature, body, now }, secret)
    expect(flawOf(`v1,AAAA v1a,${good} v1,${good}`)).toBeNull()
    for (const wrong of ['', good, `v2,${good}`, 'v1,', 'v1,AAAA'])
      expect(flawOf(wrong)).toContain('No signature matches')
    expect(flawOf(`v1,${good}`, 'm2')).toContain('No signature matches')
  })
})
