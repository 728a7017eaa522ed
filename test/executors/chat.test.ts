import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import type { SessionHistory } from '../../src/executors/host.ts'
import { runId, sessionKey } from '../../src/domain/ids.ts'
import { instant } from '../../src/domain/instant.ts'
import type { Attempt, AttemptReport } from '../../src/executors/executor.ts'
import { json } from '../platform/outbound/peer.ts'
import { chatAgent, chatExecutor, NO_PAST } from './chat-stage.ts'
import { startModelServer, type ModelServer, type Speaking } from './model-server.ts'
import { openOutbound } from './stages.ts'
import { aContext, anAttempt } from './suite.ts'

const outbound = openOutbound()
const open: ModelServer[] = []
afterEach(async () => {
  for (const model of open.splice(0)) await model.close()
})
afterAll(outbound.close)

interface Performed {
  readonly report: AttemptReport
  readonly model: ModelServer
  /** What was shown while it went on. */
  readonly shown: readonly unknown[]
}

interface Staged {
  readonly executor?: Readonly<Record<string, unknown>>
  readonly window?: number
  readonly past?: SessionHistory
  readonly attempt?: Partial<Attempt>
  readonly secrets?: Readonly<Record<string, string>>
}

async function perform(answer: (speaking: Speaking) => unknown, staged: Staged = {}): Promise<Performed> {
  const model = await startModelServer(answer)
  open.push(model)
  const agent = chatAgent({ base_url: model.baseUrl, ...staged.executor }, staged.window ?? null)
  const shown: unknown[] = []
  const context = {
    ...aContext(),
    progress: (event: unknown) => void shown.push(event),
    expose: ({ names }: { readonly names: readonly string[] }) => {
      const values = Object.fromEntries(names.map((name) => [name, staged.secrets?.[name] ?? '']))
      return Promise.resolve(
        staged.secrets === undefined ? { ok: false as const, message: 'nobody has it' } : { ok: true as const, values },
      )
    },
  }
  const attempt = anAttempt({ payload: { text: 'Hello', attachments: [] }, ...staged.attempt })
  return { report: await chatExecutor(outbound, agent, staged.past ?? NO_PAST)(attempt, context), model, shown }
}

const fine = ({ say, finish }: Speaking): void => {
  say('Hi', ' there')
  finish({ usage: { prompt_tokens: 12, completion_tokens: 3 } })
}

