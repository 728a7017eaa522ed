import { describe, expect, it } from 'vitest'
import { createRandom } from '../simulation/random.ts'
import { BRIEF_KINDS, FAULT_KINDS, FAULT_NAMES, kindsNamed, LONG_KINDS, type FaultKind } from './fault-kinds.ts'
import { countFaults, driveFaults, planFaults, type Hand, type Hands, type PlannedFault } from './faults.ts'
import { clockSteps } from './hands/node-hands.ts'

const SETTINGS = { slots: 3, leaseMs: 4_000 }

/** So many rounds, each with what happens meanwhile as a fault of its own. */
function plan(seed: number, rounds: number, kinds: readonly FaultKind[] = FAULT_KINDS): readonly PlannedFault[] {
  const faults = planFaults(createRandom(seed), { ...SETTINGS, kinds })
  const planned: PlannedFault[] = []
  for (let round = 0; round < rounds;) {
    const fault = faults.next().value
    planned.push(fault)
    if (fault.last) round += 1
  }
  return planned
}

const flat = (faults: readonly PlannedFault[]): readonly PlannedFault[] =>
  faults.flatMap((fault) => (fault.meanwhile === null ? [fault] : [fault, fault.meanwhile]))

describe('the kinds', () => {
  it('are named one by one, or by what they begin with', () => {
    expect(kindsNamed(['kill', 'db'])).toEqual(['kill', 'db_locked', 'db_busy'])
    expect(kindsNamed(['net_silent', 'net_silent_long'])).toEqual(['net_silent_short', 'net_silent_long'])
    expect(kindsNamed(['kill', 'flood'])).toBeNull()
    expect(kindsNamed([''])).toBeNull()
    expect(new Set(Object.values(FAULT_NAMES)).size).toBe(FAULT_KINDS.length)
  })
})

describe('the plan', () => {
  it('is the same for the same seed and another for another', () => {
    expect(plan(7, 2)).toEqual(plan(7, 2))
    expect(plan(7, 2)).not.toEqual(plan(8, 2))
  })

  it('has every kind in every round, and only those that were asked for', () => {
    const kindsOf = (faults: readonly PlannedFault[]): readonly string[] =>
      flat(faults)
        .map(({ kind }) => kind)
        .sort()
    for (let seed = 0; seed < 50; seed += 1) {
      expect(kindsOf(plan(seed, 1))).toEqual([...FAULT_KINDS].sort())
      expect(kindsOf(plan(seed, 3, ['kill', 'stop_long']))).toEqual([
        ...Array<string>(3).fill('kill'),
        ...Array<string>(3).fill('stop_long'),
      ])
    }
  })

  it('has nodes away for longer and for shorter than the lease, and never hurts all of them at once', () => {
    const faults = plan(3, 40)
    for (const { kind, lastsMs, slot, meanwhile } of faults) {
      if (LONG_KINDS.has(kind)) expect(lastsMs).toBeGreaterThanOrEqual(SETTINGS.leaseMs)
      if (kind === 'stop_long' || kind === 'net_silent_long') expect(lastsMs).toBeGreaterThan(SETTINGS.leaseMs)
      if (kind === 'stop_short' || kind === 'net_silent_short') expect(lastsMs).toBeLessThan(SETTINGS.leaseMs - 1_000)
      if (meanwhile === null) continue
      expect(LONG_KINDS.has(kind)).toBe(true)
      expect(BRIEF_KINDS.has(meanwhile.kind)).toBe(true)
      expect(meanwhile.slot).not.toBe(slot)
      expect(meanwhile.meanwhile).toBeNull()
    }
    expect(faults.some(({ meanwhile }) => meanwhile !== null)).toBe(true)
    expect(new Set(faults.map(({ slot }) => slot)).size).toBe(3)
  })

  it('sets clocks minutes off, forwards and backwards', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const steps = clockSteps({ seed })
      expect(steps.map(Math.abs).every((step) => step >= 60_000)).toBe(true)
      expect(Math.sign(steps[0])).toBe(-Math.sign(steps[1]))
    }
  })
})

interface Planned {
  readonly kinds?: readonly FaultKind[]
  /** Long enough for whoever drives it. */
  readonly plan?: readonly PlannedFault[]
}

describe('driving', () => {
  /** A time that passes only when somebody waits. Two who wait at once wait for the sum, which is good enough here. */
  function drive(until: number, hands: Partial<Hands> = {}, { kinds = FAULT_KINDS, plan: given }: Planned = {}) {
    let now = 0
    const sleep = (ms: number): Promise<void> => {
      now += ms
      return Promise.resolve()
    }
    const told: string[] = []
    const hit: Hand = ({ slot, lastsMs }) => sleep(lastsMs).then(() => ({ process: `n${slot}` }))
    const all = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, hit])) as unknown as Hands
    const faults = given?.values() ?? planFaults(createRandom(1), { ...SETTINGS, kinds })
    return driveFaults(faults as Iterator<PlannedFault, never>, {
      hands: { ...all, ...hands },
      slots: SETTINGS.slots,
      now: () => now,
      sleep,
      until,
      tell: ({ kind }) => told.push(kind),
    }).then((faults) => ({ faults, told, now }))
  }

  it('fills its time with faults, none of which outlasts it', async () => {
    const { faults, told, now } = await drive(180_000)
    expect(faults.length).toBeGreaterThanOrEqual(30)
    expect(told).toHaveLength(faults.length)
    expect(now).toBeLessThanOrEqual(180_000)
    expect(Object.values(countFaults(faults)).every((count) => count > 1)).toBe(true)
    expect(faults.every(({ from, until }) => from <= until)).toBe(true)
  })

  it('has every kind once, however short its time is', async () => {
    expect(Object.values(countFaults((await drive(1)).faults))).toEqual(FAULT_KINDS.map(() => 1))
    expect((await drive(1, {}, { kinds: ['cut', 'kill'] })).faults).toHaveLength(2)
  })

  it('does not count a fault that hit nobody', async () => {
    const { faults } = await drive(60_000, { cut: () => Promise.resolve(null) })
    expect(countFaults(faults).cut).toBe(0)
    expect(countFaults(faults).kill).toBeGreaterThan(0)
  })

  it('turns to another node when there is nobody to hit, and spares who is hurt already', async () => {
    const tried: number[] = []
    const trap: Hand = ({ slot }) => {
      tried.push(slot)
      return Promise.resolve(tried.length % 2 === 0 ? { process: `n${slot}` } : null)
    }
    const { faults } = await drive(1, { cut: trap }, { kinds: ['cut'] })
    expect(faults.map(({ process }) => process)).toEqual([`n${tried[1] ?? ''}`])
    expect(tried[1]).toBe(((tried[0] ?? 0) + 1) % SETTINGS.slots)
    // While another is away, that one is spared.
    const missed: number[] = []
    const miss: Hand = ({ slot }) => {
      missed.push(slot)
      return Promise.resolve(null)
    }
    const long = plan(1, 20, ['stop_long', 'cut']).find(({ meanwhile }) => meanwhile !== null)
    if (long?.meanwhile === undefined) throw new Error('nothing happens meanwhile')
    await drive(1, { cut: miss }, { plan: [{ ...long, last: true }, long] })
    expect(missed).toHaveLength(SETTINGS.slots - 1)
    expect(missed).not.toContain(long.slot)
  })

  it('fails when a hand fails', async () => {
    await expect(drive(60_000, { restart: () => Promise.reject(new Error('the server is gone')) })).rejects.toThrow(
      'the server is gone',
    )
  })
})
