import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AgentView } from '../../src/features/agents/schema.ts'
import { type ImportedLine, type ImportReport, importReport } from '../../src/features/import/schema.ts'
import type { Page } from '../../src/api/page.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'

import { words } from '../../src/features/schedules/views-schema.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  await world.ask('POST', '/api/v1/agents', {
    as: 'operator',
    body: { id: 'writer', name: 'W', executor: { kind: 'echo' } },
  })
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query('delete from schedule', [])
  await world.services.db.query("delete from agent where id like 'cron-%'", [])
  world.change({ ports: world.services.ports })
})

const allow = (...programs: readonly string[]): void =>
  world.change({
    ports: { ...world.services.ports, commandRules: () => ({ enabled: true, programs, directories: [] }) },
  })

async function taken(source: 'crontab' | 'openclaw', body: object, as = 'owner'): Promise<ImportReport> {
  const response = await world.ask('POST', `/api/v1/import/${source}`, { body, as })
  expect(response.json()).not.toHaveProperty('code')
  expect(response.statusCode).toBe(200)
  return importReport.parse(response.json())
}

const schedules = async (as = 'owner'): Promise<readonly ScheduleView[]> =>
  (await world.ask('GET', '/api/v1/schedules?sort=name', { as })).json<Page<ScheduleView>>().items
const outcomes = ({ lines }: ImportReport): readonly string[] => lines.map(({ line, outcome }) => `${line} ${outcome}`)
const lineOf = ({ lines }: ImportReport, line: number): ImportedLine | undefined =>
  lines.find((one) => one.line === line)

const FILE =
  '# Good morning\n0 9 * * 1-5 say good morning\n\nCRON_TZ=Europe/Berlin\n@daily tidy up%all of it\n99 * * * * never\n'

describe('a crontab for an agent', () => {
  it('is planned without changing anything, taken over, and then nothing is left to do', async () => {
    const body = { text: FILE, agent_id: 'writer' }
    const plan = await taken('crontab', { ...body, plan: true })
    expect(outcomes(plan)).toEqual(['1 taken', '2 new', '4 taken', '5 new', '6 refused'])
    expect(lineOf(plan, 6)).toMatchObject({ column: 1, notes: [expect.stringContaining('minute 99')] })
    expect(lineOf(plan, 2)).toMatchObject({ schedule_id: null, sentence: 'At 09:00, Monday through Friday (UTC)' })
    expect(await schedules()).toEqual([])

    const first = await taken('crontab', body)
    expect(outcomes(first)).toEqual(outcomes(plan))
    expect(first.lines.map(({ sentence, next_run_at }) => [sentence, next_run_at])).toEqual(
      plan.lines.map(({ sentence, next_run_at }) => [sentence, next_run_at]),
    )
    const made = await schedules()
    expect(made.map(({ name, cron, timezone, payload }) => ({ name, cron, timezone, payload }))).toEqual([
      { name: 'say good morning', cron: '0 9 * * 1-5', timezone: 'UTC', payload: { prompt: 'say good morning' } },
      { name: 'tidy up', cron: '@daily', timezone: 'Europe/Berlin', payload: { prompt: 'tidy up\n\nall of it' } },
    ])
    expect(made[0]?.description).toMatch(/^Good morning\n\nImported from a crontab \(crontab:\w{16}:\w{16}\)$/)

    const again = await taken('crontab', body)
    expect(outcomes(again)).toEqual(['1 taken', '2 unchanged', '4 taken', '5 unchanged', '6 refused'])
    expect(await schedules()).toEqual(made)
  })

  it('keeps what a person has changed, until the line itself changes', async () => {
    const body = { text: '0 9 * * * report\n', agent_id: 'writer' }
    await taken('crontab', body)
    const [made] = await schedules()
    const id = made?.id ?? ''
    await world.ask('PATCH', `/api/v1/schedules/${id}`, { body: { name: 'My report', cron: '0 8 * * *' } })
    expect(outcomes(await taken('crontab', body))).toEqual(['1 unchanged'])
    expect((await schedules())[0]).toMatchObject({ name: 'My report', cron: '0 8 * * *' })
    const moved = await taken('crontab', { ...body, text: '0 10 * * * report\n' })
    expect(lineOf(moved, 1)).toMatchObject({ outcome: 'changed', schedule_id: id })
    expect(await schedules()).toMatchObject([{ id, name: 'My report', cron: '0 10 * * *' }])
    expect(outcomes(await taken('crontab', { ...body, text: '0 10 * * * report\n' }))).toEqual(['1 unchanged'])
  })

  it('can be made switched off, in a zone, and is refused whole for an agent or a target that is not there', async () => {
    await taken('crontab', { text: '0 9 * * * x\n', agent_id: 'writer', disabled: true, timezone: 'Asia/Tokyo' })
    expect(await schedules()).toMatchObject([{ state: 'paused', timezone: 'Asia/Tokyo' }])
    const wrong = { text: 'x', agent_id: 'nobody', target_id: 'nowhere' }
    const refused = await world.ask('POST', '/api/v1/import/crontab', { body: wrong })
    problemIn(refused, 'VALIDATION')
    expect(pointersIn(refused)).toEqual(['/agent_id', '/target_id'])
  })
})

