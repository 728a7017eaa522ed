import { describe, expect, it } from 'vitest'
import { decideAdmission, type AdmissionFacts } from '../../../src/domain/admission/admission.ts'
import { runId } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { because, explainWhy } from '../../../src/domain/reasons.ts'
import { admissionFacts, anArrival, aSession, aSessionRun, NOW } from '../../support/builders.ts'

const spent = because('budget', 'budget.on_exceed=skip', {
  budget: 'b',
  remaining: 0,
  unit: 'tokens',
  until: 'x',
  reserve: 5,
})
const tasks = { agent: 'a', queued: 0, maxQueue: 1000, queuedForAgent: 0, maxPerAgent: 100 }
const fullSession = aSession({
  rules: { mode: 'queue', cap: 1, drop: 'new', debounceMs: 800, maxConcurrent: 1 },
  runs: [aSessionRun('r1', { seq: 1 })],
})

/** Every gate shut at once; opening them one after the other must let the next one speak. */
const GATES: readonly (readonly [string, Partial<AdmissionFacts>])[] = [
  ['budget', { budget: spent }],
  ['runs_per_day', { limits: { tasks, runsPerDay: { created: 5, limit: 5 } } }],
  ['org_queue_full', { limits: { tasks: { ...tasks, queued: 1000, queuedForAgent: 100 }, runsPerDay: null } }],
  ['agent_queue_full', { limits: { tasks: { ...tasks, queuedForAgent: 100 }, runsPerDay: null } }],
  ['session_queue_full', { session: fullSession }],
]

describe('the gates of admission', () => {
  it.each(GATES.map(([reason], index) => [reason, index] as const))(
    'let %s speak before all that follow',
    (reason, index) => {
      const shut = GATES.slice(index)
        .toReversed()
        .reduce((facts, [, gate]) => ({ ...facts, ...gate }), admissionFacts())
      const verdict = decideAdmission(anArrival({ trigger: 'task' }), shut)
      expect('why' in verdict && verdict.why.reason).toBe(reason)
      expect('why' in verdict && explainWhy(verdict.why)).not.toContain('unknown')
    },
  )

  it.each(['budget', 'runs_per_day', 'org_queue_full', 'agent_queue_full', 'session_queue_full'])(
    'keep a record of a rejection: %s',
    (reason) => {
      const gate = GATES.find(([name]) => name === reason)?.[1] ?? {}
      expect(decideAdmission(anArrival({ trigger: 'task' }), admissionFacts(gate)).kind).toBe('reject')
    },
  )

  it('say when to come back where a queue is full', () => {
    const gate = GATES.find(([name]) => name === 'agent_queue_full')?.[1] ?? {}
    expect(decideAdmission(anArrival({ trigger: 'task' }), admissionFacts(gate))).toMatchObject({ retryAfterMs: 1000 })
  })

  it('say which gate it was, and when to come back, where a session is full', () => {
    expect(decideAdmission(anArrival(), admissionFacts({ session: fullSession }))).toMatchObject({
      kind: 'reject',
      gate: 'session',
      retryAfterMs: 1000,
    })
  })

  it('hold task limits against tasks only', () => {
    const limits = { tasks: { ...tasks, queued: 1000 }, runsPerDay: null }
    expect(decideAdmission(anArrival(), admissionFacts({ limits })).kind).toBe('enter')
  })

  it('let a fourth task in only while the agent has fewer than its limit queued', () => {
    const queued = (queuedForAgent: number): string =>
      decideAdmission(
        anArrival({ trigger: 'task' }),
        admissionFacts({ limits: { tasks: { ...tasks, queuedForAgent, maxPerAgent: 3 }, runsPerDay: null } }),
      ).kind
    expect([0, 1, 2, 3].map(queued)).toEqual(['enter', 'enter', 'enter', 'reject'])
  })
})

describe('what is admitted', () => {
  it('is queued at once without a time of its own', () => {
    expect(decideAdmission(anArrival(), admissionFacts())).toMatchObject({ kind: 'enter', notBefore: null })
  })

  it('waits for a time of its own, unless that has passed', () => {
    const at = later(NOW, 60_000)
    expect(decideAdmission(anArrival({ notBefore: at }), admissionFacts())).toMatchObject({ notBefore: at })
    expect(decideAdmission(anArrival({ notBefore: later(NOW, -1) }), admissionFacts())).toMatchObject({
      notBefore: null,
    })
  })

  it('may join a waiting message even when the org has made all its runs of the day', () => {
    const open = { runId: runId('r1'), firstAt: NOW, closesAt: later(NOW, 800), interrupts: false }
    const facts = admissionFacts({
      limits: { tasks: null, runsPerDay: { created: 5, limit: 5 } },
      session: aSession({ open }),
    })
    expect(decideAdmission(anArrival({ sender: 'ann' }), facts)).toMatchObject({ kind: 'merge', into: 'r1' })
    expect(decideAdmission(anArrival({ sender: null }), facts).kind).toBe('reject')
  })
})