describe('what is asked', () => {
  it('is the conversation of the model, with everything its agent says', async () => {
    const { model } = await perform(fine, {
      executor: {
        ...{ model: 'gpt-x', system_prompt: 'Be brief.', temperature: 0.2, max_tokens: 50 },
        ...{ headers: { 'X-Run': '{{run_id}}' }, body: { top_p: 0.5, user: '{{payload.text}}' } },
      },
      attempt: { trace: '00-1-2-01' },
    })
    expect(model.questions()).toEqual([
      {
        ...{ model: 'gpt-x', temperature: 0.2, max_tokens: 50, top_p: 0.5, user: 'Hello' },
        ...{ stream: true, stream_options: { include_usage: true } },
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello' },
        ],
      },
    ])
    const [heard] = model.heard
    expect(heard?.headers).toMatchObject({ 'x-run': 'run_1', 'idempotency-key': 'att_1', traceparent: '00-1-2-01' })
    expect(heard?.headers.authorization).toBeUndefined()
  })

  it.each([
    ['passes on what a message states', {}, { text: 'Hello', fields: { max_tokens: 40 } }, { max_tokens: 40 }],
    ['passes on what the payload of a schedule states', {}, { prompt: 'Go', max_tokens: 40 }, { max_tokens: 40 }],
    [
      'lowers what the agent says',
      { max_tokens: 50 },
      { text: 'Hello', fields: { max_tokens: 40 } },
      { max_tokens: 40 },
    ],
    ['never raises it', { max_tokens: 50 }, { text: 'Hello', fields: { max_tokens: 900 } }, { max_tokens: 50 }],
    [
      'keeps the name that the agent uses',
      { body: { max_completion_tokens: 50 } },
      { text: 'Hello', fields: { max_tokens: 40 } },
      { max_completion_tokens: 40 },
    ],
    ['leaves out what nobody states', {}, { text: 'Hello' }, {}],
  ])('of the longest answer: %s', async (_title, executor, payload, sent) => {
    const { model } = await perform(fine, { executor, attempt: { payload } })
    const { max_tokens, max_completion_tokens } = model.questions()[0] as Readonly<Record<string, unknown>>
    expect(JSON.parse(JSON.stringify({ max_tokens, max_completion_tokens }))).toEqual(sent)
  })

  it('has an answer that fits behind it, however much the run may use in all', async () => {
    const { model } = await perform(fine, {
      window: 1_000,
      attempt: { payload: { text: 'Hello', fields: { max_tokens: 5_000 } } },
    })
    const sent = model.questions()[0]?.['max_tokens']
    expect(sent).toBeGreaterThan(900)
    expect(sent).toBeLessThan(1_000)
  })

  it('carries the key that a secret holds, and a model cannot show it', async () => {
    const { model, report, shown } = await perform(
      ({ heard, say, finish }) => {
        say(...Array.from(heard.headers.authorization ?? ''))
        finish()
      },
      { executor: { api_key: '{{secret:LLM}}' }, secrets: { LLM: 'sk-canary-1234567890' } },
    )
    expect(model.heard[0]?.headers.authorization).toBe('Bearer sk-canary-1234567890')
    // The output itself is masked by whoever called; what is streamed would be too late there.
    expect(report.outcome).toEqual({ kind: 'succeeded' })
    expect(shown.join('')).toBe('Bearer ***')
  })

  it('is nothing when the secret may not be used', async () => {
    const { model, report } = await perform(fine, { executor: { api_key: '{{secret:LLM}}' } })
    expect(report).toMatchObject({ outcome: { errorCode: 'secret_refused' }, errorMessage: 'nobody has it' })
    expect(model.heard).toHaveLength(0)
  })

  it('has the past of its session, and of nothing else', async () => {
    const past: SessionHistory = {
      ...{ sender: null, retryOf: null },
      exchanges: [
        {
          ...{ runId: runId('run_0'), trigger: 'message', sender: null, payload: { text: 'One?' }, reply: 'One.' },
          ...{ retryOf: null, startedAt: instant(1) },
        },
      ],
    }
    const said = (question: ModelServer): readonly unknown[] | undefined =>
      question.questions()[0]?.messages.map(({ content }) => content)
    const attempt = { sessionKey: sessionKey('agent:a:dm') }
    expect(said((await perform(fine, { past, attempt })).model)).toEqual(['One?', 'One.', 'Hello'])
    expect(said((await perform(fine, { past })).model)).toEqual(['Hello'])
    expect(said((await perform(fine, { past, attempt, executor: { history: false } })).model)).toEqual(['Hello'])
  })

  it('is less of the past when the server says that it is too much, and never less than what is said now', async () => {
    const exchanges = [1, 2, 3, 4].map((n) => ({
      ...{ runId: runId(`run_${n}`), trigger: 'message' as const, sender: null, payload: `${n}?`, reply: `${n}.` },
      ...{ retryOf: null, startedAt: instant(n) },
    }))
    const staged = { past: { ...NO_PAST, exchanges }, attempt: { sessionKey: sessionKey('agent:a:dm') } }
    const taking =
      (most: number) =>
      (speaking: Speaking): void => {
        if (speaking.question.messages.length <= most) fine(speaking)
        else json(speaking.response, 400, { error: { message: 'x', code: 'context_length_exceeded' } })
      }
    const told = ({ model }: Performed): readonly number[] => model.questions().map(({ messages }) => messages.length)
    const smaller = await perform(taking(3), staged)
    expect(smaller.report).toMatchObject({ outcome: { kind: 'succeeded' }, output: 'Hi there' })
    expect(told(smaller)).toEqual([9, 3])
    const hopeless = await perform(taking(0), staged)
    expect(hopeless.report).toMatchObject({ outcome: { errorCode: 'executor_http_4xx' } })
    expect(told(hopeless)).toEqual([9, 3, 1])
  })

  it('may leave out that it wants the tokens counted, for servers that do not know it', async () => {
    const without = await perform(fine, { executor: { body: { stream_options: null } } })
    expect(without.model.questions()[0]).not.toHaveProperty('stream_options')
  })
})

