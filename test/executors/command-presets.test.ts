import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import {
  COMMAND_PRESETS,
  parseCommandOptions,
  serviceOf,
  type CommandPreset,
} from '../../src/executors/command/options.ts'
import { createCommandExecutor } from '../../src/executors/command/execute.ts'
import { isRetryable } from '../../src/domain/run/retry.ts'
import type { AttemptReport, SecretsRequest } from '../../src/executors/executor.ts'
import { readResponseResult } from '../../src/features/runs/result-input.ts'
import { ROOT } from '../tooling/root.ts'
import { commandOptions } from './command-stage.ts'
import { aContext, anAttempt } from './suite.ts'

// The programs are played from recorded exchanges: test/fixtures/command-agents.

const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-presets-'))
cpSync(path.join(ROOT, 'test/fixtures/command-agents'), path.join(directory, 'bin'), { recursive: true })
const PROGRAM = path.join(directory, 'bin', 'play.mjs')
const WORKSPACES = path.join(directory, 'workspaces')
mkdirSync(WORKSPACES)
chmodSync(PROGRAM, 0o755)
afterAll(() => {
  rmSync(directory, { recursive: true, force: true })
})

interface Played {
  readonly report: AttemptReport
  readonly shown: readonly unknown[]
  readonly started: {
    readonly args: readonly string[]
    readonly input: string
    readonly env: Readonly<Record<string, string>>
    readonly cwd: string
  }
  readonly asked: readonly SecretsRequest[]
}

interface Play {
  readonly exchange?: string
  readonly ending?: string
  readonly executor?: Readonly<Record<string, unknown>>
  readonly session?: string | null
  readonly signal?: AbortSignal
  readonly payload?: unknown
}

let plays = 0

async function play(preset: CommandPreset, how: Play = {}): Promise<Played> {
  plays += 1
  const agent = `agent-${plays}`
  const workspace = path.join(WORKSPACES, agent)
  mkdirSync(workspace)
  const { exchange = `${preset}.jsonl`, ending = 'end' } = how
  writeFileSync(path.join(workspace, 'play.json'), JSON.stringify({ exchange, ending }))
  const shown: unknown[] = []
  const asked: SecretsRequest[] = []
  const executor = createCommandExecutor({
    optionsOf: () => Promise.resolve(commandOptions({ program: PROGRAM, preset, ...how.executor })),
    rules: () => ({ enabled: true, programs: [PROGRAM, '/bin/nothing'], directories: [WORKSPACES] }),
    lastSessionOf: () => Promise.resolve(how.session ?? null),
    ...{ account: null, readResult: readResponseResult, killAfterMs: 200 },
  })
  const context = {
    ...aContext(how.signal),
    progress: (event: unknown) => void shown.push(event),
    expose: (request: SecretsRequest) => {
      asked.push(request)
      return Promise.resolve({ ok: true as const, values: { KEY: 'sk-canary-1234567890' } })
    },
  }
  const attempt = anAttempt({ agentId: agent as never, payload: how.payload ?? { text: '-x: What is this?' } })
  const report = await executor(attempt, context)
  const file = path.join(workspace, 'started.json')
  const started = (() => {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Played['started']
    } catch {
      return { args: [], input: '', env: {}, cwd: '' }
    }
  })()
  return { report, shown, started, asked }
}

const ANSWER = 'It is a clock: grüße.'

const SESSIONS: Readonly<Record<CommandPreset, string>> = {
  codex: '0199a213-81c0-7800-8aa1-bbab2a035a53',
  claude: '3f6f4e1e-6d3d-4e2f-9f43-0c1f2a1b0c9d',
  gemini: '8d1a4c52-7b1e-4a53-9f0e-2b9f2f2f2f2f',
  'json-lines': 's-1',
}

