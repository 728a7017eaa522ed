import Anthropic from '@anthropic-ai/sdk'
import { Ollama } from 'ollama'
import OpenAI from 'openai'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { REFUSED_URLS } from '../../domain/outbound/spellings.ts'
import { createOutboundGuard } from '../../../src/platform/outbound/resolve.ts'
import { createOutbound } from '../../../src/platform/outbound/send.ts'
import { CHAT_APIS, parseChatOptions, type ChatApi } from '../../../src/executors/chat/options.ts'
import { quotaIn } from '../../../src/executors/chat/answer.ts'
import type { AttemptReport } from '../../../src/executors/executor.ts'
import type { SessionHistory } from '../../../src/executors/host.ts'
import { runId, sessionKey } from '../../../src/domain/ids.ts'
import { instant } from '../../../src/domain/instant.ts'
import { json, startPeer, type Answering, type Heard, type Peer } from '../../platform/outbound/peer.ts'
import { chatAgent, chatExecutor, NO_PAST } from '../chat-stage.ts'
import { openOutbound } from '../stages.ts'
import { aContext, anAttempt } from '../suite.ts'
import { TOKENS, WIRES, type Ending, type Tokens } from './wires.ts'

const outbound = openOutbound()
const open: Peer[] = []
afterEach(async () => {
  for (const peer of open.splice(0)) await peer.close()
})
afterAll(outbound.close)

async function serve(answer: Answering): Promise<Peer> {
  const peer = await startPeer(answer)
  open.push(peer)
  return peer
}

/** A server that answers with words, streamed or whole as it is asked. */
const talking =
  (api: ChatApi, words: readonly string[], ending: Ending = 'stop', tokens: Tokens = TOKENS): Answering =>
  (heard, response) => {
    const wire = WIRES[api]
    const asked = JSON.parse(heard.body) as { readonly stream?: boolean }
    const text = words.join('')
    if (heard.url !== wire.path) json(response, 404, wire.error(`no route ${heard.url}`))
    else if (asked.stream === true) {
      response.writeHead(200, { 'content-type': wire.contentType })
      response.write(wire.begin(tokens))
      for (const word of words) response.write(wire.word(word))
      response.end(wire.end(text, tokens, ending))
    } else json(response, 200, wire.whole(text, tokens, ending))
  }

/** What the official package of each API makes of the same answer. */
interface Reference {
  readonly text: string
  readonly input: number
  readonly output: number
}

const KEY = { apiKey: 'sk-test', maxRetries: 0 }
const HELLO = [{ role: 'user' as const, content: 'Hello' }]

const REFERENCES: Readonly<Record<ChatApi, (url: string, stream: boolean) => Promise<Reference>>> = {
  'openai-chat': async (url, stream) => {
    const { chat } = new OpenAI({ ...KEY, baseURL: `${url}/v1` })
    const asked = { model: 'gpt-x', messages: HELLO }
    const answer = stream
      ? await chat.completions.stream({ ...asked, stream_options: { include_usage: true } }).finalChatCompletion()
      : await chat.completions.create(asked)
    const { prompt_tokens: input = 0, completion_tokens: output = 0 } = answer.usage ?? {}
    return { text: answer.choices[0]?.message.content ?? '', input, output }
  },
  'openai-responses': async (url, stream) => {
    const { responses } = new OpenAI({ ...KEY, baseURL: `${url}/v1` })
    const asked = { model: 'gpt-x', input: HELLO }
    const answer = stream ? await responses.stream(asked).finalResponse() : await responses.create(asked)
    const parts = answer.output.flatMap((item) => (item.type === 'message' ? item.content : []))
    const text = parts.map((part) => (part.type === 'output_text' ? part.text : '')).join('')
    return { text, input: answer.usage?.input_tokens ?? 0, output: answer.usage?.output_tokens ?? 0 }
  },
  'anthropic-messages': async (url, stream) => {
    const { messages } = new Anthropic({ ...KEY, baseURL: url })
    const asked = { model: 'claude-x', max_tokens: 100, messages: HELLO }
    const answer = stream ? await messages.stream(asked).finalMessage() : await messages.create(asked)
    const { input_tokens: fresh, cache_read_input_tokens: cached, output_tokens: output } = answer.usage
    const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    return { text, input: fresh + (cached ?? 0), output }
  },
  ollama: async (url, stream) => {
    const ollama = new Ollama({ host: url })
    const asked = { model: 'llama-x', messages: HELLO }
    if (!stream) {
      const answer = await ollama.chat({ ...asked, stream })
      return { text: answer.message.content, input: answer.prompt_eval_count, output: answer.eval_count }
    }
    let read = { text: '', input: 0, output: 0 }
    for await (const part of await ollama.chat({ ...asked, stream }))
      read = {
        text: read.text + part.message.content,
        input: part.done ? part.prompt_eval_count : 0,
        output: part.done ? part.eval_count : 0,
      }
    return read
  },
}

