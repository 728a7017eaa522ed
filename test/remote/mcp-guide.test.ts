import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/program.ts'
import { instant } from '../../src/domain/instant.ts'
import { TOOLS } from '../../src/server/mcp/tools/tools.ts'
import { run } from '../cli/run.ts'
import { textOf } from '../docs/tracked-files.ts'
import { guestOf, type McpGuest } from '../server/mcp/support.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'
import { compileProgram, type CompiledProgram } from '../support/compile-program.ts'

// The conversation of docs/guides/mcp.md, with the key it makes, by the official client, through `escapement mcp` as a
// program of its own; and what that program does at the edges.

const GUIDE = textOf('docs/guides/mcp.md')
const [, COMMAND = ''] = /```sh run\n(.*)\n```/.exec(GUIDE) ?? []
const CALLS = [...GUIDE.matchAll(/```json call\n([^]*?)```\n\n```text answer\n([^]*?)```/g)].map(
  ([, call = '', answer = '']) =>
    [
      JSON.parse(call) as { readonly name: string; readonly arguments: Record<string, unknown> },
      answer.trim(),
    ] as const,
)

let world: ServeWorld
let program: CompiledProgram
let guest: McpGuest
let complaints = ''
const variables: Record<string, string> = {}
const now = () => instant(Date.now())

beforeAll(async () => {
  program = compileProgram('src/cli/main.ts')
  world = await createServeWorld()
  variables['ESCAPEMENT_URL'] = await world.serve().url
  variables['ESCAPEMENT_KEY'] = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
  const made = await run([...COMMAND.split(' ').slice(1), '--json'], '', { cwd: '/', now, variables })
  expect([made.code, made.stderr]).toEqual([0, ''])
  variables['ESCAPEMENT_KEY'] = (JSON.parse(made.stdout) as { readonly key: string }).key
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args: [program.entry, 'mcp'], env: variables, stderr: 'pipe' },
  })
  transport.stderr?.on('data', (piece: Buffer) => (complaints += piece.toString('utf8')))
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  guest = guestOf(client)
}, 60_000)

afterAll(async () => {
  await guest.client.close()
  await world.end()
  program.remove()
})

/** What is different each time: ids, and moments of today. */
const masked = (text: string): string =>
  text.replaceAll(/\bsch_\w+/g, 'sch_…').replaceAll(/\b20(?!40)\d\d-\d\d-\d\d[ T][\d:.]+Z?/g, '…')

describe('the guide', () => {
  it('has a conversation in it', () => {
    expect(CALLS.length).toBeGreaterThanOrEqual(4)
  })

  it.each(CALLS.map(([{ name }, answer], index) => [name, answer.split('\n')[0], index] as const))(
    '%s: %s',
    async (_name, _answer, index) => {
      const [call, answer] = CALLS[index] ?? [{ name: '', arguments: {} }, '']
      expect(masked((await guest.call(call.name, call.arguments)).text)).toBe(answer)
    },
  )

  it('names configurations that are JSON', () => {
    for (const [, block = ''] of GUIDE.matchAll(/```json\n([^]*?)```/g))
      expect(JSON.parse(block)).toHaveProperty('mcpServers.escapement')
  })
})

describe('escapement mcp', () => {
  it('has the tools of the server, and says on stderr alone what is not the protocol', async () => {
    const { tools } = await guest.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(TOOLS))
    expect(complaints).toContain(`Serving the tools of ${variables['ESCAPEMENT_URL'] ?? ''}`)
  })

  it('answers what was asked before its input ended, and ends with it', async () => {
    const child = spawn(process.execPath, [program.entry, 'mcp'], { env: variables })
    const request = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'schedule_list', arguments: {} } }
    child.stdin.end(`${JSON.stringify(request)}\n`)
    const [written, ending] = await Promise.all([readAll(child.stdout), once(child, 'close')])
    expect(ending).toEqual([0, null])
    expect(
      written
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([{ id: 7, result: {} }])
  })

  it('ends when it is told to', async () => {
    const child = spawn(process.execPath, [program.entry, 'mcp'], { env: variables })
    await once(child.stderr, 'data')
    child.kill('SIGTERM')
    const [, signal] = (await once(child, 'close')) as [number | null, string | null]
    expect(signal).toBe('SIGTERM')
  })

  it.each([
    ['a key that is not good', { ESCAPEMENT_KEY: 'esc_nobody' }, 'UNAUTHENTICATED: '],
    ['a server that is not there', { ESCAPEMENT_URL: 'http://127.0.0.1:9' }, 'UNREACHABLE: '],
  ])('tells the model of %s', async (_, change, told) => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    const stderr = new PassThrough().resume()
    const ending = runCli(['mcp'], { stdin, stdout, stderr, now, variables: { ...variables, ...change } })
    const params = { name: 'schedule_list', arguments: {} }
    stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`)
    expect(await ending).toBe(0)
    stdout.end()
    const answer = JSON.parse(await readAll(stdout)) as { readonly result: { readonly content: unknown } }
    expect(answer.result).toMatchObject({ isError: true })
    expect(JSON.stringify(answer.result.content)).toContain(told)
  })
})
