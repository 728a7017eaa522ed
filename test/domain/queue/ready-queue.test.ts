import { describe, expect, it } from 'vitest'
import { agentId, budgetId, laneName, runId, sessionKey } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { createReadyQueue, type ReadyQueue } from '../../../src/domain/queue/ready-queue.ts'
import type { PickContext } from '../../../src/domain/queue/fairness.ts'
import type { QueuedRun } from '../../../src/domain/queue/queued-run.ts'
import { NOW } from '../../support/builders.ts'
import { aStandee, ORG } from './ready-queue-world.ts'

const main = laneName('main')
const [A, B] = [agentId('a'), agentId('b')]
const s = sessionKey('s')

const moment = (over: Partial<PickContext> = {}): PickContext => ({
  now: NOW,
  lane: { name: main, size: 10, held: 0 },
  catchup: { inFlight: 0, limit: 10 },
  ...over,
})

const lineUpOf = (...runs: readonly QueuedRun[]): ReadyQueue => {
  const lineUp = createReadyQueue(ORG)
  for (const run of runs) lineUp.put(run)
  return lineUp
}

const aged = (id: string, ms: number, over: Partial<QueuedRun> = {}): QueuedRun =>
  aStandee(id, { createdAt: later(NOW, ms), ...over })

/** Starts whatever may start. */
function startAll(lineUp: ReadyQueue, at: PickContext = moment()): readonly string[] {
  const started: string[] = []
  for (let run = lineUp.next(at); run !== null; run = lineUp.next(at)) {
    started.push(run.id)
    lineUp.put({ ...run, state: 'running' })
  }
  return started
}

const end = (lineUp: ReadyQueue, id: string): void => {
  const run = lineUp.get(runId(id))
  if (run !== null) lineUp.put({ ...run, state: 'success' })
}

describe('asking for the next run', () => {
  it('changes nothing: whoever asks again gets the same', () => {
    const lineUp = lineUpOf(aged('r1', 0), aged('r2', 1))
    expect([lineUp.next(moment())?.id, lineUp.next(moment())?.id]).toEqual(['r1', 'r1'])
  })

  it('answers with the object that was put', () => {
    const run = aged('r1', 0)
    expect(lineUpOf(run).next(moment())).toBe(run)
  })

  it('in a lane nobody uses finds nothing', () => {
    const lane = { name: laneName('team'), size: 1, held: 0 }
    expect(lineUpOf(aged('r1', 0)).next(moment({ lane }))).toBeNull()
  })

  it.each([
    [0, 0],
    [2, 2],
    [2, 3],
  ])('in a lane of %i with %i held finds nothing', (size, held) => {
    expect(lineUpOf(aged('r1', 0)).next(moment({ lane: { name: main, size, held } }))).toBeNull()
  })
})

describe('a run that is put again', () => {
  it('as the same object, changed, is counted as what it is now', () => {
    const run = aStandee('r1', { trigger: 'task' })
    const lineUp = lineUpOf(run)
    lineUp.put(Object.assign(run, { state: 'running' }))
    expect([lineUp.inFlight(), lineUp.tasksInFlight(), lineUp.inFlightOf(A), lineUp.queuedIn(main)]).toEqual([
      1, 1, 1, 0,
    ])
    lineUp.put(Object.assign(run, { state: 'success' }))
    expect([lineUp.inFlight(), lineUp.tasksInFlight(), lineUp.inFlightOf(A), lineUp.size()]).toEqual([0, 0, 0, 0])
  })

  it('with another priority stands where that belongs', () => {
    const lineUp = lineUpOf(aged('r1', 0), aged('r2', 1))
    lineUp.put(aged('r2', 1, { priority: -1 }))
    expect(startAll(lineUp)).toEqual(['r2', 'r1'])
  })

  it('in another lane competes there', () => {
    const lineUp = lineUpOf(aged('r1', 0))
    lineUp.put(aged('r1', 0, { lane: laneName('cron') }))
    expect([lineUp.hasReady(main), lineUp.hasReady(laneName('cron'))]).toEqual([false, true])
    expect(lineUp.laneOf(runId('r1'))).toBe('cron')
  })

  it('after it has ended is a new one', () => {
    const lineUp = lineUpOf(aged('r1', 0))
    lineUp.remove(runId('r1'))
    lineUp.remove(runId('r1'))
    expect(lineUp.next(moment())).toBeNull()
    lineUp.put(aged('r1', 0))
    expect(startAll(lineUp)).toEqual(['r1'])
  })

  it('as ended, although it was never there, leaves nothing', () => {
    const lineUp = lineUpOf(aged('r1', 0, { state: 'success' }))
    expect([lineUp.size(), lineUp.inFlight()]).toEqual([0, 0])
  })
})

