import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'
import { textOf } from './tracked-files.ts'
import { blocksIn, blocksOf, documents } from './written/markdown.ts'
import { claimsOf, idleEntries, isCarriedOut, NOT_RUN, RUN_BY } from './written/who-runs.ts'

// Every block of commands and every program is carried out by a test, or is on a list with the reason why not.

const blocks = documents().flatMap(blocksOf).filter(isCarriedOut)

describe('the commands and programs of documents', () => {
  it('are each carried out by one test, or are listed with a reason', () => {
    const fallen = blocks.filter((block) => claimsOf(block).length !== 1)
    expect(fallen.map((block) => [`${block.document}:${block.line}`, block.text, claimsOf(block)])).toEqual([])
  })

  it('are all that the lists are about', () => {
    expect(idleEntries(blocks)).toEqual([])
  })

  it('would fall through without a list', () => {
    const [block] = blocksIn('docs/new.md', '```sh\nescapement doctor\n```\n').filter(isCarriedOut)
    expect(block === undefined ? null : claimsOf(block)).toEqual([])
  })

  it.each([...new Set(RUN_BY.map(({ test }) => test))])('%s is there, and knows its documents', (test) => {
    const text = textOf(test)
    for (const { document } of RUN_BY.filter((one) => one.test === test && one.document !== 'docs/reference/api.md'))
      expect([document, text.includes(document) || text.includes(path.basename(document, '.md'))]).toEqual([
        document,
        true,
      ])
  })

  it('are left out for reasons that name what is there', () => {
    const named = NOT_RUN.flatMap(({ why }) => why.match(/\btest\/[\w/.-]*\w/g) ?? [])
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([])
  })
})
