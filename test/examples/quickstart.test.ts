import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf, type Block } from '../docs/written/markdown.ts'
import { formOf, stepsOf } from '../docs/written/transcript.ts'
import { openShell, type Shell } from '../support/shell.ts'
import { createExamplesWorld, type ExamplesWorld } from './world.ts'

// The transcript of docs/guides/five-minutes.md, typed into a shell in an empty directory; README.md shows a part of it.
// What differs each time (ids, times, the port) is compared by its form.

const steps = stepsOf('docs/guides/five-minutes.md')

let world: ExamplesWorld
let shell: Shell
let port: number

beforeAll(async () => {
  world = createExamplesWorld()
  const directory = path.join(world.directory, 'empty')
  const bin = path.join(world.directory, 'bin')
  for (const one of [directory, bin]) mkdirSync(one)
  const command = path.join(bin, 'escapement')
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${world.checkout}/dist/cli/main.js" "$@"\n`)
  chmodSync(command, 0o755)
  port = await freePort()
  const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, ESCAPEMENT_SERVER_PORT: String(port) }
  shell = await openShell(directory, env)
}, 120_000)

afterAll(async () => {
  await shell.end()
  await world.end()
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

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
    const here = (text: string): string => text.replaceAll('127.0.0.1:7420', `127.0.0.1:${port}`)
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

describe('docs/guides/backup-restore.md', () => {
  const blocks = blocksOf('docs/guides/backup-restore.md').filter(({ text }) => text.startsWith('tar '))

  /** Types a block: a server goes on behind whoever types, and today is another day. */
  async function typeBlock({ text }: Block): Promise<void> {
    for (const line of text.trim().split('\n'))
      if (line.startsWith('escapement serve')) await shell.type(`${line} 2>server.log &`, 'listens on')
      else expect(await shell.type(`${line.replace(/\d{4}-\d\d-\d\d/, '$(date +%F)')} || echo failed`)).toBe('')
  }

  it('keeps what the five minutes have made, and brings it back elsewhere', { timeout: 120_000 }, async () => {
    const [save, restore, ...others] = blocks
    if (save === undefined || restore === undefined)
      throw new Error('the guide says neither how to save nor how to restore')
    expect(others).toEqual([])
    await shell.type('wait')
    await typeBlock(save)
    // As the five minutes ask, because starting a Node for it takes as long as a restore.
    const ask = `curl -s -H "Authorization: Bearer $(cat .escapement/owner.key)" $API/schedules | grep -o '"id":"sch_[^"]*"'`
    const before = await shell.type(ask)
    expect(before.split('\n')).toHaveLength(2)
    await shell.type('kill %1; wait; mkdir elsewhere; cd elsewhere; mv ../*.tgz .')
    await typeBlock(restore)
    expect(await shell.type(ask)).toBe(before)
  })
})

describe('the program at the end of the five minutes', () => {
  const programs = blocksOf('docs/guides/five-minutes.md').filter(({ kind }) => kind === 'js')

  it('does its work beside a server, on the same database', { timeout: 120_000 }, async () => {
    expect(programs).toHaveLength(1)
    const file = path.join(world.checkout, world.write('clerk.mjs', programs[0]?.text ?? ''))
    await shell.type(`node "${file}" 2>clerk.log &`)
    const ask = `curl -s -H "Authorization: Bearer $(cat .escapement/owner.key)" "$API/schedules?q=Morning%20report"`
    let found = ''
    // It is looked for until it is there, or the program has ended without it.
    while (found === '') found = await shell.type(`${ask} | grep -o '"agent_id":"clerk"' || jobs %2 | grep -v Running`)
    expect(found).toBe('"agent_id":"clerk"')
    expect(await shell.type('kill %2; wait %2; echo "ended $?"')).toBe('ended 0')
  })
})
