import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  chatSession,
  decideChannelAccess,
  receivedMessageText,
  joinPeer,
  splitPeer,
  unknownSenderText,
} from '../../../src/domain/channel/channel.ts'
import { channelFlaws, parseChannelIds, channelSettingsOf } from '../../../src/domain/channel/channel-settings.ts'
import { readHookBody } from '../../../src/domain/channel/hook-body.ts'
import { decideIndicators, type IndicatorFacts, chatReplyOf, splitText } from '../../../src/domain/channel/reply.ts'
import { chatOfOutboxQueue, deliveryKindOf, outboxQueueOf } from '../../../src/domain/delivery/delivery.ts'
import { agentId, sessionKey } from '../../../src/domain/ids.ts'
import { instant } from '../../../src/domain/instant.ts'

const dm = { kind: 'dm', peer: '7', title: null } as const
const group = { kind: 'group', peer: '-5/9', title: 'Ops' } as const
const ann = { id: '7', name: 'Ann' }

describe('who is heard', () => {
  const closed = { open: false, allowedUsers: [], allowedChats: [] }
  it.each([
    ['nobody is named', closed, dm, 'turned_away'],
    ['the person is named', { ...closed, allowedUsers: ['7'] }, dm, 'admitted'],
    ['the chat is named', { ...closed, allowedChats: ['7'] }, dm, 'admitted'],
    ['a person is named, but the group is not', { ...closed, allowedUsers: ['7'] }, group, 'turned_away'],
    ['the group is named, whatever the thread', { ...closed, allowedChats: ['-5'] }, group, 'admitted'],
    ['everybody is', { ...closed, open: true }, group, 'admitted'],
  ])('%s', (_, rule, chat, kind) => {
    expect(decideChannelAccess(rule, { chat, sender: ann }).kind).toBe(kind)
  })

  it('tells a stranger how to become known, and leaves groups alone', () => {
    expect(decideChannelAccess(closed, { chat: dm, sender: ann })).toMatchObject({
      told: true,
      why: { reason: 'unknown_sender' },
    })
    expect(decideChannelAccess(closed, { chat: group, sender: ann })).toMatchObject({ told: false })
    expect(unknownSenderText(ann)).toContain('7')
  })
})

describe('a conversation', () => {
  it('has a session of its own for each thread, and says who speaks in a group', () => {
    const of = { agentId: agentId('helper'), channel: 'tg' }
    expect(chatSession(of, group)).toBe('agent:helper:tg:group:-5/9')
    expect(splitPeer(joinPeer('C1', '17.01'))).toEqual({ chat: 'C1', thread: '17.01' })
    expect(receivedMessageText({ chat: group, sender: ann, text: 'hi' })).toBe('Ann: hi')
    expect(receivedMessageText({ chat: dm, sender: ann, text: 'hi' })).toBe('hi')
  })

  it('is found again by the line of what goes there', () => {
    for (const to of [{ session: sessionKey('agent:a:tg:dm:7') }, { channel: 'tg', to: '-5/9:x' }])
      expect([chatOfOutboxQueue(outboxQueueOf(to)), deliveryKindOf(to)]).toEqual([
        to,
        'session' in to ? 'session' : 'channel',
      ])
    expect(chatOfOutboxQueue('https://example.com')).toBeNull()
  })
})

describe('a long text', () => {
  it('is cut where a paragraph, a line or a word ends', () => {
    expect(splitText('one two three', 8)).toEqual(['one two', 'three'])
    expect(splitText('first\n\nsecond', 9)).toEqual(['first', 'second'])
    expect(splitText('abcdef', 4)).toEqual(['abcd', 'ef'])
    expect(splitText('', 4)).toEqual([''])
  })

  it('loses nothing but blank space, and breaks no character', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '👋', 'é', 'word'), maxLength: 200 })
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 40 }), (whole, most) => {
        const pieces = splitText(whole, most)
        expect(pieces.every((piece) => piece.length <= most)).toBe(true)
        expect(pieces.join('').replaceAll(/\s/g, '')).toBe(whole.replaceAll(/\s/g, ''))
        expect(pieces.every((piece) => !/\p{Surrogate}/u.test(piece))).toBe(true)
      }),
    )
  })
})

describe('what a chat is told about an ending', () => {
  it.each([
    ['success', ' done ', 'done'],
    ['success', { text: 'in a field' }, 'in a field'],
    ['success', { n: 1 }, '{\n  "n": 1\n}'],
    ['success', ' NO_REPLY\n', ''],
    ['success', null, ''],
    ['cancelled', 'half', ''],
    ['failed', null, 'I could not answer: it broke'],
    ['timeout', null, 'I could not answer in time.'],
  ] as const)('%s with %j', (state, output, text) => {
    expect(chatReplyOf({ state, output, errorMessage: 'it broke' }).text).toBe(text)
  })
})

