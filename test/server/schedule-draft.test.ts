import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LineageView } from '../../src/features/access/restrictions-schema.ts'
import { type DraftInput, scheduleDraft, scheduleProposal } from '../../src/features/schedules/views-schema.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'

import { principalId } from '../../src/domain/ids.ts'
import { later } from '../../src/domain/instant.ts'
import { DEFAULT_RESTRICTIONS } from '../../src/domain/access/restrictions.ts'
import { seedRun } from '../platform/db/records.ts'
import { NOW } from '../support/builders.ts'
import { aPrincipal, createHttpWorld, KEYS, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  KEYS.set('drafter', aPrincipal('owner', { id: principalId('key_drafter'), scopes: ['schedules:write'] }))
  const railed = { restrictions: { ...DEFAULT_RESTRICTIONS, ownOnly: false }, owner: 'key_railed', attempt: null }
  KEYS.set('railed', aPrincipal('member', { id: principalId('key_railed'), restricted: railed }))
})
afterAll(async () => {
  KEYS.delete('drafter')
  KEYS.delete('railed')
  await world.close()
})

const KEY = 'agent:writer:api:direct:ann'
const LIST = '- Two invoices are due\n- The server was restarted\n- Ann wants to meet'
const GERMAN = 'Die Rechnung ist fällig und der Server wurde neu gestartet, auch das Treffen mit Ann ist nicht sicher.'

/** Something said in the conversation, one minute after the other. */
async function say(no: number, text: string, output: unknown, more: Parameters<typeof seedRun>[2] = {}): Promise<void> {
  const createdAt = later(NOW, (no - 100) * 60_000)
  const payload = { text, attachments: no === 2 ? [{ name: 'a.txt' }] : [], messageIds: [`m${no}`], fields: {} }
  await seedRun(world.services.db, `run_${no}`, { state: 'success', session: KEY, createdAt, payload, output, ...more })
}

beforeEach(async () => {
  world.services.now = NOW
  await world.services.db.query('delete from run; delete from schedule; delete from target')
  await say(1, 'Hello', 'Hello!')
  await say(2, 'What is new in the inbox?', 'Much. '.repeat(80))
  await say(3, 'shorter please', LIST, { usage: { inputTokens: 90, outputTokens: 30, costMicros: 250 } })
  await say(4, 'in German', GERMAN)
  await say(5, 'every weekday at 9 in Berlin', 'I will.')
  await say(6, 'What is the weather?', 'Fine.')
})

const proposal = async (id: string, as = 'member') => {
  const response = await world.ask('GET', `/api/v1/runs/${id}/schedule`, { as })
  return scheduleProposal.parse(response.json())
}
const draft = async (id: string, body: DraftInput = {}) => {
  const response = await world.ask('POST', `/api/v1/runs/${id}/schedule`, { as: 'member', body })
  return response.statusCode === 200 ? scheduleDraft.parse(response.json()) : response
}

