import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { agentId, orgId, sessionKey, type RunId } from '../../src/domain/ids.ts'
import { createSemaphore, createBatcher } from '../../src/server/events/streams.ts'
import { createOwnerQueue } from '../../src/server/events/channel.ts'
import { createOwnerCache } from '../../src/server/events/owners.ts'
import { framesOf, readPosition, afterTransaction } from '../../src/server/events/frames.ts'
import type { RunOwners } from '../../src/engine/live-port.ts'
import { NOW } from '../support/builders.ts'

describe('the id of an event', () => {
  it('is a turn and a place in it, or all of a turn', () => {
    expect(readPosition('81-3')).toEqual({ no: 81, index: 3 })
    expect(readPosition('81')).toEqual(afterTransaction(81))
    for (const wrong of ['', '-', '81-', '-3', '81-3-1', '8.1', '1e3', ' 81', '9999999999999999'])
      expect([wrong, readPosition(wrong)]).toEqual([wrong, null])
  })
})

describe('the pace of sending', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is at once after a pause, then no more often than it may be', () => {
    const [soon, flush] = [createBatcher(25), vi.fn()]
    soon(flush)
    soon(flush)
    vi.advanceTimersByTime(1)
    expect(flush).toHaveBeenCalledTimes(1)
    soon(flush)
    vi.advanceTimersByTime(20)
    expect(flush).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(10)
    expect(flush).toHaveBeenCalledTimes(2)
  })

  it('is slower the longer sending takes, up to half a second', () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const waits = vi.spyOn(globalThis, 'setTimeout')
    const soon = createBatcher(25)
    const sendFor = (ms: number): void => {
      soon(() => (now += ms))
      vi.runAllTimers()
      now += 1
    }
    for (const ms of [0, 10, 1_000, 0]) sendFor(ms)
    expect(waits.mock.calls.map(([, ms]) => ms)).toEqual([24, 199, 499])
    vi.restoreAllMocks()
  })
})

describe('a gate', () => {
  it('lets so many through at a time, in order, and goes on after failures', async () => {
    const gate = createSemaphore(2)
    const began: number[] = []
    const ends: (() => void)[] = []
    const works = [0, 1, 2, 3].map((number) =>
      gate.run(async () => {
        began.push(number)
        await new Promise<void>((resolve) => ends.push(resolve))
        if (number === 0) throw new Error('no')
        return number
      }),
    )
    const outcomes = Promise.allSettled(works)
    expect(began).toEqual([0, 1])
    ends[0]?.()
    await vi.waitFor(() => expect(began).toEqual([0, 1, 2]))
    ends[1]?.()
    ends[2]?.()
    await vi.waitFor(() => expect(began).toEqual([0, 1, 2, 3]))
    ends[3]?.()
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  })
})

const ORG = orgId('acme')
const owners = (session: string): RunOwners => ({
  ...{ agentId: agentId('writer'), sessionKey: sessionKey(session), scheduleId: null, owner: null },
})
const turn = (no: number, ...events: readonly (readonly [id: string, status: string])[]) =>
  framesOf(ORG, { no, at: NOW, events: events.map(([id, status]) => ['run.changed', id, { status }] as const) })

describe('whose a run is', () => {
  it('is remembered from when the node knows it until it has ended', () => {
    const live = new Map([['r1', owners('s')]])
    const known = createOwnerCache(ORG, (_, id: RunId) => live.get(id))
    const queued = turn(1, ['r1', 'queued']).events
    expect(known.unknown(queued)).toEqual([])
    live.clear()
    const ended = turn(2, ['r1', 'success']).events
    expect(known.unknown(ended)).toEqual([])
    expect(ended.map(known.of)).toEqual([owners('s')])
    known.forgetEnded(ended)
    expect(known.unknown(ended)).toEqual(['r1'])
    known.store(['r1'], new Map())
    expect([known.unknown(ended), ended.map(known.of)]).toEqual([[], [undefined]])
  })
})

describe('turns that wait until it is known whose runs they are about', () => {
  const lineOf = (askOwners: (ids: readonly string[]) => Promise<ReadonlyMap<string, RunOwners>>) => {
    const told: number[] = []
    const failed = vi.fn()
    const line = createOwnerQueue({
      ...{ owners: createOwnerCache(ORG, () => undefined), loadOwners: askOwners, failed },
      send: ({ no }) => void told.push(no),
    })
    return { line, told, failed }
  }

  it('are told in order, those that come meanwhile after them', async () => {
    const answers: ((found: ReadonlyMap<string, RunOwners>) => void)[] = []
    const asked: (readonly string[])[] = []
    const { line, told } = lineOf((ids) => {
      asked.push(ids)
      return new Promise((resolve) => answers.push(resolve))
    })
    line.add(turn(1, ['r1', 'queued']))
    line.add(turn(2, ['r1', 'running']))
    line.add(turn(3))
    expect([asked, told]).toEqual([[['r1']], []])
    answers[0]?.(new Map([['r1', owners('s')]]))
    await vi.waitFor(() => expect(told).toEqual([1, 2, 3]))
    line.add(turn(4, ['r1', 'success']))
    expect(told).toEqual([1, 2, 3, 4])
    expect(asked).toHaveLength(1)
  })

  it('are left to be read when nobody can say, or when there are too many of them', async () => {
    const broken = lineOf(() => Promise.reject(new Error('away')))
    broken.line.add(turn(1, ['r1', 'queued']))
    await vi.waitFor(() => expect(broken.failed).toHaveBeenCalledTimes(1))
    expect(broken.told).toEqual([])
    const slow = lineOf(() => new Promise(() => undefined))
    const many = Array.from({ length: 30_000 }, (_, index) => [`r${index}`, 'queued'] as const)
    for (const no of [1, 2, 3]) slow.line.add(turn(no, ...many))
    expect(slow.failed).toHaveBeenCalledTimes(1)
  })
})
