import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backoffMs } from '../../../src/platform/db/backoff.ts'
import type { Database, ReceivedNotification } from '../../../src/platform/db/database.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase()
  db = await world.open({ random: () => 0 })
})
afterAll(() => world.drop())

/** An ear that can be asked for the next thing it hears. */
function ear(): {
  readonly hear: (heard: ReceivedNotification) => void
  readonly next: () => Promise<ReceivedNotification>
} {
  const heard: ReceivedNotification[] = []
  let wake: () => void = () => undefined
  return {
    hear: (item) => {
      heard.push(item)
      wake()
    },
    next: async () => {
      while (heard.length === 0) await new Promise<void>((resolve) => void (wake = resolve))
      return heard.shift() as ReceivedNotification
    },
  }
}

const notify = (channel: string, payload: string) => db.query('select pg_notify($1, $2)', [channel, payload])

describe('somebody who listens', () => {
  it('hears what is notified on the channel, and only that', async () => {
    const { hear, next } = ear()
    const listening = await db.listen('turns', hear)
    await notify('other', 'not for us')
    await notify('turns', 'a')
    expect(await next()).toEqual({ kind: 'notified', payload: 'a' })
    await listening.stop()
  })

  it('hears nothing after it stopped, while others on the channel go on', async () => {
    const [first, second] = [ear(), ear()]
    const listening = await db.listen('shared', first.hear)
    await db.listen('shared', second.hear)
    await listening.stop()
    await notify('shared', 'b')
    expect(await second.next()).toEqual({ kind: 'notified', payload: 'b' })
    const unheard = await Promise.race([first.next(), Promise.resolve('nothing')])
    expect(unheard).toBe('nothing')
  })

  it('is told that it was away when the connection was cut, and hears again', async () => {
    const { hear, next } = ear()
    await db.listen('durable', hear)
    for (const round of ['first', 'second']) {
      await world.outside(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name like '%listener' and datname = current_database()",
      )
      expect(await next()).toEqual({ kind: 'was_away' })
      await notify('durable', round)
      expect(await next()).toEqual({ kind: 'notified', payload: round })
    }
  })

  it('may not use a name that would need quoting', async () => {
    await expect(db.listen('a"; drop', () => undefined)).rejects.toMatchObject({ code: 'channel_name_invalid' })
  })
})

describe('the wait before another try', () => {
  it('doubles, has a limit, and is partly chance', () => {
    const limits = { baseMs: 100, maxMs: 1000 }
    expect([1, 2, 3, 4, 5, 50].map((failures) => backoffMs(failures, 0.999999, limits))).toEqual([
      ...[100, 200, 400, 800, 1000, 1000],
    ])
    expect(backoffMs(3, 0, limits)).toBe(200)
  })
})
