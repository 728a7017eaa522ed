import { describe, expect } from 'vitest'
import { orgId, type OrgId } from '../../src/domain/ids.ts'
import { isStalled } from '../../src/engine/loops/stall.ts'
import { createSchedule } from '../../src/features/schedules/service.ts'
import { LOCK_SPACE, lockNumber } from '../../src/platform/db/advisory-locks.ts'
import { createOrgs, openOrgNode } from './org-node.ts'
import { eventually, nothingFor } from './support.ts'
import { loneScenario } from './world.ts'
import { cpuMs } from '../support/cpu-time.ts'

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
    loneScenario(
      `${count} of them on an idle node start at once`,
      async ({ database }) => {
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
      },
      60_000,
    )
})

describe('an org whose lock somebody holds', () => {
  loneScenario(
    'does not keep the schedules of others waiting, nor a node from being ready',
    async ({ database }) => {
      const [stuck, free] = (await createOrgs(database, 2)).map((id) => orgId(id)) as [OrgId, OrgId]
      const fired: number[] = []
      const node = await openOrgNode(database, ({ orgId: org }) => {
        if (org === free) fired.push(performance.now())
      })
      const blocker = await database.open({ pool: 1 })
      const every = { agent_id: 'worker', every_seconds: 1, payload: 'go' }
      const create = (id: OrgId): Promise<unknown> =>
        createSchedule(node.app.ports, { orgId: id, principal: null }, { name: 'often', ...every })
      try {
        await node.app.loops.start()
        await create(free)
        await create(stuck)
        await eventually(() => expect(fired.length).toBeGreaterThan(0))
        await blocker.query('select pg_advisory_lock($1, $2)', [LOCK_SPACE.org, lockNumber(stuck)])
        // Far more are due there than are decided about at once.
        await database.outside(
          `insert into schedule select (jsonb_populate_record(s, jsonb_build_object('id', s.id || i, 'name', s.name || i,
           'next_run_at', now() - interval '1 minute'))).* from schedule s, generate_series(1, 3000) i
          where org_id = $1`,
          [stuck],
        )
        const before = fired.length
        await nothingFor(10_000)
        const times = fired.slice(Math.max(0, before - 1))
        const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at))
        // One is due each second: fivefold slack.
        expect(Math.max(0, ...gaps)).toBeLessThan(5_000)
        expect(fired.length - before).toBeGreaterThanOrEqual(2)
        expect(isStalled(node.app.parts)).toBe(false)
        await eventually(() => expect(node.log.map(({ message }) => message)).toContain('An org gets no transaction'))
      } finally {
        await blocker.query('select pg_advisory_unlock_all()')
        await node.stop()
      }
    },
    60_000,
  )
})

describe('20,000 orgs that do nothing', () => {
  loneScenario(
    'keep no work waiting, and cost nearly nothing',
    async ({ database }) => {
      const orgs = await createOrgs(database, 20_000)
      await database.outside('vacuum analyze')
      const started = new Map<string, number>()
      const node = await openOrgNode(database, ({ orgId: org }) => void started.set(org, performance.now()))
      try {
        await node.app.loops.start()
        const began = performance.now()
        const some = [orgs[0], orgs[9_999], orgs[19_999]] as string[]
        await Promise.all(some.map((org) => node.send(org, 'hello')))
        await eventually(() => expect(started.size).toBe(some.length))
        // Two seconds at most; fivefold slack.
        expect(Math.max(...started.values()) - began).toBeLessThan(10_000)
        expect(node.app.parts.actors.size).toBeLessThanOrEqual(some.length + 1)
        // Of this thread alone: other files are tested beside it in the same process.
        const before = cpuMs()
        await nothingFor(5_000)
        // Two per cent of a core at most; fivefold slack.
        expect((cpuMs() - before) / 5_000).toBeLessThan(0.1)
      } finally {
        await node.stop()
      }
    },
    120_000,
  )

  loneScenario(
    'are loaded as soon as another node changes one',
    async ({ database }) => {
      const orgs = await createOrgs(database, 2_000)
      const one = await openOrgNode(database, () => undefined)
      const two = await openOrgNode(database, () => undefined)
      const heard: string[] = []
      two.app.parts.listeners.add((org) => void heard.push(org))
      try {
        await Promise.all([one.app.loops.start(), two.app.loops.start()])
        // Both know of each other.
        await eventually(() => expect([one, two].map(({ app }) => app.parts.peers.others)).toEqual([true, true]))
        const org = orgs[1_234] as string
        await one.send(org, 'hello')
        await eventually(() => expect(heard).toContain(org))
        expect(two.app.parts.actors.size).toBeLessThan(10)
      } finally {
        await one.stop()
        await two.stop()
      }
    },
    120_000,
  )
})
