import { describe, expect, it } from 'vitest'
import { CONFIGURATION } from './configuration.ts'
import { type Probe, lintProbes } from './lint-probes.ts'

// `rule-table.test.ts` shows each rule firing once. Here the project's own rules fire in every form that matters, and what
// they allow passes.

const SYNTAX = 'house/no-restricted-syntax'

const lines = (count: number): string => Array.from({ length: count }, (_, n) => `export const a${n} = ${n}\n`).join('')

const IN_CORE: readonly (readonly [what: string, rule: string, code: string])[] = [
  ['Date.now', 'no-restricted-properties', 'export const f = (): number => Date.now()\n'],
  ["Date['now']", 'no-restricted-properties', "export const f = (): number => Date['now']()\n"],
  ['Date.now by destructuring', 'no-restricted-properties', 'const { now } = Date\nexport const f = now\n'],
  ['new Date()', SYNTAX, 'export const f = (): Date => new Date()\n'],
  ['Date()', SYNTAX, 'export const f = (): string => Date()\n'],
  ["a date in the host's zone", SYNTAX, 'export const f = (): Date => new Date(2026, 0, 1)\n'],
  ["an hour in the host's zone", SYNTAX, 'export const f = (d: Date): number => d.getHours()\n'],
  ['Math.random', 'no-restricted-properties', 'export const f = (): number => Math.random()\n'],
  ['performance', 'no-restricted-globals', 'export const f = (): number => performance.now()\n'],
  ['a timer', 'no-restricted-globals', 'setTimeout(() => undefined, 1)\n'],
  ['queueMicrotask', 'no-restricted-globals', 'queueMicrotask(() => undefined)\n'],
  ['process', 'no-restricted-globals', 'export const f = (): number => process.pid\n'],
  ['fetch', 'no-restricted-globals', 'export const f = fetch\n'],
  ['crypto', 'no-restricted-globals', 'export const f = (): string => crypto.randomUUID()\n'],
  ['globalThis', 'no-restricted-globals', 'export const f = globalThis\n'],
  ['console', 'no-restricted-globals', "console.log('here')\n"],
  ['Intl', 'no-restricted-globals', "export const f = new Intl.DateTimeFormat('en')\n"],
  ['an async function', SYNTAX, 'export async function f(): Promise<void> {}\n'],
  ['an async arrow', SYNTAX, 'export const f = async (): Promise<number> => Promise.resolve(1)\n'],
  ['await', SYNTAX, 'export const f = await Promise.resolve(1)\n'],
  ['for await', SYNTAX, 'for await (const a of []) void a\nexport const b = 1\n'],
  ['new Promise', SYNTAX, 'export const f = new Promise(() => undefined)\n'],
  ['Promise.all', SYNTAX, 'export const f = Promise.all([])\n'],
  ['import()', SYNTAX, "export const f = import('./instant.ts')\n"],
  ['a default export', SYNTAX, 'export default 1\n'],
  ['an enum', SYNTAX, 'export enum A {\n  One = 1,\n}\n'],
  ['a file over 400 lines', 'max-lines', lines(401)],
]

const given = (code: string): string => `export const f = (a: number[], b: number[]): unknown => ${code}\n`

const SPREAD_LISTS = ['a.push(...b)', 'a.push(1, ...b)', 'Math.max(...a)', 'Math.min(0, ...b)', 'a.splice(0, 0, ...b)']

const ROWS_BY_TEXT = ["row['org_id']", "rows[0]?.['count']", 'row["id"]']
const rows = (code: string): string =>
  `export const f = (row: Readonly<Record<string, unknown>>, rows: readonly Readonly<Record<string, unknown>>[]): unknown =>\n  rows.length > 1 ? row : ${code}\n`

const page = (inside: string): string =>
  `declare const say: (key: string) => string\nexport const page = (count: number): unknown => ${inside}\nexport const keep = say\n`

const LOOSE_TEXTS = [
  '<p>Loose words</p>',
  '<p>{count} 个运行</p>',
  '<p>{"Loose words"}</p>',
  '<p>{`${count} runs`}</p>',
  '<img alt="A picture" title={String(count)} />',
  '<input placeholder={"Search"} value={count} />',
  '<input aria-label={`${count} runs`} />',
]

const WHILE_TRUE = 'export function f(): number {\n  while (true) {\n    if (Date.now() > 0) return 1\n  }\n}\n'
const UNUSED = '// eslint-disable-next-line no-console -- nothing is printed here\nexport const a = 1\n'
const USED = "// eslint-disable-next-line no-console -- it is printed here\nconsole.log('here')\n"

