import { describe, expect, it } from 'vitest'
import { limitQueries } from '../../src/server/http/answer-memory.ts'

/** A database whose statements end when they are told to. */
function createSlowDatabase() {
  const open: { readonly text: string; readonly end: () => void; readonly fail: () => void }[] = []
  return {
    begun: () => open.map(({ text }) => text),
    endFirst: () => open.shift()?.end(),
    failFirst: () => open.shift()?.fail(),
    query: (text: string) =>
      new Promise<readonly []>((resolve, reject) => {
        open.push({ text, end: () => resolve([]), fail: () => reject(new Error(`${text} failed`)) })
      }),
  }
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('statements that requests of one org may have under way', () => {
  it('are so many and no more, and the others follow in the order of asking', async () => {
    const slow = createSlowDatabase()
    const limited = limitQueries(slow, 2)
    const all = ['a', 'b', 'c', 'd'].map((text) => limited.query(text))
    expect(slow.begun()).toEqual(['a', 'b'])
    slow.endFirst()
    await soon()
    expect(slow.begun()).toEqual(['b', 'c'])
    slow.endFirst()
    slow.endFirst()
    await soon()
    expect(slow.begun()).toEqual(['d'])
    slow.endFirst()
    await Promise.all(all)
  })

  it('give their place on when they fail', async () => {
    const slow = createSlowDatabase()
    const limited = limitQueries(slow, 1)
    const failing = limited.query('a')
    const waiting = limited.query('b')
    slow.failFirst()
    await expect(failing).rejects.toThrow('a failed')
    await soon()
    expect(slow.begun()).toEqual(['b'])
    slow.endFirst()
    await expect(waiting).resolves.toEqual([])
  })

  it('of another org do not wait for them', () => {
    const slow = createSlowDatabase()
    const [flooding, quiet] = [limitQueries(slow, 1), limitQueries(slow, 1)]
    for (let count = 0; count < 100; count += 1) void flooding.query('flood')
    void quiet.query('quiet')
    expect(slow.begun()).toEqual(['flood', 'quiet'])
  })
})
