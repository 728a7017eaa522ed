import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AgentInput } from '../../../src/features/agents/schema.ts'
import { attemptId, runId } from '../../../src/domain/ids.ts'
import { hideAttemptKeys } from '../../../src/domain/access/restrictions.ts'
import { createAuthentication } from '../../../src/features/access/authentication.ts'
import { updateAgent, createAgent, getAgent, deleteAgent } from '../../../src/features/agents/service.ts'
import { findBudgets, deleteBudget } from '../../../src/features/budgets/service.ts'
import { keyInput } from '../../../src/features/access/schema.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import { createKey, findPrincipal, getKey } from '../../../src/features/access/keys.ts'
import { attemptKeyText, findAttemptPrincipal, createInvitation } from '../../../src/features/access/attempt-keys.ts'
import { signInWithKey } from '../../../src/features/access/sign-in.ts'
import { submitTask } from '../../../src/features/tasks/service.ts'
import { ORG } from '../../platform/db/records.ts'
import { NOW } from '../../support/builders.ts'
import { NO_VAULT } from '../../support/no-vault.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(async () => {
  await world.startOver('schedule', 'run', 'pending', 'turn', 'rail_act', 'budget', 'usage')
  await world.db.query(`delete from agent where id = 'maker'`, [])
})
afterAll(() => world.drop())

const MAKER: AgentInput = { id: 'maker', name: 'Maker', executor: { kind: 'echo' } }
const NAMED = { orgId: ORG, runId: runId('run_a'), attemptId: attemptId('att_a') }

async function running(parent: string | null = null): Promise<string> {
  await world.db.query(
    `insert into run (org_id, id, agent_id, executor_key, trigger, lane, created_at, session_key, parent_run_id)
     values ('acme', 'run_a', 'maker', 'echo', 'message', 'main', now(), 'agent:maker:chat', $1)`,
    [parent],
  )
  await world.db.query(
    `insert into pending (org_id, id, state, attempt, attempt_id) values ('acme', 'run_a', 'awaiting_callback', 1, 'att_a')`,
    [],
  )
  return attemptKeyText(world.ports, NAMED)
}
const who = (text: string) => findAttemptPrincipal(world.ports, text)

