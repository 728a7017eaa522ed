import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

interface FuzzPart {
  readonly name: string
  readonly database?: boolean
}
interface End {
  readonly tried: number
  readonly findings: readonly unknown[]
  readonly facts: Readonly<Record<string, unknown>>
}

/** The command is plain JavaScript without types; a module of it is what it is said to be here. */
const load = async <T>(name: string): Promise<T> =>
  (await import(/* @vite-ignore */ new URL(`../../scripts/fuzz/${name}`, import.meta.url).href)) as T

const { PARTS, readOptions } = await load<{
  readonly PARTS: readonly FuzzPart[]
  readonly readOptions: (args: readonly string[], chance?: () => number) => unknown
}>('options.mjs')
const { keepFinding, lastWord, lineOf } = await load<{
  readonly keepFinding: (directory: string, finding: unknown) => string
  readonly lastWord: (ends: readonly End[]) => string
  readonly lineOf: (part: FuzzPart, end: End | undefined) => string
}>('report.mjs')
const { runPart } = await load<{ readonly runPart: (asked: unknown) => Promise<End> }>('watch.mjs')

const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-fuzz-test-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('the options', () => {
  it('are every part, or those that are named', () => {
    expect(readOptions([], () => 0.5)).toMatchObject({ parts: PARTS, seed: 500_000, seconds: null, replay: null })
    expect(readOptions(['api', '--seconds', '5', '--seed', '7'])).toMatchObject({
      parts: [{ name: 'api' }],
      ...{ seconds: 5, seed: 7 },
    })
  })

  it.each([
    [['nothing'], 'there is no part "nothing"'],
    [['--seconds', 'x'], '--seconds must be a whole number, not "x"'],
    [['--seconds', '0'], '--seconds must be a whole number, not "0"'],
    [['--replay', 'a.json'], '--replay needs exactly one part'],
    [['--loud'], "Unknown option '--loud'"],
  ])('%j is refused', (args, wrong) => {
    expect(readOptions(args)).toMatchObject({ wrong: expect.stringContaining(wrong) as string })
  })
})

const finding = {
  part: 'parsers',
  kind: 'crash',
  where: 'cron',
  message: 'broke',
  input: { target: 'cron', input: '*' },
}

describe('the report', () => {
  it('says how much was tried and what was found', () => {
    const ends = [
      { tried: 5, findings: [finding], facts: { slowest_ms: 3 } },
      { tried: 2, findings: [], facts: {} },
    ]
    expect(lineOf({ name: 'parsers' }, ends[0])).toBe('parsers: 5 tried, 1 found, slowest ms 3')
    expect(lastWord(ends)).toBe('7 tried, 1 crashes, 0 5xx, 0 hangs, 0 wrong answers')
  })

  it('keeps a finding as a file that can be tried again', () => {
    const file = keepFinding(directory, finding)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ why: 'crash in cron: broke', input: finding.input })
  })
})

/** A process that does what it is told instead of trying anything. */
function program(does: string): readonly string[] {
  const file = path.join(directory, `${does.length}.mjs`)
  writeFileSync(
    file,
    `import { writeFileSync } from 'node:fs'
     const { directory } = JSON.parse(process.env.ESCAPEMENT_FUZZ)
     writeFileSync(directory + '/step', JSON.stringify({ steps: 3, where: 'cron', input: '* *' }))
     ${does}`,
  )
  return [file]
}

const asked = { root: directory, part: { name: 'parsers', database: false }, seconds: 1, seed: 1, replay: null }

describe('a process', () => {
  it('that comes to its end is believed', async () => {
    const end = `writeFileSync(directory + '/end.json', JSON.stringify({ tried: 9, findings: [], facts: {} }))`
    expect(await runPart({ ...asked, program: program(end) })).toEqual({ tried: 9, findings: [], facts: {} })
  })

  it('that dies is a finding with what it was about', async () => {
    expect(await runPart({ ...asked, program: program('process.exit(3)') })).toMatchObject({
      tried: 3,
      findings: [{ kind: 'crash', where: 'cron', input: '* *', message: 'the process ended with code 3' }],
    })
  })

  it('that does not get on is ended, and is a finding', async () => {
    expect(await runPart({ ...asked, hangsAfterMs: 500, program: program('for (;;);') })).toMatchObject({
      findings: [{ kind: 'hang', where: 'cron', input: '* *' }],
    })
  })
})
