import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { heartbeat } from '../../src/features/heartbeats/schema.ts'
import { probeTry } from '../../src/features/probes/schema.ts'
import { DEFAULT_RESTRICTIONS } from '../../src/domain/access/restrictions.ts'
import { createSchedule } from '../../src/features/schedules/service.ts'
import { ORG } from '../platform/db/records.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

const URL = '/api/v1/schedules'
const PROBE = { kind: 'http', url: 'https://status.example/open' }
const COMMAND = { kind: 'command', program: '/bin/true' }
let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  const look = () =>
    Promise.resolve({ kind: 'seen', value: 'a-credential', how: 'it answered 200', mark: null } as const)
  const check = (url: string, purpose: string) =>
    Promise.resolve(url.includes('10.0.0.1') ? `is a private address, closed to a ${purpose}` : null)
  const { ports } = world.services
  const commands = () => ({ enabled: true, programs: ['/bin/true'], directories: [] })
  world.change({ ports: { ...ports, runProbe: look, commandRules: commands, outbound: { ...ports.outbound, check } } })
})
afterAll(() => world.close())

const ask = (probe: unknown, as: 'owner' | 'operator' = 'owner') =>
  world.ask('POST', URL, { as, body: { every_seconds: 60, probe } })

describe('a probe of a schedule', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['a kind that is none', { kind: 'magic' }, ['/probe/kind']],
    ['no address', { kind: 'http' }, ['/probe/url']],
    ['a template', { ...PROBE, headers: { a: '{{secret:KEY}}' } }, ['/probe/headers/a']],
    ['a wrong condition', { ...PROBE, when: { path: 'x', op: 'exists' } }, ['/probe/when/path']],
    ['what the guard refuses', { ...PROBE, url: 'http://10.0.0.1/' }, ['/probe/url']],
    ['a text', 'x', ['/probe']],
  ])('is refused with %s, and nothing is made', async (_, probe, pointers) => {
    const count = () => world.services.db.query('select count(*) as n from schedule', [])
    const before = await count()
    expect(pointersIn(await ask(probe))).toEqual(pointers)
    expect(await count()).toEqual(before)
  })

  it('hides what looks like a credential, keeps it while it is sent to the same place, and goes with null', async () => {
    const headers = { authorization: 'a-credential' }
    const made = (await ask({ ...PROBE, headers })).json<ScheduleView>()
    expect(made.probe?.headers).toEqual({ authorization: '***' })
    const change = (body: object) => world.ask('PATCH', `${URL}/${made.id}`, { body })
    await change({ probe: { ...made.probe, when: { op: 'exists' } } })
    const [row] = await world.services.db.query('select input from schedule where id = $1', [made.id])
    expect(row?.['input']).toMatchObject({ probe: { headers, when: { op: 'exists' } } })
    const otherPath = new globalThis.URL('/echo', made.probe?.url ?? '').href
    for (const url of ['https://other.example/', otherPath])
      expect(pointersIn(await change({ probe: { ...made.probe, url } })), url).toEqual(['/probe/headers/authorization'])
    const tried = await world.ask('POST', `${URL}/probe`, { body: { schedule_id: made.id } })
    expect(probeTry.parse(tried.json())).toMatchObject({ answer: 'yes', wakes: true, seen: '***' })
    expect((await change({ probe: null })).json<ScheduleView>().probe).toBeNull()
  })

  it.each(['/echo', '/open?to=echo', '/open/'])(
    'has no hidden header sent to %s of the same host by a member, through any door',
    async (path) => {
      const name = `Look ${path}`
      const headers = { authorization: 'a-credential' }
      const body = { name, every_seconds: 60, payload: 'x', probe: { ...PROBE, headers } }
      const made = (await world.ask('POST', URL, { as: 'admin', body })).json<ScheduleView>()
      const stored = () => world.services.db.query('select input from schedule where id = $1', [made.id])
      const before = await stored()
      const moved = { ...made.probe, url: new globalThis.URL(path, PROBE.url).href }
      const refused = async (...[method, url, body]: readonly ['PATCH' | 'POST', string, unknown]) =>
        pointersIn(await world.ask(method, url, { as: 'member', body }))
      const hidden = '/probe/headers/authorization'
      expect(await refused('PATCH', `${URL}/${made.id}`, { probe: moved })).toEqual([hidden])
      expect(await refused('POST', `${URL}/probe`, { schedule_id: made.id, probe: moved })).toEqual([hidden])
      const document = { version: 1, schedules: [{ name, every_seconds: 60, payload: 'x', probe: moved }] }
      expect(await refused('POST', '/api/v1/apply', document)).toEqual([`/schedules/0${hidden}`])
      expect(await stored()).toEqual(before)
    },
  )

  it('starts a program only for an owner of the operator, among those that are listed, and never for a model', async () => {
    problemIn(await ask(COMMAND, 'owner'), 'FORBIDDEN')
    expect((await ask(COMMAND, 'operator')).statusCode).toBe(201)
    expect(pointersIn(await ask({ ...COMMAND, program: '/bin/sh' }, 'operator'))).toEqual(['/probe/program'])
    const { ports } = world.services
    const railed = { restrictions: DEFAULT_RESTRICTIONS, owner: 'key_rails', attempt: null }
    const caller = { orgId: ORG, principal: 'key_rails', restricted: railed, isOperatorOwner: true }
    const input = { every_seconds: 86_400, agent_id: 'writer' }
    await expect(createSchedule(ports, caller, { ...input, probe: COMMAND as never })).rejects.toThrow('restricted key')
    const through = { orgId: ORG, principal: 'key_1', through: 'mcp', isOperatorOwner: true } as const
    await expect(createSchedule(ports, through, { ...input, probe: COMMAND as never })).rejects.toThrow('MCP')
  })

  it('is tried by whoever may write schedules, of their own org', async () => {
    const body = { probe: PROBE }
    problemIn(await world.ask('POST', `${URL}/probe`, { as: 'viewer', body }), 'FORBIDDEN')
    expect((await world.ask('POST', `${URL}/probe`, { as: 'member', body })).statusCode).toBe(200)
    expect(pointersIn(await world.ask('POST', `${URL}/probe`, { body: {} }))).toEqual(['/probe'])
    const { id } = (await ask(PROBE)).json<ScheduleView>()
    problemIn(await world.ask('POST', `${URL}/probe`, { as: 'stranger', body: { schedule_id: id } }), 'NOT_FOUND')
    const refused = await world.ask('POST', `${URL}/probe`, { body: { probe: { ...PROBE, url: 'http://10.0.0.1/' } } })
    expect(pointersIn(refused)).toEqual(['/probe/url'])
  })
})

