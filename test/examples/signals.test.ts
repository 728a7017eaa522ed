import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'
import { createExamplesWorld, type ExamplesWorld, type Started } from './world.ts'

// Signals to real processes. Each says on its standard output what it does.

const PROGRAM = `
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEscapement, drainOnSignals } from 'escapement'

const [data, ...words] = process.argv.slice(2)
const say = (text) => console.log(text)

async function worker(run, { signal }) {
  const { text } = run.payload
  say('begins ' + text)
  const [, ms] = text.split(' ')
  try {
    await sleep(Number(ms), undefined, { signal })
    say('ends ' + text)
  } catch (error) {
    say('aborted ' + text + ': ' + signal.reason.reason)
    throw error
  }
}

const escapement = createEscapement({ database: { data }, agents: { worker } })
drainOnSignals(escapement)
say('installed')
process.once('SIGTERM', () => say('heard SIGTERM'))
const obey = {
  pid: () => say('process ' + process.pid),
  start: () => escapement.start(),
  busy: () => void setInterval(() => undefined, 1_000),
  history: async () => {
    const { items } = await escapement.runs.list()
    for (const { payload, status, attempt, reason } of items) say(['run', payload.text, status, attempt].join(' '))
  },
  ask: async (text) => {
    escapement.sessions.ask('agent:worker:test:direct:one', text).then(
      ({ status }) => say('answer to ' + text + ': ' + status),
      (error) => say('answer to ' + text + ': ' + error.name),
    )
  },
}
createInterface({ input: process.stdin }).on('line', async (line) => {
  const [word, ...rest] = line.split(' ')
  await obey[word](rest.join(' '))
  say('done ' + line)
})
// Its reader does not keep it alive.
process.stdin.unref()
const alive = setTimeout(() => undefined, 60_000)
escapement.start = ((start) => () => start().then(() => clearTimeout(alive)))(escapement.start)
`

/** Runs a program as the bootstrap of a checkout does, which hands signals on. */
const PARENT = `
import { runScript } from '${pathToFileURL(path.join(ROOT, 'scripts/bootstrap/run-script.mjs')).href}'
process.exit((await runScript('signals.mjs', process.argv.slice(2), { cwd: import.meta.dirname })).code)
`

let world: ExamplesWorld

beforeAll(() => {
  world = createExamplesWorld()
  world.write('signals.mjs', PROGRAM)
  world.write('parent.mjs', PARENT)
}, 60_000)
afterAll(() => world.end())

async function order(program: Started, line: string): Promise<void> {
  program.child.stdin?.write(`${line}\n`)
  await program.printed(`done ${line}`)
}

async function started(name: string, by = 'signals.mjs'): Promise<Started> {
  const program = world.start(by, [world.data(name)])
  await program.printed('installed')
  await order(program, 'start')
  return program
}

describe('SIGTERM', () => {
  it('lets what runs end; what waits survives into the next process', async () => {
    const before = await started('drained')
    await order(before, 'ask first 700')
    await before.printed('begins first')
    await order(before, 'ask second 10')
    before.child.kill('SIGTERM')
    const ended = await before.ended
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(ended.stdout).toContain('ends first')
    expect(ended.stdout).toContain('answer to first 700: success')
    expect(ended.stdout).not.toContain('begins second')

    const after = await started('drained')
    await after.printed('ends second 10')
    await order(after, 'history')
    expect(after.output()).toContain('run first 700 success 1')
    expect(after.output()).not.toContain('begins first')
    after.child.kill('SIGTERM')
    expect(await after.ended).toMatchObject({ code: 0, signal: null })
  })

  it('sent twice does not wait: what runs is aborted and tried again by the next process', async () => {
    const before = await started('twice')
    await order(before, 'ask long 20000')
    await before.printed('begins long')
    before.child.kill('SIGINT')
    before.child.kill('SIGTERM')
    const ended = await before.ended
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(ended.stdout).toContain('aborted long 20000: shutdown')
    const after = await started('twice')
    await after.printed('begins long')
    after.child.kill('SIGTERM')
    await after.printed('heard SIGTERM')
    // Longer than one that a group kill sends twice.
    await sleep(1_100)
    after.child.kill('SIGTERM')
    expect((await after.ended).stdout).toContain('aborted long 20000: shutdown')
  })

  it('that reaches the program twice because its whole group was killed drains all the same', async () => {
    const parent = await started('group', 'parent.mjs')
    await order(parent, 'pid')
    const pid = Number(/process (\d+)/.exec(parent.output())?.[1])
    await order(parent, 'ask first 700')
    await parent.printed('begins first')
    process.kill(pid, 'SIGTERM')
    await parent.printed('heard SIGTERM')
    parent.child.kill('SIGTERM')
    const { code, stdout } = await parent.ended
    expect(code).toBe(0)
    expect(stdout).toContain('ends first 700')
    expect(stdout).not.toContain('aborted')
  })

  it('during the start ends the program as soon as it has started', async () => {
    const program = world.start('signals.mjs', [world.data('starting')])
    await program.printed('installed')
    program.child.stdin?.write('start\n')
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ stderr: '' })
  })

  it('ends a program that something else keeps alive, as the signal would', async () => {
    const program = await started('busy')
    await order(program, 'busy')
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ code: null, signal: 'SIGTERM', stderr: '' })
  })
})

describe('SIGUSR1', () => {
  it('resets the sessions at work on the node, and opens no debugger', async () => {
    const program = await started('reset')
    await order(program, 'ask running 20000')
    await program.printed('begins running')
    await order(program, 'ask waiting 10')
    program.child.kill('SIGUSR1')
    await program.printed('aborted running 20000: lane_cleared')
    await program.printed('answer to waiting 10: ErrLaneCleared')
    await order(program, 'ask later 10')
    await program.printed('answer to later 10: success')
    program.child.kill('SIGTERM')
    const ended = await program.ended
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(ended.stdout).not.toContain('begins waiting')
  })

  it('opens no debugger before the start either, and changes nothing', async () => {
    const program = world.start('signals.mjs', [world.data('early')])
    await program.printed('installed')
    program.child.kill('SIGUSR1')
    await order(program, 'start')
    await order(program, 'ask hello 10')
    await program.printed('answer to hello 10: success')
    program.child.kill('SIGTERM')
    program.child.kill('SIGUSR1')
    expect(await program.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  })
})