describe('what is answered', () => {
  it('is shown as it comes, and counted', async () => {
    const { report, shown } = await perform(fine, { window: 1_000, executor: { prices: { input: 2, output: 10 } } })
    expect(shown.join('')).toBe('Hi there')
    expect(report).toEqual({
      outcome: { kind: 'succeeded' },
      output: 'Hi there',
      usage: { inputTokens: 12, outputTokens: 3, contextWindow: 1_000, costMicros: 54 },
    })
  })

  it('is shown before it has ended', async () => {
    let end: () => void = () => undefined
    const model = await startModelServer(({ say, finish }) => {
      say('first')
      end = finish
    })
    open.push(model)
    const shown: unknown[] = []
    const context = { ...aContext(), progress: (event: unknown) => void shown.push(event) }
    const going = chatExecutor(outbound, chatAgent({ base_url: model.baseUrl }))(anAttempt({ payload: 'x' }), context)
    await vi.waitFor(() => expect(shown).toEqual(['first']))
    end()
    expect(await going).toMatchObject({ outcome: { kind: 'succeeded' }, output: 'first' })
  })

  it('is a guess of tokens where the server has counted none', async () => {
    const { report } = await perform(({ say, finish }) => {
      say('four words of text.')
      finish()
    })
    expect(report.usage).toEqual({ inputTokens: 6, outputTokens: 9 })
  })

  it('may come at once from a server that does not stream', async () => {
    const { report, shown } = await perform(({ response }) =>
      json(response, 200, {
        choices: [{ index: 0, message: { role: 'assistant', content: 'All' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
      }),
    )
    expect(report).toMatchObject({ outcome: { kind: 'succeeded' }, output: 'All', usage: { inputTokens: 2 } })
    expect(shown).toEqual([])
  })

  it('is cut off where it says so, and held back where it says so', async () => {
    const cut = await perform(({ say, finish }) => {
      say('long')
      finish({ reason: 'length' })
    })
    expect(cut.report).toMatchObject({
      output: 'long',
      summary: 'The answer was cut off because it reached its token limit',
    })
    const held = await perform(({ finish }) => finish({ reason: 'content_filter' }))
    expect(held.report).toMatchObject({ outcome: { kind: 'failed', errorCode: 'agent_error', retryable: false } })
  })

  it('is broken off by an abort, and what there was of it is kept', async () => {
    const model = await startModelServer(({ say }) => say('half an'))
    open.push(model)
    const controller = new AbortController()
    const context = { ...aContext(controller.signal), progress: () => controller.abort() }
    const report = await chatExecutor(outbound, chatAgent({ base_url: model.baseUrl }))(anAttempt(), context)
    expect(report).toMatchObject({ outcome: { kind: 'stopped' }, output: 'half an', usage: { outputTokens: 6 } })
    await vi.waitFor(() => expect(model.dropped()).toBe(1))
  })
})

describe('a stream', () => {
  const text = 'Grüße, 世界 👋🏽 — done'
  const event = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}`
  const last = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}'
  const speaking =
    (stream: string, step: number) =>
    async ({ send, response }: Speaking): Promise<void> => {
      const bytes = Buffer.from(stream)
      response.socket?.setNoDelay(true)
      for (let at = 0; at < bytes.length; at += step) {
        send(bytes.subarray(at, at + step))
        // Its own packet, so that portions end where they would never end by themselves.
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    }

  it.each<[string, string, number]>([
    ['in single bytes', `${event('Grüße, 世界 ')}\n\n${event('👋🏽 — done')}\n\n${last}\n\ndata: [DONE]\n\n`, 1],
    ['with returns', `${event(text)}\r\n\r\n${last}\r\n\r\ndata: [DONE]\r\n\r\n`, 3],
    ['with returns alone', `${event(text)}\r\r${last}\r\r`, 2],
    ['with comments, names and ids', `: ping\n\nevent: x\nid: 1\nretry: 5\n${event(text)}\n\n:\n${last}\n\n`, 7],
    ['without empty lines', `${event(text)}\n${last}\ndata: [DONE]\n`, 5],
    ['without a space behind the colon', `${event(text).replace(': ', ':')}\n\n${last}\n\n`, 64],
    ['with data in several lines', `data: {"choices":\ndata: [{"delta":{"content":"${text}"}}]}\n\n${last}\n\n`, 64],
    ['with a mark at its beginning', `\uFEFF${event(text)}\n\n${last}\n\n`, 64],
    [
      'with empty pieces',
      `data: {"choices":[]}\n\ndata: {"choices":[{"delta":{"content":null}}],"usage":null}\n\n${event(text)}\n\n${last}\n\n`,
      64,
    ],
    [
      'with parts in place of a text',
      `${event(text).replace(JSON.stringify(text), `[{"type":"text","text":${JSON.stringify(text)}}]`)}\n\n${last}\n\n`,
      64,
    ],
    [
      'with a character in two pieces',
      `${event('Grüße, 世界 \ud83d')}\n\n${event('\udc4b🏽 — done')}\n\n${last}\n\n`,
      64,
    ],
    ['that does not hang up', `${event(text)}\n\n${last}\n\ndata: [DONE]\n\n: and on and on\n\n`, 1_000],
  ])('is read %s', async (_, stream, step) => {
    const { report, shown } = await perform(speaking(stream, step))
    expect(report).toMatchObject({ outcome: { kind: 'succeeded' }, output: text })
    expect(shown.join('')).toBe(text)
  })

  it('is over once it has ended and was counted, also when nobody says so or hangs up', async () => {
    const { report } = await perform(({ say, send }) => {
      say('all')
      send(`${last}\n\ndata: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n`)
    })
    expect(report).toMatchObject({ outcome: { kind: 'succeeded' }, output: 'all', usage: { inputTokens: 5 } })
  })

  it('that ends before its end is said is no answer, and kept', async () => {
    const { report } = await perform(speaking(`${event('half')}\n\n`, 64))
    expect(report).toMatchObject({
      ...{ outcome: { errorCode: 'malformed_answer' }, output: 'half' },
      errorMessage: 'the answer ended without an end marker',
    })
  })

  it.each<[string, object | string, object, string]>([
    ['without a status', { message: 'overloaded' }, { errorCode: 'agent_error', retryable: null }, 'overloaded'],
    ['with 429', { message: 'slow', code: 429 }, { errorCode: 'executor_http_4xx', retryable: true }, 'slow'],
    ['with 400', { message: 'no', code: '400' }, { errorCode: 'executor_http_4xx', retryable: null }, 'no'],
    ['with 502', { message: 'gone', status: 502 }, { errorCode: 'executor_http_5xx' }, 'gone'],
    ['in a word', 'broken', { errorCode: 'agent_error' }, 'broken'],
  ])('may break off with an error %s', async (_, error, outcome, words) => {
    const { report } = await perform(({ say, send }) => {
      say('half')
      send(`data: ${JSON.stringify({ error })}\n\n`)
    })
    expect(report).toMatchObject({ outcome: { kind: 'failed', ...outcome }, output: 'half' })
    expect(report.errorMessage).toContain(words)
  })
})

describe('a refusal', () => {
  const refusing =
    (status: number, body: unknown, headers: Record<string, string> = {}) =>
    ({ response }: Speaking): void =>
      json(response, status, body, headers)
  const error = (message: string): object => ({ error: { message, type: 'invalid_request_error', code: null } })

  it.each<[string, (speaking: Speaking) => unknown, Staged, object, readonly string[]]>([
    [
      'of a key',
      refusing(401, error('Incorrect API key')),
      { executor: { api_key: '{{secret:LLM}}' }, secrets: { LLM: 'sk-wrong-1234' } },
      { errorCode: 'executor_http_4xx', retryable: null },
      ['Incorrect API key', 'escapement secrets set LLM'],
    ],
    ['of nobody', refusing(401, error('no key')), {}, {}, ['sends no key', '{{secret:NAME}}']],
    [
      'of a model',
      refusing(404, error('no such model')),
      {},
      {},
      ['executor.model, "m"', '/v1/chat/completions; the base URL'],
    ],
    [
      'of too much',
      refusing(400, error('maximum context length is 4096 tokens')),
      {},
      { errorCode: 'executor_http_4xx', retryable: null },
      ['context_window of the agent'],
    ],
    ['of a field', refusing(400, error('unknown field stream_options')), {}, {}, ['body.stream_options to null']],
    ['of an old word', refusing(400, error('use max_completion_tokens')), {}, {}, ['body.max_completion_tokens']],
    [
      'for now',
      refusing(429, error('slow down'), { 'retry-after': '7' }),
      {},
      { errorCode: 'executor_http_4xx', retryable: true, retryAfterMs: 7_000 },
      ['slow down'],
    ],
    [
      'by a failure',
      refusing(503, {}, { 'retry-after': '2' }),
      {},
      { errorCode: 'executor_http_5xx', retryAfterMs: 2_000 },
      ['503'],
    ],
    ['in plain text', ({ response }) => response.writeHead(500).end('boom'), {}, {}, ['the server answered 500: boom']],
    ['with an error under 200', refusing(200, error('quota')), {}, { errorCode: 'agent_error' }, ['quota']],
    ['with something else', refusing(200, { hello: 1 }), {}, { errorCode: 'malformed_answer' }, ['no choices']],
    [
      'with a page',
      ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      {},
      { errorCode: 'malformed_answer' },
      ['not valid JSON', 'check executor.base_url', '/chat/completions; the base URL'],
    ],
    ['by a quota', refusing(429, error('slow down')), {}, {}, ['slow down', 'requests_per_minute of a provider']],
    [
      'to say anything but a tool',
      refusing(200, {
        choices: [{ message: { content: null, tool_calls: [{ id: '1' }] }, finish_reason: 'tool_calls' }],
      }),
      {},
      { errorCode: 'agent_error', retryable: false },
      ['tool'],
    ],
  ])('%s says what to do', async (_, answer, staged, outcome, words) => {
    const { report } = await perform(answer, staged)
    expect(report.outcome).toMatchObject({ kind: 'failed', ...outcome })
    for (const word of words) expect(report.errorMessage).toContain(word)
  })

  it('of an agent that is gone asks nobody', async () => {
    const { createChatExecutor } = await import('../../src/executors/chat/execute.ts')
    const gone = createChatExecutor({
      ...{ send: outbound.send, agentOf: () => Promise.resolve(null), historyOf: () => Promise.resolve(NO_PAST) },
    })
    expect(await gone(anAttempt(), aContext())).toMatchObject({
      outcome: { errorCode: 'executor_offline', retryable: false },
    })
  })
})
