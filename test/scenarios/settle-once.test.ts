import { describe, expect } from 'vitest'
import { Refusal } from '../../src/api/refusals.ts'
import type { MessageInput } from '../../src/features/sessions/schema.ts'
import type { Escapement } from '../../src/library/escapement.ts'
import { drawSession, expectSettledOnce, takeStep } from './both/settle-once.ts'
import { createDice } from './dice.ts'
import { nothingFor, send } from './support.ts'
import { scenario, type World } from './world.ts'

// Crashes are in crash.test.ts.

/** The run of which a refusal tells. Null: it was refused without one. */
function runOf(error: unknown): string | null {
  if (!(error instanceof Refusal)) throw error
  return error.runId
}

/** Sends, waits, and answers with the run that the caller was told of. */
const ask = (node: Escapement, key: string, message: MessageInput): Promise<string | null> =>
  node.sessions.ask(key, message).then(({ id }) => id, runOf)

/** Sends without waiting: the node may leave before there is an answer. */
const leave = (node: Escapement, key: string, message: MessageInput): Promise<string | null> =>
  send(node, key, message).then(({ run_id: id }) => id, runOf)

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
    const key = drawSession(dice)
    const [submit, node] = leaving === null && dice() < 0.5 ? [leave, nodes[1]] : [ask, nodes[0]]
    // Without waiting: an answer may come long after other steps.
    await takeStep(node, { dice, key, text: String(step) }, (message) => void asked.push(submit(node, key, message)))
    if (step === 60) leaving = nodes[1].stop()
  }
  const told = await Promise.all(asked)
  await leaving
  expect(told.length).toBeGreaterThan(20)
  await expectSettledOnce(nodes[0], [...new Set(told.flatMap((id) => id ?? []))])
  for (const [attempt, count] of starts) expect(count, attempt).toBe(1)
}

describe.concurrent('14: every accepted submission settles exactly once', () => {
  for (const seed of [1, 2, 3, 4]) scenario(`under a mix of everything, seed ${seed}`, (world) => play(world, seed))
})