/** What has to pass without a word, or with the words that are named. */
const EXACT: readonly (readonly [what: string, file: string, code: string, rules: readonly string[]])[] = [
  ['a clean file of 400 lines passes', 'src/domain/probe.ts', lines(400), []],
  [
    'a date made from a number passes, because it reads no clock',
    'src/domain/probe.ts',
    'export const f = (ms: number): string => new Date(ms).toISOString()\n',
    [],
  ],
  ['the command line may read the clock', 'src/cli/probe.ts', 'export const f = (): number => Date.now()\n', []],
  ['a test file may have 600 lines', 'test/domain/probe.ts', lines(600), []],
  ['a test file may not have 601 lines', 'test/domain/probe.ts', lines(601), ['max-lines']],
  ['simulations may print', 'test/simulation/probe.ts', "console.log('here')\n", []],
  ['other tests may not', 'test/domain/probe.ts', "console.log('here')\n", ['no-console']],
  ['the console may compare with null', 'ui/probe.ts', 'export const f = (x?: number): boolean => x == null\n', []],
  ['names with an underscore may be unused', 'src/probe.ts', 'export const f = (_a: number): number => 1\n', []],
  ['numbers may stand in texts', 'src/probe.ts', 'export const f = (n: number): string => `${n}`\n', []],
  ['while (true) passes', 'src/probe.ts', WHILE_TRUE, ['typescript/no-unnecessary-condition']],
  ['rows may be read by the properties that were declared', 'src/platform/db/probe.ts', rows('rows[0]'), []],
  ['plain JavaScript is read without types', 'scripts/probe.mjs', 'Promise.resolve(1)\n', []],
  ['a comment that switches a rule off is heeded', 'src/probe.ts', USED, []],
]

const coreProbes = IN_CORE.flatMap(([what, rule, code]) =>
  ['src/domain/probe.ts', 'src/domain/time/probe.ts'].map((file) => ({ what, rule, probe: { file, code } })),
)
const spreadProbes = SPREAD_LISTS.flatMap((code) =>
  ['src/engine/probe.ts', 'src/domain/probe.ts'].map((file) => ({ spread: code, probe: { file, code: given(code) } })),
)
const rowProbes = ROWS_BY_TEXT.map((code) => ({
  row: code,
  probe: { file: 'src/platform/db/probe.ts', code: rows(code) },
}))
const looseProbes = LOOSE_TEXTS.map((inside) => ({ inside, probe: { file: 'ui/probe.tsx', code: page(inside) } }))
const exactProbes = EXACT.map(([what, file, code, rules]) => ({ what, rules, probe: { file, code } }))
const catalogue: Probe = {
  file: 'ui/probe.tsx',
  code: page('<p className="quiet" title={say("a.key")}>{count} · {say("another.key")} – {`${count}`}</p>'),
}
const unused: Probe = { file: 'src/probe.ts', code: UNUSED }

const rulesBrokenBy = await lintProbes([
  ...[...coreProbes, ...spreadProbes, ...rowProbes, ...looseProbes, ...exactProbes].map(({ probe }) => probe),
  ...[catalogue, unused],
])

describe('in src/domain', () => {
  it.each(coreProbes)('$what is reported in $probe.file', ({ rule, probe }) => {
    expect(rulesBrokenBy(probe)).toContain(rule)
  })
})

describe('a list of any length', () => {
  it.each(spreadProbes)('is not spread into arguments: $spread in $probe.file', ({ probe }) => {
    expect(rulesBrokenBy(probe)).toContain(SYNTAX)
  })
})

describe('a row of the database', () => {
  it.each(rowProbes)('is not read by the name of a column: $row', ({ probe }) => {
    expect(rulesBrokenBy(probe)).toEqual([SYNTAX])
  })
})

describe('at the edges', () => {
  it.each(exactProbes)('$what', ({ rules, probe }) => {
    expect(rulesBrokenBy(probe)).toEqual(rules)
  })

  it('a comment that switches off nothing is reported', () => {
    expect(rulesBrokenBy(unused).join()).toMatch(/unused.*eslint-disable/i)
  })

  it('zone.ts may ask Intl, and nothing else', () => {
    const zone = CONFIGURATION.overrides.find(({ files }) => files.includes('src/domain/time/zone.ts'))
    const restricted = JSON.stringify(zone?.rules)
    expect(restricted).toContain('performance')
    expect(restricted).not.toContain('Intl')
  })
})

describe('in the console', () => {
  it.each(looseProbes)('$inside is refused: its text is in no catalogue', ({ probe }) => {
    expect(rulesBrokenBy(probe)).toContain(SYNTAX)
  })

  it('signs, numbers and texts of the catalogue pass', () => {
    expect(rulesBrokenBy(catalogue)).not.toContain(SYNTAX)
  })
})
