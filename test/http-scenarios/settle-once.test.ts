import { describe, expect } from 'vitest'
import { isTerminal } from '../../src/core/run/run-machine.ts'
import { EscapementError } from '../../src/client/errors.ts'
import type { MessageInput } from '../../src/contract/session.ts'
import { createDice } from '../scenarios/dice.ts'
import { chat, ended, eventually, nothingFor, send } from '../scenarios/support.ts'
import { scenario, type Remote, type World } from './world.ts'

// 14: every accepted submission settles exactly once under any mix of drop, stop, interrupt, reset, drain and crash.

const SESSIONS = ['a', 'b', 'c'].map((peer) => chat(peer))

/** The run of a message: the one of its receipt, or the rejected one that the refusal names. */
async function submit(node: Remote, key: string, message: MessageInput): Promise<string> {
  try {
    return (await send(node, key, message)).run_id
  } catch (error) {
    if (error instanceof EscapementError && error.runId !== null) return error.runId
    throw error
  }
}

function disturb(node: Remote, key: string, chance: number): Promise<unknown> {
  if (chance < 0.4) return node.sessions.stop(key)
  return chance < 0.7 ? node.sessions.stopAll(key) : node.sessions.reset(key)
}

async function play(world: World, seed: number): Promise<void> {
  const dice = createDice(seed)
  const settings = { sessions: { cap: 2, debounce_ms: 30 }, node: { lease_ms: 3_000, renew_ms: 800 } }
  const worker = (): Promise<void> => nothingFor(dice() * 40)
  const staying = await world.start({ agents: { worker }, ...settings })
  const leaving = await world.start({ agents: { worker }, ...settings })
  const killed = await spawnWorker(world)
  await staying.agents.update('worker', { retry_policy: { max_retries: 5, strategy: 'fixed', base_ms: 50 } })
  let doors = [staying, leaving, killed.remote]
  const told: string[] = []
  for (let step = 0; step < 120; step += 1) {
    const key = SESSIONS[Math.floor(dice() * SESSIONS.length)] ?? ''
    const door = doors[Math.floor(dice() * doors.length)] ?? staying
    const chance = dice()
    const text = String(step)
    if (chance < 0.45) told.push(await submit(door, key, { text }))
    else if (chance < 0.6) told.push(await submit(door, key, { text, sender: dice() < 0.5 ? 'ann' : 'bob' }))
    else if (chance < 0.75) told.push(await submit(door, key, { text, mode: 'interrupt' }))
    else if (chance < 0.9) await disturb(door, key, dice())
    else await nothingFor(dice() * 30)
    if (step === 50) {
      await killed.kill()
      doors = [staying, leaving]
    }
    if (step === 80) {
      doors = [staying]
      leaving.served.signal('SIGTERM')
    }
  }
  await leaving.served.ended
  await check(staying, [...new Set(told)])
}

async function spawnWorker(world: World): Promise<{ readonly remote: Remote; readonly kill: () => Promise<void> }> {
  const variables = { ESCAPEMENT_NODE_LEASE_MS: '3000', ESCAPEMENT_NODE_RENEW_MS: '800', ESCAPEMENT_SESSIONS_CAP: '2' }
  const served = world.spawn([], variables, { entry: 'test/http-scenarios/program.ts' })
  return {
    remote: await world.join(served),
    kill: async () => {
      served.child.kill('SIGKILL')
      await served.ended
    },
  }
}

async function check(node: Remote, ids: readonly string[]): Promise<void> {
  expect(ids.length).toBeGreaterThan(40)
  for (const id of ids) {
    await ended(node, id)
    const run = await node.runs.get(id)
    const terminal = run.timeline.filter((entry) => isTerminal(entry.status))
    expect(terminal, `${id}: ${JSON.stringify(run.timeline)}`).toHaveLength(1)
    expect(terminal[0]?.status).toBe(run.status)
  }
  // What the senders were told of and what is on record are the same: nothing was lost, nothing made up.
  const { items } = await node.runs.list({ limit: 200 })
  expect(items.map((run) => run.id).toSorted()).toEqual(ids.toSorted())
  for (const key of SESSIONS) expect(await node.sessions.get(key)).toMatchObject({ active: 0, waiting: 0 })
  await eventually(async () => {
    const { items: lanes } = await node.client.lanes.list()
    expect(lanes.map(({ active, pending }) => active + pending)).toEqual(lanes.map(() => 0))
  })
}

describe.concurrent('14: every accepted submission settles exactly once, over HTTP', () => {
  for (const seed of [1, 2]) scenario(`under a mix of everything, seed ${seed}`, (world) => play(world, seed))
})
