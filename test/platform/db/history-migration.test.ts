import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { orgId } from '../../../src/domain/ids.ts'
import { DAY_MS, later, type Instant } from '../../../src/domain/instant.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { createHistoryPartitions, dropOldPartitions } from '../../../src/features/retention/history-store.ts'
import { migrate, MIGRATIONS_DIRECTORY } from '../../../src/platform/db/migrate.ts'
import { insertTransaction, loadTransactionsAfter, loadVersion } from '../../../src/engine/transaction/history-store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

/** The last migration of 0.1.0. */
const LAST_BEFORE = 23

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase('empty')
  db = await world.open()
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-migrations-'))
  for (const file of readdirSync(MIGRATIONS_DIRECTORY).filter((name) => Number(name.slice(0, 4)) <= LAST_BEFORE))
    cpSync(path.join(MIGRATIONS_DIRECTORY, file), path.join(directory, file))
  await migrate(db, { directory }).finally(() => rmSync(directory, { recursive: true, force: true }))
})
afterAll(() => world.drop())

/** As 0.1.0 does: the number after the newest one, under the lock of the org. */
async function writeAsBefore(orgName: string, at: string): Promise<void> {
  await db.transaction(
    async (tx) => {
      const [row] = await tx.query(
        'select coalesce((select no from turn where org_id = $1 order by no desc limit 1), 0) as version',
        [orgName],
      )
      await tx.query('insert into turn (org_id, no, at, node_id, events) values ($1, $2, $3, $4, $5::json)', [
        ...[orgName, (row?.['version'] as number) + 1, at, 'nod_old', '[]'],
      ])
    },
    { lock: [7, orgName.length] },
  )
}

describe('a history from before the partitions', () => {
  it('is kept, while nodes of 0.1.0 go on writing', async () => {
    await db.query(`insert into turn (org_id, no, at, node_id, events)
      select org, no, '2026-01-01'::timestamptz + no * interval '1 s', 'nod_' || no, '[]'
        from unnest('{a,bb,gone}'::text[]) org, generate_series(1, 20000) no`)
    const stop = new AbortController()
    const writing = ['a', 'bb', 'new'].map(async (name) => {
      let written = 0
      for (; !stop.signal.aborted; written += 1)
        await writeAsBefore(name, new Date(Date.UTC(2026, 0, 2) + written).toISOString())
      return written
    })
    expect((await migrate(await world.open())).applied).toContain(LAST_BEFORE + 1)
    const first = (await loadVersion(db, orgId('new'))).version
    await expect.poll(async () => (await loadVersion(db, orgId('new'))).version).toBeGreaterThan(first + 10)
    stop.abort()
    const written = await Promise.all(writing)
    const versions = await Promise.all(
      ['a', 'bb', 'new'].map(async (name) => (await loadVersion(db, orgId(name))).version),
    )
    expect(versions).toEqual([20_000 + (written[0] ?? 0), 20_000 + (written[1] ?? 0), written[2]])
    expect(await loadVersion(db, orgId('gone'))).toMatchObject({ version: 20_000, writer: 'nod_20000' })
    expect(await loadTransactionsAfter(db, { orgId: orgId('gone'), after: 19_990, limit: 99 })).toHaveLength(10)
    const [all] = await db.query('select count(*) as turns, count(distinct (org_id, no)) as numbers from turn', [])
    expect(all).toEqual({ turns: 60_000 + written.reduce((sum, one) => sum + one, 0), numbers: all?.['turns'] })
  })

  it('is dropped as a whole when a day has passed, and each org goes on', async () => {
    const [row] = await db.query('select max(at) as newest from turn', [])
    const newest = row?.['newest'] as Instant
    await createHistoryPartitions(db, newest)
    // The server may be at it, to count its rows; then the next pass drops it.
    await expect
      .poll(async () => {
        await dropOldPartitions(db, later(newest, DAY_MS / 2))
        return db.query(`select to_regclass('turn_before')::text as place`, [])
      })
      .toEqual([{ place: null }])
    expect(await loadTransactionsAfter(db, { orgId: orgId('gone'), after: 0, limit: 9 })).toEqual([])
    const next = { no: 20_001, at: later(newest, DAY_MS), nodeId: 'nod_1', events: [] }
    await db.transaction((tx) => insertTransaction(tx, orgId('gone'), next))
    expect(await loadVersion(db, orgId('gone'))).toEqual({ version: 20_001, at: next.at, writer: 'nod_1' })
  })
})
