import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/program.ts'
import type { Signal } from '../../src/cli/terminal.ts'
import { instant } from '../../src/domain/instant.ts'
import { run } from '../cli/run.ts'
import { textOf } from '../docs/tracked-files.ts'
import { remoteOf, type Remote } from '../http-scenarios/world.ts'
import { chat, ended, eventually, send } from '../scenarios/support.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'

const EXAMPLE = /```js worker\n([^]*?)```/.exec(textOf('docs/guides/worker.md'))?.[1] ?? ''

let world: ServeWorld
let node: Remote
let directory = ''

beforeAll(async () => {
  world = await createServeWorld()
  node = await remoteOf(world, world.serve(), '')
  directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-worker-'))
}, 60_000)

afterAll(async () => {
  await world.end()
  rmSync(directory, { recursive: true, force: true })
})

const variables = (): Record<string, string> => ({ ESCAPEMENT_URL: node.url, ESCAPEMENT_KEY: node.key })
const worker = (id: string) => node.agents.create({ id, name: id, executor: { kind: 'worker' } })

describe('the worker of the guide', () => {
  it('fits in thirty lines of plain fetch, and works', async () => {
    expect(EXAMPLE.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(30)
    await worker('shouter')
    const file = path.join(directory, 'worker.mjs')
    writeFileSync(file, EXAMPLE)
    const child: ChildProcess = spawn(process.execPath, [file], {
      env: variables(),
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    try {
      const runs = await Promise.all(['ann', 'bob'].map((who) => send(node, chat(who, 'shouter'), `Hello ${who}`)))
      const [ann, bob] = await Promise.all(runs.map(({ run_id: id }) => ended(node, id)))
      expect([ann?.output, bob?.output]).toEqual(['HELLO ANN', 'HELLO BOB'])
    } finally {
      child.kill('SIGKILL')
    }
  }, 30_000)
})

/** The command in this process, with signals of the test's own. */
function command(...args: readonly string[]): {
  readonly ended: Promise<number>
  readonly said: () => string
  readonly signal: (signal: Signal) => void
} {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  let said = ''
  for (const stream of [stdout, stderr]) stream.on('data', (data: Buffer) => (said += data.toString()))
  let hear: (signal: Signal) => void = () => undefined
  const terminal = {
    ...{
      stdin: new PassThrough(),
      stdout,
      stderr,
      now: () => instant(Date.now()),
      cwd: directory,
      variables: variables(),
    },
    signals: {
      listen: (listener: (signal: Signal) => void) => {
        hear = listener
      },
    },
  }
  return { ended: runCli(args, terminal), said: () => said, signal: (signal) => hear(signal) }
}

describe('the command', () => {
  it('lets a program do the work, shows it among the workers, and drains', async () => {
    await worker('counter')
    const script = `let text = ''
      process.stdin.on('data', (piece) => (text += piece)).on('end', () => {
        const { message, run_id } = JSON.parse(text)
        if (message === 'fail') { console.error('no ink left'); process.exit(3) }
        console.log(JSON.stringify({ length: message.length, run_id }))
      })`
    const going = command(
      'worker',
      '--agent',
      'counter',
      '--name',
      'desk',
      '--capacity',
      '2',
      '--',
      process.execPath,
      '-e',
      script,
    )
    await eventually(() => {
      expect(going.said()).toContain('Connected')
    })
    const { run_id: id } = await send(node, chat('ann', 'counter'), 'Hello')
    expect(await ended(node, id)).toMatchObject({ status: 'success', output: { length: 5, run_id: id } })
    const listed = await run(['workers'], '', { cwd: '/', now: () => instant(Date.now()), variables: variables() })
    expect(listed.stdout).toMatch(/desk\s+alive\s+counter\s+0\/2/)
    const { run_id: bad } = await send(node, chat('bob', 'counter'), 'fail')
    await eventually(async () => {
      const [first] = (await node.runs.get(bad)).attempts
      expect(first).toMatchObject({ error_code: 'command_failed' })
      expect(first?.error_message).toContain('ended with exit code 3: no ink left')
    })
    await node.runs.cancel(bad).catch(() => undefined)
    going.signal('SIGTERM')
    expect(await going.ended).toBe(0)
    expect(going.said()).toContain('Draining')
  }, 30_000)

  it('lets a function do the work, and says what is wrong with how it was called', async () => {
    await worker('adder')
    writeFileSync(path.join(directory, 'agent.mjs'), 'export default { adder: ({ message }) => `${message}!` }\n')
    const going = command('worker', '--agent', 'adder', '--module', 'agent.mjs')
    const { run_id: id } = await send(node, chat('ann', 'adder'), 'Hello')
    expect((await ended(node, id)).output).toBe('Hello!')
    going.signal('SIGINT')
    expect(await going.ended).toBe(0)
    const wrong = [
      [['worker', '--agent', 'adder'], 2, 'Pass an agent, and either a program or a module'],
      [['worker', '--agent', 'adder', '--module', 'none.mjs'], 2, 'Cannot load '],
      [['worker', '--agent', 'other', '--module', 'agent.mjs'], 2, 'has no function for other'],
      [['worker', '--agent', 'adde', '--', 'cat'], 1, 'did you mean adder?'],
    ] as const
    for (const [args, code, words] of wrong) {
      const told = command(...args)
      expect([args, await told.ended]).toEqual([args, code])
      expect(told.said()).toContain(words)
    }
  }, 30_000)
})
