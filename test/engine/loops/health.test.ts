import { describe, expect, it } from 'vitest'
import { instant } from '../../../src/domain/instant.ts'
import { createDatabaseHealth } from '../../../src/engine/loops/health.ts'

function watch() {
  let now = 0
  const said: string[] = []
  const health = createDatabaseHealth({
    log: ({ message, facts }) => said.push(`${message} ${JSON.stringify(facts)}`),
    now: () => instant(now),
    counter: () => now,
  })
  return { health, said, pass: (ms: number) => (now += ms) }
}

const AWAY = 'The database does not answer; the engine pauses and retries'
const STILL = 'The database still does not answer, with another error'

describe('what is said about a database that is away', () => {
  it('is said once, and once more when it is back', () => {
    const { health, said, pass } = watch()
    health.failed(new Error('cut'))
    pass(300)
    health.failed(new Error('cut'))
    expect(health.awaySince()).toBe(0)
    health.answered()
    health.answered()
    expect(said).toEqual([
      `${AWAY} {"error":"cut"}`,
      'The database answers again; the engine continues {"away_ms":300,"failures":2}',
    ])
    expect(health.awaySince()).toBeNull()
  })

  it('names each reason, so that a server that lets nobody in is told from a connection that was cut', () => {
    const { health, said } = watch()
    for (const reason of ['cut', 'full', 'cut', 'full']) health.failed(new Error(reason))
    expect(said).toEqual([`${AWAY} {"error":"cut"}`, `${STILL} {"error":"full"}`])
    health.answered()
    health.failed(new Error('full'))
    expect(said.at(-1)).toBe(`${AWAY} {"error":"full"}`)
  })

  it('has an end, however many reasons there are', () => {
    const { health, said } = watch()
    for (let reason = 0; reason < 100; reason += 1) health.failed(new Error(String(reason)))
    expect(said).toHaveLength(10)
  })

  it('is told to who waits for the database, each time it is back', () => {
    const { health } = watch()
    let times = 0
    const callOff = health.whenBack(() => (times += 1))
    health.answered()
    expect(times).toBe(0)
    for (let outage = 1; outage <= 2; outage += 1) {
      health.failed(new Error('cut'))
      health.answered()
      health.answered()
      expect(times).toBe(outage)
    }
    callOff()
    health.failed(new Error('cut'))
    health.answered()
    expect(times).toBe(2)
  })
})
