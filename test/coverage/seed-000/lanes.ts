import { expect } from 'vitest'
import { runOf, send } from '../conversation.ts'
import type { Row } from '../row.ts'
import type { World } from '../world.ts'

const laneOf = async (world: World, name: string): Promise<unknown> =>
  (await world.server.client.lanes.list()).items.find((lane) => lane.name === name)

const hasSlots =
  (name: string, concurrency: number) =>
  async (world: World): Promise<void> => {
    expect(await laneOf(world, name)).toMatchObject({ name, concurrency })
  }

/** One server with all four variables, each above or below what is allowed. */
const readsVariables = async ({ alone }: World): Promise<void> =>
  alone(async ({ start }) => {
    const variables = {
      ...{ GOCLAW_LANE_MAIN: '7', GOCLAW_LANE_SUBAGENT: '8', GOCLAW_LANE_TEAM: '11', GOCLAW_LANE_CRON: '6' },
      GOCLAW_LANE_GPU: '3',
    }
    const node = await start({ variables })
    const sizes = Object.fromEntries(
      (await node.client.lanes.list()).items.map((lane) => [lane.name, lane.concurrency]),
    )
    expect(sizes).toMatchObject({ main: 7, subagent: 8, team: 11, cron: 6, gpu: 3 })
    const warned = node.served.log().filter(({ level, msg }) => level === 'warn' && msg.includes('GOCLAW_LANE_'))
    expect(warned).toHaveLength(Object.keys(variables).length)
  })

const laneOfMessage = async (world: World, fields: object): Promise<string> => {
  const agent = await world.agent()
  return (await runOf(world, await send(world, agent.session(), 'hello', fields))).lane
}

export const LANES: readonly Row[] = [
  {
    line: '25',
    says: 'Lanes are named pools of configurable size',
    check: async (world) => {
      const lane = `${world.name}-pool`
      expect((await world.put(`/api/v1/lanes/${lane}`, { concurrency: 5 })).status).toBe(200)
      expect(await laneOf(world, lane)).toMatchObject({ concurrency: 5 })
      expect((await world.put(`/api/v1/lanes/${lane}`, { concurrency: 9 })).status).toBe(200)
      expect(await laneOf(world, lane)).toMatchObject({ concurrency: 9 })
    },
  },
  {
    line: '25',
    says: 'Lanes are independent of each other',
    check: async (world) => {
      const lane = `${world.name}-full`
      await world.put(`/api/v1/lanes/${lane}`, { concurrency: 1 })
      const agent = await world.agent()
      agent.hold()
      await send(world, agent.session('a'), 'held', { lane })
      await world.until(() => agent.busy() === 1)
      const waiting = await send(world, agent.session('b'), 'waiting', { lane })
      agent.release('elsewhere')
      const elsewhere = await send(world, agent.session('c'), 'elsewhere')
      expect((await world.ended(elsewhere)).status).toBe('success')
      expect((await world.server.runs.explain(waiting)).reason).toBe('lane_full')
    },
  },
  {
    line: '25',
    says: 'An unknown lane falls back to `main`',
    shownBy: ['test/scenarios/both/lanes.ts', 'lanes › 3: work for lane `nope` runs on main and shows in its stats'],
  },
  { line: '28,56', says: 'Lane `main` has 30 slots', check: hasSlots('main', 30) },
  { line: '33,57', says: 'Lane `subagent` has 50 slots', check: hasSlots('subagent', 50) },
  { line: '38,58', says: 'Lane `team` has 100 slots', check: hasSlots('team', 100) },
  { line: '43,59', says: 'Lane `cron` has 30 slots', check: hasSlots('cron', 30) },
  {
    line: '48',
    says: 'A request is scheduled on the lane it names',
    check: async (world) => {
      const lane = `${world.name}-named`
      await world.put(`/api/v1/lanes/${lane}`, { concurrency: 1 })
      expect(await laneOfMessage(world, { lane })).toBe(lane)
    },
  },
  {
    line: '49',
    says: 'A session is created by the first request that names it',
    check: async (world) => {
      const agent = await world.agent()
      const target = `/api/v1/sessions/${encodeURIComponent(agent.session())}`
      expect((await world.get(target)).status).toBe(404)
      await send(world, agent.session(), 'hello')
      expect((await world.get(target)).status).toBe(200)
    },
  },
  { line: '56', says: '`GOCLAW_LANE_MAIN` sets the size of `main`', check: readsVariables },
  { line: '57', says: '`GOCLAW_LANE_SUBAGENT` sets the size of `subagent`', check: readsVariables },
  { line: '58', says: '`GOCLAW_LANE_TEAM` sets the size of `team`', check: readsVariables },
  { line: '59', says: '`GOCLAW_LANE_CRON` sets the size of `cron`', check: readsVariables },
  {
    line: '56',
    says: '`main` is for chats of users',
    check: async (world) => expect(await laneOfMessage(world, {})).toBe('main'),
  },
  {
    line: '57',
    says: '`subagent` is for agents that another agent has started',
    check: async (world) => {
      const agent = await world.agent()
      const parent = await send(world, agent.session('parent'), 'hello')
      expect(await laneOfMessage(world, { parent_run_id: parent })).toBe('subagent')
    },
  },
  {
    line: '58',
    says: '`team` is for delegations',
    differs:
      'The caller marks a delegation with `lane: team`: what an agent asks another for is not visible otherwise.',
    check: async (world) => expect(await laneOfMessage(world, { lane: 'team' })).toBe('team'),
  },
  {
    line: '59',
    says: '`cron` is for scheduled jobs, and a job does not overlap itself',
    check: async (world) => {
      const agent = await world.agent()
      agent.hold()
      const schedule = await world.server.schedules.create({ agent_id: agent.id, every_seconds: 1, payload: 'tick' })
      const [first] = await world.runsOf(schedule.id, (runs) => runs.length >= 2)
      await world.until(() => agent.busy() === 1)
      expect([first?.lane, agent.most()]).toEqual(['cron', 1])
      await world.del(`/api/v1/schedules/${schedule.id}`)
    },
  },
  {
    line: '60',
    says: '`GetOrCreate()` creates lanes on demand',
    shownBy: ['test/scenarios/lanes.test.ts', 'lanes › are created on demand, and an existing one wins'],
  },
  { line: '60', says: 'Variables of the environment set the size of every lane', check: readsVariables },
]
