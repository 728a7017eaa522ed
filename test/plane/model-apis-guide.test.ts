import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instant } from '../../src/domain/instant.ts'
import { CHAT_APIS } from '../../src/executors/chat/options.ts'
import { run } from '../cli/run.ts'
import { textOf } from '../docs/tracked-files.ts'
import { linesOf, wordsOf } from '../docs/written/shell.ts'
import { endedResponse, responseOf, TOKENS, WIRES } from '../executors/chat/wires.ts'
import { json, startPeer, type Peer } from '../platform/outbound/peer.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'

// The commands of docs/guides/model-apis.md, one after the other, with a server on this machine in place of the vendors.

const KEY = 'sk-canary-of-the-apis'
const COMMANDS = [...textOf('docs/guides/model-apis.md').matchAll(/```sh run\n([^]*?)```/g)].flatMap(([, block = '']) =>
  linesOf(block),
)

let world: ServeWorld
let models: Peer
const variables: Record<string, string> = { USER: 'me' }
const now = () => instant(Date.now())

beforeAll(async () => {
  models = await startPeer(({ method, url, body }, response) => {
    const wire = WIRES[CHAT_APIS.find((one) => WIRES[one].path === url) ?? 'openai-chat']
    if (method === 'GET') json(response, 200, endedResponse('Suppose there are not.', TOKENS, 'stop'))
    else if ((JSON.parse(body) as { readonly background?: boolean }).background === true)
      json(response, 200, responseOf('queued'))
    else {
      response.writeHead(200, { 'content-type': wire.contentType })
      response.end(wire.begin(TOKENS) + wire.word(`at ${wire.path}`) + wire.end(`at ${wire.path}`, TOKENS, 'stop'))
    }
  })
  world = await createServeWorld()
  variables['ESCAPEMENT_URL'] = await world.serve({ variables: { ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true' } }).url
  variables['ESCAPEMENT_KEY'] = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
}, 60_000)

afterAll(async () => {
  await world.end()
  await models.close()
})

async function obey(line: string): Promise<string> {
  const [input, command] = line.includes(' | ') ? [KEY, line.split(' | ')[1] ?? ''] : ['', line]
  const { host } = new URL(models.url)
  const local = command
    .replaceAll(/https:\/\/api\.(?:openai|anthropic)\.com/g, models.url)
    .replace('http://127.0.0.1:11434', models.url)
    .replaceAll(/api\.(?:openai|anthropic)\.com/g, host)
  const { code, stdout, stderr } = await run(wordsOf(local).slice(1), input, { cwd: '/', now, variables })
  expect([line, code, stderr]).toEqual([line, 0, ''])
  return stdout
}

describe('the guide to the APIs of models', () => {
  it('does what it says with each of them', async () => {
    const said: string[] = []
    for (const command of COMMANDS) said.push(await obey(command))
    const answers = said.filter((_, index) => COMMANDS[index]?.includes('sessions send') === true)
    expect(answers).toEqual(['at /v1/messages\n', 'at /v1/responses\n', 'Suppose there are not.\n', 'at /api/chat\n'])
    const listed = said[COMMANDS.findIndex((command) => command.includes('runs list'))] ?? ''
    expect(listed).toContain('"cached_input_tokens": 800')
    expect(listed).toContain('"reasoning_tokens": 30')
    expect(said.join('')).not.toContain(KEY)
    expect(models.heard[0]?.headers['x-api-key']).toBe(KEY)
  }, 60_000)
})
