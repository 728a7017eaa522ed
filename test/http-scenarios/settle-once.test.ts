import { describe, expect } from 'vitest'
import { EscapementError } from '../../src/client/errors.ts'
import type { MessageInput } from '../../src/features/sessions/schema.ts'
import { drawSession, expectSettledOnce, takeStep } from '../scenarios/both/settle-once.ts'
import { createDice } from '../scenarios/dice.ts'
import { nothingFor, send } from '../scenarios/support.ts'
import { scenario, type Remote, type World } from './world.ts'

/** The run of a message: the one of its receipt, or the rejected one that the refusal names. */
async function submit(node: Remote, key: string, message: MessageInput): Promise<string> {
  try {
    return (await send(node, key, message)).run_id
  } catch (error) {
    if (error instanceof EscapementError && error.runId !== null) return error.runId
    throw error
  }
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
  const told = new Set<string>()
  for (let step = 0; step < 120; step += 1) {
    const key = drawSession(dice)
    const door = doors[Math.floor(dice() * doors.length)] ?? staying
    await takeStep(door, { dice, key, text: String(step) }, async (message) => {
      told.add(await submit(door, key, message))
    })
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
  expect(told.size).toBeGreaterThan(40)
  await expectSettledOnce(staying, [...told])
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

describe.concurrent('14: every accepted submission settles exactly once, over HTTP', () => {
  for (const seed of [1, 2])
    scenario(`under a mix of everything, a kill and a drain, seed ${seed}`, (world) => play(world, seed))
})
