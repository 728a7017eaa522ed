import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { agentId, attemptId, orgId, runId } from '../../src/domain/ids.ts'
import { isRetryable } from '../../src/domain/run/retry.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor, Usage } from '../../src/executors/executor.ts'

/** What the work behind an executor does when it is asked. */
export type Behaviour =
  | { readonly kind: 'succeed'; readonly output: unknown }
  | { readonly kind: 'fail'; readonly retryable: boolean; readonly message: string }
  | { readonly kind: 'use'; readonly usage: Usage }
  /** Begins and never ends. */
  | { readonly kind: 'hang' }
  /** Answers without end. */
  | { readonly kind: 'flood' }
  /** Answers with what cannot be understood. */
  | { readonly kind: 'garble' }
  /** Goes away in the middle of its answer. */
  | { readonly kind: 'break' }

/** An executor and the work behind it, which does as it is told. */
export interface ExecutorStage {
  readonly executor: Executor
  readonly payload: unknown
  readonly behave: (behaviour: Behaviour) => void
  /** How often the work was begun, and how often it noticed that nobody wants it any more. */
  readonly begun: () => number
  readonly dropped: () => number
  readonly close: () => Promise<void>
}

/** An attempt with nothing special about it. */
export const anAttempt = (more: Partial<Attempt> = {}): Attempt => ({
  ...{ orgId: orgId('default'), runId: runId('run_1'), jobRunId: 'job_1', attemptId: attemptId('att_1'), attempt: 1 },
  ...{ agentId: agentId('worker'), trigger: 'message', scheduleId: null, nominalTime: null, sessionKey: null },
  trace: null,
  ...{ payload: null, deadline: null },
  ...more,
})

/** What an attempt has while it works, and what it did with it. */
export function aContext(signal = new AbortController().signal): AttemptContext & {
  readonly used: Usage[]
  readonly deferred: string[]
} {
  const used: Usage[] = []
  const deferred: string[] = []
  return {
    ...{ signal, used, deferred, progress: () => undefined, deferToService: () => Promise.resolve() },
    usage: (usage) => void used.push(usage),
    offer: () => Promise.resolve('offered'),
    invite: () => Promise.resolve(null),
    expose: ({ names }) =>
      Promise.resolve({ ok: true, values: Object.fromEntries(names.map((name) => [name, `value of ${name}`])) }),
    defer: (offered = 'new') => {
      deferred.push(offered)
      return Promise.resolve(offered)
    },
  }
}

/** What every executor keeps to. Some cannot happen to some: work inside this process has no connection to break. */
export function describeExecutor(
  name: string,
  open: () => Promise<ExecutorStage>,
  cannot: readonly Behaviour['kind'][] = [],
): void {
  describe(`the executor ${name}`, () => {
    let stage: ExecutorStage
    beforeAll(async () => {
      stage = await open()
    })
    afterAll(() => stage.close())
    /** What an executor cannot come across is not tried, rather than passed over. */
    const possible = (kind: Behaviour['kind']) => (about: string, check: () => Promise<void>) => {
      if (!cannot.includes(kind)) it(about, check)
    }
    const perform = (behaviour: Behaviour, context = aContext()): Promise<AttemptReport> => {
      stage.behave(behaviour)
      return stage.executor(anAttempt({ payload: stage.payload }), context)
    }

    it.each<[string, unknown]>([
      ['a text', 'done'],
      ['an object', { answer: 42, list: [1, null, 'ü'] }],
      ['nothing', null],
    ])('succeeds with %s', async (_, output) => {
      const report = await perform({ kind: 'succeed', output })
      expect(report.outcome).toEqual({ kind: 'succeeded' })
      expect(report.output ?? null).toEqual(output)
      expect(report.errorMessage).toBeUndefined()
    })

    for (const retryable of [true, false])
      possible('fail')(`fails with words, to be repeated or not: ${retryable}`, async () => {
        const report = await perform({ kind: 'fail', retryable, message: 'no ink left' })
        if (report.outcome.kind !== 'failed') throw new Error(`it ${report.outcome.kind}`)
        expect(isRetryable(report.outcome)).toBe(retryable)
        expect(report.errorMessage).toContain('no ink left')
      })

    possible('use')('says what it has used', async () => {
      const usage = { inputTokens: 12, outputTokens: 5, contextWindow: 1_000, costMicros: 250_000 }
      const context = aContext()
      const report = await perform({ kind: 'use', usage }, context)
      expect({ ...context.used[0], ...report.usage }).toEqual(usage)
    })

    for (const reason of ['cancelled', 'timeout'])
      possible('hang')(`ends at once when it is told to (${reason}), and the work notices`, async () => {
        const controller = new AbortController()
        const [begun, dropped] = [stage.begun(), stage.dropped()]
        const going = perform({ kind: 'hang' }, aContext(controller.signal))
        await vi.waitFor(() => expect(stage.begun()).toBe(begun + 1))
        const from = performance.now()
        controller.abort(new Error(reason))
        expect((await going).outcome).toEqual({ kind: 'stopped' })
        await vi.waitFor(() => expect(stage.dropped()).toBe(dropped + 1))
        expect(performance.now() - from).toBeLessThan(1_000)
      })

    it('begins nothing when it was told to end before', async () => {
      const begun = stage.begun()
      const controller = new AbortController()
      controller.abort(new Error('cancelled'))
      const { outcome } = await perform({ kind: 'hang' }, aContext(controller.signal))
      expect(outcome).toEqual({ kind: 'stopped' })
      // A function of this process is begun and looks at its signal; nobody outside ever hears of it.
      expect(stage.begun() - begun).toBeLessThanOrEqual(cannot.includes('break') ? 1 : 0)
    })

    possible('flood')('reads no answer that does not end', async () => {
      const before = process.memoryUsage().rss
      const report = await perform({ kind: 'flood' })
      expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'answer_too_large' })
      expect(report.errorMessage).toContain('larger than 1048576 bytes')
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20)
    })

    possible('garble')('fails with what cannot be understood', async () => {
      const report = await perform({ kind: 'garble' })
      expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'malformed_answer' })
      expect(report.errorMessage).toContain('JSON')
    })

    possible('break')('fails when the other side goes away in the middle of its answer', async () => {
      const report = await perform({ kind: 'break' })
      expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'network' })
      expect(report.errorMessage).toMatch(/the connection was lost after \d+ bytes of the response/)
    })
  })
}
