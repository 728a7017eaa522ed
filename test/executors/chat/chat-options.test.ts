import { describe, expect, it } from 'vitest'
import { maskExecutor, restoreMaskedExecutor } from '../../../src/domain/secret/mask.ts'
import { type ChatApi, parseChatOptions, requestUrl } from '../../../src/executors/chat/options.ts'
import { LIST_PRICES, listPrice, PRICES_AS_OF } from '../../../src/executors/chat/prices.ts'

const LEAST = { kind: 'chat', base_url: 'https://llm.example/v1', model: 'm' }
const read = (more: object) => parseChatOptions('executor', { ...LEAST, ...more })

describe('what is said about a model', () => {
  it('is little, and the rest is usual', () => {
    expect(read({})).toEqual({
      ok: true,
      value: {
        ...{ ...LEAST, api_key: null, headers: {}, system_prompt: null, temperature: null, max_tokens: null },
        ...{ api: 'openai-chat', stream: true, background: false, history: true, prices: null, body: {} },
      },
    })
  })

  it('is kept as it was given, and can be sent back', () => {
    const whole = {
      ...{
        ...LEAST,
        api_key: '{{secret:LLM}}',
        headers: { 'X-Team': 'a' },
        system_prompt: 'Be brief.',
        temperature: 0,
      },
      ...{ api: 'anthropic-messages', max_tokens: 100, stream: false, background: false, history: false },
      prices: { input: 0.15, cached_input: 0.1, output: 0 },
      body: { top_p: 0.9, user: '{{payload.user}}', stream_options: null },
    }
    const once = read(whole)
    expect(once).toEqual({ ok: true, value: whole })
    expect(once.ok && parseChatOptions('executor', { ...once.value })).toEqual(once)
  })

  it.each<[string, object, string, RegExp]>([
    ['no address', { base_url: undefined }, 'base_url', /is missing/],
    ['no model', { model: null }, 'model', /is missing/],
    ['a blank model', { model: ' ' }, 'model', /must be a text/],
    ['another protocol', { base_url: 'ftp://x' }, 'base_url', /http/],
    ['a password in the address', { base_url: 'https://a:b@x' }, 'base_url', /user name or password/],
    ['a template in the address', { base_url: 'https://{{payload.x}}/v1' }, 'base_url', /template/],
    ['a fragment', { base_url: 'https://x/#a' }, 'base_url', /fragment/],
    ['a key in clear', { api_key: 'sk-1234' }, 'api_key', /escapement secrets set NAME --host HOST/],
    ['a key of another kind', { api_key: 5 }, 'api_key', /must be a text/],
    ['a secret that cannot be', { api_key: '{{secret:a b}}' }, 'api_key', /invalid secret name/],
    [
      'two keys',
      { api_key: '{{secret:K}}', headers: { Authorization: 'x' } },
      'headers.authorization',
      /one of the two/,
    ],
    ['a header that is taken', { headers: { Host: 'x' } }, 'headers.Host', /set by Escapement/],
    ['too hot', { temperature: 2.1 }, 'temperature', /must be a number/],
    ['no tokens', { max_tokens: 0 }, 'max_tokens', /out of range/],
    ['half a token', { max_tokens: 1.5 }, 'max_tokens', /whole number/],
    ['a word for a switch', { stream: 'yes' }, 'stream', /true or false/],
    ['prices without a side', { prices: { input: 1 } }, 'prices.output', /must be a number/],
    ['a price below nothing', { prices: { input: -1, output: 1 } }, 'prices.input', /from 0 to 1000000/],
    ['messages of its own', { body: { messages: [] } }, 'body.messages', /fills in the conversation/],
    ['an option twice', { body: { temperature: 1 } }, 'body.temperature', /executor\.temperature/],
    ['tools', { body: { tools: [] } }, 'body.tools', /is not supported/],
    ['a body that is none', { body: [] }, 'body', /must be an object/],
    ['a template that stands for nothing', { body: { a: { b: '{{x}}' } } }, 'body.a', /unknown placeholder/],
    ['an unknown API', { api: 'openai' }, 'api', /not a known value/],
    ['background work elsewhere', { api: 'ollama', background: true }, 'background', /not possible with api ollama/],
    ['too hot for Anthropic', { api: 'anthropic-messages', temperature: 1.1 }, 'temperature', /must be a number/],
    [
      'two keys for Anthropic',
      { api: 'anthropic-messages', api_key: '{{secret:K}}', headers: { 'X-Api-Key': 'x' } },
      'headers.x-api-key',
      /one of the two/,
    ],
    [
      'a system prompt of its own',
      { api: 'anthropic-messages', body: { system: 'x' } },
      'body.system',
      /fills in the conversation/,
    ],
    [
      'an earlier response',
      { api: 'openai-responses', body: { previous_response_id: 'x' } },
      'body.previous_response_id',
      /fills in the conversation/,
    ],
    ['a limit twice', { body: { max_output_tokens: 1 } }, 'body.max_output_tokens', /executor\.max_tokens/],
    ['a price that is none', { prices: { input: 1, output: 1, cached_input: -1 } }, 'prices.cached_input', /from 0/],
    ['an unknown price', { prices: { input: 1, output: 1, cached: 1 } }, 'prices.cached', /is not a known field/],
    ['a misspelt option', { temprature: 1 }, 'temprature', /did you mean temperature/],
    ['an option of the server', { top_p: 1 }, 'top_p', /put other request fields into body/],
  ])('is refused with %s', (_, more, field, message) => {
    const answer = read(more)
    if (answer.ok) throw new Error('it was taken')
    expect(answer.flaws.map((flaw) => flaw.field)).toEqual([`executor.${field}`])
    expect(answer.flaws[0]?.message).toMatch(message)
    expect(JSON.stringify(answer.flaws)).not.toContain('sk-1234')
  })

  it('is told all at once', () => {
    const answer = parseChatOptions('executor', { kind: 'chat', max_tokens: 0, stream: 1 })
    expect(!answer.ok && answer.flaws.map(({ field }) => field)).toEqual(
      ['base_url', 'model', 'max_tokens', 'stream'].map((name) => `executor.${name}`),
    )
  })
})

