import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Hit, PlannedFault } from '../faults.ts'
import type { Victims } from './victims.ts'

const AT_ONCE = 30

/** How the server puts it, and so how the node has to when it says what is wrong. */
const TOO_MANY = /too many clients/

/**
 * A node that an earlier fault has sent away tries again after up to five seconds, and one whose connections the network has
 * forgotten notices that only when an answer has not come for seven.
 */
const SAID_WITHIN_MS = 20_000
const AGAIN_AFTER_MS = 1_000

/** Somebody takes every connection the server has and the nodes lose theirs; they have to say so, and come back. */
export async function fillServer(victims: Victims, { lastsMs }: PlannedFault): Promise<Hit> {
  const { server, slots, nodeAt, userAt } = victims
  const nodes = Array.from({ length: slots }, (_, slot) => nodeAt(slot))
  const before = nodes.map(({ name }) => victims.wordsOf(name).length)
  // Opened first: afterwards there is none to be had.
  const control = await server.connect()
  const taken: Client[] = []
  /** Whether all it asked for were to be had. */
  const take = async (count: number): Promise<boolean> => {
    const asked = await Promise.allSettled(Array.from({ length: count }, () => server.connect()))
    for (const got of asked) if (got.status === 'fulfilled') taken.push(got.value)
    return asked.every(({ status }) => status === 'fulfilled')
  }
  try {
    while (await take(AT_ONCE));
    const hasSaid = (slot: number): boolean =>
      TOO_MANY.test(victims.wordsOf(nodes[slot]?.name ?? '').slice(before[slot]))
    const cutOff = async (all: readonly number[]): Promise<void> => {
      await control.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = any($1)', [
        all.map(userAt),
      ])
    }
    await cutOff([...nodes.keys()])
    const from = performance.now()
    let cutOffAt = from
    const silent = (): readonly number[] => [...nodes.keys()].filter((slot) => !hasSaid(slot))
    // What nodes let go is taken before they are back, for as long as it lasts and until they have said so. A node that
    // was quicker and got connections for itself loses them again.
    while (performance.now() - from < lastsMs || (silent().length > 0 && performance.now() - from < SAID_WITHIN_MS)) {
      if (performance.now() - cutOffAt > AGAIN_AFTER_MS) {
        cutOffAt = performance.now()
        await cutOff(silent())
      }
      await take(AT_ONCE / 3)
      await sleep(100)
    }
    nodes.forEach(({ name, child }, index) => {
      if (child.ending() === null && !hasSaid(index))
        victims.complain(`node ${name} did not say that the server has no connection left`)
    })
  } finally {
    await Promise.all([control, ...taken].map((client) => client.end().catch(() => undefined)))
  }
  return { process: null, how: `${taken.length} connections taken` }
}
