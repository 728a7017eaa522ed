import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { costMicros } from '../../../src/executors/chat/prices.ts'
import {
  conversationOf,
  type ChatMessage,
  type ChatExchange,
  type NewMessage,
} from '../../../src/executors/chat/conversation.ts'
import { estimateTokens, maxConversationTokens } from '../../../src/domain/input-fields.ts'
import { runId } from '../../../src/domain/ids.ts'
import { instant } from '../../../src/domain/instant.ts'

const said = (n: number, text: string, reply: unknown, more: Partial<ChatExchange> = {}): ChatExchange => ({
  ...{ runId: runId(`run_${n}`), trigger: 'message', sender: null, payload: { text }, reply },
  ...{ retryOf: null, startedAt: instant(n) },
  ...more,
})

const now = (text: string, more: Partial<NewMessage> = {}): NewMessage => ({
  ...{ payload: { text }, sender: null, retryOf: null },
  ...more,
})

const build = (
  past: readonly ChatExchange[],
  newest: NewMessage,
  more: { room?: number; systemPrompt?: string } = {},
) => conversationOf({ past, newest, maxTokens: more.room ?? 10_000, systemPrompt: more.systemPrompt ?? null })

const lines = (messages: readonly ChatMessage[]): readonly string[] =>
  messages.map(({ role, content }) => `${role}: ${typeof content === 'string' ? content : JSON.stringify(content)}`)

describe('a conversation', () => {
  it('is told in its order, with the system prompt first', () => {
    const { messages, omitted: left } = build([said(2, 'b', 'B'), said(1, 'a', 'A')], now('c'), { systemPrompt: 'S' })
    expect(lines(messages)).toEqual(['system: S', 'user: a', 'assistant: A', 'user: b', 'assistant: B', 'user: c'])
    expect(left).toBe(0)
  })

  it.each<[string, readonly ChatExchange[], NewMessage, readonly string[]]>([
    ['what was stopped before a word came', [said(1, 'a', null)], now('b'), ['user: a\n\nb']],
    ['what was stopped in mid-sentence', [said(1, 'a', 'Half')], now('b'), ['user: a', 'assistant: Half', 'user: b']],
    ['an answer that is no text', [said(1, 'a', { n: 1 })], now('b'), ['user: a', 'assistant: {"n":1}', 'user: b']],
    ['what was repeated only once', [said(1, 'a', 'A')], now('a', { retryOf: runId('run_1') }), ['user: a']],
    [
      'what was repeated before only once',
      [said(1, 'a', 'A'), said(2, 'a', 'AA', { retryOf: runId('run_1') })],
      now('b'),
      ['user: a', 'assistant: AA', 'user: b'],
    ],
    [
      'heartbeats that found something',
      [
        said(1, 'look', 'HEARTBEAT_OK', { trigger: 'heartbeat' }),
        said(2, 'look', 'The disk is full', { trigger: 'heartbeat' }),
        said(3, 'say it', 'HEARTBEAT_OK'),
      ],
      now('b'),
      ['user: look', 'assistant: The disk is full', 'user: say it', 'assistant: HEARTBEAT_OK', 'user: b'],
    ],
    [
      'who speaks, among several',
      [said(1, 'a', 'A', { sender: 'ann' }), said(2, 'due', 'D', { trigger: 'schedule' })],
      now('b', { sender: 'bob' }),
      ['user: ann: a', 'assistant: A', 'user: due', 'assistant: D', 'user: bob: b'],
    ],
    [
      'nobody, alone',
      [said(1, 'a', 'A', { sender: 'ann' })],
      now('b', { sender: 'ann' }),
      ['user: a', 'assistant: A', 'user: b'],
    ],
  ])('has in it %s', (_, past, newest, expected) => {
    expect(lines(build(past, newest).messages)).toEqual(expected)
  })

  it.each<[unknown, string | readonly unknown[]]>([
    ['plain', 'plain'],
    [null, ''],
    [{ prompt: 'Look', context: { x: 1 }, output: 'three lines' }, 'Look\n\nContext:\n{"x":1}\n\nOutput:\nthree lines'],
    [{ prompt: 'Look' }, 'Look'],
    [{ action: 'click' }, '{"action":"click"}'],
    [{ text: 'See', attachments: [{ name: 'a.txt' }] }, 'See\n[attachment] {"name":"a.txt"}'],
    [
      { text: 'See', attachments: [{ type: 'image_url', image_url: { url: 'https://x/y' } }] },
      [
        { type: 'text', text: 'See' },
        { type: 'image_url', image_url: { url: 'https://x/y' } },
      ],
    ],
  ])('says %j as it should', (payload, content) => {
    expect(build([], { ...now(''), payload }).messages).toEqual([{ role: 'user', content }])
  })

  it('has pictures once', () => {
    const picture = { text: 'See', attachments: [{ type: 'image_url', image_url: { url: 'data:…' } }] }
    const { messages } = build([said(1, '', 'A cat', { payload: picture })], now('And now?'))
    expect(lines(messages)).toEqual(['user: See\n[1 attached]', 'assistant: A cat', 'user: And now?'])
  })

  it('loses its oldest part first, and never what is said now', () => {
    const past = [1, 2, 3].map((n) => said(n, `${n}`.repeat(400), `${n}`.repeat(400)))
    const each = 2 * estimateTokens('1'.repeat(400))
    const least = estimateTokens('S') + estimateTokens('x')
    const of = (room: number) => build(past, now('x'), { room, systemPrompt: 'S' })
    expect(of(least + 2 * each)).toMatchObject({ omitted: 1, tokens: least + 2 * each })
    expect(of(least + 2 * each - 1)).toMatchObject({ omitted: 2 })
    expect(lines(of(0).messages)).toEqual(['system: S', 'user: x'])
  })

  it('holds to its room, takes turns, and keeps what is newest', () => {
    const exchange = fc.record({ text: fc.string({ maxLength: 200 }), reply: fc.option(fc.string({ maxLength: 200 })) })
    fc.assert(
      fc.property(fc.array(exchange, { maxLength: 12 }), fc.nat(400), (given, room) => {
        const past = given.map(({ text, reply }, n) => said(n, text, reply))
        const { messages, omitted: left, tokens } = build(past, now('newest'), { room, systemPrompt: 'S' })
        expect(tokens <= room || left === past.length).toBe(true)
        expect(messages[0]).toEqual({ role: 'system', content: 'S' })
        expect(messages.at(-1)?.content).toMatch(/newest$/)
        for (const [n, { role }] of messages.slice(1).entries()) expect(role).toBe(n % 2 === 0 ? 'user' : 'assistant')
        const kept = past.slice(left).filter(({ reply }) => typeof reply === 'string' && reply !== '')
        expect(messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)).toEqual(
          kept.map(({ reply }) => reply),
        )
      }),
      { numRuns: 200 },
    )
  })
})

describe('tokens', () => {
  it('are guessed from bytes', () => {
    expect(['', 'word', '世界', '👋'].map(estimateTokens)).toEqual([4, 5, 6, 5])
  })

  it('leave room for the answer', () => {
    expect(maxConversationTokens(1_000, null)).toBe(750)
    expect(maxConversationTokens(1_000, 100)).toBe(900)
    expect(maxConversationTokens(1_000, 5_000)).toBe(0)
    expect(maxConversationTokens(null, null)).toBe(12_288)
  })

  it('cost what a million of them cost, in millionths', () => {
    expect(costMicros({ input: 0.15, output: 0.6 }, { input: 1_000, output: 500, cached: 0, cacheWritten: 0 })).toBe(
      450,
    )
  })
})