describe('where it is asked', () => {
  it.each([
    ['https://a.example/v1', 'https://a.example/v1/chat/completions'],
    ['https://a.example/v1/', 'https://a.example/v1/chat/completions'],
    ['https://a.example', 'https://a.example/chat/completions'],
    ['https://a.example/v1/chat/completions', 'https://a.example/v1/chat/completions'],
    ['https://a.example/d/x?api-version=1', 'https://a.example/d/x/chat/completions?api-version=1'],
  ])('%s is %s', (base, url) => {
    expect(requestUrl({ api: 'openai-chat', base_url: base })).toBe(url)
  })
})

describe('a key in a header of its own', () => {
  const before = { ...LEAST, headers: { 'api-key': 'canary', 'X-Team': 'a' } }

  it('is hidden, and kept when what was shown comes back', () => {
    const shown = maskExecutor(before)
    expect(shown.headers).toEqual({ 'api-key': '***', 'X-Team': 'a' })
    expect(restoreMaskedExecutor({ ...shown, temperature: 1 }, before)).toEqual({ ...before, temperature: 1 })
  })

  it('never goes to another server', () => {
    const elsewhere = { ...maskExecutor(before), base_url: 'https://evil.example/v1' }
    expect(JSON.stringify(restoreMaskedExecutor(elsewhere, before))).not.toContain('canary')
    expect(parseChatOptions('executor', restoreMaskedExecutor(elsewhere, before) as object as typeof before).ok).toBe(
      false,
    )
  })
})

describe('the address of an API', () => {
  it.each<[ChatApi, string, string]>([
    ['openai-chat', 'https://api.openai.com/v1', 'https://api.openai.com/v1/chat/completions'],
    ['openai-chat', 'https://x/chat/', 'https://x/chat/chat/completions'],
    ['openai-responses', 'https://api.openai.com/v1/', 'https://api.openai.com/v1/responses'],
    ['openai-responses', 'https://x/v1/responses?api-version=1', 'https://x/v1/responses?api-version=1'],
    ['anthropic-messages', 'https://api.anthropic.com', 'https://api.anthropic.com/v1/messages'],
    ['anthropic-messages', 'https://api.anthropic.com/v1', 'https://api.anthropic.com/v1/messages'],
    ['anthropic-messages', 'https://x/v1/messages', 'https://x/v1/messages'],
    ['ollama', 'http://localhost:11434', 'http://localhost:11434/api/chat'],
    ['ollama', 'http://localhost:11434/api', 'http://localhost:11434/api/chat'],
  ])('%s at %s', (api, base, url) => {
    expect(requestUrl({ api, base_url: base })).toBe(url)
  })
})

describe('list prices', () => {
  const priceOf = (base: string, model: string, body: object = {}) =>
    listPrice({ base_url: base, model, body: { ...body } })

  it.each<[string, string, object, object | null]>([
    ['https://api.openai.com/v1', 'gpt-4o-mini', {}, { input: 0.15, cached_input: 0.075, output: 0.6 }],
    ['https://api.openai.com/v1', 'gpt-4o-mini-2024-07-18', {}, { input: 0.15, cached_input: 0.075, output: 0.6 }],
    [
      'https://api.openai.com/v1',
      'gpt-5-mini',
      { service_tier: 'flex' },
      { input: 0.125, cached_input: 0.0125, output: 1 },
    ],
    [
      'https://api.anthropic.com',
      'claude-haiku-4-5-20251001',
      {},
      { input: 1, cached_input: 0.1, cache_write: 1.25, output: 5 },
    ],
    ['https://api.openai.com/v1', 'gpt-5-mini', { service_tier: 'priority' }, null],
    ['https://api.openai.com/v1', 'gpt-unknown', {}, null],
    ['https://other.example/v1', 'gpt-4o-mini', {}, null],
  ])('at %s of %s', (base, model, body, prices) => {
    expect(priceOf(base, model, body)).toEqual(prices)
  })

  it('have a date, and each model once', () => {
    expect(PRICES_AS_OF).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    expect(new Set(LIST_PRICES.map(({ model }) => model)).size).toBe(LIST_PRICES.length)
    for (const { prices } of LIST_PRICES) expect(prices.output).toBeGreaterThan(prices.input)
  })
})
