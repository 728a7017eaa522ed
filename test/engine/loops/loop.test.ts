import { describe, expect, it } from 'vitest'
import { createLoop, sleep, type LoopOptions, type Pass } from '../../../src/engine/loops/loop.ts'

/** A loop whose sleeps end when the test says so. */
function handMoved(
  pass: Pass,
  over: Partial<LoopOptions> = {},
): { loop: ReturnType<typeof createLoop>; asleep: () => Promise<number> } {
  const naps: ((ms: number) => void)[] = []
  const pending: number[] = []
  const loop = createLoop(pass, {
    everyMs: 1_000,
    onError: () => 50,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const tell = naps.shift()
        if (tell === undefined) pending.push(ms)
        else tell(ms)
        if (signal.aborted) resolve()
        signal.addEventListener('abort', () => {
          resolve()
        })
      }),
    ...over,
  })
  /** How long the loop wants to sleep, once it does. */
  const asleep = (): Promise<number> => {
    const ms = pending.shift()
    return ms === undefined ? new Promise((resolve) => naps.push(resolve)) : Promise.resolve(ms)
  }
  return { loop, asleep }
}

describe('a loop', () => {
  it('passes at once, then sleeps its period, and passes again when woken', async () => {
    let passes = 0
    const { loop, asleep } = handMoved(() => Promise.resolve(void (passes += 1)))
    loop.start()
    expect(await asleep()).toBe(1_000)
    expect(passes).toBe(1)
    loop.wake()
    expect(await asleep()).toBe(1_000)
    expect(passes).toBe(2)
    await loop.stop()
  })

  it('sleeps shorter when the pass asks for it, never longer', async () => {
    const wishes = [0, 300, 60_000]
    const { loop, asleep } = handMoved(() => Promise.resolve(wishes.shift()))
    loop.start()
    const slept: number[] = []
    for (let round = 0; round < 3; round += 1) {
      slept.push(await asleep())
      loop.wake()
    }
    expect(slept).toEqual([0, 300, 1_000])
    await loop.stop()
  })

  it('does not lose a wake that comes during a pass', async () => {
    let passes = 0
    const { loop, asleep } = handMoved(() => {
      passes += 1
      if (passes === 1) loop.wake()
      return Promise.resolve(undefined)
    })
    loop.start()
    await asleep()
    expect(await asleep()).toBe(1_000)
    expect(passes).toBe(2)
    await loop.stop()
  })

  it('goes on after a pass that failed, and counts failures in a row', async () => {
    const counted: number[] = []
    let passes = 0
    const { loop, asleep } = handMoved(
      () => {
        passes += 1
        return passes === 3 ? Promise.resolve(undefined) : Promise.reject(new Error('no database'))
      },
      {
        onError: (_, failures) => {
          counted.push(failures)
          return 50
        },
      },
    )
    loop.start()
    const slept: number[] = []
    for (let round = 0; round < 4; round += 1) {
      slept.push(await asleep())
      loop.wake()
    }
    expect(slept).toEqual([50, 50, 1_000, 50])
    expect(counted).toEqual([1, 2, 1])
    await loop.stop()
  })

  it('waits for the pass under way when it is stopped, and never passes again', async () => {
    let finish: () => void = () => undefined
    let passes = 0
    const { loop } = handMoved(() => {
      passes += 1
      return new Promise((resolve) => {
        finish = () => {
          resolve(undefined)
        }
      })
    })
    loop.start()
    let stopped = false
    const stopping = loop.stop().then(() => (stopped = true))
    await Promise.resolve()
    expect(stopped).toBe(false)
    finish()
    await stopping
    expect(passes).toBe(1)
  })

  it('is started once', async () => {
    const { loop } = handMoved(() => Promise.resolve(undefined))
    loop.start()
    expect(() => {
      loop.start()
    }).toThrow('the loop has already been started')
    await loop.stop()
  })

  it('ends a real sleep when woken', async () => {
    const nap = new AbortController()
    const slept = sleep(3_600_000, nap.signal)
    nap.abort()
    await slept
    await sleep(0, new AbortController().signal)
    await sleep(1, new AbortController().signal)
  })
})
