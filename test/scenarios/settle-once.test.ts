import { describe, expect } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import type { MessageInput } from '../../src/contract/session.ts'
import type { Escapement } from '../../src/escapement.ts'
import { isTerminal } from '../../src/core/run/run-machine.ts'
import { Refusal } from '../../src/contract/refusals.ts'
import { createDice } from './dice.ts'
import { chat, ended, eventually, nothingFor, send } from './support.ts'
import { scenario, type World } from './world.ts'

// 14: every accepted submission settles exactly once under any mix of drop, stop, interrupt, reset and drain. Crashes
// are in crash.test.ts.

/** Sends, waits, and answers with the run that the caller was told of. Null: it was refused without one. */
async function ask(node: Escapement, key: string, message: MessageInput): Promise<string | null> {
  try {
    return (await node.sessions.ask(key, message)).id
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.runId
  }
}

/** Sends without waiting: the node may leave before there is an answer. */
async function leave(node: Escapement, key: string, message: MessageInput): Promise<string | null> {
  try {
    return (await send(node, key, message)).run_id
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.runId
  }
}

const SESSIONS = ['a', 'b', 'c'].map((peer) => chat(peer))

async function disturb(node: Escapement, key: string, chance: number): Promise<void> {
  if (chance < 0.35) await node.sessions.stop(key)
  else if (chance < 0.7) await node.sessions.stopAll(key)
  else await node.sessions.reset(key)
}

async function play(world: World, seed: number): Promise<void> {
  const dice = createDice(seed)
  const starts = new Map<string, number>()
  const options = {
    agents: {
      worker: async (attempt: { readonly runId: string; readonly attempt: number }): Promise<string> => {
        const key = `${attempt.runId}/${attempt.attempt}`
        starts.set(key, (starts.get(key) ?? 0) + 1)
        await nothingFor(5 + Math.floor(dice() * 30))
        return 'done'
      },
    },
    sessions: { cap: 2, debounce_ms: 30 },
    node: { stop_grace_ms: 500 },
  } as const
  const nodes = [await world.start(options), await world.start(options)] as const
  let leaving: Promise<void> | null = null
  const asked: Promise<string | null>[] = []
  for (let step = 0; step < 90; step += 1) {
    const key = SESSIONS[Math.floor(dice() * SESSIONS.length)] ?? ''
    const [submit, node] = leaving === null && dice() < 0.5 ? [leave, nodes[1]] : [ask, nodes[0]]
    const chance = dice()
    const text = String(step)
    if (chance < 0.45) asked.push(submit(node, key, { text }))
    else if (chance < 0.6) asked.push(submit(node, key, { text, sender: dice() < 0.5 ? 'ann' : 'bob' }))
    else if (chance < 0.75) asked.push(submit(node, key, { text, mode: 'interrupt' }))
    else if (chance < 0.9) await disturb(node, key, dice())
    else await nothingFor(dice() * 30)
    if (step === 60) leaving = nodes[1].stop()
  }
  const told = await Promise.all(asked)
  await leaving
  await check(nodes[0], told, starts)
}

async function check(
  node: Escapement,
  told: readonly (string | null)[],
  starts: ReadonlyMap<string, number>,
): Promise<void> {
  expect(told.length).toBeGreaterThan(20)
  const ids = [...new Set(told.flatMap((id) => (id === null ? [] : [id])))]
  for (const id of ids) {
    await ended(node, id)
    const run: RunDetail = await node.runs.get(id)
    const terminal = run.timeline.filter((entry) => isTerminal(entry.status))
    expect(terminal, `${id}: ${JSON.stringify(run.timeline)}`).toHaveLength(1)
    expect(terminal[0]?.status).toBe(run.status)
  }
  // What the callers were told of and what is on record are the same: nothing was lost, nothing made up.
  const { items } = await node.runs.list({ limit: 200 })
  expect(items.map((run) => run.id).toSorted()).toEqual(ids.toSorted())
  for (const [attempt, count] of starts) expect(count, attempt).toBe(1)
  for (const key of SESSIONS) expect(await node.sessions.get(key)).toMatchObject({ active: 0, waiting: 0 })
  await eventually(async () => {
    const lanes = await node.lanes.list()
    expect(lanes.map(({ active, pending }) => active + pending)).toEqual(lanes.map(() => 0))
  })
}

describe.concurrent('14: every accepted submission settles exactly once', () => {
  for (const seed of [1, 2, 3, 4]) scenario(`under a mix of everything, seed ${seed}`, (world) => play(world, seed))
})
