import path from 'node:path'
import { ESLint } from 'eslint'
import { describe, expect, it } from 'vitest'
import { ROOT } from './root.ts'

// Rules that nobody has seen firing guard nothing. Each snippet is linted in memory, as if it stood in the given file.

const PROBES = [
  'src/core/probe.ts',
  'src/core/time/probe.ts',
  'src/cli/probe.ts',
  'src/probe.ts',
  'test/core/probe.ts',
  'ui/probe.tsx',
]

const eslint = new ESLint({
  cwd: ROOT,
  overrideConfig: {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: PROBES, defaultProject: 'tsconfig.json' } },
    },
  },
})

async function rulesBrokenBy(file: string, code: string): Promise<readonly string[]> {
  const [result] = await eslint.lintText(code, { filePath: path.join(ROOT, file) })
  return (result?.messages ?? []).map((message) => message.ruleId ?? `fatal: ${message.message}`)
}

const lines = (count: number): string => Array.from({ length: count }, (_, n) => `export const a${n} = ${n}\n`).join('')

describe('in every file', () => {
  const cases: readonly (readonly [what: string, rule: string, code: string])[] = [
    ['a forgotten promise', '@typescript-eslint/no-floating-promises', 'Promise.resolve(1)\n'],
    [
      'a promise where a plain function is expected',
      '@typescript-eslint/no-misused-promises',
      'export const all = (list: readonly number[]): void => list.forEach(async () => Promise.resolve())\n',
    ],
    [
      'a forgotten case',
      '@typescript-eslint/switch-exhaustiveness-check',
      "export function f(x: 'a' | 'b'): number {\n  switch (x) {\n    case 'a':\n      return 1\n  }\n  return 2\n}\n",
    ],
    ['any', '@typescript-eslint/no-explicit-any', 'export const f = (x: any): boolean => x === 1\n'],
    [
      'a non-null assertion',
      '@typescript-eslint/no-non-null-assertion',
      'export const f = (list: readonly number[]): number => list[0]!\n',
    ],
    [
      'a type imported as a value',
      '@typescript-eslint/consistent-type-imports',
      "import { Instant } from './core/instant.ts'\nexport type Moment = Instant\n",
    ],
    [
      'an exported function without a result type',
      '@typescript-eslint/explicit-module-boundary-types',
      'export const double = (x: number) => 2 * x\n',
    ],
    ['a barrel', 'no-restricted-syntax', "export * from './core/instant.ts'\n"],
    ['a default export', 'no-restricted-syntax', 'export default 1\n'],
    ['the environment', 'no-restricted-properties', 'export const home = process.env["HOME"]\n'],
    [
      'the environment by another road',
      'no-restricted-imports',
      "import { env } from 'node:process'\nexport { env }\n",
    ],
    ['console', 'no-console', "console.log('here')\n"],
    [
      'four positional parameters',
      'max-params',
      'export const f = (a: number, b: number, c: number, d: number): number => a + b + c + d\n',
    ],
    [
      'a function over 60 lines',
      'max-lines-per-function',
      `export function f(): number {\n  let n = 0\n${'  n += 1\n'.repeat(60)}  return n\n}\n`,
    ],
  ]

  it.each(cases)('%s is reported', async (_, rule, code) => {
    expect(await rulesBrokenBy('src/probe.ts', code)).toContain(rule)
  })
})

describe('in src/core', () => {
  const cases: readonly (readonly [what: string, rule: string, code: string])[] = [
    ['Date.now', 'no-restricted-properties', 'export const f = (): number => Date.now()\n'],
    ["Date['now']", 'no-restricted-properties', "export const f = (): number => Date['now']()\n"],
    ['Date.now by destructuring', 'no-restricted-properties', 'const { now } = Date\nexport const f = now\n'],
    ['new Date()', 'no-restricted-syntax', 'export const f = (): Date => new Date()\n'],
    ['Date()', 'no-restricted-syntax', 'export const f = (): string => Date()\n'],
    ["a date in the host's zone", 'no-restricted-syntax', 'export const f = (): Date => new Date(2026, 0, 1)\n'],
    ["an hour in the host's zone", 'no-restricted-syntax', 'export const f = (d: Date): number => d.getHours()\n'],
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
    ['an async function', 'no-restricted-syntax', 'export async function f(): Promise<void> {}\n'],
    ['an async arrow', 'no-restricted-syntax', 'export const f = async (): Promise<number> => Promise.resolve(1)\n'],
    ['await', 'no-restricted-syntax', 'export const f = await Promise.resolve(1)\n'],
    ['a file over 300 lines', 'max-lines', lines(301)],
  ]

  it.each(cases)('%s is reported', async (_, rule, code) => {
    expect(await rulesBrokenBy('src/core/probe.ts', code)).toContain(rule)
    expect(await rulesBrokenBy('src/core/time/probe.ts', code)).toContain(rule)
  })

  it('a clean file of 300 lines passes', async () => {
    expect(await rulesBrokenBy('src/core/probe.ts', lines(300))).toEqual([])
  })

  it('a date made from a number passes, because it reads no clock', async () => {
    const code = 'export const f = (ms: number): string => new Date(ms).toISOString()\n'
    expect(await rulesBrokenBy('src/core/probe.ts', code)).toEqual([])
  })
})

describe('at the edges', () => {
  it('the command line may read the clock', async () => {
    expect(await rulesBrokenBy('src/cli/probe.ts', 'export const f = (): number => Date.now()\n')).toEqual([])
  })

  it('zone.ts may ask Intl', async () => {
    const config = (await eslint.calculateConfigForFile(path.join(ROOT, 'src/core/time/zone.ts'))) as {
      readonly rules: Readonly<Record<string, readonly unknown[]>>
    }
    const restricted = JSON.stringify(config.rules['no-restricted-globals'])
    expect(restricted).toContain('performance')
    expect(restricted).not.toContain('Intl')
  })

  it('a test file may be twice as long', async () => {
    expect(await rulesBrokenBy('test/core/probe.ts', lines(600))).toEqual([])
    expect(await rulesBrokenBy('test/core/probe.ts', lines(601))).toEqual(['max-lines'])
  })
})

describe('in the console', () => {
  const page = (inside: string): string =>
    `declare const say: (key: string) => string\nexport const page = (count: number): unknown => ${inside}\nexport const keep = say\n`
  const loose = [
    '<p>Loose words</p>',
    '<p>{count} 个运行</p>',
    '<p>{"Loose words"}</p>',
    '<p>{`${count} runs`}</p>',
    '<img alt="A picture" title={String(count)} />',
    '<input placeholder={"Search"} value={count} />',
    '<input aria-label={`${count} runs`} />',
  ]

  it.each(loose)('%s is refused: its text is in no catalogue', async (inside) => {
    expect(await rulesBrokenBy('ui/probe.tsx', page(inside))).toContain('no-restricted-syntax')
  })

  it('signs, numbers and texts of the catalogue pass', async () => {
    const inside = '<p className="quiet" title={say("a.key")}>{count} · {say("another.key")} – {`${count}`}</p>'
    expect(await rulesBrokenBy('ui/probe.tsx', page(inside))).not.toContain('no-restricted-syntax')
  })
})
