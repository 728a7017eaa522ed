import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instant } from '../../src/domain/instant.ts'
import { run } from '../cli/run.ts'
import { textOf } from '../docs/tracked-files.ts'
import { json, startPeer, type Peer } from '../platform/outbound/peer.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'

// The commands of docs/guides/tasks.md, one after the other, against a server and a browser that does what it is told.

const GUIDE = textOf('docs/guides/tasks.md')
const BLOCKS = [...GUIDE.matchAll(/```sh run\n([^]*?)```(?:\n\n```json\n([^]*?)```)?/g)].map(
  ([, commands = '', answer]) => ({ commands: commandsIn(commands), answer: answer === undefined ? null : answer }),
)

let world: ServeWorld
let browser: Peer
const variables: Record<string, string> = {}

beforeAll(async () => {
  const tabs = ['tab-1', 'tab-2'].map((id) => ({ id }))
  browser = await startPeer(({ method }, response) => json(response, 200, method === 'GET' ? tabs : { success: true }))
  world = await createServeWorld()
  const manager = { ESCAPEMENT_TASKS_EXECUTOR_MANAGER_URL: browser.url }
  variables['ESCAPEMENT_URL'] = await world.serve({ variables: manager }).url
  variables['ESCAPEMENT_KEY'] = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
}, 60_000)

afterAll(async () => {
  await world.end()
  await browser.close()
})

/** Each command on lines of its own; a quoted text may have several. */
function commandsIn(block: string): readonly string[] {
  return block.replaceAll('\\\n', ' ').match(/^(?:curl|escapement)(?:[^'\n]|'[^']*')*/gm) ?? []
}

/** The words of a command as a shell has them, with variables filled in outside of single quotes. */
const wordsOf = (command: string): readonly string[] =>
  [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) =>
      single ?? (double ?? plain ?? '').replaceAll(/\$(\w+)/g, (_, name: string) => variables[name] ?? ''),
  )

/** As curl does it: what is sent as data is a form unless somebody says otherwise. */
async function curl(words: readonly string[]): Promise<unknown> {
  const valuesOf = (option: string): readonly string[] =>
    words.flatMap((word, index) => (words[index - 1] === option ? [word] : []))
  const [body] = valuesOf('-d')
  const headers = Object.fromEntries([
    ...(body === undefined ? [] : [['content-type', 'application/x-www-form-urlencoded']]),
    ...valuesOf('-H').map((header) =>
      header.split(': ', 2).map((part, index) => (index === 0 ? part.toLowerCase() : part)),
    ),
  ]) as Record<string, string>
  const url = words.find((word) => word.startsWith('http')) ?? ''
  const answer = await fetch(url, {
    method: valuesOf('-X')[0] ?? 'GET',
    headers,
    ...(body === undefined ? {} : { body }),
  })
  return answer.json()
}

async function obey(command: string): Promise<unknown> {
  const [program, ...words] = wordsOf(command)
  if (program === 'curl') return curl(words)
  const { code, stderr } = await run(words, '', { cwd: '/', now: () => instant(Date.now()), variables })
  expect([command, code, stderr]).toEqual([command, 0, ''])
  return null
}

const CHANGING = /^(?:tsk_|\d{4}-)/

/** What differs each time is left out: ids, times, how long things took. */
const steady = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, one: unknown) => {
      if (/Latency|latencyMs|^(?:state|position|expired|submitted|completed)$|^tasks[A-Z]|dispatchCount/.test(name))
        return '…'
      if (typeof one === 'string') return CHANGING.test(one) ? '…' : one.replaceAll(/tsk_\w+/g, '…')
      return one
    }),
  )

describe('docs/guides/tasks.md', () => {
  it('has commands and answers', () => {
    expect(BLOCKS.flatMap(({ commands }) => commands)).toHaveLength(
      GUIDE.match(/^(?:curl|escapement (?!serve))/gm)?.length ?? 0,
    )
    expect(BLOCKS.filter(({ answer }) => answer !== null).length).toBeGreaterThan(4)
  })

  it.each(BLOCKS.map((block) => ({ ...block, title: block.commands[0] ?? '' })))(
    '$title',
    async ({ commands, answer }) => {
      for (const command of commands) {
        const said = await obey(command)
        if (answer !== null) expect(steady(said)).toEqual(steady(JSON.parse(answer)))
        const made = (said as { readonly taskId?: string } | null)?.taskId
        if (made === undefined || made === variables['TASK']) continue
        variables['TASK'] = made
        await expect
          .poll(
            async () =>
              await curl(wordsOf('curl $ESCAPEMENT_URL/tasks/$TASK -H "Authorization: Bearer $ESCAPEMENT_KEY"')),
          )
          .toMatchObject({ state: 'done' })
      }
    },
  )
})