describe('agents', () => {
  it('take turns, also across runs that have ended', () => {
    const lineUp = lineUpOf(
      ...[0, 1, 2].flatMap((i) => [aged(`a${i}`, i, { agentId: A }), aged(`b${i}`, 9, { agentId: B })]),
    )
    const order: string[] = []
    for (let run = lineUp.next(moment()); run !== null; run = lineUp.next(moment())) {
      order.push(run.id)
      lineUp.put({ ...run, state: 'running' })
      lineUp.put({ ...run, state: 'success' })
    }
    expect(order).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2'])
  })

  it('keep their turn in mind while they have no work', () => {
    const lineUp = lineUpOf(aged('a0', 0, { agentId: A }))
    expect(startAll(lineUp)).toEqual(['a0'])
    end(lineUp, 'a0')
    lineUp.put(aged('a1', 0, { agentId: A }))
    lineUp.put(aged('b1', 9, { agentId: B }))
    expect(startAll(lineUp)).toEqual(['b1', 'a1'])
  })

  it('at their limit make way, and come back when one of theirs ends or the limit is raised', () => {
    const lineUp = lineUpOf(aged('a1', 0), aged('a2', 1), aged('a3', 2), aged('b1', 9, { agentId: B }))
    lineUp.setAgent(A, { maxConcurrent: 1 })
    expect(startAll(lineUp)).toEqual(['a1', 'b1'])
    expect(lineUp.hasReady(main)).toBe(false)
    end(lineUp, 'a1')
    expect(startAll(lineUp)).toEqual(['a2'])
    lineUp.setAgent(A, { maxConcurrent: null })
    expect(startAll(lineUp)).toEqual(['a3'])
  })

  it('are counted in the lane that serves them, wherever that is', () => {
    const lineUp = lineUpOf(aged('a1', 0, { lane: laneName('nowhere'), state: 'running' }), aged('a2', 0, {}))
    lineUp.put(aged('b1', 9, { agentId: B }))
    expect(lineUp.next(moment())?.id).toBe('b1')
    expect(lineUp.inFlightIn(main)).toBe(1)
    lineUp.setLanes(new Set([main, laneName('nowhere')]))
    expect([lineUp.inFlightIn(main), lineUp.inFlightIn(laneName('nowhere'))]).toEqual([0, 1])
  })
})

describe('limits of tasks and catch-ups', () => {
  const tasks = [1, 2, 3].map((i) => aged(`t${i}`, i, { trigger: 'task', priority: -9 }))

  it.each([
    ['the org', { tasksInflight: 1, tasksPerAgentInflight: null }],
    ['the agent', { tasksInflight: null, tasksPerAgentInflight: 1 }],
  ])('hide no other work of the same agent: %s', (_, limits) => {
    const lineUp = lineUpOf(...tasks, aged('m', 9))
    lineUp.setLimits({ maxConcurrent: null, ...limits })
    expect(startAll(lineUp)).toEqual(['t1', 'm'])
    end(lineUp, 'm')
    expect(startAll(lineUp)).toEqual([])
    end(lineUp, 't1')
    expect(startAll(lineUp)).toEqual(['t2'])
    lineUp.setLimits({ maxConcurrent: null, tasksInflight: null, tasksPerAgentInflight: null })
    expect(startAll(lineUp)).toEqual(['t3'])
  })

  it('of catch-ups belong to the node that asks', () => {
    const lineUp = lineUpOf(aged('c', 0, { trigger: 'catchup' }), aged('m', 9))
    expect(lineUp.next(moment({ catchup: { inFlight: 1, limit: 1 } }))?.id).toBe('m')
    expect(lineUp.next(moment({ catchup: { inFlight: 0, limit: 1 } }))?.id).toBe('c')
  })

  it('of the org hold for everything until they are raised or something ends', () => {
    const lineUp = lineUpOf(...tasks)
    const limits = { maxConcurrent: 1, tasksInflight: null, tasksPerAgentInflight: null }
    lineUp.setLimits(limits)
    expect(startAll(lineUp)).toEqual(['t1'])
    end(lineUp, 't1')
    expect(startAll(lineUp)).toEqual(['t2'])
    lineUp.setLimits({ ...limits, maxConcurrent: 2 })
    expect(startAll(lineUp)).toEqual(['t3'])
  })
})

