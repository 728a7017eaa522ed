import { describe, expect, it, vi } from 'vitest'
import { startWorker, type Worker, type WorkerOptions } from '../../src/client/worker/worker.ts'

// The server is a function here: what it does when is the test's word.

interface Asked {
  readonly what: string
  readonly attempt: string
  readonly body: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal | null
}

type Answering = (asked: Asked) => Response | Promise<Response>

const OK = { status: 'running', ignored: false, cancel: false, reason: null, ends_by: null }
const problem = (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify({ code, detail: `it is ${code}`, title: code, status, request_id: 'r' }), {
    ...{ status, headers: { 'content-type': 'application/problem+json', ...headers } },
  })

const anAttempt = (id: string): object => ({
  agent_id: 'a',
  attempt_id: id,
  run_id: `run_${id}`,
  attempt: 1,
  message: id,
})

/** The answer to a claim, by the number of the worker. */
const news = (worker: string, attempts: readonly string[] = [], cancel: readonly string[] = []): Response =>
  Response.json({
    ...{ worker_id: worker, lease_until: '', renew_seconds: 5, attempts: attempts.map(anAttempt) },
    cancel: cancel.map((id) => ({ attempt_id: id, reason: 'cancelled' })),
  })

/** Nothing happens for as long as is waited for. */
const silence = ({ signal, body }: Asked): Promise<Response> =>
  new Promise((resolve, reject) => {
    if (body['wait_seconds'] === 0) resolve(news(String(body['worker_id'])))
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })

function connect(
  answer: Answering,
  more: Partial<WorkerOptions> = {},
): { readonly worker: Worker; readonly asked: Asked[] } {
  const asked: Asked[] = []
  const fetch = (async (url: string, { body, signal }: RequestInit) => {
    const [, attempt = '', what = ''] = /worker\/(?:attempts\/([^/]+)\/)?(\w+)$/.exec(url) ?? []
    const one = {
      what,
      attempt,
      body: JSON.parse(typeof body === 'string' ? body : '{}') as Asked['body'],
      signal: signal ?? null,
    }
    asked.push(one)
    return answer(one)
  }) as typeof globalThis.fetch
  const worker = startWorker({
    url: 'http://plane.test',
    key: 'k',
    fetch,
    drainSeconds: 1,
    agents: { a: () => 'done' },
    ...more,
  })
  return { worker, asked }
}

const completed = (asked: readonly Asked[]): readonly unknown[] =>
  asked
    .filter(({ what }) => what === 'complete')
    .map(({ attempt, body }) => [attempt, body['status'], body['error_code']])

