import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { asCodeSchema } from '../../src/features/as-code/schema.ts'
import { EXAMPLES } from '../../src/domain/words/understand.ts'
import { run } from '../cli/run.ts'
import { textOf } from '../docs/tracked-files.ts'
import { linesOf, wordsOf } from '../docs/written/shell.ts'
import { createHttpWorld, type HttpWorld } from './support.ts'

// The commands of the guides, one after the other, with the answers that stand below them.

let world: HttpWorld
let url: string
let cwd: string

beforeAll(async () => {
  world = await createHttpWorld()
  const rules = { enabled: true, programs: ['/usr/local/bin/backup', '/bin/sh'], directories: [] }
  // The status page of the guide to probes.
  const look = () => Promise.resolve({ kind: 'seen', value: { open: 0 }, how: 'it answered 200', mark: null } as const)
  world.change({ ports: { ...world.services.ports, commandRules: () => rules, runProbe: look } })
  const echo = { id: 'echo', name: 'Echo', executor: { kind: 'echo' } }
  expect((await world.ask('POST', '/api/v1/agents', { as: 'operator', body: echo })).statusCode).toBe(201)
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  cwd = mkdtempSync(path.join(os.tmpdir(), 'escapement-guide-'))
})

afterAll(async () => {
  rmSync(cwd, { recursive: true, force: true })
  await world.close()
})

beforeEach(async () => {
  await world.services.db.query('delete from schedule', [])
})

const BLOCK = /```(?<kind>sh run|text|\w+ file=(?<file>\S+))\n(?<content>[^]*?)```/g

/** Ids are others on every machine. */
const withoutIds = (text: string): string =>
  text
    .replaceAll(/\b(?:sch_\w+|schedule_\d+)/g, 'sch_…')
    .replaceAll(/\b(?:bkf_\w+|backfill_\d+)/g, 'bkf_…')
    .replaceAll(/--expect \S+/g, '--expect …')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:7420')

/** What a command of the guide was kept under, by its name. */
const kept = new Map<string, string>()

/** `NAME=$(escapement … --json | jq -r .field)` keeps a field of the answer, and says nothing. */
const KEEPS = /^(?<name>[A-Z]+)=\$\((?<command>[^]*) \| jq -r '?\.(?<field>[\w.[\]]+)'?\)$/

async function performed(line: string): Promise<string> {
  const { name, command, field = '' } = KEEPS.exec(line)?.groups ?? {}
  const known = (text: string): string => text.replaceAll(/\$([A-Z]+)/g, (_, at: string) => kept.get(at) ?? '')
  if (name === undefined || command === undefined) return typed(known(line))
  const answer = await typed(known(command))
  const steps = field.split(/[.[\]]+/).filter((step) => step !== '')
  let found = JSON.parse(answer) as unknown
  for (const step of steps) found = (found as Readonly<Record<string, unknown>>)[step]
  kept.set(name, String(found))
  return ''
}

const typed = async (line: string): Promise<string> => {
  const now = world.services.ports.clock.now
  const variables = { ESCAPEMENT_URL: url, ESCAPEMENT_KEY: 'operator' }
  const [, ...args] = wordsOf(line)
  const { stdout, stderr, code } = await run(args, '', { cwd, now, variables })
  return `${stdout}${stderr}${code === 0 ? '' : `exit code ${code}\n`}`
}

describe('the guide', () => {
  it.each([
    'schedules-as-code',
    'natural-language',
    'replace-crontab',
    'replace-openclaw',
    'replace-goclaw',
    'backfill',
    'probe-before-model',
  ])('%s says what happens', async (name) => {
    const blocks = [...textOf(`docs/guides/${name}.md`).matchAll(BLOCK)].map(({ groups }) => groups ?? {})
    let answer: string | null = null
    let compared = 0
    for (const { kind, file, content = '' } of blocks) {
      if (file !== undefined) writeFileSync(path.join(cwd, file), content)
      else if (kind === 'sh run') {
        answer = ''
        for (const line of linesOf(content)) answer += await performed(line)
      } else if (answer !== null) {
        const [given, wanted] = [withoutIds(answer).trimEnd(), withoutIds(content).trimEnd()]
        if (wanted.startsWith('…\n')) expect(given.endsWith(wanted.slice(1)), given).toBe(true)
        else expect(given).toBe(wanted)
        answer = null
        compared += 1
      }
    }
    expect(compared).toBeGreaterThan(1)
  })

  it('of schedules as code shows the example, and servers describe such files to editors without a key', async () => {
    expect(textOf('docs/guides/schedules-as-code.md')).toContain(textOf('examples/schedules.yaml'))
    const answer = await fetch(`${url}/schema/escapement.schema.json`)
    expect([answer.status, await answer.json()]).toEqual([200, JSON.parse(JSON.stringify(asCodeSchema()))])
  })

  it('of sentences has every example that refusals name', () => {
    const guide = textOf('docs/guides/natural-language.md')
    expect(EXAMPLES.filter((example) => !guide.includes(example))).toEqual([])
  })
})
