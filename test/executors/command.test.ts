import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
  rmSync,
  symlinkSync,
  chmodSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { CommandRules } from '../../src/executors/command/options.ts'
import { createCommandExecutor } from '../../src/executors/command/execute.ts'
import type { Attempt, AttemptReport } from '../../src/executors/executor.ts'
import { readResponseResult } from '../../src/features/runs/result-input.ts'
import { commandOptions, commandStage } from './command-stage.ts'
import { aContext, anAttempt, describeExecutor } from './suite.ts'

const linesIn = (file: string): number => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0)

describeExecutor('command', () => commandStage(linesIn), ['garble', 'break'])

const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-commands-'))
chmodSync(directory, 0o777)
afterAll(() => {
  rmSync(directory, { recursive: true, force: true })
})

interface Started {
  readonly rules?: Partial<CommandRules>
  readonly account?: { readonly uid: number; readonly gid: number } | null
  readonly attempt?: Partial<Attempt>
  readonly signal?: AbortSignal
  readonly heard?: unknown[]
}

/** Starts a program as an agent that says so would. */
function run(given: Readonly<Record<string, unknown>>, more: Started = {}): Promise<AttemptReport> {
  const { rules = {}, account = null, attempt = {}, signal, heard = [] } = more
  const executor = createCommandExecutor({
    optionsOf: () => Promise.resolve(commandOptions(given)),
    rules: () => ({ enabled: true, programs: [String(given['program'])], directories: [directory], ...rules }),
    ...{ account, readResult: readResponseResult, killAfterMs: 200 },
    lastSessionOf: () => Promise.resolve(null),
  })
  const context = { ...aContext(signal), progress: (event: unknown) => void heard.push(event) }
  return executor(anAttempt(attempt), context)
}

const shell = (lines: string, more: Readonly<Record<string, unknown>> = {}) => ({
  ...{ program: '/bin/sh', args: ['-c', lines], cwd: directory },
  ...more,
})

/** Whether a process still does anything: one that has ended and that nobody has asked about counts as gone. */
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('a program that is started for an agent', () => {
  it('gets its arguments one by one, whatever is in them', async () => {
    const nasty = '"; echo gone; $(id) `id` \n--x'
    const report = await run(
      { program: '/usr/bin/printf', args: ['[%s]', '{{payload.text}}', '{{attempt}}', '{{payload.none}}', 'a b'] },
      { attempt: { payload: { text: nasty }, attempt: 2 } },
    )
    expect(report).toEqual({ outcome: { kind: 'succeeded' }, output: `[${nasty}][2][][a b]` })
  })

  it('has no environment but what is listed', async () => {
    const report = await run({ program: '/usr/bin/env', env: { RUN: '{{run_id}}', PLACE: 'here' } })
    expect(report.output).toBe('RUN=run_1\nPLACE=here')
  })

  it('reads the dispatch, or what it is told to', async () => {
    const attempt = { payload: { prompt: 'Hello' } }
    const dispatch = await run({ program: '/bin/cat' }, { attempt })
    expect(dispatch.output).toMatchObject({ run_id: 'run_1', message: 'Hello', attempt_id: 'att_1' })
    expect((await run({ program: '/bin/cat', stdin: 'Say {{payload.prompt}}!' }, { attempt })).output).toBe(
      'Say Hello!',
    )
    expect((await run({ program: '/bin/cat', stdin: { a: '{{payload}}' } }, { attempt })).output).toEqual({
      a: { prompt: 'Hello' },
    })
  })

  it('shows what it writes while it writes it', async () => {
    const heard: unknown[] = []
    const file = path.join(directory, 'heard')
    const going = run(shell(`echo one; until [ -e ${file} ]; do sleep 0.02; done; echo two`), { heard })
    await vi.waitFor(() => expect(heard.join('')).toBe('one\n'), { timeout: 10_000, interval: 10 })
    writeFileSync(file, '')
    expect((await going).output).toBe('one\ntwo')
    expect(heard.join('')).toBe('one\ntwo\n')
  })

  it('fails with its exit code and what it complained about', async () => {
    const report = await run(shell('echo half; echo "no ink left" >&2; exit 7'))
    expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'command_failed' })
    expect(report.errorMessage).toBe('/bin/sh exited with code 7: no ink left')
    expect(report.output).toBe('half')
    expect((await run(shell('kill -9 $$'))).errorMessage).toBe('/bin/sh was terminated by SIGKILL')
  })

  it('ends with all it has started, also those who will not listen', async () => {
    const controller = new AbortController()
    const file = path.join(directory, 'pids')
    const lines = `trap '' TERM; (trap '' TERM; exec /bin/sleep 30) & echo $! $$ > ${file}; wait; wait`
    const going = run(shell(lines), { signal: controller.signal })
    const pids = await vi.waitFor(() => {
      const read = readFileSync(file, 'utf8').trim().split(' ').map(Number)
      expect(read).toHaveLength(2)
      return read
    })
    controller.abort(new Error('cancelled'))
    expect((await going).outcome).toEqual({ kind: 'stopped' })
    await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]))
  }, 10_000)

  it('leaves nothing behind that holds its output open', async () => {
    const from = performance.now()
    const report = await run(shell('/bin/sleep 30 & echo done'))
    expect(report.output).toBe('done')
    expect(performance.now() - from).toBeLessThan(5_000)
  })

  it('is cut off at its own limit of output', async () => {
    const report = await run(shell('echo 123456789', { output_bytes: 5 }))
    expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'answer_too_large' })
    expect(report.errorMessage).toContain('larger than 5 bytes')
  })

  it.runIf(process.getuid?.() === 0)('is nobody special when we are root', async () => {
    const report = await run({ program: '/usr/bin/id', args: ['-u'] }, { account: { uid: 65_533, gid: 65_533 } })
    expect(report.output).toBe('65533')
    const groups = await run({ program: '/usr/bin/id', args: ['-G'] }, { account: { uid: 65_533, gid: 65_533 } })
    expect(groups.output).toBe('65533')
  })

  it.each<[string, object, Partial<CommandRules>, string]>([
    ['commands are off', {}, { enabled: false }, 'executor.kind is disabled on this server'],
    [
      'the program is not listed',
      {},
      { programs: ['/bin/true'] },
      'executor.program is not one of the allowed programs',
    ],
    ['the directory is not listed', { cwd: '/etc' }, {}, 'executor.cwd is not in one of the allowed directories'],
    ['the program is not there', { program: '/bin/nothing' }, { programs: ['/bin/nothing'] }, 'could not be started'],
    ['the directory is not there', { cwd: `${directory}/none` }, {}, 'cannot be used as working directory'],
  ])('is not started, and not tried again, when %s', async (_, given, rules, message) => {
    const report = await run({ program: '/bin/echo', ...given }, { rules })
    expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'command_failed', retryable: false })
    expect(report.errorMessage).toContain(message)
  })

  it('is not started where a link leads out of its directory', async () => {
    mkdirSync(path.join(directory, 'in'))
    symlinkSync('/etc', path.join(directory, 'in', 'out'))
    const report = await run({ program: '/bin/pwd', cwd: path.join(directory, 'in', 'out') })
    expect(report.errorMessage).toContain('resolves to /etc, which is outside the allowed directories')
  })
})
