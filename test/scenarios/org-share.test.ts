import { describe, expect } from 'vitest'
import type { LaneView } from '../../src/features/lanes/schema.ts'
import type { Handler } from '../../src/executors/in-process/execute.ts'
import { limitOrgs } from '../../src/engine/org-limits.ts'
import { orgId, runId } from '../../src/domain/ids.ts'
import { explainRun } from '../../src/features/explain/run.ts'
import { createOrgs, openOrgNode, type OrgNode } from './org-node.ts'
import { eventually } from './support.ts'
import { loneScenario } from './world.ts'

/** An agent whose runs hang until they are aborted, and which of them have begun, by org. */
function hanging(): { readonly handler: Handler; readonly begun: (org: string) => number } {
  const begun = new Map<string, number>()
  return {
    begun: (org) => begun.get(org) ?? 0,
    handler: async ({ orgId: org }, { signal }) => {
      begun.set(org, (begun.get(org) ?? 0) + 1)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  }
}

const sendMany = async (node: OrgNode, org: string, count: number): Promise<readonly string[]> => {
  const sent = await Promise.all(Array.from({ length: count }, () => node.send(org, 'hang')))
  return sent.map((one) => (one as { readonly run_id: string }).run_id)
}

const mainOf = (node: OrgNode, org: string | null): LaneView | undefined =>
  node.app.work.lanes(org === null ? null : orgId(org)).find(({ name }) => name === 'main')

describe('an org whose runs hang', () => {
  loneScenario('takes its part of a lane of 30, and a message of another org starts at once', async ({ database }) => {
    const [hostile = '', other = ''] = await createOrgs(database, 2)
    const { handler, begun } = hanging()
    const node = await openOrgNode(database, handler, { lanes: { main: 30 } })
    try {
      await node.app.loops.start()
      const ids = await sendMany(node, hostile, 30)
      await eventually(() => expect(begun(hostile)).toBeGreaterThanOrEqual(24))
      await sendMany(node, other, 1)
      await eventually(() => expect(begun(other)).toBe(1), 5_000)
      expect(begun(hostile)).toBe(24)
      expect(mainOf(node, null)).toMatchObject({
        ...{ concurrency: 30, active: 25, pending: 6, max_per_org: 24, largest_org: { org_id: hostile, held: 24 } },
      })
      expect(mainOf(node, other)).toMatchObject({ active: 1, max_per_org: 24, largest_org: null })
      const caller = { orgId: orgId(hostile), principal: null }
      const waiting = ids.find((id) => node.app.live.stateOf(orgId(hostile), runId(id)) === 'queued') ?? ''
      const explained = await explainRun(node.app.ports, caller, { id: waiting, live: node.app.live })
      expect(explained).toMatchObject({
        ...{ reason: 'org_share', rule: 'lanes.max_org_share' },
        evidence: { lane: 'main', size: 30, held: 24, limit: 24, kept: 3 },
      })
      const steps = explained.steps.filter(({ stage }) => stage === 'gates')
      expect(steps.filter(({ state }) => state === 'closed').map(({ name }) => name)).toEqual(['lane'])
      expect(explained.next.actions.map(({ action }) => action)).toContain('grow_lane')
    } finally {
      await node.stop()
    }
  })

  loneScenario('leaves the last free slots to orgs that hold none', async ({ database }) => {
    const orgs = await createOrgs(database, 4)
    const [first = '', second = '', third = '', fourth = ''] = orgs
    const { handler, begun } = hanging()
    const node = await openOrgNode(database, handler, { lanes: { main: 10, max_org_share: 0.5 } })
    try {
      await node.app.loops.start()
      for (const org of [first, second]) {
        await sendMany(node, org, 10)
        await eventually(() => expect(mainOf(node, org)?.active).toBeGreaterThanOrEqual(4))
      }
      // One of ten is kept, and both hold some.
      expect([begun(first), begun(second)]).toEqual([5, 4])
      const [waiting = ''] = await sendMany(node, second, 1)
      const asked = { id: waiting, live: node.app.live }
      expect(await explainRun(node.app.ports, { orgId: orgId(second), principal: null }, asked)).toMatchObject({
        ...{ reason: 'org_share', evidence: { held: 4, limit: 5, kept: 1, size: 10 } },
      })
      await sendMany(node, third, 2)
      await eventually(() => expect(begun(third)).toBe(1))
      const [late = ''] = await sendMany(node, fourth, 1)
      expect(
        await explainRun(node.app.ports, { orgId: orgId(fourth), principal: null }, { id: late, live: node.app.live }),
      ).toMatchObject({ reason: 'lane_full' })
    } finally {
      await node.stop()
    }
  })

  loneScenario('holds a lane of one slot, and all of any lane when it is alone', async ({ database }) => {
    const [alone = ''] = await createOrgs(database, 1)
    const { handler, begun } = hanging()
    const node = await openOrgNode(database, handler, { lanes: { main: 5, subagent: 1 } })
    try {
      await node.app.loops.start()
      await sendMany(node, alone, 6)
      await eventually(() => expect(begun(alone)).toBe(5))
      expect(mainOf(node, null)).toMatchObject({ active: 5, pending: 1, max_per_org: null, largest_org: null })
      // Another org is there from the next look on.
      await database.outside(`insert into org (id, name, created_at) values ('later', 'later', now())`)
      await eventually(() => expect(mainOf(node, null)?.max_per_org).toBe(4))
      expect(node.app.work.lanes(null).find(({ name }) => name === 'subagent')?.max_per_org).toBe(1)
      await database.outside(`update org set deleted_at = now() where id = 'later'`)
      await eventually(() => expect(mainOf(node, null)?.max_per_org).toBeNull())
    } finally {
      await node.stop()
    }
  })

  loneScenario('starts more as soon as the settings give it more', async ({ database }) => {
    const [hostile = ''] = await createOrgs(database, 2)
    const { handler, begun } = hanging()
    const node = await openOrgNode(database, handler, { lanes: { main: 10 }, schedules: { poll_ms: 60_000 } })
    try {
      await node.app.loops.start()
      await sendMany(node, hostile, 12)
      await eventually(() => expect(begun(hostile)).toBe(8))
      node.set({ lanes: { max_org_share: 0.9 } })
      limitOrgs(node.app.parts)
      await eventually(() => expect(begun(hostile)).toBe(9))
      node.set({ lanes: { max_org_share: 1 } })
      limitOrgs(node.app.parts)
      await eventually(() => expect(begun(hostile)).toBe(10))
    } finally {
      await node.stop()
    }
  })
})

describe('an org with a longest time limit', () => {
  loneScenario('has attempts ended by it, whatever their agent says', async ({ database }) => {
    const [limited = ''] = await createOrgs(database, 1)
    await database.outside(`update agent set timeout_seconds = 31622400`)
    await database.outside(`update org set max_timeout_seconds = 1`)
    const { handler } = hanging()
    const node = await openOrgNode(database, handler)
    try {
      await node.app.loops.start()
      const [id = ''] = await sendMany(node, limited, 1)
      const attempt = async (): Promise<Record<string, unknown> | undefined> =>
        (await database.outside('select status, error_message from attempt where run_id = $1', [id]))[0]
      await eventually(async () => expect(await attempt()).toMatchObject({ status: 'timeout' }), 20_000)
      expect((await attempt())?.['error_message']).toBe(
        'it had not ended within 1 s, the max_timeout_seconds of the org',
      )
    } finally {
      await node.stop()
    }
  })
})
