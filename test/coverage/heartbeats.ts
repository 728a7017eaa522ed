import { expect } from 'vitest'
import type { HeartbeatInput, HeartbeatLogView } from '../../src/features/heartbeats/schema.ts'
import type { AgentStub } from './agent-stub.ts'
import type { World } from './world.ts'

const CHECKLIST = { text: '- Is anything in the inbox urgent?' }

/** An agent with a heartbeat that is due in an hour and says nothing to anyone, unless told otherwise. */
export async function heartbeating(world: World, input: HeartbeatInput = {}): Promise<AgentStub> {
  const agent = await world.agent()
  const heartbeat = { checklist: CHECKLIST, interval_seconds: 3_600, target: 'none', ...input }
  await world.server.client.heartbeat.set(agent.id, heartbeat)
  return agent
}

const newestOf = async (world: World, agent: AgentStub): Promise<HeartbeatLogView | undefined> =>
  (await world.server.client.heartbeat.log(agent.id, { limit: 1 })).items[0]

/** The entry of the log that comes after another one, when it has come to its end. */
const entryAfter = (world: World, agent: AgentStub, before: string | undefined): Promise<HeartbeatLogView> =>
  world.until(async () => {
    const entry = await newestOf(world, agent)
    if (entry === undefined || entry.id === before || entry.outcome === 'running')
      throw new Error(`so far: ${JSON.stringify(entry)}`)
    return entry
  })

/** Lets the planned time of a heartbeat come, and answers with what became of it. */
export async function becomesDue(world: World, agent: AgentStub): Promise<HeartbeatLogView> {
  const before = await newestOf(world, agent)
  await world.database.outside('update escapement.heartbeat set next_at = now(), due_at = now() where agent_id = $1', [
    agent.id,
  ])
  return entryAfter(world, agent, before?.id)
}

/** One heartbeat with this reply, and what became of it. */
export async function beat(world: World, agent: AgentStub, output: string): Promise<HeartbeatLogView> {
  agent.reply({ status: 'success', output })
  return becomesDue(world, agent)
}

/** Expects that a reply counts as an acknowledgement. */
export const acknowledges =
  (reply: string) =>
  async (world: World): Promise<void> => {
    const entry = await beat(world, await heartbeating(world), reply)
    expect(entry).toMatchObject({ outcome: 'suppressed', reason: 'acknowledged', content: null })
  }

/** A zone whose clocks show this hour now, and keep showing it for the next half hour. */
export function zoneAt(hour: number): string {
  const now = new Date()
  const ahead = ((hour - now.getUTCHours() + 36) % 24) - 12
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}
