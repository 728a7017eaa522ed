import { describe, expect, it } from 'vitest'
import type { Attempt, AttemptContext } from '../../src/executors/executor.ts'
import { inProcess } from '../../src/executors/in-process/execute.ts'
import { createRandom } from '../simulation/random.ts'
import type { HandlerLine } from './records.ts'
import { createHandler, ordersIn, wordsOf, type Order } from './work.ts'

const order = (over: Partial<Order> = {}): Order => ({ id: 'a1-7', workMs: 1, fails: 'never', ...over })

describe('the words of an order', () => {
  it('are found again in whatever carries them', () => {
    const joined = `${wordsOf(order())}\n${wordsOf(order({ id: 'b2-9', workMs: 30, fails: 'once' }))}`
    expect(ordersIn({ text: joined })).toEqual([order(), order({ id: 'b2-9', workMs: 30, fails: 'once' })])
    expect(ordersIn({ params: { words: wordsOf(order()) } })).toEqual([order()])
    expect(ordersIn({ prompt: 'chaos plain' })).toEqual([])
    expect(ordersIn(undefined)).toEqual([])
  })
})

describe('a handler', () => {
  function perform(payload: unknown, over: { readonly number?: number; readonly signal?: AbortSignal } = {}) {
    const lines: HandlerLine[] = []
    const handler = createHandler({
      journal: { write: (line) => lines.push(line), close: () => undefined },
      random: createRandom(1),
      nodeId: () => 'nod_1',
      begun: () => undefined,
      habitOf: (given) => (given === 'habit' ? { work: [1, 1], failing: 1 } : undefined),
    })
    const attempt = { runId: 'run_1', attemptId: 'att_1', attempt: over.number ?? 1, agentId: 'helper', payload }
    const context: AttemptContext = {
      signal: over.signal ?? new AbortController().signal,
      progress: () => undefined,
      usage: () => undefined,
      offer: () => Promise.reject(new Error('nothing is offered here')),
      expose: () => Promise.resolve({ ok: false, message: 'no secrets here' }),
      invite: () => Promise.resolve(null),
      defer: () => Promise.reject(new Error('nothing is deferred here')),
      deferToService: () => Promise.reject(new Error('nothing is deferred here')),
    }
    const report = inProcess(handler)(attempt as unknown as Attempt, context)
    return report.then(({ outcome }) => ({ outcome, lines }))
  }

  it('writes down its begin and its end', async () => {
    const { outcome, lines } = await perform({ text: wordsOf(order()) })
    expect(outcome).toEqual({ kind: 'succeeded' })
    expect(lines).toMatchObject([
      { kind: 'start', attempt: 'att_1', number: 1, run: 'run_1' },
      { kind: 'end', attempt: 'att_1', how: 'ok' },
    ])
  })

  it('fails as it was told to', async () => {
    const once = { text: wordsOf(order({ fails: 'once' })) }
    expect((await perform(once)).lines.at(-1)).toMatchObject({ how: 'failed', reason: '500' })
    expect((await perform(once, { number: 2 })).outcome).toEqual({ kind: 'succeeded' })
    const forGood = await perform({ text: wordsOf(order({ fails: 'for_good' })) }, { number: 2 })
    expect(forGood.outcome).toMatchObject({ kind: 'failed', errorCode: 'executor_http_4xx' })
    expect((await perform('habit')).outcome).toMatchObject({ kind: 'failed', errorCode: 'executor_http_5xx' })
  })

  it('stops when it is asked to, and says so before anybody else can', async () => {
    const stopping = new AbortController()
    const performed = perform({ text: wordsOf(order({ workMs: 60_000 })) }, { signal: stopping.signal })
    stopping.abort('cancelled')
    const { outcome, lines } = await performed
    expect(outcome).toEqual({ kind: 'stopped' })
    expect(lines.at(-1)).toMatchObject({ kind: 'end', how: 'aborted', reason: 'cancelled' })
  })
})
