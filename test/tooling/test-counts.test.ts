import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ROOT } from './root.ts'

// The last line of a test run is only worth something if nothing that went wrong can be missing from it.

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

interface Tested {
  readonly status: string
  readonly fullName?: string
  readonly failureMessages?: readonly string[]
}

interface TestedFile {
  readonly name: string
  readonly status: string
  readonly message: string
  readonly assertionResults: readonly Tested[]
}

interface Counting {
  readonly countRun: (run: {
    readonly report: { readonly testResults: readonly TestedFile[] } | undefined
    readonly exitCode: number | string
    readonly picked: boolean
  }) => { readonly counts: Counts; readonly troubles: readonly string[]; readonly failures: readonly string[] }
  readonly describeCounts: (counts: Counts) => string
}

const { countRun, describeCounts } = (await import(
  pathToFileURL(path.join(ROOT, 'scripts/test/counts.mjs')).href
)) as Counting

const aFile = (status: string, ...statuses: readonly string[]): TestedFile => ({
  name: 'a.test.ts',
  status,
  message: status === 'failed' ? 'SyntaxError: here\n  at there' : '',
  assertionResults: statuses.map((each) => ({ status: each })),
})

const count = (files: readonly TestedFile[], exitCode: number | string = 0, picked = false): string => {
  const { counts, troubles } = countRun({ report: { testResults: files }, exitCode, picked })
  return [describeCounts(counts), ...troubles].join(' / ')
}

describe('the counts of a test run', () => {
  it('are those of its tests', () => {
    expect(count([aFile('passed', 'passed', 'passed'), aFile('failed', 'passed', 'failed')], 1)).toBe(
      '3 passed, 1 failed',
    )
  })

  it('mention skipped tests only when there are some', () => {
    expect(count([aFile('passed', 'passed', 'skipped', 'todo')])).toBe('1 passed, 0 failed, 2 skipped')
  })

  it('count a file that could not be loaded as a failure', () => {
    expect(count([aFile('passed', 'passed'), aFile('failed')], 1)).toBe(
      '1 passed, 1 failed / a.test.ts: SyntaxError: here',
    )
  })

  it('count a file whose tests passed and whose clean-up failed as a failure', () => {
    expect(count([aFile('failed', 'passed')], 1)).toBe('1 passed, 1 failed / a.test.ts: SyntaxError: here')
  })

  it('count an error outside every test as a failure', () => {
    expect(count([aFile('passed', 'passed')], 1)).toMatch(/^1 passed, 1 failed \/ vitest ended with code 1, although/)
  })

  it('count a run that died as a failure', () => {
    expect(countRun({ report: undefined, exitCode: 'SIGKILL', picked: false })).toEqual({
      counts: { passed: 0, failed: 1, skipped: 0 },
      troubles: ['vitest ended with code SIGKILL and left no report'],
      failures: [],
    })
  })

  it('come with a line for each test that failed', () => {
    const failed = { status: 'failed', fullName: 'a run starts', failureMessages: ['Error: too late\n  at here'] }
    const file = { ...aFile('failed', 'passed'), assertionResults: [{ status: 'passed' }, failed] }
    expect(countRun({ report: { testResults: [file] }, exitCode: 1, picked: false }).failures).toEqual([
      'a.test.ts: a run starts: Error: too late',
    ])
  })

  it('count a suite without a test as a failure, unless tests were picked by hand', () => {
    expect(count([], 1)).toBe('0 passed, 1 failed / no test ran')
    expect(count([aFile('passed', 'skipped')])).toBe('0 passed, 1 failed, 1 skipped / no test ran')
    expect(count([aFile('passed', 'skipped')], 0, true)).toBe('0 passed, 0 failed, 1 skipped')
  })
})