interface Asking {
  readonly executor?: Readonly<Record<string, unknown>>
  readonly payload?: unknown
  readonly past?: SessionHistory
  readonly signal?: AbortSignal
  readonly secrets?: Readonly<Record<string, string>>
}

interface Asked {
  readonly report: AttemptReport
  readonly shown: string
  readonly heard: Heard | undefined
  readonly body: Readonly<Record<string, unknown>>
}

const baseUrlOf = (api: ChatApi, url: string): string => (api.startsWith('openai') ? `${url}/v1` : url)

async function ask(api: ChatApi, peer: Peer, asking: Asking = {}): Promise<Asked> {
  const shown: unknown[] = []
  const { secrets = {} } = asking
  const context = {
    ...aContext(asking.signal),
    progress: (piece: unknown) => void shown.push(piece),
    expose: () => Promise.resolve({ ok: true as const, values: secrets }),
  }
  const agent = chatAgent({ api, base_url: baseUrlOf(api, peer.url), ...asking.executor })
  const attempt = anAttempt({
    payload: asking.payload ?? { text: 'Hello', attachments: [] },
    sessionKey: sessionKey('agent:a:dm'),
  })
  const report = await chatExecutor(outbound, agent, asking.past ?? NO_PAST)(attempt, context)
  const heard = peer.heard.at(-1)
  const body = JSON.parse(heard?.body ?? '{}') as Asked['body']
  return { report, shown: shown.join(''), heard, body }
}

describe.each(CHAT_APIS)('the API %s', (api) => {
  it.each([true, false])('is read as the official package reads it (streamed: %s)', async (stream) => {
    const peer = await serve(talking(api, ['Grüße', ', ', '世界']))
    expect(await REFERENCES[api](peer.url, stream)).toEqual({ text: 'Grüße, 世界', input: 1_000, output: 50 })
    const { report, shown } = await ask(api, peer, { executor: { stream } })
    expect(report).toMatchObject({ outcome: { kind: 'succeeded' }, output: 'Grüße, 世界' })
    expect(report.usage).toEqual({
      inputTokens: 1_000,
      outputTokens: 50,
      ...(api === 'ollama' ? {} : { cachedInputTokens: 800, reasoningTokens: 30 }),
    })
    expect(shown).toBe(stream ? 'Grüße, 世界' : '')
  })

  it('charges cached input at its own price', async () => {
    const peer = await serve(talking(api, ['Hi']))
    const prices = { input: 10, cached_input: 1, output: 100 }
    const { report } = await ask(api, peer, { executor: { prices } })
    expect(report.usage?.costMicros).toBe(api === 'ollama' ? 15_000 : 200 * 10 + 800 + 5_000)
  })

  it('shows words while they are said', async () => {
    const wire = WIRES[api]
    let end = (): void => undefined
    const peer = await serve((_, response) => {
      response.writeHead(200, { 'content-type': wire.contentType })
      response.write(wire.begin(TOKENS) + wire.word('first'))
      end = () => void response.end(wire.end('first', TOKENS, 'stop'))
    })
    const shown: unknown[] = []
    const agent = chatAgent({ api, base_url: baseUrlOf(api, peer.url) })
    const context = { ...aContext(), progress: (piece: unknown) => void shown.push(piece) }
    const going = chatExecutor(outbound, agent)(anAttempt({ payload: 'x' }), context)
    await vi.waitFor(() => expect(shown).toEqual(['first']))
    end()
    expect(await going).toMatchObject({ outcome: { kind: 'succeeded' }, output: 'first' })
  })

  it('says that an answer was cut off', async () => {
    const { report } = await ask(api, await serve(talking(api, ['long'], 'length')))
    expect(report).toMatchObject({
      ...{ outcome: { kind: 'succeeded' }, output: 'long' },
      summary: 'The answer was cut off because it reached its token limit',
    })
  })

  // Ollama has no such reason.
  const canWithhold = api !== 'ollama'
  if (canWithhold)
    it('fails for good when the server withholds the answer', async () => {
      const { report } = await ask(api, await serve(talking(api, [''], 'blocked')))
      expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'agent_error', retryable: false })
      expect(report.errorMessage).toMatch(/^the server blocked the answer: (?:content_filter|refusal)$/)
    })

  it('sends the key where it belongs, and masks it in what is said', async () => {
    const peer = await serve(talking(api, Array.from('it is sk-canary-1234567890!')))
    const secrets = { LLM: 'sk-canary-1234567890' }
    const { heard, shown } = await ask(api, peer, { secrets, executor: { api_key: '{{secret:LLM}}' } })
    const { authorization, 'x-api-key': own, 'anthropic-version': version } = heard?.headers ?? {}
    expect([authorization, own, version]).toEqual(
      api === 'anthropic-messages'
        ? [undefined, secrets.LLM, '2023-06-01']
        : [`Bearer ${secrets.LLM}`, undefined, undefined],
    )
    expect(shown).toBe('it is ***!')
  })

  it('lowers its output limit to what the run states, and never raises it', async () => {
    const peer = await serve(talking(api, ['Hi']))
    const limits: unknown[] = []
    for (const [own, stated] of [
      [undefined, undefined],
      [50, undefined],
      [50, 40],
      [50, 900],
      [undefined, 40],
    ]) {
      const { body } = await ask(api, peer, {
        executor: own === undefined ? {} : { max_tokens: own },
        payload: { text: 'Hello', ...(stated === undefined ? {} : { fields: { max_tokens: stated } }) },
      })
      const { max_tokens: most, max_output_tokens: output, options } = body
      limits.push(most ?? output ?? (options as { readonly num_predict?: number } | undefined)?.num_predict ?? null)
    }
    expect(limits).toEqual([api === 'anthropic-messages' ? 4_096 : null, 50, 40, 50, 40])
  })
})

