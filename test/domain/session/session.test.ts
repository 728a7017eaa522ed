import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideDebounce, mergeContent } from '../../../src/domain/session/debounce.ts'
import { messageId, runId } from '../../../src/domain/ids.ts'
import { instant, later } from '../../../src/domain/instant.ts'
import { explainWhy } from '../../../src/domain/reasons.ts'
import {
  admitToSession,
  DEFAULT_SESSION_RULES,
  droppedWhy,
  isThrottled,
  type SessionAdmission,
  type SessionFacts,
  sessionLimit,
  type SessionRules,
} from '../../../src/domain/session/session.ts'
import { readShape } from '../../../src/api/read-input.ts'
import { sessionChange } from '../../../src/features/sessions/schema.ts'
import { anArrival, aSession, aSessionRun, NOW } from '../../support/builders.ts'
import { expectExplained } from '../../support/why.ts'

const clock = { now: NOW, stopGraceMs: 5_000 }
const withRules = (over: Partial<SessionRules>, more: Partial<SessionFacts> = {}): SessionFacts =>
  aSession({ rules: { ...DEFAULT_SESSION_RULES, ...over }, ...more })
const admit = (facts: SessionFacts, over = {}): SessionAdmission => admitToSession(anArrival(over), facts, clock)
const running = aSessionRun('r1', { state: 'running', seq: 1 })
const waiting = (id: string, seq: number): ReturnType<typeof aSessionRun> =>
  aSessionRun(id, { seq, createdAt: later(NOW, seq - 100) })

describe('a full session queue', () => {
  const runs = [running, waiting('r2', 2), waiting('r3', 3)]

  it('drops its oldest waiting run when the policy says old', () => {
    expect(admit(withRules({ cap: 2 }, { runs }))).toMatchObject({ kind: 'enter', dropped: 'r2' })
  })

  it('turns the newcomer away when the policy says new', () => {
    const verdict = admit(withRules({ cap: 2, drop: 'new' }, { runs }))
    expect(verdict).toMatchObject({
      kind: 'reject',
      why: { reason: 'session_queue_full', evidence: { waiting: 2, cap: 2 } },
    })
  })

  it('counts waiting work only: one running and ten waiting are within a cap of ten, the twelfth is not', () => {
    const ten = Array.from({ length: 10 }, (_, index) => waiting(`w${index}`, index + 2))
    expect(admit(withRules({}, { runs: [running, ...ten.slice(0, 9)] }))).toMatchObject({
      kind: 'enter',
      dropped: null,
    })
    expect(admit(withRules({}, { runs: [running, ...ten] }))).toMatchObject({ kind: 'enter', dropped: 'w0' })
  })

  it('does not count a run in retry back-off as waiting', () => {
    const retrying = aSessionRun('r1', { state: 'waiting', seq: 1, attempt: 2 })
    expect(admit(withRules({ cap: 1 }, { runs: [retrying] }))).toMatchObject({ kind: 'enter', dropped: null })
  })

  it('counts debouncing work, and drops it when it is the oldest', () => {
    const debouncing = aSessionRun('d', { state: 'waiting', createdAt: later(NOW, -500) })
    expect(admit(withRules({ cap: 1 }, { runs: [running, debouncing] }))).toMatchObject({ dropped: 'd' })
  })
})

describe('the oldest run of a full queue', () => {
  const full = (runs: SessionFacts['runs']): SessionAdmission => admit(withRules({ cap: runs.length }, { runs }))

  it('is the one that was created first, whatever its id, its place and the order it was loaded in', () => {
    const younger = aSessionRun('a', { seq: 1, createdAt: later(NOW, -1) })
    const older = aSessionRun('b', { seq: 2, createdAt: later(NOW, -2) })
    expect(full([younger, older])).toMatchObject({ dropped: 'b' })
    expect(full([older, younger])).toMatchObject({ dropped: 'b' })
  })

  it('is the one with the smaller id among equals, on every node', () => {
    const [one, two] = [aSessionRun('r1'), aSessionRun('r2')]
    expect([full([one, two]), full([two, one])]).toMatchObject([{ dropped: 'r1' }, { dropped: 'r1' }])
  })

  it('is told who pushed it out', () => {
    expectExplained(droppedWhy(runId('r9')))
    expect(explainWhy(droppedWhy(runId('r9')))).toContain('r9')
  })

  it('has no window to close any more when it was the window of the same sender', () => {
    const open = { runId: runId('d'), firstAt: NOW, closesAt: later(NOW, 800), interrupts: false }
    const runs = [aSessionRun('d', { state: 'waiting' })]
    expect(admit(withRules({ cap: 1, debounceMs: 0 }, { runs, open }), { sender: 'ann' })).toMatchObject({
      dropped: 'd',
      closes: null,
    })
    expect(admit(withRules({ cap: 2, debounceMs: 0 }, { runs, open }), { sender: 'ann' })).toMatchObject({
      dropped: null,
      closes: 'd',
    })
  })
})

