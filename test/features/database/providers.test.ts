import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { providerInput, type ProviderInput } from '../../../src/features/providers/schema.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import { agentId, laneName, runId } from '../../../src/domain/ids.ts'
import { later, MINUTE_MS } from '../../../src/domain/instant.ts'
import { outcomeOfHttpStatus, type AttemptOutcome } from '../../../src/domain/run/outcome.ts'
import { updateAgent, createAgent } from '../../../src/features/agents/service.ts'
import { submit } from '../../../src/engine/commands/submit.ts'
import {
  updateProvider,
  createProvider,
  findProviderPage,
  getProvider,
  deleteProvider,
  type ProviderPorts,
} from '../../../src/features/providers/service.ts'
import { reportCommand } from '../../../src/engine/commands/engine-commands.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import { ORG } from '../../platform/db/records.ts'
import { NOW } from '../../support/builders.ts'
import { aTask } from '../../engine/commands/cabinet.ts'
import { openNode, type TestNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld
let ports: ProviderPorts

beforeAll(async () => {
  world = await createServiceWorld()
  ports = { ...world.ports, work: { workOf: () => null } }
})
beforeEach(async () => {
  await world.db.query('update agent set provider = null')
  await world.startOver('run', 'pending', 'node', 'provider')
})
afterAll(() => world.drop())

const get = () => getProvider(ports, world.caller, 'model')

/** A provider that both agents of the world call. */
async function provide(quotas: Omit<ProviderInput, 'name'>): Promise<void> {
  await createProvider(ports, world.caller, { name: 'model', ...quotas })
  for (const id of ['writer', 'reader'])
    await updateAgent(world.ports, world.caller, { id, change: { provider: 'model' } })
}

const taskFor = (agent: string, name: string, params: object = {}): Command<unknown> => ({
  orgId: ORG,
  needs: { agents: [agentId(agent)] },
  apply: (desk) => {
    if (agent === 'nobody') desk.agents.set(agentId(agent), { ...NOBODY, id: agentId(agent) })
    return submit(desk, aTask({ agentId: agentId(agent), content: { action: name, params } }))
  },
})

/** Somebody who calls nothing. */
const NOBODY = {
  ...{ executorKey: 'echo', executorKind: 'echo', retryPolicy: null, timeoutSeconds: null },
  ...{ maxConcurrent: null, provider: null },
}

/** Everything in flight reports the same. */
const saying = (node: TestNode, outcome: AttemptOutcome, usage?: object): readonly Command<unknown>[] =>
  [...node.memory.state.runs.values()].flatMap(({ id, attemptId }) =>
    attemptId === null ? [] : [reportCommand(ORG, id, { attemptId, outcome, usage }) as Command<unknown>],
  )

const whyOf = (node: TestNode, action: string): unknown => {
  const run = [...node.memory.state.runs.values()].find(
    ({ payload }) => (payload as { readonly action?: string } | null)?.action === action,
  )
  return node.memory.readyQueue.explain(run?.id ?? runId(''), {
    ...{ now: world.now, lane: { name: laneName('task'), size: 9, held: 0 } },
    ...{ catchup: { inFlight: 0, limit: 1 }, executable: true },
  })
}

describe('requests that agents share', () => {
  it('are exact across nodes: what starts is what is left, at the moment it is there', async () => {
    await provide({ requests_per_minute: 6 })
    const nodes = [await openNode(world), await openNode(world)]
    const [one, two] = nodes as [TestNode, TestNode]
    const names = Array.from({ length: 16 }, (_, n) => String(n))
    await one.turn(...names.map((name, n) => taskFor(n % 2 === 0 ? 'writer' : 'reader', name)))
    expect(one.started).toHaveLength(6)
    await two.turn()
    expect(two.started).toEqual([])
    const startedIn = new Map<number, number>()
    for (let turns = 0; turns < 60 && one.started.length + two.started.length < names.length; turns += 1) {
      const at = [one, two].map(({ memory }) => memory.readyQueue.wakesAt())
      expect(at.every((moment) => moment !== null && moment > world.now)).toBe(true)
      // A millisecond before nothing may start, and at the moment exactly one may, on whichever node asks first.
      const moment = Math.min(...at.map((given) => given ?? 0))
      world.pass(moment - world.now - 1)
      for (const node of nodes) await node.turn()
      const before = one.started.length + two.started.length
      world.pass(1)
      for (const node of turns % 2 === 0 ? nodes : nodes.toReversed()) await node.turn(...node.reports(0))
      startedIn.set(world.now - NOW, one.started.length + two.started.length - before)
    }
    expect([...startedIn]).toEqual(Array.from({ length: 10 }, (_, n) => [(n + 1) * 10_000, 1]))
    expect(new Set([...one.started, ...two.started]).size).toBe(names.length)
    expect(Math.min(one.started.length, two.started.length)).toBeGreaterThan(2)
  })

  it('hold up only who calls the provider', async () => {
    await provide({ requests_per_minute: 1 })
    const node = await openNode(world)
    await node.turn(taskFor('writer', 'a'), taskFor('reader', 'b'), taskFor('nobody', 'c'), taskFor('writer', 'd'))
    expect(node.started.toSorted()).toEqual(['b', 'c'])
    expect(whyOf(node, 'a')).toMatchObject({
      reason: 'provider_quota',
      evidence: {
        ...{ provider: 'model', quota: 'requests_per_minute', behind: 1 },
        until: new Date(NOW + MINUTE_MS).toISOString(),
      },
    })
    await node.turn(taskFor('nobody', 'e'))
    expect(node.started).toContain('e')
  })

  it('survive a restart, and more of them let waiting work go on at once', async () => {
    await provide({ requests_per_minute: 2 })
    await (await openNode(world)).turn(...['a', 'b', 'c', 'd'].map((name) => taskFor('writer', name)))
    const again = await openNode(world)
    await again.turn()
    expect(again.started).toEqual([])
    expect(again.memory.readyQueue.wakesAt()).toBe(later(NOW, 30_000))
    expect(await get()).toMatchObject({ requests_left: 0, in_flight: 2, waiting: 2, agents: ['reader', 'writer'] })
    await updateProvider(ports, world.caller, { name: 'model', change: { requests_per_minute: null } })
    await again.turn()
    expect(again.started.toSorted()).toEqual(['c', 'd'])
  })
})

describe('attempts at a time', () => {
  it('are counted over all agents and nodes', async () => {
    await provide({ max_concurrent: 2 })
    const [one, two] = [await openNode(world), await openNode(world)]
    await one.turn(taskFor('writer', 'a'), taskFor('reader', 'b'), taskFor('writer', 'c'), taskFor('reader', 'd'))
    await two.turn()
    expect([one.started.length, two.started.length]).toEqual([2, 0])
    expect(whyOf(two, 'c')).toMatchObject({ reason: 'provider_limit', evidence: { in_flight: 2, limit: 2 } })
    // Nothing opens by itself: only an end does.
    expect(two.memory.readyQueue.wakesAt()).toBeNull()
    await one.turn(...one.reports(0).slice(0, 1))
    expect(one.started).toHaveLength(3)
    await two.turn()
    expect(two.started).toEqual([])
  })
})

describe('tokens that agents share', () => {
  it('are set aside at the start, given back with the end, and owed when more were used', async () => {
    await provide({ tokens_per_minute: 1_000 })
    const node = await openNode(world)
    await node.turn(taskFor('writer', 'a', { max_tokens: 400 }), taskFor('writer', 'b', { max_tokens: 700 }))
    expect(node.started).toEqual(['a', 'b'])
    expect(await get()).toMatchObject({ tokens_left: -100, closed: { quota: 'tokens_per_minute' } })
    await node.turn(taskFor('reader', 'c'))
    expect(node.started).toHaveLength(2)
    await node.turn(...node.reports(800))
    // 1,000 less two times 800: what was set aside counts no more.
    expect(await get()).toMatchObject({ tokens_left: -600 })
    expect(node.started).toHaveLength(2)
    // Of writers 800 are expected from now on; of readers nothing is known.
    world.pass(36_001)
    await node.turn(taskFor('writer', 'd'))
    expect(node.started).toEqual(['a', 'b', 'c', 'd'])
    expect((await get()).tokens_left).toBe(-800)
    const again = await openNode(world)
    expect([...(again.memory.state.quotas?.providers.values() ?? [])][0]?.state).toEqual(
      [...(node.memory.state.quotas?.providers.values() ?? [])][0]?.state,
    )
  })

  it('that a large payload states count as well', async () => {
    await provide({ tokens_per_minute: 1_000 })
    const node = await openNode(world)
    await node.turn(taskFor('nobody', 'x'))
    const again = await openNode(world)
    await world.take(taskFor('writer', 'a', { max_tokens: 600, text: 'x'.repeat(2_000) }))
    await again.turn()
    expect(again.started).toEqual(['a'])
    expect((await get()).tokens_left).toBe(400)
    await again.turn(...again.reports(0))
    expect((await get()).tokens_left).toBe(1_000)
  })
})

describe('a provider that refuses', () => {
  const TOO_MANY = outcomeOfHttpStatus(429, 5_000)

  it('is left alone by everybody until the moment it named', async () => {
    await provide({ requests_per_minute: 600 })
    const [one, two] = [await openNode(world), await openNode(world)]
    await one.turn(taskFor('writer', 'a'))
    await one.turn(...saying(one, TOO_MANY), taskFor('reader', 'b'), taskFor('nobody', 'c'))
    await two.turn(taskFor('writer', 'd'))
    expect([one.started, two.started]).toEqual([['a', 'c'], []])
    expect(whyOf(two, 'd')).toMatchObject({ reason: 'provider_quota', evidence: { quota: 'retry_after', behind: 1 } })
    expect(two.memory.readyQueue.wakesAt()).toBe(later(NOW, 5_000))
    world.pass(5_000)
    await two.turn()
    expect(two.started).toEqual(['b', 'd'])
    await two.turn(...two.reports(0))
    expect(await get()).toMatchObject({ closed: null })
  })

  it('is left alone for longer each time, until something succeeds', async () => {
    await provide({})
    const node = await openNode(world)
    const refused = outcomeOfHttpStatus(503)
    for (const [name, waits] of [...[['a', 1_000] as const, ['b', 2_000] as const], ['c', 4_000] as const]) {
      await node.turn(taskFor('writer', name))
      expect(node.started.at(-1)).toBe(name)
      await node.turn(...saying(node, refused))
      expect(await get()).toMatchObject({
        closed: { quota: 'back_off', until: new Date(world.now + waits).toISOString() },
      })
      world.pass(waits)
    }
    await node.turn(taskFor('writer', 'd'))
    await node.turn(...saying(node, { kind: 'succeeded' }))
    await node.turn(taskFor('writer', 'e'))
    await node.turn(...saying(node, refused))
    expect((await get()).closed?.until).toBe(new Date(world.now + 1_000).toISOString())
  })

  it('an ordinary failure is none', async () => {
    await provide({})
    const node = await openNode(world)
    await node.turn(taskFor('writer', 'a'))
    await node.turn(...saying(node, outcomeOfHttpStatus(500, 9_000)))
    expect((await get()).closed).toBeNull()
  })
})

describe('providers on record', () => {
  const create = async (input: object) => createProvider(ports, world.caller, schemaReader(providerInput)(input))

  it('are made, changed and deleted, and audited', async () => {
    const made = await create({ name: 'kept', requests_per_minute: 60, tokens_per_minute: 9_000 })
    expect(made).toMatchObject({
      name: 'kept',
      requests_left: 60,
      tokens_left: 9_000,
      max_concurrent: null,
      agents: [],
    })
    await expect(create({ name: 'kept' })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(
      await updateProvider(ports, world.caller, {
        name: 'kept',
        change: { tokens_per_minute: null, max_concurrent: 3 },
      }),
    ).toMatchObject({ requests_per_minute: 60, tokens_per_minute: null, max_concurrent: 3, tokens_left: null })
    await deleteProvider(ports, world.caller, { name: 'kept' })
    await expect(getProvider(ports, world.caller, 'kept')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const audits = await world.rows(`select action from audit where object_id = 'kept'`)
    expect(audits).toHaveLength(3)
  })

  it.each<[object, string, string]>([
    [{}, 'name', 'is missing'],
    [{ name: 'a b' }, 'name', 'is not a valid name'],
    [{ name: 'x', requests_per_minute: 0 }, 'requests_per_minute', ''],
    [{ name: 'x', tokens_per_minute: 1.5 }, 'tokens_per_minute', ''],
    [{ name: 'x', rpm: 5 }, 'rpm', ''],
  ])('refuse %j', async (input, field, message) => {
    await expect(create(input)).rejects.toMatchObject({
      code: 'VALIDATION',
      flaws: [expect.objectContaining({ field, message: expect.stringContaining(message) as string })],
    })
  })

  it('stay while agents name them, and agents name only those that are there', async () => {
    await create({ name: 'model' })
    await updateAgent(world.ports, world.caller, { id: 'writer', change: { provider: 'model' } })
    await expect(deleteProvider(ports, world.caller, { name: 'model' })).rejects.toMatchObject({
      ...{ code: 'CONFLICT', message: 'Provider model is used by agent writer', details: { agents: ['writer'] } },
    })
    const other = { name: 'Other', executor: { kind: 'echo' }, provider: 'nowhere' } as const
    await expect(createAgent(world.ports, world.caller, other)).rejects.toMatchObject({
      flaws: [
        expect.objectContaining({ field: 'provider', message: 'is not a provider of the org', allowed: 'model' }),
      ],
    })
    await updateAgent(world.ports, world.caller, { id: 'writer', change: { provider: null } })
    await deleteProvider(ports, world.caller, { name: 'model' })
  })

  it('are told in pages, by name, of one org', async () => {
    for (const name of ['b', 'a', 'c']) await create({ name })
    const first = await findProviderPage(ports, world.caller, { limit: 2 })
    expect(first.items.map(({ name }) => name)).toEqual(['a', 'b'])
    const rest = await findProviderPage(ports, world.caller, { limit: 2, cursor: first.next_cursor ?? '' })
    expect([rest.items.map(({ name }) => name), rest.next_cursor]).toEqual([['c'], null])
    expect((await findProviderPage(ports, world.stranger)).items).toEqual([])
  })
})
