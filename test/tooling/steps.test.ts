import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { LONG_FILES } from '../support/longest-first.ts'
import { MOCKING } from '../support/projects.ts'
import { ROOT } from './root.ts'

interface Step {
  readonly name: string
  readonly circle: 'first' | 'second'
  readonly folders: readonly string[]
  readonly again?: true
  readonly computes?: true
}

const { STEPS } = (await import(pathToFileURL(path.join(ROOT, 'scripts/test/steps.mjs')).href)) as {
  readonly STEPS: readonly Step[]
}

const { isIn, select } = (await import(pathToFileURL(path.join(ROOT, 'scripts/test/select.mjs')).href)) as {
  readonly isIn: (step: Step, file: string) => boolean
  readonly select: (
    args: readonly string[],
    root: string,
  ) => {
    readonly steps?: readonly Step[]
    readonly vitestArgs?: readonly string[]
    readonly circle?: string
    readonly unknown?: string
  }
}

const FIRST = ['core', 'scenarios', 'http', 'walk', 'store', 'security', 'commands']

const testFiles = readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .map((file) => `test/${file.split(path.sep).join('/')}`)
  .filter((file) => file.endsWith('.test.ts') && !file.includes('/fixtures/'))

describe('npm test', () => {
  it('runs every test file in exactly one of its steps', () => {
    const wrong = testFiles
      .map((file) => [file, STEPS.filter((step) => step.again !== true && isIn(step, file)).length] as const)
      .filter(([, steps]) => steps !== 1)
    expect(wrong).toEqual([])
    expect(testFiles.length).toBeGreaterThan(50)
  })

  it('has no step without a test', () => {
    const empty = STEPS.filter((step) => !testFiles.some((file) => isIn(step, file)))
    expect(empty.map((step) => step.name)).toEqual([])
  })

  it('looks first at what a change can break, then at the rest', () => {
    const namesIn = (wanted: string): readonly string[] =>
      STEPS.filter(({ circle }) => circle === wanted).map(({ name }) => name)
    expect(namesIn('first')).toEqual(FIRST)
    for (const name of [
      'simulation',
      'agreement',
      'faults',
      'chaos',
      'http scenarios',
      'browser',
      'docs',
      'postgres 15',
    ])
      expect(namesIn('second')).toContain(name)
  })

  it.each<readonly [string, readonly string[], readonly string[], string | undefined]>([
    ['the first circle', [], FIRST, 'first'],
    ['everything', ['all'], STEPS.map(({ name }) => name), 'all'],
    ['the rest', ['rest'], STEPS.filter(({ circle }) => circle === 'second').map(({ name }) => name), 'rest'],
    ['steps by name', ['faults', 'core'], ['faults', 'core'], undefined],
    ['a file', ['test/domain/access/access.test.ts'], ['test/domain/access/access.test.ts'], undefined],
  ])('runs %s when asked for it', (_, words, names, circle) => {
    const { steps, vitestArgs, circle: chosen } = select([...words, '-t', 'a b'], ROOT)
    expect(steps?.map(({ name }) => name)).toEqual(names)
    expect([vitestArgs, chosen]).toEqual([['-t', 'a b'], circle])
  })

  it('leaves what belongs to another step to that one', () => {
    const folders = select(['security'], ROOT).steps?.[0]?.folders ?? []
    expect(folders).toContain('test/security/doors.test.ts')
    expect(folders).not.toContain('test/security/large-rows.test.ts')
  })

  it('gives a process of its own to every file that mocks modules, and to no other', () => {
    const mocking = testFiles.filter((file) => /\bvi\.(m|doM)ock\(/.test(readFileSync(path.join(ROOT, file), 'utf8')))
    expect(mocking.toSorted()).toEqual(MOCKING.toSorted())
    expect(mocking).not.toEqual([])
  })

  it('begins with files that exist', () => {
    expect(Object.keys(LONG_FILES).filter((file) => !testFiles.includes(file))).toEqual([])
  })
})
