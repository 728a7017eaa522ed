import { existsSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { titlesIn } from '../docs/test-titles.ts'
import { textOf } from '../docs/tracked-files.ts'
import { ROOT } from '../tooling/root.ts'
import type { Row } from './row.ts'
import { countLine, MAX_NOT_EXECUTABLE, SEEDS } from './seeds.ts'
import { startSharedServer, type SharedServer } from './world.ts'

// Checks wait more than they compute.
vi.setConfig({ maxConcurrency: 8 })

const rows = SEEDS.flatMap((seed) => seed.rows)

const nameOf = (seed: string, { line, says }: Row): string => `${seed}:${line} ${says}`

describe('the rows of the coverage', () => {
  it.each(SEEDS.map((seed) => [seed.number, seed] as const))('are all there for %s', (_, seed) => {
    expect(seed.rows).toHaveLength(seed.statements)
    const names = seed.rows.map((row) => nameOf(seed.number, row))
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('are 527 statements of five documents', () => {
    expect(SEEDS.map(({ number, statements }) => [number, statements])).toEqual([
      ['000', 118],
      ['001', 75],
      ['002', 139],
      ['003', 89],
      ['004', 106],
    ])
    process.stdout.write(`${countLine(SEEDS)}\n`)
  })

  it('are each executed in exactly one way, but for a few that say why not', () => {
    const waysOf = ({ check, shownBy, notExecutable }: Row): number =>
      [check, shownBy, notExecutable].filter((way) => way !== undefined).length
    expect(rows.filter((row) => waysOf(row) !== 1).map(({ line, says }) => `${line} ${says}`)).toEqual([])
    const without = rows.filter(({ notExecutable }) => notExecutable !== undefined)
    expect(without.length).toBeLessThanOrEqual(MAX_NOT_EXECUTABLE)
    expect(without.filter(({ notExecutable }) => notExecutable?.trim() === '')).toEqual([])
    expect(rows.filter(({ differs }) => differs?.trim() === '')).toEqual([])
  })

  it('name tests that are there', () => {
    const named = new Map<string, Set<string>>()
    for (const { shownBy } of rows)
      if (shownBy !== undefined) named.set(shownBy[0], (named.get(shownBy[0]) ?? new Set()).add(shownBy[1]))
    const missing = [...named].flatMap(([file, titles]) => {
      const present = new Set(existsSync(path.join(ROOT, file)) ? titlesIn(textOf(file)) : [])
      return [...titles].filter((title) => !present.has(title)).map((title) => `${file}: ${title}`)
    })
    expect(missing).toEqual([])
  })
})

describe('a statement holds', () => {
  let server: SharedServer
  beforeAll(async () => {
    server = await startSharedServer()
  }, 60_000)
  afterAll(() => server.end(), 60_000)

  // A check that several statements share is executed once, and each of them has its result.
  const results = new Map<Row['check'], Promise<void>>()
  const resultOf = (check: NonNullable<Row['check']>): Promise<void> => {
    const result = results.get(check) ?? server.check(check)
    results.set(check, result)
    return result
  }

  for (const seed of SEEDS)
    for (const row of seed.rows) {
      const { check } = row
      if (check !== undefined) it.concurrent(nameOf(seed.number, row), () => resultOf(check), 90_000)
    }
})
