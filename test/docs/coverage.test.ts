import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'
import { SEED_SECTIONS, type SeedSection } from './seed-sections.ts'
import { titlesIn } from './test-titles.ts'
import { textOf } from './tracked-files.ts'

const PAGE = 'docs/coverage.md'

interface Entry {
  readonly heading: string
  /** Null: the heading itself. */
  readonly row: string | null
  readonly here: readonly string[]
  readonly tests: readonly { readonly file: string; readonly title: string }[]
  readonly cell: string
  readonly note: string
}

const LINK = /\[[^\]]*\]\(([^)#\s]+)[^)]*\)/g
const TEST = /\[[^\]]*\]\((\.\.\/test\/[^)]+)\) “([^”]+)”/g

const fromRoot = (link: string): string => path.posix.join('docs', link)

/** The tables of the page, by the number of the description they are about. */
function readPage(text: string): ReadonlyMap<string, readonly Entry[]> {
  const parts = text.split(/^## /m).flatMap((part) => (/^\d{3}:/.test(part) ? [part] : []))
  return new Map(parts.map((part) => [part.slice(0, 3), readTable(part)]))
}

function readTable(part: string): readonly Entry[] {
  const rows = part.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:There|---) \|/.test(line))
  let heading = ''
  return rows.map((line) => {
    const [name = '', here = '', tests = '', note = ''] = line.slice(1, -1).split(' | ')
    const bold = /^\*\*(.*)\*\*$/.exec(name.trim())?.[1]
    heading = bold ?? heading
    return {
      ...{ heading, row: bold === undefined ? name.trim() : null, cell: tests.trim(), note: note.trim() },
      here: [...here.matchAll(LINK)].map(([, link = '']) => fromRoot(link)),
      tests: [...tests.matchAll(TEST)].map(([, link = '', title = '']) => ({ file: fromRoot(link), title })),
    }
  })
}

const nameOf = ({ heading, row }: Pick<Entry, 'heading' | 'row'>): string =>
  row === null ? heading : `${heading} · ${row}`

const namesOf = (sections: readonly SeedSection[]): readonly string[] =>
  sections.flatMap(({ name, rows = [] }) => [name, ...rows.map((row) => nameOf({ heading: name, row }))])

const page = readPage(textOf(PAGE))
const entries = [...page.values()].flat()

describe('docs/coverage.md', () => {
  it.each(Object.keys(SEED_SECTIONS))('has an entry for every section and row of %s', (number) => {
    const written = new Set((page.get(number) ?? []).map(nameOf))
    expect(namesOf(SEED_SECTIONS[number] ?? []).filter((name) => !written.has(name))).toEqual([])
  })

  it('names nothing twice', () => {
    for (const [number, rows] of page) expect(new Set(rows.map(nameOf)).size, number).toBe(rows.length)
  })

  it('leads to files that are there, and to at least one from every row', () => {
    expect(entries.filter(({ here }) => here.length === 0).map(nameOf)).toEqual([])
    const files = new Set(entries.flatMap(({ here, tests }) => [...here, ...tests.map(({ file }) => file)]))
    expect([...files].filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([])
  })

  it('names tests that are there', () => {
    const named = new Map<string, Set<string>>()
    for (const { file, title } of entries.flatMap(({ tests }) => tests))
      named.set(file, (named.get(file) ?? new Set()).add(title))
    expect(named.size).toBeGreaterThan(50)
    const missing = [...named].flatMap(([file, titles]) => {
      const present = new Set(titlesIn(textOf(file)))
      return [...titles].filter((title) => !present.has(title)).map((title) => `${file}: ${title}`)
    })
    expect(missing).toEqual([])
  })

  it('names each test by its file and its words', () => {
    const odd = entries.filter(({ cell, tests }) => (cell === '' ? [] : cell.split('<br>')).length !== tests.length)
    expect(odd.map(nameOf)).toEqual([])
  })

  it('has a test for whatever leads to code, unless it says why not or the rows below have theirs', () => {
    const hasShown = (heading: string): boolean =>
      entries.some((row) => row.heading === heading && row.tests.length > 0)
    const bare = entries.filter(
      ({ heading, row, here, tests, note }) =>
        tests.length === 0 &&
        note === '' &&
        here.some((file) => file.startsWith('src/') || file.startsWith('ui/')) &&
        !(row === null && hasShown(heading)),
    )
    expect(bare.map(nameOf)).toEqual([])
  })

  it('explains every deviation that a row refers to, and refers to all that it explains', () => {
    const explained = [...textOf(PAGE).matchAll(/^\| (D\d+) /gm)].map(([, name]) => name)
    const referred = new Set(entries.flatMap(({ note }) => note.match(/\bD\d+\b/g) ?? []))
    expect([...referred].toSorted()).toEqual(explained.toSorted())
  })
})

// They lie beside the checkout of whoever compares anew; the list in seed-sections.ts is what everybody else has.
const SEEDS = path.join(ROOT, '../shared/seeds')

describe.skipIf(!existsSync(SEEDS))('the list of sections', () => {
  it('is that of the descriptions themselves', () => {
    const read = readdirSync(SEEDS)
      .toSorted()
      .map((file) => [file.slice(0, 3), sectionsOf(readFileSync(path.join(SEEDS, file), 'utf8'))])
    const listed = Object.entries(SEED_SECTIONS).map(([number, sections]) => [
      number,
      sections.map(({ name, there = name, rows = [] }) => [there, ...rows]),
    ])
    expect(read).toEqual(listed)
  })
})

const RULE = /^\|[\s:|-]+\|$/

/** Each heading with the first cells of the tables under it; what stands in fences is neither. */
function sectionsOf(text: string): readonly (readonly string[])[] {
  const lines = text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').split('\n')
  const sections: string[][] = []
  for (const [index, line] of lines.entries()) {
    const heading = /^#{1,6}\s+(.*)$/.exec(line)?.[1]
    if (heading !== undefined) sections.push([heading.trim()])
    else if (line.startsWith('|') && !RULE.test(line) && !RULE.test(lines[index + 1] ?? ''))
      sections.at(-1)?.push((line.split('|')[1] ?? '').trim().replace(/^\[([^\]]*)\].*$/, '$1'))
  }
  return sections
}

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
