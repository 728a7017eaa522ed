import { afterEach, describe, expect, it } from 'vitest'
import { attemptId, runId, scheduleId } from '../../src/domain/ids.ts'
import { instant } from '../../src/domain/instant.ts'
import { retryAfterMs } from '../../src/platform/outbound/request.ts'
import type { Attempt, AttemptReport } from '../../src/executors/executor.ts'
import { createHttpExecutor } from '../../src/executors/http/execute.ts'
import { readResponseResult } from '../../src/features/runs/result-input.ts'
import { json, startPeer, type Answering, type Peer } from '../platform/outbound/peer.ts'
import { httpOptions, openOutbound } from './stages.ts'
import { aContext, anAttempt } from './suite.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

interface Performed {
  readonly report: AttemptReport
  readonly peer: Peer
  readonly context: ReturnType<typeof aContext>
}

/** Performs an attempt with an agent that answers so. `{{peer}}` in the address is where it is. */
async function perform(
  answer: Answering,
  executor: Readonly<Record<string, unknown>> = {},
  attempt: Partial<Attempt> = {},
  expose = aContext().expose,
): Promise<Performed> {
  const peer = await startPeer(answer)
  const outbound = openOutbound()
  ends.push(peer.close, outbound.close)
  const url = typeof executor['url'] === 'string' ? executor['url'].replace('PEER', peer.url) : `${peer.url}/work`
  const context = { ...aContext(), expose }
  const run = createHttpExecutor({
    ...{ send: outbound.send, readResult: readResponseResult },
    optionsOf: () => Promise.resolve(httpOptions({ ...executor, url })),
    callbackUrl: (token) => `http://me.example/api/v1/callbacks/${token}`,
  })
  return {
    report: await run(anAttempt({ payload: { prompt: 'go', x: 'a "b"\r\nc', n: 7 }, ...attempt }), context),
    peer,
    context,
  }
}

const saying =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answering =>
  (_, response) =>
    typeof body === 'string' ? response.writeHead(status, headers).end(body) : json(response, status, body, headers)

describe('secrets', () => {
  const USING = {
    headers: { 'x-key': '{{secret:KEY}}', 'x-other': '{{payload.x}}' },
    body: { deep: ['{{secret:OTHER}}'], not: '{{payload.trick}}' },
  }

  it('are filled in where an agent names them, and nowhere else', async () => {
    const payload = { trick: '{{secret:KEY}}', x: 'plain' }
    const { peer, report } = await perform(saying(200, 'fine'), USING, { payload })
    expect([report.outcome.kind, peer.heard[0]?.headers['x-key']]).toEqual(['succeeded', 'value of KEY'])
    expect(JSON.parse(peer.heard[0]?.body ?? '')).toEqual({ deep: ['value of OTHER'], not: '{{secret:KEY}}' })
  })

  it('do not follow a redirect to another origin, and stay with one to the same', async () => {
    const elsewhere = await startPeer(saying(200, 'got it'))
    ends.push(elsewhere.close)
    const away = await perform((_, response) => response.writeHead(307, { location: elsewhere.url }).end(), USING)
    expect(away.report).toMatchObject({ outcome: { kind: 'failed', errorCode: 'outbound_refused' } })
    expect([away.report.errorMessage, elsewhere.heard.length]).toEqual([
      expect.stringContaining('carries a secret') as string,
      0,
    ])
    const round = await perform(
      ({ url }, response) =>
        url === '/work' ? response.writeHead(307, { location: '/there' }).end() : response.end('fine'),
      USING,
    )
    expect(round.report.output).toBe('fine')
  })

  it('that are refused, or fit into no header, are not sent at all', async () => {
    const refusing = { ok: false, message: 'secret KEY may not go there' } as const
    const refused = await perform(saying(200, {}), USING, {}, () => Promise.resolve(refusing))
    expect(refused.report).toMatchObject({
      ...{ outcome: { errorCode: 'secret_refused' }, errorMessage: 'secret KEY may not go there' },
    })
    const lines = { ok: true, values: { KEY: 'two\nlines', OTHER: 'fine' } } as const
    const unfit = await perform(saying(200, {}), USING, {}, () => Promise.resolve(lines))
    expect(unfit.report).toMatchObject({ outcome: { errorCode: 'secret_refused' } })
    expect(unfit.report.errorMessage).not.toContain('two')
    expect([refused.peer.heard, unfit.peer.heard]).toEqual([[], []])
  })
})