describe.each(CHAT_APIS)('a server of %s that fails', (api) => {
  const wire = WIRES[api]
  const beginning = wire.begin(TOKENS) + wire.word('half')

  it('dies in the middle: retried, and what was said is kept', async () => {
    const peer = await serve((_, response) => {
      response.writeHead(200, { 'content-type': wire.contentType }).write(beginning)
      setTimeout(() => response.destroy(), 20)
    })
    const { report } = await ask(api, peer)
    expect(report).toMatchObject({ outcome: { kind: 'failed', errorCode: 'network' }, output: 'half' })
    expect(report.usage?.outputTokens).toBeGreaterThan(3)
  })

  it('ends without an end marker: malformed', async () => {
    const { report } = await ask(
      api,
      await serve((_, response) => response.writeHead(200, { 'content-type': wire.contentType }).end(beginning)),
    )
    expect(report).toMatchObject({
      ...{ outcome: { errorCode: 'malformed_answer' }, output: 'half' },
      errorMessage: 'the answer ended without an end marker',
    })
  })

  it.each<[string, string]>([
    ['in a stream', ''],
    ['whole', 'application/json'],
  ])('answers garbage %s: malformed, with the address to check', async (_, type) => {
    const peer = await serve((__, response) =>
      response
        .writeHead(200, { 'content-type': type === '' ? wire.contentType : type })
        .end(type === '' ? `${beginning}${api === 'ollama' ? '' : 'data: '}{"half":\n\n` : '<html>'),
    )
    const { report } = await ask(api, peer)
    expect(report).toMatchObject({ outcome: { kind: 'failed', errorCode: 'malformed_answer' } })
    expect(report.errorMessage).toContain(`check executor.base_url: the request went to ${peer.url}${wire.path};`)
  })

  it('answers in the words of another service: malformed', async () => {
    const { report } = await ask(api, await serve((_, response) => json(response, 200, { hello: 1 })))
    expect(report).toMatchObject({ outcome: { kind: 'failed', errorCode: 'malformed_answer' } })
    expect(report.errorMessage).toMatch(/^the answer is not a/)
  })

  it('is overloaded in the middle: retried', async () => {
    const peer = await serve((_, response) =>
      response.writeHead(200, { 'content-type': wire.contentType }).end(beginning + wire.overload),
    )
    const { report } = await ask(api, peer)
    const errorCode = api === 'ollama' ? 'agent_error' : 'executor_http_5xx'
    expect(report).toMatchObject({ outcome: { kind: 'failed', errorCode }, output: 'half' })
    expect(report.outcome).not.toMatchObject({ retryable: false })
    expect(report.errorMessage).toContain('Overloaded')
  })

  it.each([
    [429, 'executor_http_4xx', true],
    [529, 'executor_http_5xx', null],
    [500, 'executor_http_5xx', null],
    [400, 'executor_http_4xx', null],
  ])('refuses with %i', async (status, errorCode, retryable) => {
    const peer = await serve((_, response) => json(response, status, wire.error('slow down'), { 'retry-after': '7' }))
    const { report } = await ask(api, peer)
    const isBusy = status === 429 || status === 529
    expect(report.outcome).toMatchObject({ kind: 'failed', errorCode, retryable, ...(isBusy ? { busy: true } : {}) })
    expect(report.errorMessage).toContain(`the server answered ${status}: slow down`)
    if (status >= 429) expect(report.outcome).toMatchObject({ retryAfterMs: 7_000 })
    expect(peer.heard).toHaveLength(1)
  })

  it('is slow: an attempt that is stopped hangs up, and keeps what was said', async () => {
    const peer = await serve((_, response) =>
      response.writeHead(200, { 'content-type': wire.contentType }).write(beginning),
    )
    const stopping = new AbortController()
    const going = ask(api, peer, { signal: stopping.signal })
    await vi.waitFor(() => expect(peer.heard).toHaveLength(1))
    setTimeout(() => stopping.abort(new Error('timeout')), 50)
    expect((await going).report).toMatchObject({ outcome: { kind: 'stopped' }, output: 'half' })
    await vi.waitFor(() => expect(peer.dropped()).toBe(1))
  })

  it('at any forbidden address is never called', async () => {
    const send = createOutbound(
      createOutboundGuard({ settings: () => ({ allowHosts: [], allowLoopback: false }), closed: () => [] }),
    )
    const urls = Object.values(REFUSED_URLS).flat()
    expect(urls.length).toBeGreaterThanOrEqual(120)
    const reached: string[] = []
    for (const url of urls) {
      const read = parseChatOptions('executor', { kind: 'chat', api, model: 'm', base_url: url })
      if (!read.ok) continue
      const report = await chatExecutor(send, { options: read.value, contextWindow: null })(anAttempt(), aContext())
      if (report.outcome.kind !== 'failed' || report.outcome.errorCode !== 'outbound_refused') reached.push(url)
    }
    await send.close()
    expect(reached).toEqual([])
  })

  it('requests a tool: failed for good, because a run has one text answer', async () => {
    const pieces: Readonly<Record<ChatApi, object>> = {
      'openai-chat': { choices: [{ message: { tool_calls: [{ id: '1' }] }, finish_reason: 'tool_calls' }] },
      'openai-responses': { object: 'response', status: 'completed', output: [{ type: 'function_call', name: 'x' }] },
      'anthropic-messages': { type: 'message', content: [{ type: 'tool_use' }], stop_reason: 'tool_use' },
      ollama: { message: { content: '', tool_calls: [{ function: { name: 'x' } }] }, done: true },
    }
    const { report } = await ask(api, await serve((_, response) => json(response, 200, pieces[api])))
    expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'agent_error', retryable: false })
    expect(report.errorMessage).toContain('tools are not supported')
  })
})