describe('the modes that wait', () => {
  const runs = [running, waiting('r2', 2), waiting('r3', 3)]
  const open = { runId: runId('r3'), firstAt: NOW, closesAt: later(NOW, 800), interrupts: false }

  it.each([
    ['behind what runs', {}, { runs }, {}],
    ['in an empty session', {}, {}, {}],
    ['in a full one', { cap: 2 }, { runs }, {}],
    ['in a full one that turns away', { cap: 2, drop: 'new' }, { runs }, {}],
    ['into an open window', {}, { runs, open }, { sender: 'ann' }],
  ] as const)('are the same: a follow-up stands %s as anything in mode queue does', (_, rules, facts, arrival) => {
    const inMode = (mode: SessionRules['mode']): SessionAdmission =>
      admit(withRules({ ...rules, mode }, facts), arrival)
    expect(inMode('followup')).toEqual(inMode('queue'))
    expect(inMode('followup')).not.toMatchObject({ interrupts: true })
  })
})

describe('mode interrupt', () => {
  const interrupting = withRules({ mode: 'interrupt', cap: 1 }, { runs: [running, waiting('r2', 2), waiting('r3', 3)] })

  it('cancels what is active, drains what waits and ignores the cap', () => {
    const verdict = admit(interrupting)
    expect(verdict).toMatchObject({ kind: 'enter', dropped: null, interrupts: true })
    expect(verdict.kind === 'enter' && verdict.interrupted.map((one) => [one.runId, one.to, one.why.reason])).toEqual([
      ['r1', 'stopping', 'interrupted'],
      ['r2', 'cancelled', 'interrupted'],
      ['r3', 'cancelled', 'interrupted'],
    ])
  })

  it('passes over what is stopping already', () => {
    const stopping = aSessionRun('r1', { state: 'stopping', seq: 1 })
    expect(admit(withRules({ mode: 'interrupt' }, { runs: [stopping] }))).toMatchObject({ interrupted: [] })
  })

  it('still debounces the message itself, and later ones of its sender merge without interrupting again', () => {
    expect(admit(interrupting, { sender: 'ann' })).toMatchObject({ debouncing: true, notBefore: later(NOW, 800) })
    const open = { runId: runId('r4'), firstAt: NOW, closesAt: later(NOW, 800), interrupts: true }
    expect(admit({ ...interrupting, open }, { sender: 'ann' })).toMatchObject({ kind: 'merge', into: 'r4' })
  })

  it('does not join a window that interrupted nothing: it drains it, or what is active would go on', () => {
    const debouncing = aSessionRun('d', { state: 'waiting' })
    const open = { runId: debouncing.id, firstAt: NOW, closesAt: later(NOW, 800), interrupts: false }
    const facts = withRules({ mode: 'interrupt' }, { runs: [running, debouncing], open })
    const verdict = admit(facts, { sender: 'ann' })
    expect(verdict).toMatchObject({ kind: 'enter', interrupts: true, debouncing: true, closes: null })
    expect(verdict.kind === 'enter' && verdict.interrupted.map((one) => one.runId)).toEqual(['r1', 'd'])
  })

  it('is for people speaking: a schedule that reports into the session queues', () => {
    expect(admit(withRules({ mode: 'interrupt' }, { runs: [running] }), { trigger: 'schedule' })).toMatchObject({
      kind: 'enter',
      interrupted: [],
      interrupts: false,
    })
  })
})

describe('the cutoff of /stopall', () => {
  const stopped = aSession({ cutoff: NOW })

  it.each([
    [-1, 'stale'],
    [0, 'enter'],
    [1, 'enter'],
  ])('makes a message stamped %i ms after it %s', (offset, kind) => {
    expect(admit(stopped, { sentAt: later(NOW, offset) }).kind).toBe(kind)
  })
})