describe('a session', () => {
  const placed = (id: string, seq: number, over: Partial<QueuedRun> = {}): QueuedRun =>
    aged(id, seq, { sessionKey: s, seq, ...over })

  it('starts one at a time, in order', () => {
    const lineUp = lineUpOf(placed('r2', 2, { priority: -1 }), placed('r1', 1))
    expect(startAll(lineUp)).toEqual(['r1'])
    end(lineUp, 'r1')
    expect(startAll(lineUp)).toEqual(['r2'])
  })

  it('moves up when its head is cancelled', () => {
    const lineUp = lineUpOf(placed('r1', 1), placed('r2', 2))
    lineUp.remove(runId('r1'))
    expect(startAll(lineUp)).toEqual(['r2'])
  })

  it('takes its limit from the caller, and loses it', () => {
    const lineUp = lineUpOf(...[1, 2, 3, 4, 5].map((seq) => placed(`r${seq}`, seq)))
    lineUp.setSession(s, { maxConcurrent: 3, context: null })
    expect(startAll(lineUp)).toEqual(['r1', 'r2', 'r3'])
    lineUp.forgetSession(s)
    for (const id of ['r1', 'r2']) end(lineUp, id)
    expect(startAll(lineUp)).toEqual([])
    end(lineUp, 'r3')
    expect(startAll(lineUp)).toEqual(['r4'])
  })

  it('is throttled by a full context, and freed', () => {
    const lineUp = lineUpOf(placed('r1', 1), placed('r2', 2))
    lineUp.setSession(s, { maxConcurrent: 3, context: { tokens: 60, contextWindow: 100 } })
    expect(startAll(lineUp)).toEqual(['r1'])
    lineUp.setSession(s, { maxConcurrent: 3, context: { tokens: 59, contextWindow: 100 } })
    expect(startAll(lineUp)).toEqual(['r2'])
  })

  it('is full while a run waits for its retry, and lets that one start again before the others', () => {
    const lineUp = lineUpOf(placed('r1', 1, { state: 'running' }), placed('r2', 2))
    lineUp.put(placed('r1', 1, { state: 'waiting', attempt: 2 }))
    expect(startAll(lineUp)).toEqual([])
    lineUp.put(placed('r1', 1, { state: 'queued', attempt: 2 }))
    expect(startAll(lineUp)).toEqual(['r1'])
    expect(lineUp.session(s)).toMatchObject({ active: 1, head: 'r2' })
  })

  it('puts a run that comes back before the head that has moved up meanwhile', () => {
    const lineUp = lineUpOf(placed('r1', 1, { state: 'assigned' }), placed('r2', 2))
    lineUp.setSession(s, { maxConcurrent: 2, context: null })
    expect(lineUp.next(moment())?.id).toBe('r2')
    lineUp.put(placed('r1', 1))
    expect(startAll(lineUp)).toEqual(['r1', 'r2'])
  })

  it('lets an interrupting run wait for everything that stops', () => {
    const lineUp = lineUpOf(placed('r1', 1, { state: 'stopping' }), placed('r2', 2, { interrupts: true }))
    lineUp.setSession(s, { maxConcurrent: 3, context: null })
    expect(startAll(lineUp)).toEqual([])
    end(lineUp, 'r1')
    expect(startAll(lineUp)).toEqual(['r2'])
  })

  it('does not count what an earlier generation left behind', () => {
    const lineUp = lineUpOf(placed('r1', 1, { state: 'running' }), placed('r2', 2))
    expect(startAll(lineUp)).toEqual([])
    lineUp.put(placed('r1', 1, { state: 'stopping', inGeneration: false }))
    expect(startAll(lineUp)).toEqual(['r2'])
    expect(lineUp.inFlight()).toBe(2)
  })

  it('gives a parked run its place with its slot', () => {
    const lineUp = lineUpOf(aged('p', 0, { sessionKey: s, slot: 'parked' }), placed('r1', 1))
    expect(startAll(lineUp)).toEqual(['r1'])
    lineUp.put(aged('p', 0, { sessionKey: s, slot: 'held', seq: 2 }))
    end(lineUp, 'r1')
    expect(startAll(lineUp)).toEqual(['p'])
  })

  it('that comes to a run of another agent lets that agent compete', () => {
    const lineUp = lineUpOf(placed('r1', 1, { agentId: A }), placed('r2', 2, { agentId: B }))
    expect(startAll(lineUp)).toEqual(['r1'])
    end(lineUp, 'r1')
    expect(startAll(lineUp)).toEqual(['r2'])
  })
})