const PNG = 'iVBORw0KGgo='
const IMAGE = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }
const PDF = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }

describe('a request', () => {
  const past: SessionHistory = {
    ...NO_PAST,
    exchanges: [
      {
        ...{ runId: runId('run_0'), trigger: 'message', sender: null, payload: { text: 'One?' }, reply: 'One.' },
        ...{ retryOf: null, startedAt: instant(1) },
      },
    ],
  }
  const executor = { model: 'x', system_prompt: 'Be brief.', temperature: 0.2, max_tokens: 50 }
  const payload = { text: 'Look', attachments: [IMAGE, PDF] }
  const HISTORY = [
    { role: 'user', content: 'One?' },
    { role: 'assistant', content: 'One.' },
  ] as const

  it.each<[ChatApi, object]>([
    [
      'openai-responses',
      {
        ...{ model: 'x', instructions: 'Be brief.', temperature: 0.2, max_output_tokens: 50 },
        input: [
          ...HISTORY,
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'Look' },
              { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
              { type: 'input_file', ...PDF.file },
            ],
          },
        ],
        ...{ store: false, stream: true },
      } satisfies OpenAI.Responses.ResponseCreateParams,
    ],
    [
      'anthropic-messages',
      {
        ...{ model: 'x', system: 'Be brief.', temperature: 0.2, max_tokens: 50 },
        messages: [
          ...HISTORY,
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
              { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
            ],
          },
        ],
        stream: true,
      } satisfies Anthropic.MessageCreateParams,
    ],
    [
      'ollama',
      {
        model: 'x',
        messages: [
          { role: 'system', content: 'Be brief.' },
          ...HISTORY,
          { role: 'user', content: 'Look\n[attachment of type file]', images: [PNG] },
        ],
        options: { temperature: 0.2, num_predict: 50 },
        stream: true,
      },
    ],
  ])('of %s has the conversation in its form', async (api, expected) => {
    const { body } = await ask(api, await serve(talking(api, ['Hi'])), { executor, payload, past })
    expect(body).toEqual(expected)
  })

  it('passes on other fields, such as the settings of Ollama beside its limit', async () => {
    const peer = await serve(talking('ollama', ['{"a":1}']))
    const { body, report } = await ask('ollama', peer, {
      executor: {
        max_tokens: 50,
        body: { keep_alive: '5m', format: 'json', options: { num_ctx: 8_192, num_predict: 20 } },
      },
    })
    expect(body).toMatchObject({ keep_alive: '5m', options: { num_ctx: 8_192, num_predict: 20 } })
    expect(report.output).toEqual({ a: 1 })
  })

  it.each<[ChatApi, object]>([
    ['openai-responses', { text: { format: { type: 'json_schema', name: 'a', schema: {} } } }],
    ['anthropic-messages', { output_config: { format: { type: 'json_schema', schema: {} } } }],
  ])('of %s that asks for JSON has it as output', async (api, body) => {
    const { report } = await ask(api, await serve(talking(api, ['{"a":1}'])), { executor: { body } })
    expect(report.output).toEqual({ a: 1 })
  })

  it.each<[ChatApi, string, string]>([
    ['anthropic-messages', 'prompt is too long: 210000 tokens > 200000 maximum', 'messages'],
    ['openai-responses', 'Your input exceeds the context window of this model.', 'input'],
  ])('of %s is repeated with less of the past when it is too long', async (api, message, field) => {
    const peer = await serve((heard, response, n) => {
      const asked = JSON.parse(heard.body) as Readonly<Record<string, readonly unknown[]>>
      if ((asked[field]?.length ?? 0) > 1) json(response, 400, WIRES[api].error(message))
      else talking(api, ['Hi'])(heard, response, n)
    })
    const { report } = await ask(api, peer, { past })
    expect(report).toMatchObject({ outcome: { kind: 'succeeded' }, output: 'Hi' })
    expect(peer.heard).toHaveLength(2)
  })
})

