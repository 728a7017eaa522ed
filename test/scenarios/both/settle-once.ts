import { expect } from 'vitest'
import type { MessageInput } from '../../../src/features/sessions/schema.ts'
import { isTerminal } from '../../../src/domain/run/run-machine.ts'
import { chat, ended, eventually, nothingFor } from '../support.ts'
import type { Surface } from './world.ts'

// 14: every accepted submission settles exactly once under any mix of drop, stop, interrupt, reset, drain and crash.

export const SESSIONS = ['a', 'b', 'c'].map((peer) => chat(peer))

/** One of the sessions. */
export const drawSession = (dice: () => number): string => SESSIONS[Math.floor(dice() * SESSIONS.length)] ?? ''

/** Does something by chance to a session of a node: submits a message in most cases, or disturbs, or waits. */
export async function takeStep(
  node: Surface,
  { dice, key, text }: { readonly dice: () => number; readonly key: string; readonly text: string },
  submit: (message: MessageInput) => unknown,
): Promise<void> {
  const chance = dice()
  if (chance < 0.45) await submit({ text })
  else if (chance < 0.6) await submit({ text, sender: dice() < 0.5 ? 'ann' : 'bob' })
  else if (chance < 0.75) await submit({ text, mode: 'interrupt' })
  else if (chance < 0.9) await disturb(node, key, dice())
  else await nothingFor(dice() * 30)
}

function disturb(node: Surface, key: string, chance: number): Promise<unknown> {
  if (chance < 0.35) return node.sessions.stop(key)
  return chance < 0.7 ? node.sessions.stopAll(key) : node.sessions.reset(key)
}

/** What the senders were told of has ended once and is all that is on record: nothing was lost, nothing made up. */
export async function expectSettledOnce(node: Surface, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await ended(node, id)
    const run = await node.runs.get(id)
    const terminal = run.timeline.filter((entry) => isTerminal(entry.status))
    expect(terminal, `${id}: ${JSON.stringify(run.timeline)}`).toHaveLength(1)
    expect(terminal[0]?.status).toBe(run.status)
  }
  const { items } = await node.runs.list({ limit: 200 })
  expect(items.map((run) => run.id).toSorted()).toEqual(ids.toSorted())
  for (const key of SESSIONS) expect(await node.sessions.get(key)).toMatchObject({ active: 0, waiting: 0 })
  await eventually(async () => {
    const lanes = (await node.lanes.list()).items
    expect(lanes.map(({ active, pending }) => active + pending)).toEqual(lanes.map(() => 0))
  })
}