describe('budgets', () => {
  const b = budgetId('b')
  const left = (remaining: number): ReadonlyMap<typeof b, { remaining: number; unit: string; until: typeof NOW }> =>
    new Map([[b, { remaining, unit: 'tokens', until: NOW }]])
  const needs = (id: string, amount: number, ms = 0): QueuedRun => aged(id, ms, { reserves: [{ budgetId: b, amount }] })

  it('count what has gone into flight since they were told', () => {
    const lineUp = lineUpOf(needs('r1', 40, 1), needs('r2', 40, 2), needs('r3', 40, 3), needs('small', 10, 4))
    lineUp.setBudgets(left(100))
    expect(startAll(lineUp)).toEqual(['r1', 'r2', 'small'])
    end(lineUp, 'r1')
    expect(startAll(lineUp)).toEqual([])
    lineUp.setBudgets(left(50))
    expect(startAll(lineUp)).toEqual(['r3'])
  })

  it('hold up nobody who does not need them', () => {
    const lineUp = lineUpOf(needs('r1', 0), aged('free', 9))
    lineUp.setBudgets(left(0))
    expect(startAll(lineUp)).toEqual(['free'])
    lineUp.setBudgets(new Map())
    expect(startAll(lineUp)).toEqual(['r1'])
  })

  it('let go of a run that is cancelled meanwhile', () => {
    const lineUp = lineUpOf(needs('r1', 5))
    lineUp.setBudgets(left(1))
    expect(startAll(lineUp)).toEqual([])
    lineUp.remove(runId('r1'))
    lineUp.setBudgets(left(9))
    expect(startAll(lineUp)).toEqual([])
    lineUp.put(needs('r2', 5))
    expect(startAll(lineUp)).toEqual(['r2'])
  })
})

describe('what this node cannot execute', () => {
  it('is not offered, and keeps its place in its session', () => {
    const lineUp = lineUpOf(
      aged('r1', 1, { sessionKey: s, seq: 1, executorKey: 'there' }),
      aged('r2', 2, { sessionKey: s, seq: 2 }),
    )
    lineUp.setExecutable((key) => key === 'here')
    expect(startAll(lineUp)).toEqual([])
    expect(lineUp.hasReady(main)).toBe(false)
    lineUp.setExecutable(() => true)
    expect(startAll(lineUp)).toEqual(['r1'])
  })
})

describe('a queued run with a time of its own', () => {
  it('waits for it, and says when', () => {
    const lineUp = lineUpOf(aged('r1', 0, { notBefore: later(NOW, 5) }), aged('r2', 1))
    expect(startAll(lineUp)).toEqual(['r2'])
    expect([lineUp.hasReady(main), lineUp.wakesAt()]).toEqual([false, later(NOW, 5)])
    expect(lineUp.next(moment({ now: later(NOW, 4) }))).toBeNull()
    expect(lineUp.next(moment({ now: later(NOW, 5) }))?.id).toBe('r1')
    expect(lineUp.next(moment())).toBeNull()
  })
})

describe('why a run waits', () => {
  const explain = (lineUp: ReadyQueue, id: string, over: Partial<PickContext> = {}): unknown =>
    lineUp.explain(runId(id), { ...moment(over), executable: true, scheduleSlots: 3 })

  it('is asked of the gates', () => {
    const lineUp = lineUpOf(
      aged('p', 0, { slot: 'parked' }),
      aged('r1', 1, { sessionKey: s, seq: 1 }),
      aged('r2', 2, { sessionKey: s, seq: 2 }),
      aged('up', 3, { state: 'running' }),
    )
    expect(explain(lineUp, 'p')).toMatchObject({ reason: 'schedule_limit', evidence: { max_concurrency: 3 } })
    expect(explain(lineUp, 'r1')).toMatchObject({ reason: 'in_line', evidence: { position: 2 } })
    expect(explain(lineUp, 'r2')).toMatchObject({ reason: 'session_order', evidence: { ahead: 'r1' } })
    const lane = { name: main, size: 1, held: 1 }
    expect(explain(lineUp, 'r1', { lane })).toMatchObject({ reason: 'lane_full' })
    expect(explain(lineUp, 'up')).toBeNull()
    expect(explain(lineUp, 'nobody')).toBeNull()
  })

  it('names an executor that is not there, whatever this node can do', () => {
    const lineUp = lineUpOf(aged('r1', 0, { executorKey: 'there' }))
    lineUp.setExecutable(() => false)
    expect(explain(lineUp, 'r1')).toMatchObject({ reason: 'in_line' })
    expect(lineUp.explain(runId('r1'), { ...moment(), executable: false })).toMatchObject({
      reason: 'executor_offline',
    })
  })
})

describe('the position of a run', () => {
  it('counts the queued runs of its agent that go first', () => {
    const lineUp = lineUpOf(
      aged('r1', 1),
      aged('r2', 2),
      aged('r0', 9, { priority: -1 }),
      aged('other', 0, { agentId: B }),
      aged('up', 0, { state: 'running' }),
    )
    expect(['r0', 'r1', 'r2', 'up', 'nobody'].map((id) => lineUp.positionOf(runId(id)))).toEqual([1, 2, 3, null, null])
    lineUp.remove(runId('r0'))
    expect(lineUp.positionOf(runId('r2'))).toBe(2)
  })
})
