import { describe, expect, it } from 'vitest'
import { agentId, attemptId, orgId, runId } from '../../src/domain/ids.ts'
import { echo } from '../../src/executors/registry.ts'
import type { Attempt, AttemptContext, AttemptReport } from '../../src/executors/executor.ts'
import { inProcess, type Handler } from '../../src/executors/in-process/execute.ts'

const attempt = (payload: unknown): Attempt => ({
  orgId: orgId('default'),
  runId: runId('run_1'),
  jobRunId: 'job_1',
  attemptId: attemptId('att_1'),
  attempt: 1,
  agentId: agentId('worker'),
  trigger: 'message',
  scheduleId: null,
  nominalTime: null,
  sessionKey: null,
  payload,
  deadline: null,
  trace: null,
})

const context = (signal = new AbortController().signal): AttemptContext => ({
  signal,
  progress: () => undefined,
  usage: () => undefined,
  offer: () => Promise.resolve('token'),
  expose: () => Promise.resolve({ ok: false, message: 'no secrets here' }),
  invite: () => Promise.resolve(null),
  defer: () => Promise.resolve('token'),
  deferToService: () => Promise.resolve(),
})

const run = (handler: Handler, signal?: AbortSignal): Promise<AttemptReport> =>
  inProcess(handler)(attempt('x'), context(signal))

describe('a function as an executor', () => {
  it('succeeds with what it returns, at once or later', async () => {
    expect(await run(() => 42)).toEqual({ outcome: { kind: 'succeeded' }, output: 42 })
    expect(await run(() => Promise.resolve({ done: true }))).toMatchObject({ output: { done: true } })
  })

  it('defers by returning what defer gives', async () => {
    expect(await run((_, { defer }) => defer())).toEqual({ outcome: { kind: 'accepted' } })
  })

  it('hands out the token that settles it', async () => {
    let token: string | null = null
    await run(async (_, { defer }) => (token = (await defer()).token))
    expect(token).toBe('token')
  })

  it('is not deferred by a look-alike', async () => {
    expect(await run(() => ({ deferred: true }))).toMatchObject({ outcome: { kind: 'succeeded' } })
  })

  it.each<[string, unknown, object]>([
    ['an error', new Error('no'), { errorCode: 'agent_error', retryable: null }],
    ['a text', 'no', { errorCode: 'agent_error' }],
    ['nothing', undefined, { errorCode: 'agent_error' }],
    ['status 500', Object.assign(new Error('no'), { status: 500 }), { errorCode: 'executor_http_5xx' }],
    ['status 404', { status: 404 }, { errorCode: 'executor_http_4xx', retryable: null }],
    [
      'status 429',
      { status: 429, retryAfterMs: 5_000 },
      { errorCode: 'executor_http_4xx', retryable: true, retryAfterMs: 5_000 },
    ],
    [
      'status 500, not retryable',
      { status: 500, retryable: false },
      { errorCode: 'executor_http_5xx', retryable: false },
    ],
    ['a code of ours', { code: 'network' }, { errorCode: 'network' }],
    ['a code of theirs', { code: 'ECONNRESET' }, { errorCode: 'agent_error' }],
    ['a code that is no code', { code: 'toString' }, { errorCode: 'agent_error' }],
    ['a status that is none', { status: 200 }, { errorCode: 'agent_error' }],
  ])('fails by throwing %s', async (_, thrown, outcome) => {
    const report = await run(() => {
      throw thrown
    })
    expect(report.outcome).toMatchObject({ kind: 'failed', ...outcome })
    expect(report.errorMessage).toBeTypeOf('string')
  })

  it('was stopped, not broken, when it throws after being told to stop', async () => {
    const stop = new AbortController()
    const report = await run((_, { signal }) => {
      stop.abort(new Error('cancelled'))
      signal.throwIfAborted()
      return 'never'
    }, stop.signal)
    expect(report.outcome).toEqual({ kind: 'stopped' })
  })
})

describe('echo', () => {
  it.each([
    [{ prompt: 'hello', context: 1 }, 'hello'],
    [{ text: 'hi' }, 'hi'],
    ['plain', 'plain'],
    [null, null],
    [{ other: 1 }, { other: 1 }],
  ])('answers %j with %j', async (payload, output) => {
    expect(await echo(attempt(payload), context())).toEqual({ outcome: { kind: 'succeeded' }, output })
  })
})
