import { describe, expect, it } from 'vitest'
import { createTracing } from '../../../src/server/tracing.ts'
import type { AttemptReport } from '../../../src/executors/executor.ts'
import { anAttempt } from '../../executors/suite.ts'

// No SDK is registered here: nothing may be made that nobody would see.

const tracing = createTracing('0.0.0')
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

describe('while nobody records spans', () => {
  it('is off, and begins no traces', () => {
    expect([tracing.isOn(), tracing.begin('schedule'), tracing.currentTrace()]).toEqual([false, null, null])
  })

  it.each([
    [traceparent, traceparent],
    ['nonsense', null],
    [undefined, null],
    [['two', 'headers'], null],
  ])('hands %j on as %j, and what is at once stays at once', (given, heard) => {
    expect(tracing.traceSubmission('test', given, (trace) => trace)).toBe(heard)
  })

  it('performs the very attempt it was given', async () => {
    const attempt = anAttempt({ trace: traceparent })
    const report: AttemptReport = { outcome: { kind: 'succeeded' } }
    let performed: unknown
    const answered = await tracing.perform(attempt, (traced) => {
      performed = traced
      return Promise.resolve(report)
    })
    expect(performed).toBe(attempt)
    expect(answered).toBe(report)
  })

  it('delivers as if it were not there', async () => {
    const about = { orgId: 'acme', runId: 'run_1', deliveryId: 'dlv_1', trace: null }
    const outcome = { ok: true }
    expect(await tracing.deliver(about, () => Promise.resolve(outcome))).toBe(outcome)
  })
})