describe('rate limit headers', () => {
  it.each<[string, Record<string, string>, number, object | null]>([
    ['none', {}, 0, null],
    [
      'of OpenAI with room',
      { 'x-ratelimit-remaining-requests': '59', 'x-ratelimit-remaining-tokens': '149984' },
      10,
      { requests: 59, tokens: 149_984, availableInMs: null },
    ],
    [
      'of OpenAI without requests: the next one has room after its share of the reset',
      {
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1m0s',
      },
      10,
      { requests: 0, tokens: null, availableInMs: 1_000 },
    ],
    [
      'of OpenAI without tokens: room for a request like this one',
      {
        'x-ratelimit-limit-tokens': '100000',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0s',
      },
      50_000,
      { requests: null, tokens: 0, availableInMs: 180_000 },
    ],
    [
      'of Anthropic, by the clock of the server',
      {
        date: 'Thu, 01 Jan 2026 00:00:00 GMT',
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:30Z',
        'anthropic-ratelimit-tokens-remaining': '5000',
      },
      10,
      { requests: 0, tokens: 5_000, availableInMs: 30_000 },
    ],
    [
      'that make no sense',
      { 'x-ratelimit-remaining-requests': '-1', 'x-ratelimit-remaining-tokens': 'many' },
      10,
      null,
    ],
    [
      'with an unknown reset',
      { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': 'soon' },
      10,
      { requests: 0, tokens: null, availableInMs: null },
    ],
  ])('%s', (_, headers, used, expected) => {
    expect(quotaIn(headers, used)).toEqual(expected)
  })

  it('are part of the report, and are the wait of a refusal without a Retry-After', async () => {
    const headers = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '12ms' }
    const quota = { requests: 0, tokens: null, availableInMs: 12 }
    const fine = await serve((_, response) =>
      json(response, 200, WIRES['openai-chat'].whole('Hi', TOKENS, 'stop'), headers),
    )
    expect((await ask('openai-chat', fine)).report).toMatchObject({ outcome: { kind: 'succeeded' }, quota })
    const busy = await serve((_, response) => json(response, 429, WIRES['openai-chat'].error('slow'), headers))
    expect((await ask('openai-chat', busy)).report).toMatchObject({
      outcome: { kind: 'failed', retryAfterMs: 12, busy: true },
      quota,
    })
  })
})