describe('a probe of a heartbeat', () => {
  it('is kept with its settings, hidden where it must be, and refused as that of a schedule is', async () => {
    const set = (probe: unknown) =>
      world.ask('PUT', '/api/v1/agents/writer/heartbeat', { body: { checklist: { text: '- look' }, probe } })
    const shown = heartbeat.parse((await set({ ...PROBE, headers: { 'x-api-key': 'a-credential' } })).json())
    expect(shown.probe).toEqual({ ...PROBE, headers: { 'x-api-key': '***' } })
    expect(heartbeat.parse((await set(shown.probe)).json()).probe).toEqual(shown.probe)
    const [row] = await world.services.db.query(`select settings from heartbeat where agent_id = 'writer'`, [])
    expect(row?.['settings']).toMatchObject({ probe: { headers: { 'x-api-key': 'a-credential' } } })
    const elsewhere = await set({ ...shown.probe, url: 'https://status.example/echo' })
    expect(pointersIn(elsewhere)).toEqual(['/probe/headers/x-api-key'])
    const audited = await world.services.db.query(
      `select count(*) as n from audit where after::text like '%a-credential%'`,
      [],
    )
    expect(audited).toEqual([{ n: 0 }])
    expect(pointersIn(await set({ kind: 'state' }))).toEqual(['/probe/when'])
    problemIn(await set(COMMAND), 'FORBIDDEN')
  })
})
