import { execFileSync } from 'node:child_process'
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServerLog, type LogEntry, type ServerLog } from '../../../src/platform/log/server-log.ts'

let directory = ''

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-log-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true, force: true })
})

function collecting(
  level: Parameters<typeof createServerLog>[0]['level'],
  pretty = false,
): { readonly log: ServerLog; readonly text: () => string } {
  let text = ''
  return { log: createServerLog({ level, pretty, to: (more) => (text += more) }), text: () => text }
}

const entry = (level: LogEntry['level'], message = 'It happened'): LogEntry => ({
  level,
  message,
  facts: { run: 'run_1' },
})

describe('the log for programs', () => {
  it('has one JSON object per line, with level, time, message and facts', () => {
    const { log, text } = collecting('info')
    log.log(entry('warn'))
    log.info([['Run queued', '"org":"default","run":"run_2"']])
    const lines = text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines).toEqual([
      { level: 'warn', time: expect.any(String) as string, run: 'run_1', msg: 'It happened' },
      { level: 'info', time: expect.any(String) as string, org: 'default', run: 'run_2', msg: 'Run queued' },
    ])
    for (const { time } of lines) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it('leaves out what is below its level, which can change', () => {
    const { log, text } = collecting('warn')
    log.log(entry('info'))
    expect([text(), log.isOn('info'), log.isOn('error')]).toEqual(['', false, true])
    log.setLevel('debug')
    log.log(entry('debug'))
    expect(text()).toContain('"level":"debug"')
    log.setLevel('silent')
    log.log(entry('error', 'unheard'))
    expect(text()).not.toContain('unheard')
  })
})

describe('the log for people', () => {
  it('has short lines in which nobody can paint', () => {
    const { log, text } = collecting('info', true)
    log.log({ level: 'error', message: 'Bad \u001b[31mnews', facts: { run: 'run_1', why: 'two words', none: null } })
    log.info([
      ['Run queued', '"run":"run_2"'],
      ['Run completed', '"run":"run_2"'],
    ])
    // eslint-disable-next-line no-control-regex -- what is taken away is what this test puts in
    const plain = text().replaceAll(/\u001b\[\d+m/g, '')
    const [bad, ...rest] = plain.trimEnd().split('\n')
    expect(bad).toMatch(/^\d\d:\d\d:\d\d error Bad  ?\[31mnews run=run_1 why="two words"$/)
    expect(rest.map((line) => line.slice(9))).toEqual(['info  Run queued run=run_2', 'info  Run completed run=run_2'])
  })
})

describe('a log in a file', () => {
  it.each([true, false])('has everything that was said when it ends (for people: %j)', async (pretty) => {
    const file = path.join(directory, 'log')
    const log = createServerLog({ level: 'info', pretty, to: openSync(file, 'w') })
    for (let n = 0; n < 1_000; n += 1) log.log(entry('info', `line ${n}`))
    await log.end()
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(lines).toHaveLength(1_000)
    expect(lines.at(-1)).toContain('line 999')
  })
})

// A closed terminal refuses like this device: every time.
describe.runIf(existsSync('/dev/full'))('a place that takes nothing', () => {
  it.each([true, false])('is not waited for at the end (for people: %j)', async (pretty) => {
    const log = createServerLog({ level: 'info', pretty, to: openSync('/dev/full', 'w') })
    for (let n = 0; n < 3; n += 1) log.log(entry('info', `line ${n}`))
    const began = performance.now()
    await log.end()
    expect(performance.now() - began).toBeLessThan(1_000)
  })
})

describe('a reader who does not read', () => {
  it('is not waited for: what is too much is lost and counted, and said when there is room again', async () => {
    const pipe = path.join(directory, 'pipe')
    execFileSync('mkfifo', [pipe])
    // Both ends, so that opening does not wait; the pipe takes 64 KiB and then nothing.
    const end = openSync(pipe, constants.O_RDWR)
    const log = createServerLog({ level: 'info', pretty: false, to: end })
    const line: [string, string] = ['Run queued', `"text":"${'x'.repeat(1_000)}"`]
    const page = Array.from({ length: 1_000 }, () => line)
    const began = performance.now()
    for (let n = 0; n < 12; n += 1) log.info(page)
    expect(performance.now() - began).toBeLessThan(5_000)
    await log.end()
    expect(await readUntilLost(pipe)).toBeGreaterThanOrEqual(3_000)
    closeSync(end)
  }, 30_000)
})

/** Reads the pipe until the log says how much it has lost. */
async function readUntilLost(pipe: string): Promise<number> {
  let rest = ''
  for await (const chunk of createReadStream(pipe)) {
    rest += (chunk as Buffer).toString('utf8')
    const found = /"lost":(\d+),/.exec(rest)?.[1]
    if (found !== undefined) return Number(found)
    rest = rest.slice(-500)
  }
  return 0
}
