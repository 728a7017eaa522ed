import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { blocksOf, type Block } from '../docs/written/markdown.ts'
import { linesOf } from '../docs/written/shell.ts'
import { formOf, stepsIn, type Step } from '../docs/written/transcript.ts'
import { claimsOf, HERE, isTyped, TYPED } from '../docs/written/who-runs.ts'
import type { Shell, Typed } from '../support/shell.ts'
import { createDocumentsWorld, type DocumentsWorld } from './documents-world.ts'

// The commands of documents that have no test of their own, typed into a shell beside a server, in their order.

/** What a reader has when they come to a document. */
interface Reader {
  /** Typed before its first command. */
  readonly before?: readonly string[]
  /** Typed before the block that begins so. */
  readonly between?: Readonly<Record<string, readonly string[]>>
  /** Whether the JSON below a command is what it prints. */
  readonly compares?: true
  /** What they answer when they are asked for something that is not shown. */
  readonly typed?: string
}

const agent = (id: string): string => `escapement agents create --id ${id} --name ${id} --executor echo`
const SECRET = 'printf 12345678 | escapement secrets set openai --host api.openai.com'
const BOT = '123456:abcdefghijklmnopqrstuvwxyz012345678'
const schedule = (name: string): string =>
  `${name}=$(escapement schedules create --name ${name} --cron '0 9 * * *' --payload Look --json | jq -r .id)`

const READERS: Readonly<Record<string, Reader>> = {
  'docs/concepts/agents.md': { before: [SECRET] },
  'docs/concepts/budgets.md': { before: [agent('writer'), schedule('ID')] },
  'docs/concepts/guard-rails.md': {
    before: [
      agent('writer'),
      'GUARDED=$(escapement keys create --name guarded --approval --json | jq -r .key)',
      'ESCAPEMENT_KEY=$GUARDED escapement schedules create --name One --every 1h --payload Look',
      'ESCAPEMENT_KEY=$GUARDED escapement schedules create --name Two --every 1h --payload Look',
    ],
  },
  'docs/concepts/heartbeats.md': {
    before: [
      agent('watch'),
      `printf ${BOT} | escapement channels create --name telegram --kind telegram --agent watch`,
    ],
  },
  'docs/guides/openai-agent.md': { before: [SECRET] },
  'docs/concepts/secrets.md': { before: ['TOKEN=abcdefgh'] },
  'docs/guides/backfill.md': { before: [schedule('SCHEDULE')] },
  'docs/guides/cron-evaluator.md': { compares: true },
  'docs/guides/inbound-hook.md': { before: [agent('helper')] },
  'docs/guides/slack.md': {
    before: [agent('helper')],
    typed: `xoxb-12345678-abcdefgh\n${'0123456789abcdef'.repeat(2)}\n`,
  },
  'docs/guides/telegram.md': { before: [agent('helper')], typed: `${BOT}\n` },
  'docs/guides/webhooks.md': {
    between: { 'escapement deliveries': ['escapement schedules run sch_… --wait', 'escapement deliveries list'] },
  },
  'docs/guides/simulate.md': { before: [schedule('ID')] },
}

let world: DocumentsWorld
let shell: Shell
beforeAll(async () => {
  world = await createDocumentsWorld()
}, 60_000)
afterAll(() => world.end())
afterEach(async () => {
  await shell.end()
  await world.clear()
})
beforeEach(async () => {
  shell = await world.open()
})

const stepsOf = ({ kind, text }: Block): readonly (Step | { readonly command: string; readonly output: null })[] =>
  kind === 'console' ? stepsIn(text) : linesOf(text).map((command) => ({ command, output: null }))

/** What goes on in the background is waited for: a server is there when it says where. */
const typed = (command: string): Promise<Typed> => shell.run(world.here(command.replace(/\s&$/, '')))

async function typeAll(commands: readonly string[]): Promise<void> {
  for (const command of commands) expect([command, await typed(command)]).toMatchObject([command, { code: 0 }])
}

async function typeBlock(block: Block): Promise<string> {
  let last = ''
  for (const { command, output } of stepsOf(block)) {
    const ran = await typed(command)
    expect([command, ran.code, ran.output]).toEqual([command, 0, ran.output])
    // Documents stand in /srv.
    const printed = ran.output.replaceAll(world.cwd, '/srv')
    if (output !== null) expect(formOf(printed.trim()), command).toBe(formOf(output))
    last = ran.output
  }
  return last
}

/** What a document tells its reader to write down. */
const filesIn = (blocks: readonly Block[]): readonly (readonly [file: string, text: string])[] =>
  blocks.flatMap(({ marks, text }) =>
    marks
      .filter((mark) => mark.startsWith('file='))
      .map((mark) => [path.join(world.cwd, mark.slice('file='.length)), text] as const),
  )

describe('the commands of', () => {
  it.each(TYPED)('%s do what they say', async (document) => {
    const { before = [], between = {}, compares = false, typed: hidden = '' } = READERS[document] ?? {}
    const blocks = blocksOf(document)
    const files = filesIn(blocks)
    for (const [file, text] of files) writeFileSync(file, text)
    await typeAll(before)
    world.typed = hidden
    for (const [index, block] of blocks.entries()) {
      if (!isTyped(block) || claimsOf(block)[0] !== HERE) continue
      const [, first = []] = Object.entries(between).find(([begins]) => block.text.startsWith(begins)) ?? []
      await typeAll(first)
      const printed = await typeBlock(block)
      const below = blocks[index + 1]
      if (compares && below?.kind === 'json') expect(JSON.parse(printed)).toEqual(JSON.parse(below.text))
    }
    world.typed = ''
    for (const [file] of files) rmSync(file)
  })
})
