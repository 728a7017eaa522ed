import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { instant } from '../../src/domain/instant.ts'
import { run } from '../cli/run.ts'
import { textOf } from '../docs/tracked-files.ts'
import { wordsOf } from '../docs/written/shell.ts'
import { startModelServer, type ModelServer } from '../executors/model-server.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'

// docs/guides/conversation-to-schedule.md, command by command, with a model on this machine that answers as it is told.

const ANSWERS: Readonly<Record<string, string>> = {
  'What is new in the inbox?':
    'There is quite a lot in the inbox today, so here is all of it: two invoices are due, the server was restarted twice, and Ann wants to meet you on Friday, or on Monday if that suits you better.',
  'shorter please': '- Two invoices are due\n- The server was restarted\n- Ann wants to meet',
  'Great, do that every weekday at 9 in Berlin': 'I cannot do that by myself.',
  'no names': '- Two invoices are due\n- The server was restarted\n- Somebody wants to meet',
  'Good morning': 'Good morning!',
}
/** What a schedule says to it. */
const OTHERWISE = '- Nothing is new\n- Nobody wrote'

let world: ServeWorld
let model: ModelServer
const variables: Record<string, string> = { USER: 'me' }
const now = () => instant(Date.now())

beforeAll(async () => {
  model = await startModelServer(({ question, say, finish }) => {
    say(ANSWERS[String(question.messages.at(-1)?.content)] ?? OTHERWISE)
    finish({ usage: { prompt_tokens: 50, completion_tokens: 10 } })
  })
  world = await createServeWorld()
  const settings = { ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true', ESCAPEMENT_SESSIONS_DEBOUNCE_MS: '0' }
  variables['ESCAPEMENT_URL'] = await world.serve({ variables: settings }).url
  variables['ESCAPEMENT_KEY'] = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
  await type(`agents create --id writer --name Writer --base-url ${model.baseUrl} --model tiny`)
}, 60_000)

afterAll(async () => {
  await world.end()
  await model.close()
})

async function type(command: string, input = ''): Promise<string> {
  const { stdout, stderr, code } = await run(wordsOf(command), input, { cwd: '/', now, variables })
  return `${stdout}${stderr}${code === 0 ? '' : `exit code ${code}\n`}`
}

/** What is another on every machine and at every moment. */
const masked = (text: string): string =>
  text
    .replaceAll(/\b(?:run|sch)_\w+/g, (id) => `${id.slice(0, 4)}…`)
    .replaceAll(/^ {2}\d{4}-.*$/gm, '  …')
    .replaceAll(/^(last duration +).*?,/gm, '$1… ms,')
    .replaceAll(/(days: |, tokens |max )\d+(?= runs| \(|\))/g, '$1…')
    .trimEnd()

/** A line of nothing but dots stands for any lines. */
function expectSame(given: string, wanted: string): void {
  const parts = masked(wanted).split(/^…$\n?/m)
  if (parts.length === 1) expect(masked(given)).toBe(parts[0])
  let rest = masked(given)
  for (const part of parts) {
    expect(rest).toContain(part.trimEnd())
    rest = rest.slice(rest.indexOf(part.trimEnd()) + part.trimEnd().length)
  }
}

/** What the model was asked last. */
const lastAsked = (): unknown => model.questions().at(-1)?.messages.at(-1)?.content

describe('the guide from a conversation to a schedule', () => {
  it('does what it says', async () => {
    const guide = textOf('docs/guides/conversation-to-schedule.md')
    const blocks = [...guide.matchAll(/```(?<kind>sh run|text)\n(?<content>[^]*?)```/g)].map(
      ({ groups }) => groups ?? {},
    )
    let answer = ''
    let compared = 0
    for (const { kind, content = '' } of blocks) {
      if (kind === 'sh run') {
        answer = ''
        for (const [, command = ''] of content.matchAll(/^escapement (.*)$/gm)) answer += await type(command)
      } else {
        expectSame(answer, content)
        compared += 1
      }
    }
    expect(compared).toBe(4)
    expect(model.questions().at(-1)?.messages).toHaveLength(1)
    expect(lastAsked()).toBe(
      'What is new in the inbox?\n\nOutput:\nAnswer as a bullet list of about 3 items. No names.',
    )
  })

  it('ends in occurrences that ask the same', async () => {
    const made = await type('runs schedule agent:writer:cli:direct:me --every 1s --max-fires 1 --output Briefly --json')
    const { id, created_by_run: from } = JSON.parse(made) as { readonly id: string; readonly created_by_run: string }
    await vi.waitFor(() => expect(lastAsked()).toBe('What is new in the inbox?\n\nOutput:\nBriefly'), {
      ...{ timeout: 10_000, interval: 20 },
    })
    const { children } = JSON.parse(await type(`runs lineage ${from} --json`)) as {
      readonly children: readonly { readonly id: string; readonly schedule_id: string | null }[]
    }
    expect(children).toContainEqual(expect.objectContaining({ kind: 'schedule', id }))
    expect(children).toContainEqual(expect.objectContaining({ kind: 'run', trigger: 'schedule', schedule_id: id }))
  })

  it('is a word in a conversation, and makes nothing that was not shown', async () => {
    const said = await type(
      'chat writer --session agent:writer:cli:direct:me',
      '/schedule yes\n/schedule every 2 hours\n/schedule yes\n/schedule yes\n/schedule now and then\n',
    )
    expect(said).toMatch(
      /^There is no draft to create[^]*Every 2 hours[^]*Nothing was created yet\. Type \/schedule yes to create it\.\nCreated sch_\w+: Every 2 hours\. Next run: [^]*There is no draft to create[^]*\/schedule "now" is not understood/,
    )
    expect(said).toContain('exit code 1')
  })

  it('says what is wrong', async () => {
    expect(await type('runs schedule run_none --when "every day at 9"')).toContain('There is no run run_none')
    expect(await type('runs schedule agent:writer:cli:direct:me --keep length,wish-7 --dry-run')).toMatch(
      /--keep .*is not a proposed requirement[^]*allowed: format, length, language, wish-1/,
    )
    expect(await type('runs schedule agent:writer:cli:direct:me --when "every day at 9" --cron "0 9 * * *"')).toBe(
      'Only one of --when, --cron, --every, --at and --rrule is allowed\nexit code 2\n',
    )
  })
})