describe('what shows that a run is at work', () => {
  const running: IndicatorFacts = {
    state: 'running',
    startedAt: instant(1_000),
    answer: null,
    hasPlaceholder: false,
    typedAt: null,
    now: instant(1_500),
  }
  it.each([
    ['begins with typing', running, { kind: 'show', typing: true, placeholder: false }],
    [
      'types again after four seconds',
      { ...running, typedAt: instant(1_000), now: instant(5_000), hasPlaceholder: true },
      { kind: 'show', typing: true, placeholder: false },
    ],
    [
      'holds the place of an answer that takes long',
      { ...running, typedAt: instant(2_900), now: instant(3_000) },
      { kind: 'show', typing: false, placeholder: true },
    ],
    ['shows nothing new meanwhile', { ...running, typedAt: instant(1_400), hasPlaceholder: true }, { kind: 'leave' }],
    ['waits with what waits', { ...running, state: 'queued', startedAt: null }, { kind: 'leave' }],
    ['leaves it to an answer on its way', { ...running, state: 'success', answer: 'pending' }, { kind: 'leave' }],
    ['clears what was stopped', { ...running, state: 'stopping' }, { kind: 'clear', removesPlaceholder: true }],
    [
      'clears what asked not to be answered',
      { ...running, state: 'success', answer: 'kept' },
      { kind: 'clear', removesPlaceholder: true },
    ],
    [
      'never removes an answer that has arrived',
      { ...running, state: 'success', answer: 'delivered' },
      { kind: 'clear', removesPlaceholder: false },
    ],
    ['clears what nobody remembers', { ...running, state: null }, { kind: 'clear', removesPlaceholder: true }],
  ] as const)('%s', (_, facts, decision) => {
    expect(decideIndicators(facts)).toEqual(decision)
  })
})

describe('the body of a hook', () => {
  const of = { id: 'msg_1', session: 'pr-{{body.pr.id}}', text: null }
  it('is the message, or has it in a field', () => {
    expect(readHookBody({ text: 'hi', pr: { id: 7 } }, of)).toMatchObject({
      ok: true,
      value: { text: 'hi', chat: { peer: 'pr-7' } },
    })
    const whole = readHookBody({ pr: { id: 7 } }, { ...of, session: 'main' })
    expect(whole.ok && JSON.parse(whole.value.text)).toEqual({ pr: { id: 7 } })
  })

  it('is laid out in lines while it is short, and may not be deep', () => {
    const main = { ...of, session: 'main' }
    const short = readHookBody({ a: [1] }, main)
    expect(short.ok && short.value.text).toBe('{\n  "a": [\n    1\n  ]\n}')
    const long = { a: Array.from({ length: 10_000 }, () => 1) }
    const read = readHookBody(long, main)
    expect(read.ok && read.value.text).toBe(JSON.stringify(long))
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })
    expect(readHookBody(deep(64), main)).toMatchObject({ ok: true })
    expect(readHookBody(deep(65), main)).toMatchObject({ ok: false, flaws: [{ allowed: '64 levels' }] })
  })

  it('says what it lacks', () => {
    expect(readHookBody({ text: 'hi', pr: {} }, of)).toMatchObject({ ok: false, flaws: [{ field: 'pr.id' }] })
    expect(readHookBody([], of)).toMatchObject({ ok: false, flaws: [{ field: '' }] })
    expect(readHookBody({ text: ' ' }, { ...of, session: 'x' })).toMatchObject({
      ok: false,
      flaws: [{ field: 'text' }],
    })
  })
})

describe('the settings of a channel', () => {
  it('are those of its kind, and null goes back to the default', () => {
    const users = parseChannelIds('allowed_users', [7, '7', '8'])
    const made = channelSettingsOf('telegram', { allowed_users: users.ok ? users.value : [], open: null }, null)
    expect(made).toMatchObject({ allowed_users: ['7', '8'], open: false, mode: 'polling', session: null })
    expect(channelFlaws('slack', { mode: 'polling', token: 'xoxb-1', signing_secret: '12345678' }, true)).toMatchObject(
      [{ field: 'mode' }],
    )
    expect(channelSettingsOf('telegram', { mode: 'webhook' }, made)).toMatchObject({ allowed_users: ['7', '8'] })
  })
})
