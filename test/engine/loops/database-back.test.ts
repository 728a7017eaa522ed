import { describe, expect, it } from 'vitest'
import { instant } from '../../../src/domain/instant.ts'
import { createPause } from '../../../src/engine/node.ts'
import { createDatabaseHealth } from '../../../src/engine/loops/health.ts'
import { createHandClock } from '../../faults/clock.ts'

/** A pause whose time is moved by hand. */
function handMoved() {
  const hand = createHandClock(instant(0))
  const [counter, owner] = [hand.now, { isFrozen: () => false }]
  const health = createDatabaseHealth({ log: () => undefined, now: hand.now, counter })
  const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) resolve()
      hand.at(instant(hand.now() + ms), owner, resolve)
      signal.addEventListener('abort', () => {
        resolve()
      })
    })
  const pause = createPause({ sleep }, health)
  /** How long a pause of five seconds lasts when this happens a while after its beginning. */
  const lasts = async (afterMs: number, happen: () => void, signal = new AbortController().signal) => {
    const [began, over] = [hand.now(), { at: -1 }]
    const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
    void pause(5_000, signal).then(() => (over.at = hand.now()))
    await hand.moveTo(instant(began + afterMs), settled)
    happen()
    await settled()
    await hand.moveTo(instant(began + 6_000), settled)
    return over.at - began
  }
  return { health, lasts }
}

describe('a pause after a failure', () => {
  it('lasts as long as it should while the database is away', async () => {
    const { lasts } = handMoved()
    expect(await lasts(1_000, () => undefined)).toBe(5_000)
  })

  it.each([
    ['ends when the database is back', 1_000, 1_000],
    ['goes on when only a connection was away for a moment', 999, 5_000],
  ])('%s', async (_, awayMs, ms) => {
    const { lasts, health } = handMoved()
    health.failed(new Error('cut'))
    expect(await lasts(awayMs, health.answered)).toBe(ms)
  })

  it('ends when it is called off', async () => {
    const { lasts } = handMoved()
    const calling = new AbortController()
    const callOff = (): void => {
      calling.abort()
    }
    expect(await lasts(1_000, callOff, calling.signal)).toBe(1_000)
    expect(await lasts(0, callOff, calling.signal)).toBe(0)
  })
})
