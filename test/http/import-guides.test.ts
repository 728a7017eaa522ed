import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EXAMPLES } from '../../src/core/words/examples.ts'
import { run } from '../cli/run.ts'
import { textOf } from '../docs/tracked-files.ts'
import { createHttpWorld, type HttpWorld } from './support.ts'

// The commands of the guides, one after the other, with the answers that stand below them.

let world: HttpWorld
let url: string
let cwd: string

beforeAll(async () => {
  world = await createHttpWorld()
  const rules = { enabled: true, programs: ['/usr/local/bin/backup', '/bin/sh'], directories: [] }
  world.change({ ports: { ...world.services.ports, commands: () => rules } })
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

const wordsOf = (command: string): readonly string[] =>
  [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  )

/** Ids are others on every machine. */
const withoutIds = (text: string): string => text.replaceAll(/\b(?:sch_\w+|schedule_\d+)/g, 'sch_…')

const typed = async (line: string): Promise<string> => {
  const now = world.services.ports.clock.now
  const variables = { ESCAPEMENT_URL: url, ESCAPEMENT_KEY: 'operator' }
  const [, ...args] = wordsOf(line.replaceAll('\\\n', ' '))
  const { stdout, stderr, code } = await run(args, '', { cwd, now, variables })
  return `${stdout}${stderr}${code === 0 ? '' : `exit code ${code}\n`}`
}

describe('the guide', () => {
  it.each(['natural-language', 'replace-crontab', 'replace-openclaw', 'replace-goclaw'])('%s says what happens', async (name) => {
    const blocks = [...textOf(`docs/guides/${name}.md`).matchAll(BLOCK)].map(({ groups }) => groups ?? {})
    let answer: string | null = null
    let compared = 0
    for (const { kind, file, content = '' } of blocks) {
      if (file !== undefined) writeFileSync(path.join(cwd, file), content)
      else if (kind === 'sh run') {
        answer = ''
        for (const line of content.match(/^escapement(?:\\\n|[^\n])*/gm) ?? []) answer += await typed(line)
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

  it('of sentences has every example that refusals name', () => {
    const guide = textOf('docs/guides/natural-language.md')
    expect(EXAMPLES.filter((example) => !guide.includes(example))).toEqual([])
  })
})
