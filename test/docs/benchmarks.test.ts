import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'

interface BenchRecord {
  readonly when: string | null
  readonly quick?: boolean
  readonly goals: readonly Readonly<Record<string, string>>[]
  readonly parts: Readonly<Record<string, unknown>>
  /** Parts that were begun and came to no end; the page names them. */
  readonly failed?: readonly string[]
  /** Parts that are newer than the run; only until the next report. */
  readonly notYet?: readonly string[]
}

const load = async (file: string): Promise<unknown> => import(pathToFileURL(path.join(ROOT, file)).href)
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')

const { recordOf, regionsOf, render, withParts } = (await load('bench/report/page.mjs')) as {
  readonly recordOf: (results: unknown) => BenchRecord
  readonly regionsOf: (page: string) => readonly string[]
  readonly render: (page: string, record: BenchRecord) => string
  readonly withParts: (record: BenchRecord, results: unknown) => BenchRecord
}
const { PART_NAMES } = (await load('bench/engine/parts.mjs')) as { readonly PART_NAMES: readonly string[] }

const page = read('docs/benchmarks.md')
const record = JSON.parse(read('docs/benchmarks.json')) as BenchRecord

/** Columns are aligned when the page is written; how wide they are says nothing. */
const plain = (text: string): string => text.replaceAll(/[ \t]+/g, ' ').replaceAll(/-{3,}/g, '---')

describe('The page of the benchmarks', () => {
  it('shows what the record says, and nothing else between its markers', () => {
    expect(plain(page)).toBe(plain(render(page, record)))
  })

  it('has room for the machine, the goals, those missed and every part', () => {
    expect([...regionsOf(page)].sort()).toEqual(['goals', 'machine', 'missed', ...PART_NAMES].sort())
  })

  it('is of a run of every part, or of none', () => {
    const told = [...Object.keys(record.parts), ...(record.failed ?? []), ...(record.notYet ?? [])]
    expect(told.sort()).toEqual(record.when === null ? [] : [...PART_NAMES].sort())
    for (const part of record.failed ?? []) expect(page).toContain(part)
  })
})

describe('The report', () => {
  const results = {
    ...{ when: '2026-01-15T09:30:00.000Z', quick: false, rounds: 3, absent: [], failed: [], method: 'not shown' },
    machine: { ...{ processor: '2 × x', memoryGiB: 4, platform: 'p', node: 'v1' }, postgres: '18', redis: null },
    versions: { escapement: '0.1.0' },
    goals: [
      { goal: 'drain: times the best', wanted: '≥ 1.3', measured: '1.25', reached: 'no' },
      { goal: 'latency p50', wanted: '< 1', measured: '0.5', reached: 'yes' },
    ],
    parts: {
      drain: {
        ...{ title: 'Drain', seconds: 7, loadAverage: 0.123, notes: ['a_b'], facts: { secret: 1 } },
        rows: [{ contestant: 'a|b', 'per second': 12_345.6, missing: null }],
      },
    },
  }
  const empty = ['machine', 'goals', 'missed', 'drain', 'idle']
    .map((name) => `<!-- measured: ${name} -->\n<!-- /measured -->`)
    .join('\n\nby hand\n\n')

  it('keeps what is shown and not the figures behind it', () => {
    expect(JSON.stringify(recordOf(results))).not.toMatch(/secret|method/)
  })

  it('shows figures, goals that were missed, and parts that were not measured', () => {
    const shown = render(empty, recordOf(results))
    expect(shown).toContain('| a\\|b | 12,345.6 | – |')
    expect(shown).toContain('- drain: times the best: wanted ≥ 1.3, measured 1.25.')
    expect(shown).not.toContain('- latency p50')
    expect(shown).toContain('a\\_b\n\nTook 7 s; load average before it 0.1.')
    const newer = { ...recordOf(results), notYet: ['idle'] }
    expect(render(empty, newer)).toContain('<!-- measured: idle -->\n\nNot measured yet.\n\n<!-- /measured -->')
    expect(shown).toContain('<!-- measured: idle -->\n\nNot measured in this run.\n\n<!-- /measured -->')
    expect(shown.match(/by hand/g)).toHaveLength(4)
    expect(render(shown, recordOf(results))).toBe(shown)
    expect(shown).not.toContain('quick run')
    expect(render(empty, recordOf({ ...results, quick: true }))).toContain('a quick run')
  })

  it('takes parts and goals of a later run of some parts, and says when that was', () => {
    const goal = { goal: 'drain: times the best', wanted: '≥ 1.3', measured: '1.4', reached: 'yes' }
    const later = { ...results, when: '2026-02-01T00:00:00.000Z', goals: [goal], parts: { idle: results.parts.drain } }
    const merged = withParts({ ...recordOf(results), notYet: ['idle'] }, later)
    expect(merged.goals).toEqual([results.goals[1], goal])
    expect(merged.notYet).toEqual([])
    const shown = render(empty, merged)
    expect(shown).toContain('Took 7 s on 2026-02-01; load average before it 0.1.')
    expect(shown).toContain('Took 7 s; load average before it 0.1.')
    expect(shown).toContain('In this run no goal was missed.')
  })
})