describe('what is sent', () => {
  it('is the dispatch, with its key and its trace', async () => {
    const { peer } = await perform(
      saying(200, {}),
      {},
      {
        ...{
          runId: runId('run_9'),
          attemptId: attemptId('att_9'),
          attempt: 3,
          trigger: 'catchup',
          scheduleId: scheduleId('sch_1'),
          trace: '00-trace',
        },
        ...{ nominalTime: instant(Date.UTC(2026, 0, 15, 7)), deadline: instant(Date.UTC(2026, 0, 15, 8)) },
      },
    )
    expect(peer.heard[0]?.headers).toMatchObject({ 'idempotency-key': 'att_9', traceparent: '00-trace' })
    expect(JSON.parse(peer.heard[0]?.body ?? '')).toEqual({
      ...{
        trigger_type: 'scheduled',
        manual: false,
        schedule_id: 'sch_1',
        job_run_id: 'job_1',
        run_id: 'run_9',
        attempt: 3,
      },
      ...{ attempt_id: 'att_9', nominal_time: '2026-01-15T07:00:00.000Z', session_id: null, message: 'go' },
      ...{
        schedule_payload: { prompt: 'go', x: 'a "b"\r\nc', n: 7 },
        payload: { prompt: 'go', x: 'a "b"\r\nc', n: 7 },
      },
      ...{ deadline: '2026-01-15T08:00:00.000Z', callback_token: 'offered' },
      callback_url: 'http://me.example/api/v1/callbacks/offered',
    })
  })

  it('is a body of the agent\u2019s own, with values in their place', async () => {
    const { peer } = await perform(saying(200, {}), {
      body: { text: '{{payload.x}}', n: '{{payload.n}}', run: 'r {{run_id}}' },
    })
    expect(JSON.parse(peer.heard[0]?.body ?? '')).toEqual({ text: 'a "b"\r\nc', n: 7, run: 'r run_1' })
  })

  it.each([
    ['application/json', '{"t": "{{payload.x}}", "n": {{payload.n}}}', '{"t": "a \\"b\\"\\r\\nc", "n": 7}'],
    ['application/x-www-form-urlencoded', 't={{payload.x}}&n={{payload.n}}', 't=a%20%22b%22%0D%0Ac&n=7'],
    ['text/plain', '{{payload.x}} {{payload.n}}', 'a "b"\r\nc 7'],
  ])('is text of the type %s, escaped for it', async (type, body, sent) => {
    const { peer } = await perform(saying(200, {}), { headers: { 'Content-Type': type }, body })
    expect(peer.heard[0]).toMatchObject({ body: sent, headers: { 'content-type': type } })
  })

  it('has headers without anything that could be another header', async () => {
    const { peer } = await perform(saying(200, {}), {
      headers: { 'X-X': '{{payload.x}}', 'X-Run': '{{run_id}}/{{attempt}}' },
    })
    expect(peer.heard[0]?.headers).toMatchObject({ 'x-x': 'a "b"??c', 'x-run': 'run_1/1' })
  })

  it('is a GET without a body', async () => {
    const { peer } = await perform(saying(200, 'ok'), { method: 'GET', url: 'PEER/q/{{payload.n}}?x={{payload.x}}' })
    expect(peer.heard[0]).toMatchObject({ method: 'GET', url: '/q/7?x=a%20%22b%22%0D%0Ac', body: '' })
    expect(peer.heard[0]?.headers['content-type']).toBeUndefined()
  })

  it('is nothing when a value would lead elsewhere', async () => {
    const { report, peer } = await perform(
      saying(200, {}),
      { url: 'PEER/a/{{payload.up}}/b' },
      { payload: { up: '..' } },
    )
    expect(report.outcome).toMatchObject({ kind: 'failed', retryable: false })
    expect(peer.heard).toHaveLength(0)
  })

  it('is nothing when the agent is gone', async () => {
    const run = createHttpExecutor({
      ...{ send: openOutbound().send, readResult: readResponseResult, callbackUrl: () => null },
      optionsOf: () => Promise.resolve(null),
    })
    expect(await run(anAttempt(), aContext())).toMatchObject({
      outcome: { errorCode: 'executor_offline', retryable: false },
    })
  })
})