const USAGES: Readonly<Record<CommandPreset, object>> = {
  codex: { inputTokens: 24_763, cachedInputTokens: 24_448, outputTokens: 122 },
  claude: { inputTokens: 21_010, cachedInputTokens: 20_000, outputTokens: 120, costMicros: 12_300 },
  gemini: { inputTokens: 1_100, cachedInputTokens: 400, outputTokens: 100 },
  'json-lines': { inputTokens: 100, outputTokens: 10, costMicros: 500_000 },
}

const STEPS: Readonly<Record<CommandPreset, string>> = {
  ...{ codex: 'bash -lc ls', claude: 'Read', gemini: 'read_file', 'json-lines': 'read README.md' },
}

describe.each(COMMAND_PRESETS)('an agent for the command line with the preset %s', (preset) => {
  it('has an answer, tokens, and a session of its own, and shows what it does', async () => {
    const { report, shown } = await play(preset)
    expect(report).toEqual({
      ...{ outcome: { kind: 'succeeded' }, output: ANSWER, usage: USAGES[preset] },
      reported: { sessionId: SESSIONS[preset] },
    })
    const texts = shown.filter((event) => typeof event === 'string')
    expect(texts.join('')).toContain(ANSWER)
    expect(shown).toContainEqual({ step: STEPS[preset] })
  })

  it('reads its prompt from its input, in a workspace of its own, with secrets as its only environment', async () => {
    const executor = {
      args: ['--model', 'x'],
      env: { KEY: '{{secret:KEY}}' },
      ...(preset === 'json-lines' ? { service: 'https://agent.example' } : {}),
    }
    const { started, asked } = await play(preset, { executor })
    expect(started.input).toBe('-x: What is this?\n')
    expect(started.cwd).toBe(path.join(WORKSPACES, `agent-${plays}`))
    expect(started.args.join(' ')).toContain('--model x')
    const { KEY, HOME, PATH, NO_COLOR, ...others } = started.env
    expect([KEY, HOME, NO_COLOR]).toEqual(['sk-canary-1234567890', started.cwd, '1'])
    expect(PATH).toContain(path.dirname(PROGRAM))
    expect(Object.keys(others).filter((name) => !/^(?:__|LC_CTYPE)/.test(name))).toEqual([])
    const url = serviceOf(commandOptions({ program: PROGRAM, preset, ...executor }))
    expect(asked).toEqual([{ names: ['KEY'], url }])
  })

  it('resumes its session when asked, and only then', async () => {
    const resumed = await play(preset, { executor: { resume: true }, session: 'abc-1' })
    const words = [...resumed.started.args, resumed.started.env['RESUME_SESSION_ID']].join(' ')
    expect(words).toContain('abc-1')
    const anew = await play(preset, { session: 'abc-1' })
    expect(JSON.stringify(anew.started)).not.toContain('abc-1')
    const hostile = await play(preset, { executor: { resume: true }, session: '--dangerous' })
    expect(JSON.stringify(hostile.started)).not.toContain('--dangerous')
  })

  it('that reaches a limit of its service is retried, and its provider waits', async () => {
    const { report } = await play(preset, { exchange: `${preset}-failed.jsonl`, ending: 'exit 1' })
    if (report.outcome.kind !== 'failed') throw new Error(`it ${report.outcome.kind}`)
    expect(report.outcome).toMatchObject({ errorCode: 'command_failed', busy: true })
    expect(isRetryable(report.outcome)).toBe(true)
    expect(report.errorMessage).toMatch(new RegExp(`^${PROGRAM} reported: .`))
  })

  it('that is not signed in says so, and is not retried', async () => {
    const { report } = await play(preset, { exchange: `${preset}-signed-out.jsonl`, ending: 'exit 1' })
    expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'command_failed', retryable: false })
    expect(report.errorMessage).toContain('is not signed in')
    if (preset !== 'json-lines') expect(report.errorMessage).toContain('_API_KEY in executor.env to {{secret:NAME}}')
  })

  it('that is not installed says how to', async () => {
    const { report } = await play(preset, { executor: { program: '/bin/nothing' } })
    expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'command_failed', retryable: false })
    expect(report.errorMessage).toMatch(/^\/bin\/nothing is not installed on this server.*install it with/)
  })

  it('that dies half-way fails with its signal, and keeps its session', async () => {
    const { report } = await play(preset, { ending: 'die' })
    expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'command_failed' })
    expect(report.errorMessage).toContain('was terminated by SIGKILL')
    expect(report.reported).toEqual({ sessionId: SESSIONS[preset] })
  })

  it('that prints garbage has no result', async () => {
    const { report } = await play(preset, { ending: 'garbage' })
    expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'malformed_answer' })
    expect(report.errorMessage).toContain(`ended without a result in the format of ${preset}`)
  })

  it('that ends with a code fails with what it complained about', async () => {
    const { report } = await play(preset, { exchange: '', ending: 'exit 3 no disk left' })
    expect(report.errorMessage).toBe(`${PROGRAM} exited with code 3: no disk left`)
  })

  it('that is slow is stopped', async () => {
    const stopping = new AbortController()
    const going = play(preset, { ending: 'hang', signal: stopping.signal })
    const file = path.join(WORKSPACES, `agent-${plays}`, 'started.json')
    await vi.waitFor(() => readFileSync(file), { timeout: 10_000 })
    stopping.abort(new Error('timeout'))
    expect((await going).report.outcome).toEqual({ kind: 'stopped' })
  }, 20_000)

  it('whose answer is too large fails', async () => {
    const { report } = await play(preset, { executor: { output_bytes: 8 } })
    expect(report.outcome).toMatchObject({ kind: 'failed', errorCode: 'answer_too_large' })
  })
})

