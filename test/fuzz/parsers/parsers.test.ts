import { describe, expect, it } from 'vitest'
import { createRandom } from '../../simulation/random.ts'
import { readCorpus } from '../corpus.ts'
import { mutate } from '../mutate.ts'
import { oddValue } from '../odd-values.ts'
import { plainMatcher } from './cron-grammar.ts'
import { parsers, tryOne } from './parsers.ts'
import { abbreviate, expand } from './shorthand.ts'
import { shrink } from './shrink.ts'
import { must, type Target } from './target.ts'
import { TARGETS } from './targets.ts'

describe('the corpus', () => {
  it('holds nothing that is still wrong', async () => {
    const kept = readCorpus('parsers')
    expect(kept.length).toBeGreaterThan(10)
    expect(await parsers.replay(kept.map(({ input }) => input))).toEqual([])
  }, 60_000)

  it('is not all: every parser reads some inputs of its own grammar', () => {
    const random = createRandom(8)
    const tried = TARGETS.flatMap((target) => Array.from({ length: 3 }, () => tryOne(target, target.draw(random))))
    expect(tried.filter(({ ok }) => !ok)).toEqual([])
  })
})

/** So many different names, as no corpus can write them in short. */
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `name${index}`)
const nested = (levels: number): unknown => (levels === 0 ? 'x' : { a: nested(levels - 1) })

describe('what is too large for the corpus', () => {
  it.each([
    ['names nobody knows', 'configuration file', names(60_000).join(': 1\n')],
    ['names nobody knows, as many as a file may have', 'configuration file', `{${names(16_000).join(',')}}`],
    ['names under the name of another scheduler', 'configuration file', `scheduler: {${names(16_000).join(',')}}`],
    ['names that are there twice', 'configuration file', `tasks: {${[...names(8_000), ...names(8_000)].join(',')}}`],
    ['entries that are wrong', 'configuration file', `server:\n  allowed_hosts:\n${'  - ""\n'.repeat(140_000)}`],
    ['objects in objects', 'hook body', nested(3_000)],
    ['values far to the right', 'hook body', { a: { b: { c: [Array.from({ length: 150_000 }, () => [0])] } } }],
  ])('takes no long time either: %s in a %s', (_, name, input) => {
    const target = TARGETS.find((one) => one.name === name)
    if (target === undefined) throw new Error(`there is no ${name}`)
    expect(tryOne(target, input)).toMatchObject({ ok: true })
  })
})

/** A parser that does something with its input. */
const doing = (attempt: (input: unknown) => string): Target => ({
  ...{ name: 'planted', words: ['x'], draw: () => 'x', mostMs: 20, attempt },
})

describe('what is tried', () => {
  it('is found when it throws, when it breaks a promise and when it takes too long', () => {
    const throwing = doing((input) => (input as { readonly a: { readonly b: string } }).a.b)
    expect(tryOne(throwing, {})).toMatchObject({ ok: false, kind: 'crash' })
    const broken = doing(() => {
      must(false, 'one is two')
      return 'never'
    })
    expect(tryOne(broken, 'x')).toMatchObject({ ok: false, kind: 'wrong', message: 'Broken: one is two' })
    const slow = doing((input) => {
      const begin = process.cpuUsage().user
      while (input === 'slow' && process.cpuUsage().user - begin < 40_000);
      return 'read'
    })
    expect(tryOne(slow, 'slow')).toMatchObject({ ok: false, kind: 'hang' })
    expect(tryOne(slow, 'x')).toMatchObject({ ok: true, class: 'read' })
  })

  it('is made smaller as long as it still shows the same', () => {
    const holds = (input: unknown): boolean => JSON.stringify(input).includes('bad')
    expect(shrink({ a: 'some bad text', b: [1, 2] }, holds)).toEqual({ a: 'bad' })
  })

  it('is written short and read again as it was', () => {
    const long = { a: `<${'[{'.repeat(50_000)}>`, b: ['short', '\ud83d'] }
    const short = abbreviate(long)
    expect(JSON.stringify(short).length).toBeLessThan(150)
    expect(expand(JSON.parse(JSON.stringify(short)))).toEqual(long)
  })

  it('is the same for the same seed, and changes what it is made of', () => {
    const draw = (seed: number): unknown => {
      const random = createRandom(seed)
      return Array.from({ length: 50 }, () => mutate(oddValue(random), random, ['word']))
    }
    expect(draw(1)).toEqual(draw(1))
    expect(draw(1)).not.toEqual(draw(2))
  })
})

describe('the second reading of cron', () => {
  it.each([
    ['*/15 9-17 * * 1-5', '2026-01-15T09:45:00Z', true],
    ['*/15 9-17 * * 1-5', '2026-01-17T09:45:00Z', false],
    ['0 0 13 * 5', '2026-02-13T00:00:00Z', true],
    ['0 0 13 * 5', '2026-01-16T00:00:00Z', true],
    ['0 0 1 1 7', '2026-01-04T00:00:00Z', true],
  ])('%s at %s: %s', (text, at, fires) => {
    expect(plainMatcher(text)?.(Date.parse(at))).toBe(fires)
  })

  it('leaves alone what it does not understand', () => {
    expect(plainMatcher('0 0 L * *')).toBeNull()
  })
})
