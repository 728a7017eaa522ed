import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentInput, agentPatch, type AgentInput } from '../../../src/features/agents/schema.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import { updateAgent, createAgent, findAgentPage, getAgent, deleteAgent } from '../../../src/features/agents/service.ts'
import { createSchedule, deleteSchedule } from '../../../src/features/schedules/service.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
afterAll(() => world.drop())

const create = async (input: AgentInput) => createAgent(world.ports, world.caller, schemaReader(agentInput)(input))
const change = async (id: string, input: Partial<AgentInput>, version?: number) =>
  updateAgent(world.ports, world.caller, { id, change: schemaReader(agentPatch)(input), version })

describe('an agent', () => {
  it('is made with an id of its own or one that is given', async () => {
    const made = await create({
      id: 'poet',
      name: 'Poet',
      executor: { kind: 'In-Process' as 'in-process', note: 'mine' },
      retry_policy: { max_retries: 1 },
      timeout_seconds: 7,
      max_concurrent: 2,
      context_window: 100_000,
      default_session: 'home',
    })
    expect(made).toMatchObject({
      id: 'poet',
      org_id: 'acme',
      description: '',
      executor: { kind: 'in-process', note: 'mine' },
      retry_policy: { max_retries: 1, strategy: 'exponential' },
      timeout_seconds: 7,
      version: 1,
    })
    expect(await getAgent(world.ports, world.caller, 'poet')).toEqual(made)
    expect((await create({ name: 'Other', executor: { kind: 'echo' } })).id).toMatch(/^agent_/)
    await expect(create({ id: 'poet', name: 'x', executor: { kind: 'echo' } })).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    expect((await findAgentPage(world.ports, world.caller, {})).items.map(({ id }) => id)).toContain('poet')
    expect((await findAgentPage(world.ports, world.stranger, {})).items.map(({ id }) => id)).toEqual([
      'reader',
      'writer',
    ])
  })

  it('is refused with every flaw', async () => {
    const bad = { id: 'a:b', executor: { kind: 'magic' }, max_concurrent: 0, nmae: 'x' } as unknown as AgentInput
    await expect(create(bad)).rejects.toMatchObject({
      code: 'VALIDATION',
      flaws: [
        { field: 'nmae' },
        { field: 'name' },
        { field: 'executor.kind' },
        { field: 'max_concurrent' },
        { field: 'id' },
      ],
    })
    await expect(create(null as unknown as AgentInput)).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('keeps what a change does not name, and null takes away', async () => {
    const changed = await change('poet', { name: 'Bard', retry_policy: null, timeout_seconds: null })
    expect(changed).toMatchObject({
      name: 'Bard',
      retry_policy: null,
      timeout_seconds: null,
      max_concurrent: 2,
      version: 2,
    })
    await expect(change('poet', { name: 'x' }, 1)).rejects.toMatchObject({ code: 'STALE_VERSION' })
    await expect(change('poet', { id: 'other' })).rejects.toMatchObject({ code: 'VALIDATION' })
    await expect(change('nobody', { name: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('stays while schedules wake it', async () => {
    const { id } = await createSchedule(world.ports, world.caller, { every_seconds: 60, agent_id: 'poet' })
    await expect(deleteAgent(world.ports, world.caller, { id: 'poet' })).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { schedules: 1 },
    })
    await deleteSchedule(world.ports, world.caller, { id })
    await deleteAgent(world.ports, world.caller, { id: 'poet' })
    await expect(getAgent(world.ports, world.caller, 'poet')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(deleteAgent(world.ports, world.caller, { id: 'poet' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
