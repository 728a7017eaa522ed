import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { showExplanation } from '../../../src/features/explain/cli-show.ts'
import { createStyle } from '../../../src/cli/output/style.ts'
import type { CliCall } from '../../../src/cli/remote/call.ts'
import type { Explanation, ExplainQuery } from '../../../src/features/explain/schema.ts'
import { instant } from '../../../src/domain/instant.ts'
import { answerQuestion } from '../../../src/features/explain/service.ts'
import { ID_PREFIXES } from '../../../src/engine/ids.ts'
import type { Ports } from '../../../src/engine/ports.ts'
import { createSchedule, disableSchedule } from '../../../src/features/schedules/service.ts'
import { anAsker } from '../../support/asker.ts'
import { ROOT } from '../../tooling/root.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

const PAGE = readFileSync(path.join(ROOT, 'docs/concepts/explain.md'), 'utf8')
const blocks = (language: string): readonly string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, text = '']) => text)

/** Ids are made anew with every run of the example: the first that appears is the first. */
function withPlainIds(text: string): string {
  const seen: string[] = []
  return text.replaceAll(/\b(run|sch)_[0-9a-z]+/g, (id, kind: string) => {
    if (!seen.includes(id)) seen.push(id)
    return `${kind}_${seen.filter((one) => one.startsWith(kind)).indexOf(id) + 1}`
  })
}

let world: ServiceWorld
let ports: Ports
const to = (moment: string): void => {
  world.now = instant(Date.parse(moment))
}

/** The story that the page tells. */
beforeAll(async () => {
  world = await createServiceWorld()
  let made = 0
  ports = { ...world.ports, newId: (kind) => `${ID_PREFIXES[kind]}${(made += 1)}` }
  await world.db.query(`update org set default_timezone = 'Europe/Berlin'`, [])
  to('2026-11-12T10:00:00Z')
  const inbox = await createSchedule(ports, world.caller, {
    ...{ name: 'Inbox triage', cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin', overlap_action: 'SKIP' },
  })
  await createSchedule(ports, world.caller, {
    name: 'New York report',
    cron: '0 9 * * *',
    timezone: 'America/New_York',
  })
  const backup = await createSchedule(ports, world.caller, {
    name: 'Backup',
    cron: '0 3 * * *',
    timezone: 'Europe/Berlin',
  })
  to('2026-11-13T08:00:00Z')
  await world.fire(inbox.id)
  to('2026-11-14T12:00:00Z')
  await disableSchedule(ports, world.caller, { id: backup.id })
  to('2026-11-16T08:00:00Z')
  await world.fire(inbox.id)
  to('2026-11-16T09:30:00Z')
})
afterAll(() => world.drop())

const ask = (query: ExplainQuery): Promise<Explanation> => answerQuestion(ports, anAsker(world.caller), query)

async function onTheTerminal(query: ExplainQuery): Promise<string> {
  let printed = ''
  await showExplanation(
    {
      ...{ json: false, style: createStyle(false), width: null, url: 'http://127.0.0.1:7420' },
      terminal: { now: () => world.now },
      print: (text: string) => {
        printed += text
        return Promise.resolve()
      },
    } as unknown as CliCall,
    await ask(query),
  )
  return withPlainIds(printed)
}

describe('the example of docs/concepts/explain.md', () => {
  it('why did nothing happen at nine, on the terminal', async () => {
    expect(await onTheTerminal({ at: '09:00' })).toBe(blocks('text')[0])
  })

  it('why did nothing happen at three, on the terminal', async () => {
    expect(await onTheTerminal({ at: '03:00' })).toBe(blocks('text')[1])
  })

  it('and as the API answers it', async () => {
    const answer = JSON.stringify(await ask({ at: '09:00' }), null, 2)
    const { sentence, asked, findings, next } = JSON.parse(withPlainIds(answer)) as Explanation
    const shown = JSON.parse(blocks('json')[0] ?? '{}') as unknown
    expect({ sentence, asked, findings: findings.slice(0, 1), next }).toEqual(shown)
  })
})
