import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { remoteOf, type Remote } from '../http-scenarios/world.ts'
import { chat, ended, eventually, inState, send } from '../scenarios/support.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'

let world: ServeWorld
let node: Remote
let directory = ''

beforeAll(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-programs-'))
  // As root programs run as somebody else, who has to get in.
  chmodSync(directory, 0o777)
  world = await createServeWorld()
  const file = path.join(world.data, 'config.yaml')
  const command = { enabled: true, programs: ['/bin/sh', '/bin/cat'], directories: [directory] }
  writeFileSync(file, JSON.stringify({ executors: { command } }))
  node = await remoteOf(world, world.serve({ config: file }), file)
}, 60_000)

afterAll(async () => {
  await world.end()
  rmSync(directory, { recursive: true, force: true })
})

const program = (id: string, lines: string, more: object = {}) =>
  node.agents.create({
    ...{
      id,
      name: id,
      executor: { kind: 'command', program: '/bin/sh', args: ['-c', lines, 'sh', '{{payload.text}}'] },
    },
    ...more,
  })

describe.concurrent('an agent that is a program of this machine', () => {
  it('does what it is told with what it is given, and nothing else', async () => {
    await program('printer', 'printf "%s|%s" "$1" "$HOME"')
    const { run_id: id } = await send(node, chat('ann', 'printer'), '$(touch gone); rm -rf "x"')
    expect(await ended(node, id)).toMatchObject({ status: 'success', output: '$(touch gone); rm -rf "x"|', attempt: 1 })
    expect(existsSync(path.join(directory, 'gone'))).toBe(false)
  })

  it('runs as somebody to whom nothing belongs when the server is root', async () => {
    await program('who', '/usr/bin/id -u; pwd')
    const { run_id: id } = await send(node, chat('ann', 'who'), 'Hello')
    const uid = process.getuid?.() === 0 ? 65_533 : process.getuid?.()
    expect((await ended(node, id)).output).toBe(`${uid ?? ''}\n${directory}`)
  })

  it('fails once with what it said, unless it is to be retried', async () => {
    await program('failing', 'echo "no ink left" >&2; exit 4')
    const { run_id: id } = await send(node, chat('ann', 'failing'), 'Hello')
    expect(await ended(node, id)).toMatchObject({
      ...{ status: 'failed', error_code: 'command_failed', attempt: 1, reason: 'retries_exhausted' },
      error_message: '/bin/sh exited with code 4: no ink left',
    })
  })

  it('is gone with all it has started when its run is cancelled, or its time is up', async () => {
    const lines = '/bin/sleep 60 & echo $! > "$1"; echo begun; wait'
    await program('sleeper', lines)
    await program('limited', lines, { timeout_seconds: 1 })
    const [cancelled, limited] = ['cancelled', 'limited'].map((name) => path.join(directory, name))
    const { run_id: one } = await send(node, chat('ann', 'sleeper'), cancelled ?? '')
    const { run_id: other } = await send(node, chat('ann', 'limited'), limited ?? '')
    await inState(node, one, 'running')
    const pid = await eventually(() => Number(readFileSync(cancelled ?? '', 'utf8') || NaN))
    await node.runs.cancel(one)
    expect((await ended(node, one)).status).toBe('cancelled')
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false))
    expect(await ended(node, other)).toMatchObject({ status: 'timeout', error_code: 'timeout' })
    await vi.waitFor(() => expect(isAlive(Number(readFileSync(limited ?? '', 'utf8')))).toBe(false))
  })

  it('is made by an owner of the operator org alone, among the programs of its file', async () => {
    const body = { name: 'Cat', executor: { kind: 'command', program: '/bin/cat' } }
    for (const made of [
      { name: 'admin', role: 'admin' },
      { name: 'part', role: 'owner', scopes: ['agents:*'] },
    ] as const) {
      const { key } = await node.client.keys.create(made)
      const answer = await node.raw('POST', '/api/v1/agents', { body, key: key ?? '' })
      expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    }
    const wrong = { ...body, executor: { kind: 'command', program: '/bin/ls' } }
    expect(await node.raw('POST', '/api/v1/agents', { body: wrong })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/executor/program', allowed: '/bin/sh, /bin/cat' }] },
    })
    const inline = { name: 'x', every_seconds: 60, executor: body.executor }
    expect((await node.raw('POST', '/api/v1/schedules', { body: inline })).status).toBe(400)
    expect((await node.raw('POST', '/api/v1/agents', { body })).status).toBe(201)
  })
})

/** Whether a process still does anything. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
