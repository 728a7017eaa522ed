import { readFileSync } from 'node:fs'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runCli } from '../../src/cli/program.ts'
import { instant } from '../../src/domain/instant.ts'
import { run } from '../cli/run.ts'
import { textOf } from '../docs/tracked-files.ts'
import { linesOf, wordsOf } from '../docs/written/shell.ts'
import { startModelServer, type ModelServer, type Speaking } from '../executors/model-server.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'

// The commands of docs/guides/openai-agent.md, one after the other, with a model on this machine in place of the one there.

const KEY = 'sk-canary-of-the-guide'
const COMMANDS = [...textOf('docs/guides/openai-agent.md').matchAll(/```sh run\n([^]*?)```/g)].flatMap(
  ([, block = '']) => linesOf(block),
)

let world: ServeWorld
let model: ModelServer
let speak: (speaking: Speaking) => unknown
const variables: Record<string, string> = { USER: 'me' }

beforeAll(async () => {
  model = await startModelServer((speaking) => speak(speaking))
  world = await createServeWorld()
  variables['ESCAPEMENT_URL'] = await world.serve({ variables: { ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true' } }).url
  variables['ESCAPEMENT_KEY'] = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
}, 60_000)

afterAll(async () => {
  await world.end()
  await model.close()
})

const now = () => instant(Date.now())

async function obey(line: string): Promise<string> {
  const [input, command] = line.includes(' | ') ? [KEY, line.split(' | ')[1] ?? ''] : ['', line]
  const { host } = new URL(model.url)
  const words = wordsOf(command.replace('https://api.openai.com/v1', model.baseUrl).replace('api.openai.com', host))
  const { code, stdout, stderr } = await run(words.slice(1), input, { cwd: '/', now, variables })
  expect([line, code, stderr]).toEqual([line, 0, ''])
  return stdout
}

const answering =
  (...answers: readonly string[]) =>
  ({ say, finish }: Speaking): void => {
    say(answers[model.heard.length - 1] ?? 'more')
    finish({ usage: { prompt_tokens: 50, completion_tokens: 10 } })
  }

describe('the guide to agents that are models', () => {
  it('does what it says, from the key to the schedule', async () => {
    speak = answering('Titan, Rhea, Iapetus', 'Ganymede, Callisto, Io')
    const said: string[] = []
    for (const command of COMMANDS) said.push(await obey(command))
    const [secret, agent, first, second, messages, , schedule] = said
    expect(secret).toContain('openai')
    expect(agent).toContain('"api_key":"{{secret:openai}}"')
    expect([first, second]).toEqual(['Titan, Rhea, Iapetus\n', 'Ganymede, Callisto, Io\n'])
    expect(messages).toMatch(/And of Jupiter\? +success +Ganymede/)
    expect(schedule).toContain('Morning')
    expect(said.join('')).not.toContain(KEY)
    expect(model.heard[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
    expect(model.questions()[1]?.messages.map(({ content }) => content)).toEqual([
      'You are a helpful colleague. Be brief.',
      'Name the three largest moons of Saturn',
      'Titan, Rhea, Iapetus',
      'And of Jupiter?',
    ])
  })

  it('shows words in the terminal as they are said, and the answer once', async () => {
    let talk: Speaking | null = null
    speak = (speaking) => {
      talk = speaking
      speaking.say('Good ', 'morn')
    }
    const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
    let seen = ''
    screen.on('data', (piece: Buffer) => (seen += piece.toString()))
    const stdin = Object.assign(new PassThrough(), { isTTY: true })
    const chatting = runCli(['chat', 'helper'], {
      ...{
        stdin,
        stdout: screen,
        stderr: new PassThrough(),
        now,
        variables: { ...variables, NO_COLOR: '1' },
        cwd: '/',
      },
    })
    stdin.write('Hello\n')
    await vi.waitFor(() => expect(seen).toContain('\r\u001b[KGood morn'), { timeout: 10_000 })
    const speaking = talk as Speaking | null
    speaking?.say('ing')
    speaking?.finish()
    await vi.waitFor(() => expect(seen).toContain('Good morning\n'), { timeout: 10_000 })
    stdin.end()
    expect(await chatting).toBe(0)
    expect(seen.match(/Good/g)).toHaveLength(1)
  })

  it('changes one thing of a model and leaves the rest', async () => {
    const { stdout } = await run(['agents', 'update', 'helper', '--temperature', '0.5', '--json'], '', {
      ...{ cwd: '/', now, variables },
    })
    const { executor } = JSON.parse(stdout) as { readonly executor: object }
    expect(executor).toMatchObject({ temperature: 0.5, model: 'gpt-4o-mini', api_key: '{{secret:openai}}' })
    const wrong = await run(['agents', 'update', 'helper', '--temperature', '9'], '', { cwd: '/', now, variables })
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('--temperature')])
  })
})
