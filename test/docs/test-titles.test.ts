import { describe, expect, it } from 'vitest'
import { titlesIn } from './test-titles.ts'

describe('the reader of test titles', () => {
  it('finds groups, tests, tables of them and scenarios, and nothing else', () => {
    const titles = titlesIn(`
      describe.concurrent('a lane', () => {
        it.each([['x']])('of %s waits', () => { expect(call('not a title')).toBe('it') })
        scenario('1: ends', async () => undefined)
        it(\`of \${size} ends\`, () => undefined)
      })
    `)
    expect(titles).toEqual(['a lane', 'a lane › of %s waits', 'a lane › 1: ends', 'a lane › of ${size} ends'])
  })
})
