import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { orgInput, type OrgInput } from '../../../src/features/access/schema.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import { OPERATOR_ORG, type Principal } from '../../../src/domain/access/access.ts'
import { agentId, laneName, orgId, principalId, runId, type OrgId } from '../../../src/domain/ids.ts'
import { DAY_MS, formatInstant, HOUR_MS } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { listAudit, verifyAudit } from '../../../src/features/audit/service.ts'
import { findConsoleSession } from '../../../src/features/access/console-sessions.ts'
import { runsOfDay } from '../../../src/engine/commands/daily-runs.ts'
import type { OrgState } from '../../../src/engine/org-state/org-state.ts'
import { createRun, type NewRunFields } from '../../../src/engine/commands/runs.ts'
import { createKey, findPrincipal } from '../../../src/features/access/keys.ts'
import { createMember } from '../../../src/features/access/members.ts'
import { sendMessage } from '../../../src/features/sessions/send.ts'
import { updateOrg, createOrg, findOrgs, getOrg, deleteOrg } from '../../../src/features/access/orgs.ts'
import { createRetention } from '../../../src/features/retention/service.ts'
import { retryRun } from '../../../src/features/runs/retry.ts'
import { cancelRunById, runScheduleNow } from '../../../src/features/runs/service.ts'
import { createSchedule, disableSchedule } from '../../../src/features/schedules/service.ts'
import { createSignInLink, signIn } from '../../../src/features/access/sign-in.ts'
import { submitBatch, submitTask } from '../../../src/features/tasks/service.ts'
import { ensureAgents } from '../../../src/features/access/first-start.ts'
import { ensureOrg } from '../../../src/features/access/orgs-store.ts'
import { intoBacklog } from '../../platform/db/into-backlog.ts'
import { ORG } from '../../platform/db/records.ts'
import { openNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld
const operator = { orgId: OPERATOR_ORG, principal: 'key_operator' }

beforeAll(async () => {
  world = await createServiceWorld()
  await ensureOrg(world.db, {
    ...{ id: OPERATOR_ORG, name: 'default', defaultTimezone: 'UTC', defaultAgentId: null, at: world.now },
  })
})
afterAll(() => world.drop())

const live = {
  stateOf: () => undefined,
  positionOf: () => null,
  queuedBefore: () => null,
  explainOutside: () => null,
  explain: () => null,
}
const create = async (input: OrgInput) => createOrg(world.ports, operator, schemaReader(orgInput)(input))
const change = (id: string, patch: Parameters<typeof updateOrg>[2]['change']) =>
  updateOrg(world.ports, operator, { id, change: patch })
const owner = (of: OrgId) => ({
  orgId: of,
  principal: { id: principalId('key_operator'), role: 'owner', scopes: null } satisfies Pick<
    Principal,
    'id' | 'role' | 'scopes'
  >,
})
const message = (of: OrgId, text = 'hi') =>
  sendMessage(
    world.ports,
    { orgId: of, principal: null, live, defaultAgent: () => null },
    { key: 'agent:echo:s', input: { text } },
  )
const aRun = (id: string): NewRunFields => ({
  ...{ id: runId(id), agentId: agentId('a'), executorKey: 'x', jobRunId: id, lane: laneName('main') },
  ...{ trigger: 'message', state: 'queued', decision: because('accepted', 'test'), payload: null },
})

const runOf = async (sent: ReturnType<typeof message>): Promise<string> => {
  const receipt = await sent
  return 'run_id' in receipt ? receipt.run_id : ''
}

describe('orgs', () => {
  it('are made with an agent that works, found and changed', async () => {
    const made = await create({ id: 'north', name: 'North', default_timezone: 'Europe/Berlin', max_schedules: 1 })
    expect(made).toMatchObject({
      ...{ id: 'north', default_timezone: 'Europe/Berlin', default_agent_id: 'echo', max_schedules: 1 },
      ...{ max_concurrent: null, runs_per_day: null },
    })
    expect(await getOrg(world.ports, 'north')).toEqual(made)
    expect((await create({ name: 'South' })).id).toMatch(/^org_/)
    expect((await findOrgs(world.ports, { limit: 200 })).items.map(({ id }) => id)).toContain('north')
    const changed = await change('north', { name: 'Far North', max_schedules: null, max_concurrent: 2 })
    expect(changed).toEqual({ ...made, name: 'Far North', max_schedules: null, max_concurrent: 2 })
    await message(orgId('north'))
    const own = (await listAudit(world.ports, { orgId: orgId('north') })).items
    expect(own).toMatchObject([
      { actor: 'key_operator', action: 'org.update', before: { name: 'North' }, after: { max_concurrent: 2 } },
    ])
    const operators = (await listAudit(world.ports, operator, { action: 'org.create' })).items
    expect(operators.map(({ object }) => object.id)).toContain('north')
  })

  it('are refused with what is wrong about them', async () => {
    const bad = { name: 'x', id: 'A b', default_timezone: 'Mars', runs_per_day: 0, max: 1 } as unknown as OrgInput
    await expect(create(bad)).rejects.toMatchObject({
      flaws: [{ field: 'id' }, { field: 'default_timezone' }, { field: 'runs_per_day' }, { field: 'max' }],
    })
    await expect(create({ id: 'x' } as OrgInput)).rejects.toMatchObject({ flaws: [{ field: 'name' }] })
    await expect(create({ id: 'north', name: 'Again' })).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(change('north', { default_agent_id: 'nobody' })).rejects.toMatchObject({
      flaws: [{ field: 'default_agent_id' }],
    })
    await expect(change('nowhere', { name: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(getOrg(world.ports, 'nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(deleteOrg(world.ports, operator, 'nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('come in pages', async () => {
    const all = (await findOrgs(world.ports, { limit: 200 })).items.map(({ id }) => id)
    const first = await findOrgs(world.ports, { limit: 2 })
    const rest = await findOrgs(world.ports, { limit: 200, cursor: first.next_cursor ?? '' })
    expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(all)
  })
})

describe('the limits of an org', () => {
  it('hold for schedules', async () => {
    await create({ id: 'few', name: 'Few', max_schedules: 1 })
    const caller = { orgId: orgId('few'), principal: null }
    await createSchedule(world.ports, caller, { every_seconds: 60 })
    await expect(createSchedule(world.ports, caller, { every_seconds: 60 })).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('hold for runs at the same time, on every node, from the next turn on', async () => {
    const task = (action: string) =>
      submitTask(world.ports, { caller: { orgId: ORG, principal: null }, live }, { agentId: 'a', action })
    await change(ORG, { max_concurrent: 1 })
    const [here, there] = [await openNode(world), await openNode(world)]
    await task('a')
    await task('b')
    await task('c')
    await here.turn()
    await there.turn()
    expect([here.started, there.started]).toEqual([['a'], []])
    await change(ORG, { max_concurrent: 2 })
    await there.turn()
    await here.turn()
    expect([here.started, there.started]).toEqual([['a'], ['b']])
    await change(ORG, { max_concurrent: null })
    await here.turn()
    expect(here.started).toEqual(['a', 'c'])
    await here.turn(...here.reports(1))
    await there.turn(...there.reports(1))
  })

  it('hold for the runs of a day, counting what the day has had', async () => {
    const { ports } = world
    const day = orgId('day')
    await create({ id: 'day', name: 'Day', default_timezone: 'Europe/Berlin' })
    const caller = { orgId: day, principal: null }
    const { id } = await createSchedule(ports, caller, { every_seconds: 3_600, misfire_policy: 'FIRE_NOW' })
    const first = await runOf(message(day))
    await change('day', { runs_per_day: 3 })
    await message(day)
    await runScheduleNow(ports, caller, { id, mode: 'force' })
    const over = { code: 'RUNS_PER_DAY', status: 429, details: { runs_today: 3, runs_per_day: 3 } }
    const refused = message(day)
    await expect(refused).rejects.toMatchObject(over)
    // Noon in UTC is one o'clock in Berlin.
    await expect(refused).rejects.toMatchObject({ retryAfterMs: 11 * HOUR_MS })
    await expect(
      submitTask(ports, { caller: { orgId: day, principal: null }, live }, { agentId: 'a', action: 'x' }),
    ).rejects.toMatchObject(over)
    expect(
      await submitBatch(
        ports,
        { caller: { orgId: day, principal: null }, live },
        { tasks: [{ agentId: 'a', action: 'x' }] },
      ),
    ).toMatchObject([{ state: 'rejected', error: 'the daily run limit is reached' }])
    await expect(runScheduleNow(ports, caller, { id, mode: 'force' })).rejects.toMatchObject({ code: over.code })
    expect(await runScheduleNow(ports, caller, { id, mode: 'due' })).toMatchObject({ ran: false })
    await cancelRunById(ports, caller, first)
    await expect(retryRun(ports, caller, { id: first, force: false })).rejects.toMatchObject({ code: over.code })
    await expect(message(day)).rejects.toMatchObject({ code: over.code })
    world.pass(11 * HOUR_MS)
    await message(day)
  })

  it('are counted by nodes that remember, whoever made the runs', async () => {
    await change(ORG, { runs_per_day: 1_000 })
    const node = await openNode(world)
    const look = { orgId: ORG, apply: (desk: OrgState) => runsOfDay(desk)?.created }
    const [before] = await node.turn(look)
    await submitTask(world.ports, { caller: { orgId: ORG, principal: null }, live }, { agentId: 'a', action: 'x' })
    expect(await node.turn(look)).toEqual([Number(before) + 1])
    const two = (desk: OrgState) => {
      for (const id of ['run_x', 'run_y']) createRun(desk, aRun(id))
      return runsOfDay(desk)?.created
    }
    expect(await node.turn({ orgId: ORG, apply: two })).toEqual([Number(before) + 3])
    const counted = `select used from usage where org_id = '${ORG}' and budget_id = 'runs_per_day'
      order by period_start desc limit 1`
    expect(await world.rows(counted)).toEqual([{ used: Number(before) + 3 }])
    await change(ORG, { runs_per_day: 2_000 })
    expect(await node.turn(look)).toEqual([Number(before) + 3])
    expect(node.memory.state.daily?.limit).toBe(2_000)
    world.pass(DAY_MS)
    expect(await node.turn(look)).toEqual([0])
    await change(ORG, { runs_per_day: null })
    expect(await node.turn(look)).toEqual([undefined])
    await node.turn(...node.reports(1))
  })

  it('hold for occurrences too, which are skipped', async () => {
    const { ports } = world
    await change(ORG, { runs_per_day: null })
    const { id } = await createSchedule(ports, world.caller, {
      ...{ every_seconds: 60, misfire_policy: 'FIRE_NOW', concurrency_policy: 'PARALLEL' },
    })
    const { used } = (
      await world.rows(`select count(*)::int as used from run where org_id = '${ORG}'
      and created_at >= '${formatInstant(world.now).slice(0, 10)}' and coalesce(state, '') not in ('rejected', 'skipped')`)
    )[0] ?? { used: 0 }
    await change(ORG, { runs_per_day: Number(used) + 2 })
    world.pass(4 * 60_000)
    await world.fire(id)
    // All but the first are held, and released one second after the other.
    for (let released = 0; released < 3; released += 1) {
      world.pass(1_000)
      await world.fire(id)
    }
    const states = await world.rows(
      `select coalesce(state, 'pending') as state, coalesce(decision ->> 'reason', '') as reason
         from run where schedule_id = '${id}' order by nominal_at`,
    )
    expect(states.map(({ state }) => state)).toEqual(['pending', 'pending', 'skipped', 'skipped'])
    expect(states[3]?.['reason']).toBe('runs_per_day')
    await change(ORG, { runs_per_day: null })
    await disableSchedule(ports, world.caller, { id })
  })
})

describe('deleting an org', () => {
  it('is refused while anything is planned or pending, with the way out', async () => {
    const of = orgId('busy')
    await create({ id: 'busy', name: 'Busy' })
    const caller = { orgId: of, principal: null }
    const { id } = await createSchedule(world.ports, caller, { every_seconds: 60 })
    await expect(deleteOrg(world.ports, operator, 'busy')).rejects.toMatchObject({
      ...{ code: 'CONFLICT', details: { active_schedules: 1 } },
      message: expect.stringContaining('disable or delete them') as string,
    })
    await disableSchedule(world.ports, caller, { id })
    const run = await runOf(message(of))
    await expect(deleteOrg(world.ports, operator, 'busy')).rejects.toMatchObject({
      ...{ code: 'CONFLICT', details: { pending_runs: 1 } },
      message: expect.stringContaining('cancel them') as string,
    })
    expect(await getOrg(world.ports, 'busy')).toMatchObject({ name: 'Busy' })
    await cancelRunById(world.ports, caller, run)
    await deleteOrg(world.ports, operator, 'busy')
  })

  it('is refused for the org that operates the deployment', async () => {
    await expect(deleteOrg(world.ports, operator, OPERATOR_ORG)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('ends everything about it at once, and takes its rows away in steps', async () => {
    const of = orgId('gone')
    await create({ id: 'gone', name: 'Gone' })
    const { key } = await createKey(world.ports, owner(of), { name: 'k' })
    const member = await createMember(world.ports, owner(of), { name: 'M', role: 'owner' })
    const { token } = await createSignInLink(world.ports, owner(of), { member_id: member.id })
    const { cookie } = await signIn(world.ports, token)
    const unused = await createSignInLink(world.ports, owner(of), { member_id: member.id })
    for (let made = 0; made < 5; made += 1)
      await cancelRunById(world.ports, { orgId: of, principal: null }, await runOf(message(of)))
    await deleteOrg(world.ports, operator, 'gone')
    expect(await findPrincipal(world.ports, key ?? '')).toBeNull()
    expect(await findConsoleSession(world.ports, cookie)).toBeNull()
    await expect(signIn(world.ports, unused.token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    await expect(getOrg(world.ports, 'gone')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(create({ id: 'gone', name: 'Again' })).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(ensureAgents(world.ports, of, [])).rejects.toMatchObject({ code: 'CONFLICT' })
    const left = async () => {
      const counts = await world.rows(
        ['run', 'session', 'agent', 'api_key', 'member', 'console_session', 'sign_in', 'usage']
          .map((table) => `select count(*)::int as n from ${table} where org_id = 'gone'`)
          .join(' union all '),
      )
      return counts.reduce((sum, { n }) => sum + Number(n), 0)
    }
    expect(await left()).toBeGreaterThan(5)
    expect((await createRetention(world.ports, { batch: 2 }).pass()).orgs).toBeGreaterThanOrEqual(1)
    expect(await left()).toBe(0)
    expect(await world.rows(`select 1 from org where id = 'gone'`)).toEqual([])
    expect((await verifyAudit(world.ports, of)).ok).toBe(true)
    expect((await listAudit(world.ports, { orgId: of }, { action: 'org.delete' })).items).toMatchObject([
      { actor: 'key_operator', before: { id: 'gone' } },
    ])
    await create({ id: 'gone', name: 'Again' })
    await message(of)
    expect((await verifyAudit(world.ports, of)).records).toBeGreaterThan(3)
  })

  it('waits for what slipped in at the last moment', async () => {
    const of = orgId('late')
    await create({ id: 'late', name: 'Late' })
    await deleteOrg(world.ports, operator, 'late')
    const run = await runOf(message(of))
    world.pass(DAY_MS)
    await createRetention(world.ports).pass()
    expect(await world.rows(`select 1 from org where id = 'late'`)).toHaveLength(1)
    await cancelRunById(world.ports, { orgId: of, principal: null }, run)
    await createRetention(world.ports).pass()
    expect(await world.rows(`select 1 from org where id = 'late'`)).toEqual([])
  })

  it('is refused, and waits, while runs are in the backlog', async () => {
    const of = orgId('queued')
    const left = (table: string) => world.rows(`select 1 from ${table} where org_id = 'queued'`)
    await create({ id: 'queued', name: 'Queued' })
    await message(of)
    expect(await intoBacklog(world.db, 'true', of)).toBe(1)
    await expect(deleteOrg(world.ports, operator, 'queued')).rejects.toMatchObject({
      ...{ code: 'CONFLICT', details: { pending_runs: 1 } },
    })
    await world.db.query(`update org set deleted_at = $1::timestamptz where id = 'queued'`, [formatInstant(world.now)])
    await createRetention(world.ports).pass()
    expect(await left('backlog')).toHaveLength(1)
    expect(await left('run')).toHaveLength(1)
    await world.db.query(`delete from backlog where org_id = 'queued'`)
    await world.db.query(`delete from backlog_line where org_id = 'queued'`)
    await createRetention(world.ports).pass()
    expect(await left('run')).toEqual([])
    expect(await world.rows(`select 1 from org where id = 'queued'`)).toEqual([])
  })
})
