import { describe, expect, it } from 'vitest'
import { createCachedValue, type CachedValue } from '../../../src/server/metrics/samples.ts'

/** Something to find out that takes as long as the test says, by a clock the test moves. */
function createWorld(): {
  readonly seldom: CachedValue<number>
  readonly pass: (ms: number) => void
  readonly takes: (ms: number) => void
  readonly fail: (fails: boolean) => void
  readonly asked: () => number
} {
  let [now, cost, asked, fails] = [0, 1, 0, false]
  const find = async (): Promise<number> => {
    asked += 1
    await Promise.resolve()
    now += cost
    if (fails) throw new Error('away')
    return asked
  }
  return {
    seldom: createCachedValue(find, { counter: () => now, minIntervalMs: 5_000, maxShare: 0.01, firstWaitMs: 50 }),
    pass: (ms) => void (now += ms),
    takes: (ms) => void (cost = ms),
    fail: (yes) => void (fails = yes),
    asked: () => asked,
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('what is costly to find out', () => {
  it('is found out once for everybody who asks at the same time', async () => {
    const { seldom, asked } = createWorld()
    const answers = await Promise.all([seldom.read(), seldom.read(), seldom.read()])
    expect(answers.map((answer) => answer?.value)).toEqual([1, 1, 1])
    expect(asked()).toBe(1)
  })

  it('is not found out again for five seconds', async () => {
    const { seldom, pass, asked } = createWorld()
    await seldom.read()
    pass(4_900)
    expect(await seldom.read()).toEqual({ value: 1, ageMs: 4_900 })
    expect(asked()).toBe(1)
  })

  it('is found out behind the back of who asks: they get what is known', async () => {
    const { seldom, pass, asked } = createWorld()
    await seldom.read()
    pass(5_100)
    expect((await seldom.read())?.value).toBe(1)
    await settle()
    expect(asked()).toBe(2)
    expect((await seldom.read())?.value).toBe(2)
  })

  it('takes a hundredth of the time, however long it takes', async () => {
    const { seldom, pass, takes, asked } = createWorld()
    takes(2_000)
    await seldom.read()
    pass(199_000)
    await seldom.read()
    await settle()
    expect(asked()).toBe(1)
    pass(1_500)
    await seldom.read()
    await settle()
    expect(asked()).toBe(2)
  })

  it('keeps what was known when it fails, and says how old it is', async () => {
    const { seldom, pass, fail } = createWorld()
    await seldom.read()
    fail(true)
    pass(6_000)
    await seldom.read()
    await settle()
    pass(10_000)
    const answer = await seldom.read()
    expect(answer?.value).toBe(1)
    expect(answer?.ageMs).toBeGreaterThanOrEqual(16_000)
  })

  it('is null when nobody has ever found out, and nobody waits for ever', async () => {
    const never = createCachedValue(() => new Promise<number>(() => undefined), {
      ...{ counter: () => 0, minIntervalMs: 5_000, maxShare: 0.01, firstWaitMs: 10 },
    })
    expect(await never.read()).toBeNull()
  })
})