describe('debouncing', () => {
  const at = (ms: number): typeof NOW => later(NOW, ms)
  const open = { runId: runId('r1'), firstAt: NOW, closesAt: at(800) }
  const message = { at: NOW, sender: 'ann', debounceMs: 800, open: null }

  it('opens a window for the first message of a sender', () => {
    expect(decideDebounce(message)).toEqual({ kind: 'open', closesAt: at(800) })
  })

  it('merges what arrives inside the window, and restarts it', () => {
    expect(decideDebounce({ ...message, at: at(500), open })).toEqual({ kind: 'merge', into: 'r1', closesAt: at(1300) })
  })

  it('opens a new window at the very end of the old one', () => {
    expect(decideDebounce({ ...message, at: at(800), open })).toEqual({ kind: 'open', closesAt: at(1600) })
  })

  it('is only for messages with a sender', () => {
    expect(decideDebounce({ ...message, sender: null })).toEqual({ kind: 'off', closes: null })
  })

  it('is off at 0, and then closes the window of the same sender so that its text stays ahead', () => {
    expect(decideDebounce({ ...message, debounceMs: 0 })).toEqual({ kind: 'off', closes: null })
    expect(decideDebounce({ ...message, at: at(1), debounceMs: 0, open })).toEqual({ kind: 'off', closes: 'r1' })
  })

  it('lets steady messages every 500 ms start within four seconds of the first', () => {
    let window = open
    for (let ms = 500; ms < window.closesAt - NOW; ms += 500) {
      const next = decideDebounce({ ...message, at: at(ms), open: window })
      if (next.kind !== 'merge') throw new Error('should have merged')
      window = { ...window, closesAt: next.closesAt }
    }
    expect(window.closesAt).toBe(at(4000))
  })

  it('never moves a window backwards nor beyond five windows after the first message', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60_000 }),
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true })),
        (debounceMs, gaps) => {
          let window = { runId: runId('r'), firstAt: NOW, closesAt: later(NOW, debounceMs) }
          let now = NOW
          for (const gap of gaps) {
            now = instant(now + Math.floor((window.closesAt - now) * gap))
            const next = decideDebounce({ at: now, sender: 'a', debounceMs, open: window })
            if (now >= window.closesAt) return
            if (next.kind !== 'merge') throw new Error('must merge inside the window')
            expect(next.closesAt).toBeGreaterThanOrEqual(window.closesAt)
            expect(next.closesAt - NOW).toBeLessThanOrEqual(5 * debounceMs)
            window = { ...window, closesAt: next.closesAt }
          }
        },
      ),
      { seed: 7, numRuns: 300 },
    )
  })

  it('joins texts by a newline, keeps all attachments and ids, and lets the last message win the rest', () => {
    const part = (text: string, fields = {}): Parameters<typeof mergeContent>[0] => ({
      text,
      attachments: [`file-${text}`],
      messageIds: [messageId(`msg_${text}`)],
      fields,
    })
    const merged = mergeContent(mergeContent(part('a', { x: 1, y: 1 }), part('b')), part('c', { y: 2 }))
    expect(merged).toEqual({
      text: 'a\nb\nc',
      attachments: ['file-a', 'file-b', 'file-c'],
      messageIds: ['msg_a', 'msg_b', 'msg_c'],
      fields: { x: 1, y: 2 },
    })
  })

  it.each(['schedule', 'catchup', 'heartbeat', 'manual', 'task', 'retry'] as const)(
    'is never for a %s run, whatever it says about its sender',
    (trigger) => {
      expect(admit(aSession(), { trigger, sender: 'ann' })).toMatchObject({ debouncing: false, notBefore: null })
    },
  )

  it('does not delay what names the present as its time', () => {
    expect(admit(aSession(), { notBefore: NOW })).toMatchObject({ notBefore: null, why: { reason: 'accepted' } })
  })

  it('does not touch a message that names its own time', () => {
    expect(admit(aSession(), { sender: 'ann', notBefore: at(5000) })).toMatchObject({
      kind: 'enter',
      debouncing: false,
      notBefore: at(5000),
    })
  })
})

describe('the adaptive throttle', () => {
  it.each([
    [{ tokens: 59_999, contextWindow: 100_000 }, false],
    [{ tokens: 60_000, contextWindow: 100_000 }, true],
    [{ tokens: 90_000, contextWindow: 100_000 }, true],
    [{ tokens: 5, contextWindow: 0 }, false],
    [{ tokens: 5, contextWindow: -1 }, false],
    [null, false],
  ])('for %j is %s', (use, throttled) => {
    expect(isThrottled(use)).toBe(throttled)
    expect(sessionLimit(3, use)).toBe(throttled ? 1 : 3)
  })
})

describe('session settings', () => {
  it('are read with the rest left as it was', () => {
    expect(readShape(sessionChange, { mode: 'INTERRUPT', debounce_ms: 0 })).toEqual({
      ok: true,
      value: { mode: 'interrupt', debounce_ms: 0 },
    })
  })

  it.each([
    ['mode', 'chaos'],
    ['cap', 0],
    ['cap', 1.5],
    ['drop', 'oldest'],
    ['debounce_ms', -1],
    ['max_concurrent', 0],
    ['max_concurent', 3],
  ])('name the field when %s is %j', (field, value) => {
    const read = readShape(sessionChange, { [field]: value })
    expect(read.ok).toBe(false)
    if (!read.ok) expect(read.flaws[0]).toMatchObject({ field, value, allowed: expect.any(String) as string })
  })

  it('report every flaw at once', () => {
    const read = readShape(sessionChange, { mode: 'x', cap: 'y' })
    expect(!read.ok && read.flaws.map((flaw) => flaw.field)).toEqual(['mode', 'cap'])
  })
})