describe('a crontab of commands', () => {
  const text =
    'KEY=v\n0 2 * * * /usr/bin/backup --full\n0 3 * * * cd /srv && ./run%input\n0 4 * * * cd /srv && ./run%input\n'

  it('needs an owner of the operator org, and programs that the operator lists', async () => {
    expect(lineOf(await taken('crontab', { text }), 2)?.notes[0]).toMatch(/only an owner of the operator org/)
    expect(lineOf(await taken('crontab', { text }, 'operator'), 2)?.notes[0]).toMatch(
      /enabled is false; the operator must list \/usr\/bin\/backup or \/bin\/sh in executors.command.programs/,
    )
    allow('/usr/bin/backup')
    expect(outcomes(await taken('crontab', { text }, 'operator'))).toEqual([
      '1 taken',
      '2 new',
      '3 refused',
      '4 refused',
    ])
  })

  it('becomes agents that start just that, one for each command, and nothing at the second time', async () => {
    allow('/usr/bin/backup', '/bin/sh')
    expect(outcomes(await taken('crontab', { text, plan: true }, 'operator'))).toEqual([
      '1 taken',
      '2 new',
      '3 new',
      '4 new',
    ])
    const report = await taken('crontab', { text }, 'operator')
    expect(outcomes(report)).toEqual(['1 taken', '2 new', '3 new', '4 new'])
    const agents = (await world.ask('GET', '/api/v1/agents?limit=200', { as: 'operator' })).json<Page<AgentView>>()
      .items
    const made = agents.filter(({ id }) => id.startsWith('cron-')).map(({ executor }) => executor)
    expect(made).toHaveLength(2)
    expect(made).toContainEqual(
      expect.objectContaining({ kind: 'command', program: '/usr/bin/backup', args: ['--full'], stdin: '' }),
    )
    expect(made).toContainEqual(
      expect.objectContaining({ program: '/bin/sh', args: ['-c', 'cd /srv && ./run'], stdin: 'input\n' }),
    )
    expect(outcomes(await taken('crontab', { text }, 'operator'))).toEqual([
      '1 taken',
      '2 unchanged',
      '3 unchanged',
      '4 unchanged',
    ])
  })
})