describe('what is answered', () => {
  it.each<[string, Answering, unknown]>([
    ['text', saying(200, 'hello'), 'hello'],
    ['nothing', saying(204, ''), undefined],
    ['JSON', saying(200, { a: 1 }), { a: 1 }],
    ['a list', saying(200, [1, 2]), [1, 2]],
    ['JSON without a type', saying(200, '{"a":1}'), { a: 1 }],
    ['text that begins like JSON', saying(200, '[half'), '[half'],
    ['a status that is none of ours', saying(200, { status: 'ok' }), { status: 'ok' }],
    ['a 202 that is an answer', saying(202, { fine: true }), { fine: true }],
    ['a result', saying(200, { status: 'success', output: 'o' }), 'o'],
    ['a result among other fields', saying(200, { status: 'success', data: 1 }), { status: 'success', data: 1 }],
  ])('%s is a success', async (_, answer, output) => {
    const { report } = await perform(answer)
    expect(report.outcome).toEqual({ kind: 'succeeded' })
    expect(report.output ?? undefined).toEqual(output)
  })

  it.each<[string, Answering, object]>([
    ['500', saying(500, 'boom'), { errorCode: 'executor_http_5xx', retryable: null }],
    [
      '503 with patience',
      saying(503, '', { 'retry-after': '7' }),
      { errorCode: 'executor_http_5xx', retryAfterMs: 7_000 },
    ],
    [
      '429',
      saying(429, '', { 'retry-after': '3' }),
      { errorCode: 'executor_http_4xx', retryable: true, retryAfterMs: 3_000 },
    ],
    ['404', saying(404, {}), { errorCode: 'executor_http_4xx', retryable: null }],
    ['a redirect that is not followed', saying(302, '', { location: '/x' }), { errorCode: 'executor_http_3xx' }],
    [
      'a redirect to the metadata',
      saying(307, '', { location: 'http://169.254.169.254/' }),
      { errorCode: 'outbound_refused' },
    ],
    ['500 at length', saying(500, 'x'.repeat(2 << 20)), { errorCode: 'executor_http_5xx', retryable: null }],
    ['too much', saying(200, 'x'.repeat(2 << 20)), { errorCode: 'answer_too_large' }],
    ['broken JSON', saying(200, '{', { 'content-type': 'application/json' }), { errorCode: 'malformed_answer' }],
    ...[10_000, 100_000, 400_000].map((levels): [string, Answering, object] => [
      `a list nested ${levels} deep`,
      saying(200, `${'['.repeat(levels)}${']'.repeat(levels)}`, { 'content-type': 'application/json' }),
      { errorCode: 'malformed_answer' },
    ]),
    [
      'an object nested 100,000 deep',
      saying(200, `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, { 'content-type': 'application/json' }),
      { errorCode: 'malformed_answer' },
    ],
    [
      'a result with an output nested 100,000 deep',
      saying(200, `{"status":"success","output":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, {
        'content-type': 'application/json',
      }),
      { errorCode: 'malformed_answer' },
    ],
    [
      '500, nested 100,000 deep',
      saying(500, `${'['.repeat(100_000)}${']'.repeat(100_000)}`, { 'content-type': 'application/json' }),
      { errorCode: 'executor_http_5xx' },
    ],
    ['a failed result', saying(200, { status: 'failed' }), { errorCode: 'agent_error', retryable: null }],
    ['a code of ours', saying(200, { status: 'failed', error_code: 'network' }), { errorCode: 'network' }],
    ['a code of its own', saying(200, { status: 'failed', error_code: 'E1' }), { errorCode: 'agent_error' }],
    [
      'a result for good',
      saying(200, { status: 'failed', retryable: false }),
      { errorCode: 'agent_error', retryable: false },
    ],
    ['a result with wrong types', saying(200, { status: 'success', usage: 'much' }), { errorCode: 'malformed_answer' }],
    [
      'a result of another job',
      saying(200, { status: 'success', job_run_id: 'job_2' }),
      { errorCode: 'malformed_answer' },
    ],
    [
      'a result of another attempt',
      saying(200, { status: 'success', attempt_id: 'x' }),
      { errorCode: 'malformed_answer' },
    ],
  ])('%s is a failure', async (_, answer, outcome) => {
    const { report } = await perform(answer)
    expect(report.outcome).toMatchObject({ kind: 'failed', ...outcome })
  })

  it('quotes nothing of an answer that is no JSON: it may begin with a secret', async () => {
    const { report } = await perform(saying(200, 'TOPsecretValue', { 'content-type': 'application/json' }))
    expect(report.errorMessage).toMatch(/^the answer has a JSON content type but is not valid JSON: /)
    expect(report.errorMessage).not.toMatch(/TOP/)
  })

  it('says in the error what was answered', async () => {
    expect((await perform(saying(500, 'boom'))).report.errorMessage).toBe('the agent answered 500: boom')
    expect((await perform(saying(400, { error: 'no' }))).report.errorMessage).toBe(
      'the agent answered 400: {"error":"no"}',
    )
    expect((await perform(saying(200, { status: 'failed', error_code: 'E1' }))).report.errorMessage).toBe('E1')
  })

  it('may be a timeout or a stop of its own', async () => {
    expect((await perform(saying(200, { status: 'timeout' }))).report.outcome).toMatchObject({ kind: 'timed_out' })
    expect((await perform(saying(200, { status: 'cancelled' }))).report.outcome).toEqual({ kind: 'stopped' })
  })

  it('counts only when success_when holds', async () => {
    const when = { success_when: { path: 'state', equals: 'done' } }
    expect((await perform(saying(200, { state: 'done' }), when)).report.outcome).toEqual({ kind: 'succeeded' })
    const { report } = await perform(saying(200, { state: 'half' }), when)
    expect(report).toMatchObject({
      outcome: { errorCode: 'condition_failed' },
      errorMessage: 'state is "half", not "done"',
    })
    const status = { success_when: { status: [200, 409] } }
    expect((await perform(saying(409, 'there'), status)).report).toMatchObject({
      outcome: { kind: 'succeeded' },
      output: 'there',
    })
    expect((await perform(saying(201, ''), status)).report.outcome).toMatchObject({ errorCode: 'condition_failed' })
  })
})

describe('a result that comes later', () => {
  it.each<[string, Answering, object]>([
    ['a 202 that says so', saying(202, { async: true }), {}],
    ['any 202 of an agent that is async', saying(202, ''), { async: true }],
    [
      'any 202 of an agent that is async, also what is no JSON',
      saying(202, '{', { 'content-type': 'application/json' }),
      { async: true },
    ],
  ])('is announced by %s, and the offered token counts', async (_, answer, executor) => {
    const { report, context } = await perform(answer, { ...executor })
    expect(report).toEqual({ outcome: { kind: 'accepted' } })
    expect(context.deferred).toEqual(['offered'])
  })

  it('is not announced by a 200', async () => {
    const { report, context } = await perform(saying(200, { async: true }), { async: true })
    expect(report.outcome).toEqual({ kind: 'succeeded' })
    expect(context.deferred).toEqual([])
  })
})

describe('Retry-After', () => {
  it.each<[Readonly<Record<string, string>>, number | null]>([
    [{ 'retry-after': '5' }, 5_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Thu, 15 Jan 2026 07:00:10 GMT', date: 'Thu, 15 Jan 2026 07:00:00 GMT' }, 10_000],
    [{ 'retry-after': 'Thu, 15 Jan 2026 06:00:00 GMT', date: 'Thu, 15 Jan 2026 07:00:00 GMT' }, 0],
    [{ 'retry-after': 'Thu, 15 Jan 2026 07:00:10 GMT' }, null],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-5' }, null],
    [{}, null],
  ])('%j is %s', (headers, ms) => {
    expect(retryAfterMs(headers)).toBe(ms)
  })
})