describe('a worker', () => {
  it('comes back when the server cannot be reached, and says who it is', async () => {
    let claims = 0
    const { worker, asked } = connect((one) => {
      if (one.what !== 'claim') return Response.json(OK)
      claims += 1
      if (claims === 1) throw new TypeError('fetch failed')
      if (claims === 2) return problem(503, 'DRAINING', { 'retry-after': '0' })
      return claims === 3 ? news('wrk_1') : silence(one)
    })
    await worker.connected
    await vi.waitFor(() => expect(asked).toHaveLength(4))
    expect(asked.map(({ body }) => [body['worker_id'], body['wait_seconds']])).toEqual([
      ...[undefined, undefined, undefined].map((id) => [id, 0]),
      ['wrk_1', 20],
    ])
    await worker.stop()
    await worker.ended
  })

  it('stops what it works on and begins anew when it was taken for lost', async () => {
    let claims = 0
    const { worker, asked } = connect(
      (one) => {
        if (one.what !== 'claim') return Response.json(one.what === 'complete' ? { ...OK, ignored: true } : OK)
        claims += 1
        if (claims === 1) return news('wrk_1', ['att_1'])
        return claims === 2 ? problem(409, 'WORKER_LOST') : claims === 3 ? news('wrk_2') : silence(one)
      },
      {
        agents: {
          a: (_, { signal }) =>
            new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
        },
      },
    )
    await vi.waitFor(() => expect(worker.id()).toBe('wrk_2'))
    await vi.waitFor(() => expect(worker.working()).toBe(0))
    expect(completed(asked)).toEqual([['att_1', 'cancelled', undefined]])
    await worker.stop('now')
  })

  it.each([
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN'],
    [400, 'VALIDATION'],
  ])('gives up when it will never be let in (%i)', async (status, code) => {
    const { worker, asked } = connect(() => problem(status, code))
    await expect(worker.connected).rejects.toMatchObject({ code })
    await expect(worker.ended).rejects.toMatchObject({ code })
    expect(asked).toHaveLength(1)
    await worker.stop()
  })

  it('tells its results for as long as it takes, and what it says on the way in order', async () => {
    let [claims, reports] = [0, 0]
    const { worker, asked } = connect(
      (one) => {
        if (one.what === 'complete')
          return (reports += 1) < 3 ? problem(503, 'DATABASE_AWAY', { 'retry-after': '0' }) : Response.json(OK)
        if (one.what !== 'claim') return Response.json(OK)
        return (claims += 1) === 1 ? news('wrk_1', ['att_1']) : silence(one)
      },
      {
        agents: {
          a: ({ message }, { progress, usage }) => {
            for (let n = 0; n < 150; n += 1) progress(n)
            usage({ input_tokens: 1 })
            return message
          },
        },
      },
    )
    await vi.waitFor(() => expect(reports).toBe(3))
    const told = asked
      .filter(({ what }) => what === 'events')
      .flatMap(({ body }) => body['events'] as readonly number[])
    expect(told).toEqual(Array.from({ length: 150 }, (_, n) => n))
    expect(asked.at(-1)?.body).toEqual({ status: 'success', output: 'att_1', usage: { input_tokens: 1 } })
    await worker.stop()
  })

  it('does not begin what is not its own any more', async () => {
    let claims = 0
    const work = vi.fn()
    const { worker, asked } = connect(
      (one) => {
        if (one.what === 'claim') return (claims += 1) === 1 ? news('wrk_1', ['att_1']) : silence(one)
        return Response.json({ ...OK, status: 'cancelled', ignored: true, cancel: true, reason: 'stale_report' })
      },
      { agents: { a: work } },
    )
    await vi.waitFor(() => expect(asked.some(({ what }) => what === 'start')).toBe(true))
    await vi.waitFor(() => expect(worker.working()).toBe(0))
    expect(work).not.toHaveBeenCalled()
    await worker.stop()
  })

  it('drains: it takes nothing more, waits for what runs, and gives back what takes too long', async () => {
    let claims = 0
    let finish = (): void => undefined
    const { worker, asked } = connect(
      (one) => {
        if (one.what !== 'claim') return Response.json(OK)
        return (claims += 1) === 1 ? news('wrk_1', ['quick', 'slow']) : silence(one)
      },
      {
        ...{ capacity: 2, drainSeconds: 0.1 },
        agents: {
          a: ({ message }, { signal }) =>
            new Promise((resolve, reject) => {
              if (message === 'quick') finish = () => resolve('done')
              else signal.addEventListener('abort', () => reject(signal.reason as Error))
            }),
        },
      },
    )
    await vi.waitFor(() => expect(worker.working()).toBe(2))
    await vi.waitFor(() => expect(asked.at(-1)?.body['holding']).toEqual(['quick', 'slow']))
    const stopped = worker.stop()
    await vi.waitFor(() => expect(asked.at(-1)?.body['draining']).toBe(true))
    finish()
    await stopped
    expect(completed(asked)).toEqual([
      ['quick', 'success', undefined],
      ['slow', 'failed', 'node_shutdown'],
    ])
    expect(worker.working()).toBe(0)
  })
})

describe('a worker that lacks something', () => {
  const starting = (options: object) => (): unknown =>
    startWorker({ url: 'http://plane.test', key: 'k', ...options } as unknown as Parameters<typeof startWorker>[0])

  it('is not started', () => {
    expect(starting({})).toThrow('agents is missing: a function for each agent, by its id')
    expect(starting({ agents: {} })).toThrow('agents is missing')
    expect(starting({ agents: { a: 'a.js' } })).toThrow('agents.a is not a function')
    expect(starting({ agents: { a: () => 1 }, url: undefined })).toThrow('url is missing')
  })
})