describe('a jobs file of OpenClaw', () => {
  const job = (more: object) => ({
    ...{
      id: 'j1',
      name: 'Brief',
      enabled: true,
      schedule: { kind: 'cron', expr: '0 7 * * *', tz: 'America/Los_Angeles' },
    },
    ...{ sessionTarget: 'isolated', wakeMode: 'now', payload: { kind: 'agentTurn', message: 'Summarize' }, ...more },
  })
  const fileOf = (...jobs: readonly object[]): string => JSON.stringify({ version: 1, jobs })

  it('is taken over once, with what could not be said', async () => {
    const text = fileOf(
      job({}),
      job({ id: 'j2', name: 'Second', agentId: 'writer', delivery: { mode: 'announce', channel: 'slack', to: 'C1' } }),
      job({ id: 'j3', schedule: { kind: 'at', at: '2020-01-01T00:00:00Z' } }),
      job({ id: 'j4', schedule: { kind: 'cron', expr: '61 * * * *' } }),
      job({ id: 'j1' }),
      job({
        id: 'j6',
        name: 'Third',
        agentId: 'gone',
        enabled: false,
        schedule: { kind: 'every', everyMs: 3_600_000, anchorMs: 0 },
      }),
    )
    const plan = await taken('openclaw', { text, plan: true })
    expect(outcomes(plan)).toEqual(['1 new', '2 new', '3 left_out', '4 refused', '5 refused', '6 new'])
    const report = await taken('openclaw', { text })
    expect(report.counts).toEqual({ new: 3, changed: 0, unchanged: 0, refused: 2, taken: 0, left_out: 1 })
    expect(lineOf(report, 2)?.notes[0]).toMatch(/delivery to slack C1 is not imported/)
    expect(lineOf(report, 6)?.notes.join()).toMatch(/there is no agent gone,/)
    expect(await schedules()).toMatchObject([
      { name: 'Brief', cron: '0 7 * * *', timezone: 'America/Los_Angeles', session: 'isolated', state: 'active' },
      { agent_id: 'writer' },
      { every_seconds: 3600, state: 'paused' },
    ])
    expect(outcomes(await taken('openclaw', { text }))).toEqual([
      ...['1 unchanged', '2 unchanged', '3 left_out', '4 refused', '5 refused', '6 unchanged'],
    ])
  })

  it('finds the target of an address, and is refused when it is none', async () => {
    const target = { name: 'Hook', kind: 'webhook', url: 'https://example.com/hook' }
    const { id } = (await world.ask('POST', '/api/v1/targets', { body: target })).json<{ id: string }>()
    await taken('openclaw', { text: fileOf(job({ delivery: { mode: 'webhook', to: target.url } })) })
    expect(await schedules()).toMatchObject([{ delivery: { target_id: id } }])
    problemIn(await world.ask('POST', '/api/v1/import/openclaw', { body: { text: 'no JSON' } }), 'VALIDATION')
  })
})

describe('a sentence about time', () => {
  it('is answered with fields that mean the same, in words and dates', async () => {
    const body = { text: 'every weekday at 9 in Berlin: look at the inbox' }
    const answer = words.parse((await world.ask('POST', '/api/v1/schedules/parse', { body, as: 'viewer' })).json())
    expect(answer).toMatchObject({
      fields: { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
      sentence: 'At 09:00, Monday through Friday (Europe/Berlin)',
      notes: ['"9" is read as 09:00'],
      rest: 'look at the inbox',
    })
    expect(answer.next).toHaveLength(5)
    const made = await world.ask('POST', '/api/v1/schedules', { body: { ...answer.fields, payload: answer.rest } })
    expect(made.json<ScheduleView>()).toMatchObject({ sentence: answer.sentence, next_run_at: answer.next[0] })
  })

  it('is read in the zone that is named, and refused with the place of the word', async () => {
    const ask = (body: object) => world.ask('POST', '/api/v1/schedules/parse', { body })
    expect((await ask({ text: '每天晚上八点半', timezone: 'Asia/Shanghai' })).json()).toMatchObject({
      fields: { cron: '30 20 * * *', timezone: 'Asia/Shanghai' },
    })
    const refused = await ask({ text: 'every blue moon' })
    problemIn(refused, 'VALIDATION')
    expect(refused.json()).toMatchObject({
      errors: [{ pointer: '/text', message: '"blue" is not understood after "every" at position 7' }],
    })
    expect(pointersIn(await ask({ text: 'daily', timezone: 'Mars/Olympus' }))).toEqual(['/timezone'])
  })
})
