import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { ROOT } from './root.ts'

interface State {
  readonly files: number
  readonly done: number
  readonly passed: number
  readonly failed: number
}

interface Progress {
  readonly state: State
  readonly read: () => readonly { readonly of: string }[]
  readonly close: () => void
}

interface Stream {
  readonly isTTY: boolean
  readonly columns?: number
  readonly write: (text: string) => void
}

interface Loaded {
  readonly createProgress: (file: string) => Progress
  readonly secondsLeft: (state: Pick<State, 'files' | 'done'>, seconds: number) => number | undefined
  readonly createDisplay: (how: { readonly stream: Stream; readonly now: () => number }) => {
    readonly follow: (name: string, progress: Progress) => (last: string) => void
  }
  readonly lineOf: (step: { name: string; width: number; state: State; seconds: number }) => string
  readonly endedChildrenSeconds: () => number | undefined
}

const load = (name: string): Promise<object> =>
  import(pathToFileURL(path.join(ROOT, `scripts/test/${name}.mjs`)).href) as Promise<object>
const { createProgress, secondsLeft, createDisplay, lineOf, endedChildrenSeconds } = Object.assign(
  {},
  ...(await Promise.all(['progress', 'display', 'cpu'].map(load))),
) as Loaded

const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-progress-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('the progress of a step', () => {
  const file = path.join(directory, 'progress.jsonl')
  const tell = (...events: readonly object[]): void =>
    appendFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''))

  it('is what its reporter has told so far, and every failure is told once', () => {
    const progress = createProgress(file)
    tell({ kind: 'begins', files: 4 }, { kind: 'test', state: 'passed' }, { kind: 'test', state: 'failed' })
    tell({ kind: 'failure', of: 'a test', text: 'no' }, { kind: 'file' })
    expect(progress.read().map(({ of }) => of)).toEqual(['a test'])
    // Half a line is read when the other half is there.
    appendFileSync(file, '{"kind":"test",')
    expect(progress.read()).toEqual([])
    appendFileSync(file, '"state":"passed"}\n')
    expect(progress.read()).toEqual([])
    expect(progress.state).toEqual({ files: 4, done: 1, passed: 2, failed: 1 })
    progress.close()
  })

  it.each([
    ['half is done', 4, 2, 10],
    ['one of four is', 4, 1, 30],
    ['all is', 4, 4, 0],
    ['too little is', 40, 1, undefined],
    ['nothing is known', 0, 0, undefined],
  ])('says what is left when %s', (_, files, done, left) => {
    expect(secondsLeft({ files, done }, 10)).toBe(left)
  })

  it('is one line with a bar', () => {
    const state = { files: 4, done: 1, passed: 812, failed: 0 }
    expect(lineOf({ name: 'core', width: 6, state, seconds: 34 })).toBe(
      'core  [#####...............]  812 passed, 34 s, about 1 min 42 s left',
    )
    expect(lineOf({ name: 'core', width: 6, state: { ...state, done: 0, failed: 2 }, seconds: 61 })).toBe(
      'core  [....................]  812 passed, 2 failed, 1 min 1 s',
    )
  })
})

describe('what is seen of a run', () => {
  const failure = { of: 'test/a.test.ts > b', text: 'Error: no' }
  const aProgress = (...failures: (typeof failure)[]): Progress => ({
    ...{ state: { files: 2, done: 1, passed: 3, failed: 0 }, close: () => undefined },
    read: () => failures.splice(0),
  })
  const see = (isTTY: boolean): string => {
    let seen = ''
    const stream = { isTTY, write: (text: string) => void (seen += text) }
    const display = createDisplay({ stream, now: () => 0 })
    display.follow('core', aProgress(failure))('core: done\n')
    return seen
  }

  it('is lines that stay, where it is not a terminal', () => {
    expect(see(false)).toBe('== core\nfailed: test/a.test.ts > b\n    Error: no\ncore: done\n')
  })

  it('is a live line on a terminal, under the failures, which gives way to the last line', () => {
    const text = see(true)
    expect(text.startsWith('failed: test/a.test.ts > b\n    Error: no\ncore ')).toBe(true)
    expect(text.endsWith('\u001B[1A\u001B[Jcore: done\n')).toBe(true)
  })
})

describe('npm test', () => {
  const run = (...args: readonly string[]): SpawnSyncReturns<string> =>
    spawnSync(process.execPath, ['scripts/test.mjs', ...args], { cwd: ROOT, encoding: 'utf8' })

  it('refuses a word that is neither a step nor a file, and names the steps', () => {
    const { status, stderr } = run('stor-age')
    expect(status).toBe(2)
    expect(stderr).toContain('There is no test step or test file "stor-age" (steps: core, scenarios, http, walk,')
  })

  it('runs files by a part of their path, prints what each took and keeps their output', () => {
    const { status, stdout } = run('yaml/write', 'log/transaction-log')
    expect(stdout).toMatch(/^== yaml\/write$/m)
    expect(stdout).toMatch(/^yaml\/write +\d+ passed, 0 failed in [\d.]+ s/m)
    expect([status, stdout.trimEnd().split('\n').at(-1)]).toEqual([0, expect.stringMatching(/^\d+ passed, 0 failed$/)])
  }, 120_000)
})

it.runIf(process.platform === 'linux')('the CPU time of children that have ended is counted', () => {
  const before = endedChildrenSeconds() ?? Number.NaN
  const busy = 'let n; do { const { user, system } = process.cpuUsage(); n = user + system } while (n < 400_000)'
  spawnSync(process.execPath, ['-e', busy])
  expect((endedChildrenSeconds() ?? 0) - before).toBeGreaterThan(0.3)
})
