import { describe, expect, it } from 'vitest'
import type { Records, StoredRun } from '../records.ts'
import { audit } from './audit.ts'
import { found, handled, one, records, SESSION, stored, submission, T } from './builders.ts'

describe('a failover that lost the last transactions', () => {
  const tail = { from: T, until: T + 1_000, back: T + 1_500 }
  const faults = [{ kind: 'failover', process: null, from: T, until: T + 2_000, tail }] as const

  it('may take back what was answered after the copy, and nothing that was answered before or after it', () => {
    const answered = (sentAt: number): Partial<Records> => ({
      submissions: [submission('1', { sentAt, answeredAt: sentAt + 5 })],
      faults,
    })
    expect(found(answered(T + 10))).toEqual([])
    expect(found(answered(T - 100))).toEqual(['lost: an answered submission has no run'])
    expect(found(answered(T + 1_600))).toEqual(['lost: an answered submission has no run'])
    expect(audit(records(answered(T + 10))).withTails).toEqual({ submissions: 1, attempts: 0 })
  })

  it('leaves attempts behind that are on nobody’s record, but none begins after it', () => {
    const begun = (startedAt: number): Partial<Records> => ({
      handled: [handled('1', { startedAt, endedAt: startedAt + 20 })],
      faults,
    })
    expect(found(begun(T + 500))).toEqual([])
    expect(audit(records(begun(T + 500))).withTails.attempts).toBe(1)
    expect(found(begun(T + 1_600))).toEqual(['unrecorded: an attempt began that is not on record'])
  })

  it('lets a run begin again whose start or end it took back, and no two of a session at once', () => {
    const again = { startedAt: T + 2_000, endedAt: T + 2_040 }
    const attempts = [
      { id: 'att_1_2', number: 1, node: 'nod_b', startedAt: T + 1_990, finishedAt: T + 2_050, errorCode: null },
    ]
    const started: Partial<Records> = {
      ...one(),
      handled: [handled('1'), handled('1', { ...again, id: 'att_1_2', process: 'b', node: 'nod_b' })],
      runs: [stored('1', { attempts, finishedAt: T + 2_050 })],
      faults,
    }
    expect(found(started)).toEqual([])
    expect(found({ ...started, faults: [] })).toContain('doubled: attempt 1 of a run began twice')
    const other = { process: 'b', node: 'nod_b', startedAt: T + 2_010, endedAt: T + 2_060 }
    const beside: Partial<Records> = {
      ...started,
      handled: [...(started.handled ?? []), handled('2', other)],
      runs: [...(started.runs ?? []), stored('2', { createdAt: T + 1_980, submissions: [] })],
    }
    expect(found(beside)).toContain(`out of session order: two attempts of ${SESSION} at the same time`)
  })
})

describe('an attempt that ended before the copy of a failover was made', () => {
  const tail = { from: T + 20_000, until: T + 21_000, back: T + 21_500 }
  const failover = { kind: 'failover', process: null, from: T + 20_000, until: T + 22_000, tail } as const
  const cut = { kind: 'net_half', process: 'a', from: T + 15_000, until: T + 15_000 } as const
  const again = { id: 'att_1_2', process: 'b', node: 'nod_b', number: 2, startedAt: T + 40_000, endedAt: T + 40_050 }
  const attempts = [
    { id: 'att_1_1', number: 1, node: 'nod_a', startedAt: T + 15_990, finishedAt: T + 39_000, errorCode: 'node_lost' },
    { id: 'att_1_2', number: 2, node: 'nod_b', startedAt: T + 39_990, finishedAt: T + 40_060, errorCode: null },
  ]
  const leases = Array.from({ length: 250 }, (_, tick) => ({
    ...{ node: 'nod_a', at: T + tick * 200, until: T + 4_000 + tick * 200 },
  }))
  const twice = (faults: Records['faults']): readonly string[] =>
    found({
      ...one(),
      handled: [handled('1', { startedAt: T + 16_000, endedAt: T + 16_050 }), handled('1', again)],
      runs: [stored('1', { attempts, finishedAt: T + 40_060 })],
      ...{ faults, leases },
    })

  it('is begun again where its node was cut off, because its report was written late and lost', () => {
    expect(twice([cut, failover])).toEqual([])
  })

  it('is not begun again where nothing had been done to its node', () => {
    expect(twice([failover])).toContain('doubled: an attempt began while the one before it still held its lease')
  })
})

describe('a server that stood still', () => {
  const faults = [{ kind: 'stall', process: null, from: T + 1_000, until: T + 10_000 }] as const
  const attempts = [
    { id: 'att_1_1', number: 1, node: 'nod_a', startedAt: T + 8, finishedAt: T + 10_100, errorCode: 'node_lost' },
  ]
  const lost: Partial<Records> = { ...one(), runs: [stored('1', { attempts })], faults }

  it('is no reason to take a node for lost', () => {
    expect(found(lost)).toEqual(['wrongly lost: a was alive while the server stood still'])
  })

  it('is none to keep one that died', () => {
    expect(found({ ...lost, processes: [{ name: 'a', readyAt: T, diedAt: T + 500 }] })).toEqual([])
    expect(found({ ...lost, faults: [] })).toEqual([])
  })
})

describe('fairness', () => {
  const SMALL = 'agent:helper:org-1:fifo:1'
  const start = (at: number): StoredRun['attempts'] => [
    { id: `att_${at}`, number: 1, node: 'nod_a', startedAt: at, finishedAt: at + 1, errorCode: null },
  ]
  const world = (startedAt: number, others: readonly number[]): Records => ({
    ...records({
      runs: [
        stored('s', {
          org: 'org-1',
          session: SMALL,
          submissions: [],
          attempts: start(startedAt),
          finishedAt: startedAt,
        }),
        ...others.map((at) =>
          stored(`o${at}`, { session: null, submissions: [], attempts: start(at), ending: 'failed' }),
        ),
      ],
    }),
    limits: { ...records().limits, sessions: new Map([[SMALL, 1]]) },
  })
  const every = (ms: number, until: number): readonly number[] =>
    Array.from({ length: until / ms }, (_, index) => T + index * ms)
  const unfair = (of: Records): readonly string[] =>
    audit(of).findings.flatMap(({ wrong, what }) => (wrong === 'unfair' ? [what] : []))

  it('is missing when a small org waits while others start in its lane', () => {
    expect(unfair(world(T + 7_000, every(100, 7_000)))).toEqual(['a run of org-1 waited 6899 ms'])
  })

  it('is there when it waits a little, or while nobody starts anything', () => {
    expect(unfair(world(T + 500, every(100, 7_000)))).toEqual([])
    expect(audit(world(T + 501, every(100, 7_000))).fairness).toMatchObject({ orgs: 1, runs: 1, p99Ms: 500 })
    expect(unfair(world(T + 7_000, [T, T + 6_900]))).toEqual([])
  })
})
