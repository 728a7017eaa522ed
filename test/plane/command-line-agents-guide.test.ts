import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instant } from '../../src/domain/instant.ts'
import { run } from '../cli/run.ts'
import { textOf } from '../docs/tracked-files.ts'
import { linesOf, wordsOf } from '../docs/written/shell.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'
import { ROOT } from '../tooling/root.ts'

// The commands of docs/guides/command-line-agents.md, one after the other, with recorded exchanges in place of the programs.

const KEY = 'sk-canary-of-the-programs'
const COMMANDS = [...textOf('docs/guides/command-line-agents.md').matchAll(/```sh run\n([^]*?)```/g)].flatMap(
  ([, block = '']) => linesOf(block),
)
const PRESETS = ['codex', 'claude', 'gemini'] as const

let world: ServeWorld
let directory = ''
const variables: Record<string, string> = { USER: 'me' }
const now = () => instant(Date.now())

beforeAll(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-agents-'))
  // As root programs run as another user, who has to get in.
  chmodSync(directory, 0o755)
  const recorded = path.join(ROOT, 'test/fixtures/command-agents')
  for (const file of readdirSync(recorded)) copyFileSync(path.join(recorded, file), path.join(directory, file))
  const agents = path.join(directory, 'agents')
  for (const made of [agents, ...PRESETS.map((name) => path.join(agents, name))]) {
    mkdirSync(made)
    chmodSync(made, 0o777)
  }
  for (const name of PRESETS) {
    writeFileSync(path.join(agents, name, 'play.json'), JSON.stringify({ exchange: `${name}.jsonl` }))
    copyFileSync(path.join(directory, 'play.mjs'), path.join(directory, name))
    chmodSync(path.join(directory, name), 0o755)
  }
  writeFileSync(path.join(directory, 'package.json'), '{"type":"module"}')
  world = await createServeWorld()
  const file = path.join(world.data, 'config.yaml')
  const programs = PRESETS.map((name) => path.join(directory, name))
  writeFileSync(file, JSON.stringify({ executors: { command: { enabled: true, programs, directories: [agents] } } }))
  variables['ESCAPEMENT_URL'] = await world.serve({ config: file }).url
  variables['ESCAPEMENT_KEY'] = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
}, 60_000)

afterAll(async () => {
  await world.end()
  rmSync(directory, { recursive: true, force: true })
})

async function obey(line: string): Promise<string> {
  const [input, command] = line.includes(' | ') ? [KEY, line.split(' | ')[1] ?? ''] : ['', line]
  const words = wordsOf(command.replace('/usr/local/bin/', `${directory}/`)).slice(1)
  const { code, stdout, stderr } = await run(words, input, { cwd: '/', now, variables })
  expect([line, code, stderr]).toEqual([line, 0, ''])
  return stdout
}

interface Started {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const startedOf = (name: string): Started =>
  JSON.parse(readFileSync(path.join(directory, 'agents', name, 'started.json'), 'utf8')) as Started

describe('the guide to agents for the command line', () => {
  it('does what it says, from the keys to the session that is resumed', async () => {
    const said: string[] = []
    for (const command of COMMANDS) said.push(await obey(command))
    const answers = said.filter((_, index) => COMMANDS[index]?.includes('sessions send') === true)
    expect(answers).toEqual(Array.from({ length: 4 }, () => 'It is a clock: grüße.\n'))
    const session = '3f6f4e1e-6d3d-4e2f-9f43-0c1f2a1b0c9d'
    const { items } = JSON.parse(said.at(-1) ?? '') as {
      readonly items: readonly { readonly usage: object; readonly session_key: string; readonly status: string }[]
    }
    expect(items.map(({ status, usage }) => [status, usage])).toEqual(
      Array.from({ length: 2 }, () => [
        'success',
        { input_tokens: 21_010, output_tokens: 120, cached_input_tokens: 20_000, cost: 0.0123 },
      ]),
    )
    // The second message to the same session has resumed what the first one began.
    expect(startedOf('claude').args).toEqual([
      ...['-p', '--output-format', 'stream-json', '--verbose', '--resume', session],
    ])
    expect(startedOf('codex').args).toEqual(['exec', '--json', '--skip-git-repo-check', '-'])
    expect(startedOf('codex').env['CODEX_API_KEY']).toBe(KEY)
    expect(startedOf('codex').env['HOME']).toBe(path.join(directory, 'agents', 'codex'))
    expect(said.join('')).not.toContain(KEY)
  }, 60_000)

  it('refuses a program that the operator has not listed, and a secret of another service', async () => {
    const create = (id: string, ...more: readonly string[]) =>
      run(['agents', 'create', '--id', id, '--name', id, '--preset', 'codex', ...more], '', {
        cwd: '/',
        now,
        variables,
      })
    const listed = path.join(directory, 'codex')
    const unlisted = await create('unlisted', '--program', '/bin/sh')
    expect([unlisted.code, unlisted.stderr]).toEqual([1, expect.stringContaining('is not one of the allowed programs')])
    const foreign = await create(
      'foreign',
      '--program',
      listed,
      '--program-env',
      '{"CODEX_API_KEY": "{{secret:claude}}"}',
    )
    expect(foreign.stderr).toContain('secret claude may not be sent to api.openai.com')
    const plain = await create('plain', '--program', listed, '--program-env', '{"CODEX_API_KEY": "sk-in-clear"}')
    expect(plain.stderr).toContain('must be a single secret')
    expect(plain.stderr).not.toContain('sk-in-clear')
  })
})