describe('the key of an attempt', () => {
  it('is bound to its run, its agent and the rails of the agent', async () => {
    await createAgent(world.ports, { ...world.caller, isAdmin: true }, { ...MAKER, self_service: { max_schedules: 2 } })
    const found = await who(await running())
    expect(found).toMatchObject({ id: 'attempt:att_a', orgId: ORG, expiresAt: null, revokedAt: null })
    expect(found?.restricted).toMatchObject({
      owner: 'agent:maker',
      restrictions: { maxSchedules: 2, ownSchedulesOnly: true },
      attempt: { id: 'att_a', runId: 'run_a', agentId: 'maker', sessionKey: 'agent:maker:chat', lineage: null },
    })
  })

  it('works no longer than the attempt is current and in flight, and the agent has self_service', async () => {
    await createAgent(world.ports, { ...world.caller, isAdmin: true }, { ...MAKER, self_service: {} })
    const text = await running()
    const over = { expiresAt: NOW }
    await world.db.query(`update pending set attempt_id = 'att_b'`)
    expect(await who(text)).toMatchObject(over)
    await world.db.query(`update pending set attempt_id = 'att_a', state = 'queued'`)
    expect(await who(text)).toMatchObject(over)
    await world.db.query(`update pending set state = 'awaiting_callback'`)
    expect(await who(text)).toMatchObject({ expiresAt: null })
    await updateAgent(world.ports, world.caller, { id: 'maker', change: { self_service: null } })
    expect(await who(text)).toMatchObject(over)
    await world.db.query('delete from pending; delete from run')
    expect(await who(text)).toBeNull()
  })

  it('cannot be made by anybody else, or turned into that of another attempt', async () => {
    await createAgent(world.ports, { ...world.caller, isAdmin: true }, { ...MAKER, self_service: {} })
    const text = await running()
    const [said = '', proof = ''] = text.slice(4).split('.')
    const other = Buffer.from(JSON.stringify([ORG, 'run_b', 'att_b'])).toString('base64url')
    expect(await who(`esa_${other}.${proof}`)).toBeNull()
    expect(await who(`esa_${said}.${'A'.repeat(43)}`)).toBeNull()
    expect(await who(`esa_${said}`)).toBeNull()
    expect(await findAttemptPrincipal({ ...world.ports, vault: NO_VAULT }, text)).toBeNull()
  })

  it('is known at the door, also beside ordinary keys', async () => {
    await createAgent(world.ports, { ...world.caller, isAdmin: true }, { ...MAKER, self_service: {} })
    const node = createAuthentication(world.ports)
    expect(await node.authenticate(await running())).toMatchObject({ id: 'attempt:att_a' })
    expect(await node.authenticate(`esa_abc.${'A'.repeat(43)}`)).toBeNull()
  })

  it('ends at the door with the attempt, however lately it was used', async () => {
    await createAgent(world.ports, { ...world.caller, isAdmin: true }, { ...MAKER, self_service: {} })
    const node = createAuthentication(world.ports)
    const text = await running()
    expect(await node.authenticate(text)).toMatchObject({ expiresAt: null })
    await world.db.query(`update pending set attempt_id = 'att_b'`)
    expect(await node.authenticate(text)).toMatchObject({ expiresAt: NOW })
  })

  it('knows how deep it is where messages have said which run they come from', async () => {
    await createAgent(world.ports, { ...world.caller, isAdmin: true }, { ...MAKER, self_service: {} })
    for (const [id, parent] of [
      ['run_0', null],
      ['run_1', 'run_0'],
      ['run_2', 'run_1'],
    ] as const)
      await world.db.query(
        `insert into run (org_id, id, agent_id, executor_key, trigger, lane, created_at, parent_run_id)
         values ('acme', $1, 'maker', 'echo', 'message', 'main', now(), $2)`,
        [id, parent],
      )
    const found = await who(await running('run_2'))
    expect(found?.restricted?.attempt?.lineage).toMatchObject({ root: 'run_0', depth: 3 })
  })

  it('is hidden in what is said, and not handed out where there is no key outside the database', async () => {
    const text = await attemptKeyText(world.ports, NAMED)
    const plain = { a: ['b', 1, null] }
    expect(hideAttemptKeys(plain)).toBe(plain)
    expect(hideAttemptKeys({ a: [`it is ${text}!`], [text]: 1 })).toEqual({ a: ['it is ***!'], '***': 1 })
    const asked = { ...NAMED, endsBy: NOW }
    expect(await createInvitation(world.ports, asked, 'https://us.test/')).toEqual({
      ...{ api_url: 'https://us.test/', mcp_url: 'https://us.test/mcp', key: text },
      expires_at: '2026-01-15T12:00:00.000Z',
    })
    expect(await createInvitation({ vault: NO_VAULT }, asked, null)).toBeNull()
    await expect(
      createAgent(
        { ...world.ports, vault: NO_VAULT },
        { ...world.caller, isAdmin: true },
        { ...MAKER, self_service: {} },
      ),
    ).rejects.toMatchObject({ code: 'SECRET_KEY' })
    await expect(createAgent(world.ports, world.caller, { ...MAKER, self_service: {} })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
  })
})

describe('the budget of guard rails', () => {
  const giver = { orgId: ORG, principal: null }
  const rails = { budget: { unit: 'tokens', amount: 100 } } as const

  it('comes with the key, counts everything of its owner and is changed with nothing else', async () => {
    const made = await createKey(world.ports, giver, { name: 'bot', guard_rails: rails })
    expect(made.guard_rails).toMatchObject({
      budget: { unit: 'tokens', amount: 100, period: 'day' },
      max_schedules: 10,
    })
    expect(await getKey(world.ports, world.caller, made.id)).toMatchObject({
      role: 'admin',
      guard_rails: made.guard_rails,
    })
    const [budget] = await findBudgets(world.ports, world.caller)
    expect(budget).toMatchObject({ scope: 'owner', owner: made.id, agent_id: null, amount: 100, on_exceed: 'skip' })
    await expect(deleteBudget(world.ports, world.caller, { id: budget?.id ?? '' })).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    const found = await findPrincipal(world.ports, made.key ?? '')
    const caller = { orgId: ORG, principal: made.id, restricted: found?.restricted }
    const live = {
      stateOf: () => 'queued',
      positionOf: () => null,
      queuedBefore: () => null,
      explainOutside: () => null,
    } as never
    const hand = (by: object) =>
      submitTask(world.ports, { caller: by as never, live }, { agentId: 'reader', action: 'x' })
    await hand(caller)
    await world.db.query(
      `insert into usage (org_id, budget_id, period_start, used) values ('acme', $1, '2026-01-15T00:00:00Z', 100)`,
      [budget?.id ?? ''],
    )
    await expect(hand(caller)).rejects.toMatchObject({ code: 'BUDGET' })
    await hand(world.caller)
  })

  it('comes, changes and goes with the agent', async () => {
    const boss = { ...world.caller, isAdmin: true }
    const view = await createAgent(world.ports, boss, { ...MAKER, self_service: rails })
    expect(view.self_service).toMatchObject({ budget: { amount: 100 } })
    const amounts = async () => (await findBudgets(world.ports, boss)).map(({ owner, amount }) => [owner, amount])
    expect(await amounts()).toEqual([['agent:maker', 100]])
    await updateAgent(world.ports, boss, {
      id: 'maker',
      change: { self_service: { budget: { ...rails.budget, amount: 5 } } },
    })
    expect(await amounts()).toEqual([['agent:maker', 5]])
    await updateAgent(world.ports, boss, { id: 'maker', change: { name: 'Other' } })
    expect((await getAgent(world.ports, boss, 'maker')).self_service).not.toBeNull()
    await deleteAgent(world.ports, boss, { id: 'maker' })
    expect(await amounts()).toEqual([])
  })

  it('opens no console', async () => {
    const made = await createKey(world.ports, giver, { name: 'bot', guard_rails: {} })
    await expect(signInWithKey(world.ports, made.key ?? '')).rejects.toMatchObject({ code: 'GUARD_RAIL' })
  })

  it.each<[string, unknown, string]>([
    ['an unknown rail', { speed: 1 }, 'guard_rails.speed'],
    ['a number out of range', { min_interval_seconds: 0 }, 'guard_rails.min_interval_seconds'],
    ['half a token', { budget: { unit: 'tokens', amount: 0.5 } }, 'guard_rails.budget.amount'],
    ['no unit', { budget: { amount: 5 } }, 'guard_rails.budget.unit'],
  ])('refuses %s', async (_name, given, field) => {
    const wish = async () =>
      createKey(world.ports, giver, schemaReader(keyInput)({ name: 'bot', guard_rails: given as never }))
    await expect(wish()).rejects.toMatchObject({ code: 'VALIDATION', flaws: [{ field }] })
  })
})
