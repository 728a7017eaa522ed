import { describe, expect } from 'vitest'
import { createOrgs, openOrgNode } from './org-node.ts'
import { eventually, nothingFor } from './support.ts'
import { loneScenario } from './world.ts'

/** Sends to all orgs at once, round by round, and answers with how long each took to start, in ms. */
async function startDelays(
  node: Awaited<ReturnType<typeof openOrgNode>>,
  asked: { readonly orgs: readonly string[]; readonly rounds: number; readonly started: ReadonlyMap<string, number> },
): Promise<readonly number[]> {
  const sent = new Map<string, number>()
  for (let round = 0; round < asked.rounds; round += 1) {
    await Promise.all(
      asked.orgs.map((org) => {
        const text = `${org} ${round}`
        sent.set(text, performance.now())
        return node.send(org, text)
      }),
    )
    await eventually(() => expect([...sent.keys()].filter((text) => !asked.started.has(text))).toEqual([]))
  }
  return [...sent].map(([text, at]) => (asked.started.get(text) ?? Infinity) - at)
}

describe('orgs that submit at the same moment', () => {
  for (const [count, rounds] of [
    [2, 15],
    [10, 8],
  ] as const)
    loneScenario(`${count} of them on an idle node start at once`, async ({ database }) => {
      const orgs = await createOrgs(database, count)
      const started = new Map<string, number>()
      const node = await openOrgNode(
        database,
        async ({ payload }, { signal }) => {
          started.set((payload as { readonly text: string }).text, performance.now())
          // A run that ends would wake others.
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
        },
        // Only a wake-up that is not lost starts a run; the look comes too late for this test.
        { lanes: { main: 1_000 }, schedules: { poll_ms: 60_000 } },
      )
      try {
        await node.app.loops.start()
        await Promise.all(orgs.map((org) => node.send(org, `first of ${org}`)))
        await eventually(() => expect(started.size).toBe(count))
        await nothingFor(100)
        const delays = await startDelays(node, { orgs, rounds, started })
        expect(delays.filter((ms) => ms > 5_000)).toEqual([])
      } finally {
        await node.stop()
      }
    }, 60_000)
})
