import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { textOf } from '../docs/tracked-files.ts'
import { createExamplesWorld, type ExamplesWorld } from './world.ts'

// The transcript of docs/guides/five-minutes.md, typed into a shell in an empty directory; README.md shows a part of it.
// What differs each time (ids, times, the port) is compared by its form.

interface Step {
  readonly command: string
  readonly output: string
}

const stepsOf = (document: string): readonly Step[] =>
  [...textOf(document).matchAll(/^```console\n([^]*?)^```/gm)].flatMap(([, text = '']) =>
    text
      .split(/^\$ /m)
      .slice(1)
      .map((one) => {
        const [command = '', ...lines] = one.split('\n')
        return { command, output: lines.join('\n').trim() }
      }),
  )

const steps = stepsOf('docs/guides/five-minutes.md')

let world: ExamplesWorld
let shell: Shell

beforeAll(async () => {
  world = createExamplesWorld()
  const directory = path.join(world.directory, 'empty')
  const bin = path.join(world.directory, 'bin')
  for (const one of [directory, bin]) mkdirSync(one)
  const command = path.join(bin, 'escapement')
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${world.checkout}/dist/cli/main.js" "$@"\n`)
  chmodSync(command, 0o755)
  shell = await openShell(directory, bin)
}, 120_000)

afterAll(async () => {
  await shell.end()
  await world.end()
})

interface Shell {
  readonly port: number
  /** Types a command and answers what it printed. */
  readonly type: (command: string, until?: string) => Promise<string>
  readonly end: () => Promise<void>
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function openShell(cwd: string, bin: string): Promise<Shell> {
  const port = await freePort()
  const child: ChildProcess = spawn('bash', ['--norc', '--noprofile'], {
    cwd,
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, ESCAPEMENT_SERVER_PORT: String(port) },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let said = ''
  const waiting = new Set<() => void>()
  const hear = (chunk: Buffer): void => {
    said += chunk.toString('utf8')
    for (const check of [...waiting]) check()
  }
  child.stdout?.on('data', hear)
  child.stderr?.on('data', hear)
  const ended = once(child, 'close')
  const heard = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!said.includes(text)) return
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
    })
  let count = 0
  const type: Shell['type'] = async (command, until) => {
    const mark = `--- ${(count += 1)} ---`
    said = ''
    child.stdin?.write(`${command}\n`)
    if (until !== undefined) await heard(until)
    child.stdin?.write(`printf '%s\\n' '${mark}'\n`)
    await heard(mark)
    return said.replace(`${mark}\n`, '').trim()
  }
  // Jobs have numbers, as they have for whoever sits at a terminal.
  await type('set -m')
  return {
    port,
    type,
    end: async () => {
      child.stdin?.end('kill %1 2>/dev/null; wait\n')
      await ended
    },
  }
}

/** The form of an output: everything that is another one each time, by its kind. */
const formOf = (output: string): string =>
  output
    .replaceAll(/\b(sch|run)_[a-z0-9]{26}\b/g, '$1_ID')
    .replaceAll(/\b202\d-\d\d-\d\dT[\d:.]+Z\b/g, 'TIME')
    .replaceAll(/\bin \d[\d.]* \w+( \d+ \w+)?|\d[\d.]* \w+( \d+ \w+)? ago|\bnow\b/g, 'AWAY')
    .replaceAll(/\b\d[\d.]* m?s\b/g, 'LENGTH')
    .replaceAll(/ +/g, ' ')

describe('the five minutes', () => {
  it('are a whole story', () => {
    const told = steps.map(({ command }) => command).join('\n')
    for (const part of ['serve', 'schedules create', 'runs list', 'schedules disable', 'schedules explain', 'curl'])
      expect(told).toContain(part)
    expect(steps.length).toBeGreaterThan(10)
  })

  it('are what README.md shows the first sixty seconds of', () => {
    const shown = stepsOf('README.md')
    for (const part of ['serve', 'schedules create', 'runs list', 'schedules disable', 'schedules explain'])
      expect(shown.map(({ command }) => command).join('\n')).toContain(part)
    for (const step of shown) expect(steps).toContainEqual(step)
  })

  it('are true, from an empty directory', { timeout: 120_000 }, async () => {
    const here = (text: string): string => text.replaceAll('127.0.0.1:7420', `127.0.0.1:${shell.port}`)
    for (const { command, output } of steps) {
      const isServer = command.includes(' serve ')
      let printed = await shell.type(here(command), isServer ? 'listens on' : undefined)
      // A person looks a moment later, when the schedule has come round.
      while (printed === '' && output !== '' && command.includes('status')) printed = await shell.type(here(command))
      if (command.startsWith('kill')) continue
      expect(formOf(printed), command).toBe(formOf(here(output)))
    }
  })
})
