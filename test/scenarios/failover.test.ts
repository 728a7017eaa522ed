import { describe, expect, inject } from 'vitest'
import type { Database } from '../../src/platform/db/database.ts'
import { COPY, REWIND } from '../faults/tables.ts'
import { runOn } from '../support/server-databases.ts'
import { createOrgs, openOrgNode } from './org-node.ts'
import { createStage } from './stage.ts'
import { eventually, nothingFor } from './support.ts'
import { loneScenario } from './world.ts'

/** Everybody is cut off but who listens: that connection may notice seconds later than the others. */
const CUT = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and application_name not like '% listener'`

/** The server is away for a while and comes back as it was when it was copied. */
async function failOver(server: Database): Promise<void> {
  const [row] = await server.query('select current_database() as name')
  const allow = (isAllowed: boolean): Promise<unknown> =>
    runOn(inject('databaseServer'), `alter database ${String(row?.['name'])} allow_connections ${isAllowed}`)
  await allow(false)
  await server.query(CUT)
  await server.query(REWIND)
  await nothingFor(1_500)
  await allow(true)
}

/** The record as it was when it was copied, with as many new turns by somebody else as were lost. Nobody is cut off. */
async function writeAnew(server: Database): Promise<void> {
  const [newest] = await server.query('select org_id, no from org_version')
  await server.query(REWIND)
  await server.query(
    `insert into turn (org_id, no, at, node_id, events)
       select org_id, i, now(), 'nod_other', '[]' from org_version, generate_series(no + 1, $1::bigint) i order by i`,
    [newest?.['no'] as number],
  )
  expect(await server.query('select org_id, no from org_version')).toEqual([newest])
}

/** What happens to the server while a node has nothing to do, and whether the node remembers the org until then. */
const HAPPENS = [
  { what: 'an org that a node remembers otherwise', happen: failOver, isDropped: false },
  { what: 'an org that a node has forgotten since', happen: failOver, isDropped: true },
  { what: 'an org in which others have written turns of the same numbers', happen: writeAnew, isDropped: false },
]

describe('after a failover that lost the last transactions', () => {
  for (const { what, happen, isDropped } of HAPPENS)
    loneScenario(
      `${what} is looked at within a few polls`,
      async ({ database }) => {
        const [org = ''] = await createOrgs(database, 1)
        const server = await database.open({ pool: 1 })
        const stage = createStage()
        const node = await openOrgNode(database, stage.handler, { lanes: { main: 1 } })
        try {
          await node.app.loops.start()
          await node.send(org, 'first')
          await stage.begunMany(1)
          await node.send(org, 'second')
          await server.query(COPY)
          stage.open()
          await eventually(async () => expect(await server.query('select 1 from pending')).toEqual([]))
          expect(stage.acts).toHaveLength(2)
          if (isDropped) {
            node.set({ lanes: { another: 1 } })
            await eventually(() => expect(node.app.parts.actors.size).toBe(0))
          }
          await happen(server)
          const back = performance.now()
          // On record the first is under way and the second waits.
          await eventually(() => expect(stage.acts.length).toBeGreaterThan(2))
          expect(performance.now() - back).toBeLessThan(5_000)
        } finally {
          await node.stop()
        }
      },
      60_000,
    )
})
