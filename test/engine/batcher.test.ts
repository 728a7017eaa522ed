import { describe, expect, it } from 'vitest'
import { createBatcher } from '../../src/engine/batcher.ts'

/** A writer that finishes when the test says so. */
function slowWriter(): {
  write: (items: readonly number[]) => Promise<readonly string[]>
  batches: number[][]
  finish: () => void
} {
  const batches: number[][] = []
  const finishers: (() => void)[] = []
  return {
    batches,
    finish: () => {
      finishers.shift()?.()
    },
    write: (items) => {
      batches.push([...items])
      return new Promise((resolve) => {
        finishers.push(() => {
          resolve(items.map((item) => `answer ${item}`))
        })
      })
    },
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('group commit', () => {
  it('writes calls of the same breath together and answers each by itself', async () => {
    const { write, batches, finish } = slowWriter()
    const batcher = createBatcher(write, { maxItems: 100 })
    const answers = Promise.all([1, 2, 3].map((item) => batcher.add(item)))
    await settled()
    finish()
    expect(await answers).toEqual(['answer 1', 'answer 2', 'answer 3'])
    expect(batches).toEqual([[1, 2, 3]])
  })

  it('collects what arrives while a batch is written, in order and at most so many', async () => {
    const { write, batches, finish } = slowWriter()
    const batcher = createBatcher(write, { maxItems: 2 })
    const first = batcher.add(1)
    await settled()
    const rest = Promise.all([2, 3, 4].map((item) => batcher.add(item)))
    for (let round = 0; round < 3; round += 1) {
      finish()
      await settled()
    }
    expect(await first).toBe('answer 1')
    expect(await rest).toEqual(['answer 2', 'answer 3', 'answer 4'])
    expect(batches).toEqual([[1], [2, 3], [4]])
  })

  it('tells everybody of a failed batch and goes on with the next', async () => {
    let calls = 0
    const batcher = createBatcher<number, number>(
      (items) => (++calls === 1 ? Promise.reject(new Error('disk full')) : Promise.resolve([...items])),
      { maxItems: 10 },
    )
    const failed = await Promise.allSettled([batcher.add(1), batcher.add(2)])
    expect(failed.map((one) => one.status)).toEqual(['rejected', 'rejected'])
    expect(await batcher.add(3)).toBe(3)
  })

  it('refuses a writer that does not answer every item', async () => {
    const batcher = createBatcher<number, number>(() => Promise.resolve([1]), { maxItems: 10 })
    const answers = await Promise.allSettled([batcher.add(1), batcher.add(2)])
    expect(answers.every((answer) => answer.status === 'rejected')).toBe(true)
  })

  it('drains', async () => {
    const { write, batches, finish } = slowWriter()
    const batcher = createBatcher(write, { maxItems: 1 })
    void batcher.add(1)
    void batcher.add(2)
    const drained = batcher.drain()
    await settled()
    finish()
    await settled()
    finish()
    await drained
    expect(batches).toEqual([[1], [2]])
    await batcher.drain()
  })
})