describe('a preset', () => {
  it.each<[string, object, string, RegExp]>([
    ['has a known name', { preset: 'vim' }, 'preset', /not a known value/],
    ['reads a prompt, no other input', { preset: 'codex', stdin: 'x' }, 'stdin', /reads the prompt/],
    [
      'has secrets as its environment',
      { preset: 'codex', env: { CODEX_API_KEY: 'sk-1' } },
      'env.CODEX_API_KEY',
      /single secret/,
    ],
    ['has no other home', { preset: 'codex', env: { HOME: '{{secret:A}}' } }, 'env.HOME', /not a variable/],
    [
      'names the service of its secrets',
      { preset: 'json-lines', env: { A: '{{secret:A}}' } },
      'service',
      /is required for secrets in env/,
    ],
    ['has a service that is a URL', { preset: 'codex', service: 'openai' }, 'service', /is not a URL/],
    ['is needed to resume', { resume: true }, 'resume', /requires a preset/],
    ['is needed for a service', { service: 'https://x.example' }, 'service', /requires a preset/],
  ])('%s', (_, given, field, message) => {
    const read = parseCommandOptions('executor', { kind: 'command', program: '/bin/x', ...given })
    if (read.ok) throw new Error('it was taken')
    expect(read.flaws.map((flaw) => flaw.field)).toEqual([`executor.${field}`])
    expect(read.flaws[0]?.message).toMatch(message)
    expect(JSON.stringify(read.flaws)).not.toContain('sk-1')
  })

  it('gives each agent a workspace when none exists', async () => {
    const executor = createCommandExecutor({
      optionsOf: () =>
        Promise.resolve(
          commandOptions({
            program: '/bin/sh',
            preset: 'json-lines',
            args: ['-c', 'echo "{\\"output\\":\\"$PWD\\"}"'],
          }),
        ),
      rules: () => ({ enabled: true, programs: ['/bin/sh'], directories: [WORKSPACES] }),
      lastSessionOf: () => Promise.resolve(null),
      ...{ account: null, readResult: readResponseResult },
    })
    const report = await executor(anAttempt({ agentId: 'new/one' as never }), aContext())
    expect(report.output).toBe(path.join(WORKSPACES, 'new%2Fone'))
  })
})
