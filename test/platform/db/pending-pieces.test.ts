import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Connection, Database } from '../../../src/platform/db/database.ts'
import { loadPending } from '../../../src/engine/org-state/pending-store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { makeOrgs, ORG, seedRun } from './records.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase('migrated')
  db = await world.open()
  await makeOrgs(db)
})
afterAll(() => world.drop())

/** The blocks that a statement touched, as the server counts them. */
const blocksOf = (plan: unknown): number => {
  const [{ Plan: top }] = plan as [{ readonly Plan: Readonly<Record<string, number>> }]
  return (top['Shared Hit Blocks'] ?? 0) + (top['Shared Read Blocks'] ?? 0)
}

it('the last piece of a long queue costs what the first does, however the server joins it', async () => {
  await seedRun(db, 'run_000000', { state: 'queued' })
  const copy = (table: string): string =>
    `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object('id', 'run_' || lpad(i::text, 6, '0')))).*
       from ${table} t, generate_series(1, 20000) i`
  for (const table of ['run', 'pending']) await db.query(copy(table))
  await db.query('analyze run, pending')
  const blocks: number[] = []
  await db.transaction(async (tx) => {
    // As a server does whose tables are large.
    await tx.query('set local enable_nestloop = off')
    await tx.query('set local enable_hashjoin = off')
    const explained: Connection = {
      ...tx,
      query: async (text, params) => {
        const [row] = await tx.query(`explain (analyze, buffers, format json) ${text}`, params)
        blocks.push(blocksOf(row?.['QUERY PLAN']))
        return []
      },
    }
    for (const after of ['', 'run_019900'])
      await loadPending(explained, { orgId: ORG, after, limit: 100, payloads: false })
  })
  const [first = 0, last = Infinity] = blocks
  expect(first).toBeGreaterThan(0)
  expect(last).toBeLessThan(3 * first + 50)
})
