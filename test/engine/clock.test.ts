import { describe, expect, it } from 'vitest'
import { instant } from '../../src/domain/instant.ts'
import { createDatabaseClock } from '../../src/engine/clock.ts'
import { createIdGenerator, newId } from '../../src/engine/ids.ts'

describe('the clock of a node', () => {
  it('is the database’s, carried on by a counter', () => {
    let counter = 1_000
    const clock = createDatabaseClock(() => counter)
    clock.sync(instant(5_000_000), counter)
    counter += 250
    expect(clock.now()).toBe(5_000_250)
  })

  it('takes a slow answer for half as old as the question', () => {
    let counter = 0
    const clock = createDatabaseClock(() => counter)
    counter = 100
    clock.sync(instant(1_000), 0)
    expect(clock.now()).toBe(1_050)
  })

  it('takes an answer that waited for a lock for a fresh one', () => {
    let counter = 0
    const clock = createDatabaseClock(() => counter)
    counter = 5_000
    clock.sync(instant(1_000), 0)
    expect(clock.now()).toBe(1_050)
  })

  it('takes no notice of an answer that lay there while the process was stopped', () => {
    let counter = 0
    const clock = createDatabaseClock(() => counter)
    clock.sync(instant(1_000), counter)
    counter += 6_000
    clock.sync(instant(1_010), 10)
    expect(clock.now()).toBe(7_000)
    clock.sync(instant(3_000), counter)
    expect(clock.now()).toBe(3_000)
  })

  it('knows that the machine slept when the counter stood still', () => {
    let [counter, wall] = [0, 7_000]
    const clock = createDatabaseClock(
      () => counter,
      instant(0),
      () => wall,
    )
    counter += 100
    wall += 100
    expect(clock.sleptMs?.()).toBe(0)
    wall += 60_000
    expect(clock.sleptMs?.()).toBe(60_000)
    clock.sync(instant(1_000), counter)
    expect(clock.sleptMs?.()).toBe(0)
  })

  it('goes back when the database’s clock did', () => {
    const clock = createDatabaseClock(() => 0, instant(9_000))
    clock.sync(instant(4_000), 0)
    expect(clock.now()).toBe(4_000)
  })
})

describe('an id', () => {
  const bytes = (fill: number): Uint8Array => new Uint8Array(10).fill(fill)

  it('says what it is of and has 26 characters besides', () => {
    expect(newId('run', 1_768_478_400_000, bytes(255))).toMatch(/^run_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(newId('task', 0, bytes(0))).toBe(`tsk_${'0'.repeat(26)}`)
  })

  it('sorts by the time it was made', () => {
    const ids = [1, 31, 32, 1_768_478_400_000, 1_768_478_400_001].map((now) => newId('run', now, bytes(200)))
    expect(ids.toSorted()).toEqual(ids)
  })

  it('uses all of its chance', () => {
    const random = Uint8Array.from({ length: 10 }, (_, index) => index * 25)
    const all = Array.from({ length: 80 }, (_, bit) => {
      const flipped = Uint8Array.from(random)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      return newId('run', 1, flipped)
    })
    expect(new Set(all).size).toBe(80)
  })

  it('needs ten bytes of chance', () => {
    expect(() => newId('run', 1, new Uint8Array(9))).toThrow('an id needs 10 random bytes, got 9')
  })

  const counted = (bytes: Uint8Array, by: number): Uint8Array => {
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    const sum = (BigInt(`0x${hex}`) + BigInt(by)).toString(16).padStart(20, '0')
    return Uint8Array.from({ length: 10 }, (_, index) => Number.parseInt(sum.slice(2 * index, 2 * index + 2), 16))
  }

  // Room for the first bit, then: nothing to carry, a carry out of the tail, one through all bytes before it.
  it.each([
    [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [[1, 2, 3, 4, 5, 6, 7, 0x8f, 0xff, 0xfe]],
    [[1, 2, 3, 4, 5, 6, 7, 0xff, 0xff, 0xfd]],
    [[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
    [[0x7e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]],
  ])('counts its chance %j up by one within a millisecond', (chance) => {
    const bytes = Uint8Array.from(chance)
    const make = createIdGenerator(() => bytes)
    const made = Array.from({ length: 5 }, () => make('run', 1_768_478_400_000))
    expect(made).toEqual(made.map((_, by) => newId('run', 1_768_478_400_000, counted(bytes, by))))
    expect(made.toSorted()).toEqual(made)
    const later = make('run', 1_768_478_400_001)
    expect(later > (made.at(-1) ?? '')).toBe(true)
    // A clock that goes back makes no ids that sort before earlier ones.
    expect(make('run', 5) > later).toBe(true)
  })
})
