import { describe, expect, it } from 'vitest'
import { createRandom } from '../simulation/random.ts'
import { countFaults, driveFaults, FAULT_KINDS, planFaults, type Hands, type PlannedFault } from './faults.ts'

const SETTINGS = { slots: 3, leaseMs: 4_000 }

function plan(seed: number, count: number): readonly PlannedFault[] {
  const faults = planFaults(createRandom(seed), SETTINGS)
  return Array.from({ length: count }, () => faults.next().value)
}

describe('the plan', () => {
  it('is the same for the same seed and another for another', () => {
    expect(plan(7, 20)).toEqual(plan(7, 20))
    expect(plan(7, 20)).not.toEqual(plan(8, 20))
  })

  it('has every kind in every round', () => {
    for (let seed = 0; seed < 50; seed += 1)
      expect(
        plan(seed, FAULT_KINDS.length)
          .map(({ kind }) => kind)
          .sort(),
      ).toEqual([...FAULT_KINDS].sort())
  })

  it('stops nodes for longer and for shorter than the lease, and never hurts all of them at once', () => {
    const faults = plan(3, 500)
    for (const { kind, lastsMs, slot, amid, meanwhile } of faults) {
      if (kind === 'stop_long') expect(lastsMs).toBeGreaterThan(SETTINGS.leaseMs)
      if (kind === 'stop_short') expect(lastsMs).toBeLessThan(SETTINGS.leaseMs - 1_000)
      if (kind !== 'stop_long') expect(amid).toBe(false)
      if (meanwhile !== null) expect(meanwhile.slot).not.toBe(slot)
      expect(meanwhile?.meanwhile ?? null).toBeNull()
    }
    expect(faults.some(({ meanwhile }) => meanwhile !== null)).toBe(true)
    expect(new Set(faults.map(({ slot }) => slot)).size).toBe(3)
    expect(new Set(faults.filter(({ kind }) => kind === 'stop_long').map(({ amid }) => amid)).size).toBe(2)
  })
})

describe('driving', () => {
  /** A time that passes only when somebody waits. Two who wait at once wait for the sum, which is good enough here. */
  function drive(until: number, hands: Partial<Hands> = {}) {
    let now = 0
    const sleep = (ms: number): Promise<void> => {
      now += ms
      return Promise.resolve()
    }
    const told: string[] = []
    return driveFaults(planFaults(createRandom(1), SETTINGS), {
      hands: {
        kill: (slot, ms) => sleep(ms).then(() => `n${slot}`),
        stop: (slot, ms) => sleep(ms).then(() => `n${slot}`),
        cut: (slot) => Promise.resolve(`n${slot}`),
        restart: (ms) => sleep(ms),
        ...hands,
      },
      now: () => now,
      sleep,
      until,
      tell: ({ kind }) => told.push(kind),
    }).then((faults) => ({ faults, told }))
  }

  it('fills a minute with faults of every kind, and no fault outlasts it', async () => {
    const { faults, told } = await drive(60_000)
    expect(faults.length).toBeGreaterThanOrEqual(10)
    expect(told).toHaveLength(faults.length)
    expect(Object.values(countFaults(faults)).every((count) => count > 0)).toBe(true)
    expect(faults.every(({ from, until }) => from <= until)).toBe(true)
    expect((await drive(180_000)).faults.length).toBeGreaterThanOrEqual(30)
  })

  it('does not count a cut that hit nobody', async () => {
    const { faults } = await drive(60_000, { cut: () => Promise.resolve(null) })
    expect(countFaults(faults).cut).toBe(0)
    expect(countFaults(faults).kill).toBeGreaterThan(0)
  })

  it('fails when a hand fails', async () => {
    await expect(drive(60_000, { restart: () => Promise.reject(new Error('the server is gone')) })).rejects.toThrow(
      'the server is gone',
    )
  })
})