describe('a schedule of a conversation', () => {
  it('asks what was asked, requires what made the answer good, and happens when it was said to', async () => {
    const found = await proposal('run_3')
    expect(found).toMatchObject({
      ...{ run_id: 'run_3', prompt_run_id: 'run_2' },
      conversation: { key: KEY, earlier: 1, channel: null },
      observed: { usage: { input_tokens: 90, output_tokens: 30, cost: 0.00025 } },
      timing: {
        ...{ words: 'every weekday at 9 in Berlin', run_id: 'run_5', notes: ['"9" is read as 09:00'] },
        sentence: 'At 09:00, Monday through Friday (Europe/Berlin)',
      },
    })
    expect(found.draft).toEqual({
      ...{ name: 'What is new in the inbox?', agent_id: 'writer', timezone: 'Europe/Berlin', cron: '0 9 * * 1-5' },
      payload: {
        prompt: 'What is new in the inbox?',
        context: { attachments: [{ name: 'a.txt' }] },
        output: 'Answer as a bullet list of about 3 items. Use at most about 20 words.',
      },
    })
    expect(await draft('run_3')).toEqual(found.draft)
    expect(found.requirements.map(({ id, said, taken }) => [id, said, taken])).toEqual([
      ['format', null, true],
      ['length', null, true],
      ['language', null, false],
      ['wish-1', 'in German', false],
    ])
  })

  it('is as somebody chooses', async () => {
    const chosen = await draft('run_3', {
      ...{ when: 'every 30 minutes', requirements: ['length', 'wish-1'], session: 'conversation' },
    })
    expect(chosen).toMatchObject({
      ...{ every_seconds: 1_800, session: KEY, timezone: 'UTC' },
      payload: { output: 'Use at most about 20 words. Answer in German.' },
    })
    expect(chosen).not.toHaveProperty('cron')
    expect(await draft('run_3', { output: '' })).toHaveProperty('payload', {
      ...{ prompt: 'What is new in the inbox?', context: { attachments: [{ name: 'a.txt' }] } },
    })
    expect(await draft('run_6', { when: '每天早上9点', timezone: 'Asia/Shanghai' })).toMatchObject({
      ...{ cron: '0 9 * * *', timezone: 'Asia/Shanghai', payload: { prompt: 'What is the weather?' } },
    })
  })

  it('is refused with what is wrong', async () => {
    const wrong = async (id: string, body: DraftInput): Promise<string> => {
      const response = await draft(id, body)
      if (!('statusCode' in response)) throw new Error('was drafted')
      return JSON.stringify(pointersIn(response))
    }
    expect(await wrong('run_3', { when: 'now and then' })).toContain('/when')
    expect(await wrong('run_3', { when: 'every day at 9: sing' })).toContain('/when')
    expect(await wrong('run_3', { requirements: ['length', 'wish-9'] })).toContain('/requirements/1')
    await say(7, 'Alone', 'Yes', { session: null })
    expect(await wrong('run_7', { session: 'conversation' })).toContain('/session')
    await seedRun(world.services.db, 'run_8', { state: 'success', trigger: 'task', payload: { action: 'click' } })
    expect(await wrong('run_8', { output: 'short' })).toContain('/output')
    problemIn(await world.ask('GET', '/api/v1/runs/run_none/schedule'), 'NOT_FOUND')
    problemIn(await world.ask('GET', '/api/v1/runs/run_3/schedule', { as: 'viewer' }), 'FORBIDDEN')
  })

  it('shows nothing of the conversation to whoever may not read it', async () => {
    expect(await proposal('run_3', 'drafter')).toMatchObject({
      ...{ prompt_run_id: 'run_3', conversation: null, timing: null, target: null },
      draft: { payload: { prompt: 'shorter please' } },
    })
  })

  it('knows nothing of what others said, nor of what was said before the conversation began anew', async () => {
    await world.services.db.query(`update run set sender = 'bob' where id = 'run_5'`)
    await world.services.db.query(`update run set generation = 1 where id in ('run_3', 'run_4')`)
    expect(await proposal('run_4')).toMatchObject({ timing: null, draft: { payload: { prompt: 'shorter please' } } })
  })

  it('goes back to where the conversation is held, and may take longer where it nearly took too long', async () => {
    const target = { name: 'Ann', kind: 'session', settings: { session: KEY } }
    const { id } = (await world.ask('POST', '/api/v1/targets', { body: target })).json<{ readonly id: string }>()
    await world.services.db.query(`update run set started_at = finished_at - interval '6 minutes' where id = 'run_6'`)
    await world.services.db.query(`update agent set timeout_seconds = 600 where id = 'writer'`)
    const found = await proposal('run_6')
    expect(found.target).toEqual({ id, name: 'Ann' })
    expect(found.draft).toMatchObject({ delivery: { target_id: id }, timeout_seconds: 1_080 })
    await world.services.db.query(`update agent set timeout_seconds = null where id = 'writer'`)
  })
})

describe('a schedule that was made of a run', () => {
  const create = (query: string, as = 'member') =>
    world.ask('POST', `/api/v1/schedules${query}`, { as, body: { name: 'Again', every_seconds: 60 } })

  it('remembers it, and the run shows it', async () => {
    const made = (await create('?from_run=run_3')).json<ScheduleView>()
    expect(made).toMatchObject({ created_by_run: 'run_3', owner: null })
    const { children } = (await world.ask('GET', '/api/v1/runs/run_3/lineage')).json<LineageView>()
    expect(children).toMatchObject([{ kind: 'schedule', id: made.id, name: 'Again' }])
    const { items } = (await world.ask('GET', `/api/v1/audit?object_id=${made.id}`)).json<{
      readonly items: readonly { readonly after: unknown }[]
    }>()
    expect(items[0]?.after).toMatchObject({ created_by_run: 'run_3' })
  })

  it('must be made of a run that is there, by somebody whose key does not say it already', async () => {
    const wrong = await create('?from_run=run_none')
    expect(JSON.stringify(pointersIn(wrong))).toContain('/from_run')
    problemIn(await create('?from_run=run_3', 'railed'), 'GUARD_RAIL')
    expect((await create('')).json<ScheduleView>().created_by_run).toBeNull()
  })
})
