import { describe, expect } from 'vitest'
import { createOrgs, openOrgNode } from './org-node.ts'
import { eventually } from './support.ts'
import { loneScenario } from './world.ts'

/** More than a node reads one by one before it loads the org anew. */
const MISSED = 6_000

describe('a node that has missed thousands of transactions of an org', () => {
  loneScenario(
    'tells those who wait of every one of them',
    async ({ database }) => {
      const [org = ''] = await createOrgs(database, 1)
      const node = await openOrgNode(database, () => undefined)
      const heard = new Set<number>()
      node.app.parts.listeners.add((_, turn) => void heard.add(turn.no))
      try {
        await node.app.loops.start()
        await node.send(org, 'first')
        await eventually(async () => {
          const left = await database.outside('select 1 from pending')
          expect(left).toEqual([])
        })
        const [newest] = await database.outside('select max(no)::int as no from turn where org_id = $1', [org])
        const before = newest?.['no'] as number
        await database.outside(
          `insert into turn (org_id, no, at, node_id, events)
             select $1, $2::int + i, now(), 'nod_other', '[]' from generate_series(1, $3::int) i`,
          [org, before, MISSED],
        )
        await node.send(org, 'second')
        const missing = (): readonly number[] =>
          Array.from({ length: MISSED }, (_, index) => before + 1 + index).filter((no) => !heard.has(no))
        await eventually(() => expect(missing().length).toBe(0))
      } finally {
        await node.stop()
      }
    },
    60_000,
  )
})
