import { describe, expect, it } from 'vitest'
import { ErrGatewayBusy } from '../../src/api/refusals.ts'
import { orgId } from '../../src/domain/ids.ts'
import { createCommandQueue, type CommandQueue } from '../../src/engine/work-queue.ts'
import type { Command } from '../../src/engine/commands-port.ts'

const PATIENCE_MS = 30_000

/** A queue whose time is moved by hand. */
function open(): { readonly queue: CommandQueue; readonly pass: (ms: number) => void; readonly timers: () => number } {
  let now = 0
  const timers = new Map<number, { readonly at: number; readonly call: () => void }>()
  let made = 0
  const queue = createCommandQueue({
    counter: () => now,
    patienceMs: PATIENCE_MS,
    after: (ms, call) => {
      const id = (made += 1)
      timers.set(id, { at: now + ms, call })
      return () => timers.delete(id)
    },
  })
  const pass = (ms: number): void => {
    now += ms
    for (const [id, { at, call }] of [...timers])
      if (at <= now) {
        timers.delete(id)
        call()
      }
  }
  return { queue, pass, timers: () => timers.size }
}

const aWork = (more: Partial<Command<string>> = {}): Command<string> => ({
  orgId: orgId('default'),
  apply: () => 'done',
  ...more,
})

/** What became of it: what it was refused with, or that it waits. */
const fateOf = async (answer: Promise<unknown>): Promise<unknown> =>
  Promise.race([answer.catch((error: unknown) => error), Promise.resolve().then(() => 'waits')])

describe('work that is in no turn', () => {
  it('is refused after 30 s, with why turns fail, and is not there to be carried out later', async () => {
    const { queue, pass } = open()
    const away = new Error('the database is away')
    const early = queue.add(aWork(), false)
    queue.setFailure(away)
    pass(10_000)
    const late = queue.add(aWork(), false)
    pass(20_000)
    expect(await fateOf(early)).toBe(away)
    expect(await fateOf(late)).toBe('waits')
    expect(queue.takeNext()).toHaveLength(1)
  })

  it('is refused although nothing has failed, when a turn hangs for so long', async () => {
    const { queue, pass } = open()
    const answer = queue.add(aWork(), false)
    pass(PATIENCE_MS)
    expect(await fateOf(answer)).toBeInstanceOf(ErrGatewayBusy)
    expect(queue.isEmpty()).toBe(true)
  })

  it('waits for as long as it takes when it is patient', async () => {
    const { queue, pass } = open()
    const answer = queue.add(aWork(), true)
    pass(10 * PATIENCE_MS)
    expect(await fateOf(answer)).toBe('waits')
  })

  it('is refused when a turn that failed puts it back too late', async () => {
    const { queue, pass } = open()
    const answer = queue.add(aWork(), false)
    const taken = queue.takeNext()
    pass(PATIENCE_MS + 1)
    queue.setFailure(new Error('lost'))
    queue.putBack(taken)
    expect(await fateOf(answer)).toMatchObject({ message: 'lost' })
  })

  it('is refused at once when twenty thousand wait already, unless it is patient', async () => {
    const { queue } = open()
    const waiting = Array.from({ length: 20_000 }, () => queue.add(aWork(), false))
    for (const one of waiting) one.catch(() => undefined)
    await expect(queue.add(aWork(), false)).rejects.toMatchObject({ code: 'BUSY', status: 503 })
    const patient = queue.add(aWork(), true)
    expect(await fateOf(patient)).toBe('waits')
    // With each turn there is room for others.
    queue.takeNext()
    expect(await fateOf(queue.add(aWork(), false))).toBe('waits')
  })

  it('needs one timer, however much waits', () => {
    const { queue, timers } = open()
    for (let index = 0; index < 100; index += 1) queue.add(aWork(), false).catch(() => undefined)
    expect(timers()).toBe(1)
  })

  it('goes in the order it came, what writes by itself alone', () => {
    const { queue } = open()
    const alone = aWork({ prepare: () => Promise.resolve() })
    for (const work of [aWork(), aWork(), alone, aWork()]) queue.add(work, true).catch(() => undefined)
    expect([queue.takeNext().length, queue.takeNext().length, queue.takeNext().length]).toEqual([2, 1, 1])
  })
})
