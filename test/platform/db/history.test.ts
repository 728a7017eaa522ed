import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS, HOUR_MS, instant, later, MINUTE_MS, type Instant } from '../../../src/domain/instant.ts'
import type { Connection, Database } from '../../../src/platform/db/database.ts'
import {
  createHistoryPartitions,
  deleteUnpartitionedHistory,
  dropOldPartitions,
} from '../../../src/features/retention/history-store.ts'
import { deleteRowsOfOrg } from '../../../src/features/access/orgs-store.ts'
import {
  insertTransaction,
  loadChangedOrgs,
  loadVersionAndLease,
  loadTransactionsAfter,
  loadVersion,
  loadVersions,
} from '../../../src/engine/transaction/history-store.ts'
import { NOW } from '../../support/builders.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { makeOrgs, ORG, OTHER_ORG } from './records.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase()
  db = await world.open({ pinPlans: true })
  await makeOrgs(db)
})
beforeEach(async () => {
  for (const name of await partitions()) if (name !== 'turn_default') await db.query(`drop table ${name}`)
  await db.query('delete from turn; delete from org_version')
})
afterAll(() => world.drop())

const HOUR = instant(Math.floor(NOW / HOUR_MS) * HOUR_MS)
const column = async (text: string): Promise<readonly unknown[]> =>
  (await db.query(text, [])).flatMap((row) => Object.values(row))
const partitions = async (): Promise<readonly string[]> =>
  (await column(
    `select inhrelid::regclass::text from pg_inherits where inhparent = 'turn'::regclass order by 1`,
  )) as readonly string[]
const turn = (org: typeof ORG, no: number, at: Instant = NOW): Promise<void> =>
  db.transaction((tx) => insertTransaction(tx, org, { no, at, nodeId: 'nod_1', events: [] }))
const placesOf = (): Promise<readonly unknown[]> => column('select tableoid::regclass::text from turn order by at')

/** What 0.1.0 sends, to the letter. */
const OLD_INSERT = `insert into turn (org_id, no, at, node_id, events, ended, tasks)
  values ($1, $2, $3, $4, $5::json, $6::jsonb, $7::jsonb)`
const OLD_NEWEST = `select coalesce((select no from turn where org_id = $1 order by no desc limit 1), 0) as version`
const OLD_EMPTY = `delete from turn where ctid = any (array(
       select ctid from turn where org_id = $1 and no < (select max(no) from turn where org_id = $1) limit $2)) returning 1`

describe('the version of an org', () => {
  it('is its newest turn, with the time and the node that wrote it', async () => {
    expect(await loadVersion(db, ORG)).toEqual({ version: 0, at: null, writer: null })
    await turn(ORG, 1)
    await turn(ORG, 2, later(NOW, 5))
    const newest = { version: 2, at: later(NOW, 5), writer: 'nod_1' }
    expect(await loadVersion(db, ORG)).toEqual(newest)
    expect(await db.transaction((tx) => loadVersionAndLease(tx, { orgId: ORG, nodeId: 'nod_1' }))).toMatchObject(newest)
    expect(await loadVersions(db)).toEqual(
      new Map([
        [ORG, 2],
        [OTHER_ORG, 0],
      ]),
    )
  })

  it('refuses every number but the next one as the primary key did', async () => {
    const refused = { code: 'constraint_violated', constraint: 'turn_pkey' }
    await expect(turn(ORG, 2)).rejects.toMatchObject(refused)
    await turn(ORG, 1)
    for (const no of [1, 3, 0]) await expect(turn(ORG, no)).rejects.toMatchObject(refused)
    expect(await loadVersion(db, ORG)).toMatchObject({ version: 1 })
  })

  it('lets one of two writers have a number, also the first one', async () => {
    for (const no of [1, 2]) {
      const both = await Promise.allSettled([turn(ORG, no), turn(ORG, no)])
      expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    }
    expect(await column('select no from turn order by no')).toEqual([1, 2])
  })

  it('is not moved by a turn that was rolled back', async () => {
    const failing = db.transaction(async (tx) => {
      insertTransaction(tx, ORG, { no: 1, at: NOW, nodeId: 'nod_1', events: [] })
      await tx.query('select 1/0', [])
    })
    await expect(failing).rejects.toMatchObject({ code: 'statement_failed' })
    await turn(ORG, 1)
  })
})

describe('a node of 0.1.0', () => {
  it('writes turns beside a new one and is refused as it expects', async () => {
    const old = (no: number): Promise<unknown> =>
      db.query(OLD_INSERT, [ORG, no, new Date(NOW).toISOString(), 'nod_old', '[]', null, null])
    await old(1)
    await turn(ORG, 2)
    expect((await db.query(OLD_NEWEST, [ORG]))[0]).toEqual({ version: 2 })
    await expect(old(2)).rejects.toMatchObject({ constraint: 'turn_pkey' })
    await old(3)
    expect(await loadVersion(db, ORG)).toEqual({ version: 3, at: NOW, writer: 'nod_old' })
  })

  it('removes nothing of other orgs when it empties one that was deleted', async () => {
    await createHistoryPartitions(db, NOW)
    for (let no = 1; no <= 5; no += 1) {
      await turn(ORG, no)
      await turn(OTHER_ORG, no, later(HOUR, HOUR_MS))
    }
    await db.query(OLD_EMPTY, [ORG, 100])
    expect(await column(`select count(*) from turn where org_id = 'other'`)).toEqual([5])
    expect(await deleteRowsOfOrg(db, 'turn', { orgId: ORG, limit: 3 })).toBe(3)
    expect(await deleteRowsOfOrg(db, 'turn', { orgId: ORG, limit: 3 })).toBe(2)
    expect(await column('select org_id from turn')).toEqual(Array(5).fill('other'))
  })
})

describe('the partitions of history', () => {
  it('are created for this hour and the next ones, once, whoever is first', async () => {
    const others = await Promise.all([world.open(), world.open(), world.open()])
    await Promise.all([db, ...others].map((one) => createHistoryPartitions(one, NOW)))
    await createHistoryPartitions(db, later(NOW, MINUTE_MS))
    expect(await partitions()).toHaveLength(5)
    await createHistoryPartitions(db, later(NOW, HOUR_MS))
    expect(await partitions()).toHaveLength(6)
  })

  it('take the turns of their hour; the rest is in the default partition', async () => {
    await createHistoryPartitions(db, later(HOUR, -HOUR_MS))
    await turn(ORG, 1, later(HOUR, -HOUR_MS))
    await turn(ORG, 2, HOUR)
    await turn(ORG, 3, later(HOUR, HOUR_MS - 1))
    await turn(ORG, 4, later(HOUR, 9 * HOUR_MS))
    const [before, first, last, after] = await placesOf()
    expect([before, after]).toEqual(['turn_default', 'turn_default'])
    expect(first).toBe(last)
    expect(first).not.toBe('turn_default')
  })

  it('begin after the next full minute, so that none takes what is being written', async () => {
    const at = later(HOUR, 10 * MINUTE_MS)
    await turn(ORG, 1, at)
    await createHistoryPartitions(db, at)
    await turn(ORG, 2, later(at, MINUTE_MS - 1))
    await turn(ORG, 3, later(at, 2 * MINUTE_MS))
    const places = await placesOf()
    expect(places.slice(0, 2)).toEqual(['turn_default', 'turn_default'])
    expect(places[2]).not.toBe('turn_default')
  })

  it('are not created for an hour that has turns in the default partition', async () => {
    await turn(ORG, 1, later(HOUR, HOUR_MS + 1))
    await createHistoryPartitions(db, HOUR)
    expect(await partitions()).toHaveLength(4)
    await turn(ORG, 2, later(HOUR, HOUR_MS + 2))
    expect(await placesOf()).toEqual(['turn_default', 'turn_default'])
  })

  it('are created while turns are written, and no turn is refused', async () => {
    const stop = new AbortController()
    let at = HOUR
    const writing = (async () => {
      for (let no = 1; !stop.signal.aborted; no += 1) await turn(ORG, no, (at = later(at, 1_000)))
    })()
    for (let round = 0; round < 40; round += 1) await createHistoryPartitions(db, at)
    stop.abort()
    await writing
    expect((await partitions()).length).toBeGreaterThanOrEqual(5)
  })

  it('are dropped when a day has passed, and the history goes on from the version', async () => {
    await createHistoryPartitions(db, later(HOUR, -HOUR_MS))
    expect(await dropOldPartitions(db, HOUR)).toBe(1)
    await turn(ORG, 1)
    expect(await dropOldPartitions(db, later(HOUR, HOUR_MS - 1))).toBe(0)
    expect(await dropOldPartitions(db, later(HOUR, HOUR_MS))).toBe(1)
    expect(await column('select no from turn')).toEqual([])
    expect(await loadVersion(db, ORG)).toEqual({ version: 1, at: NOW, writer: 'nod_1' })
    await turn(ORG, 2, later(HOUR, HOUR_MS))
  })

  it('are left for the next pass when somebody is at them, and nobody waits', async () => {
    await createHistoryPartitions(db, HOUR)
    await turn(ORG, 1)
    await db.transaction(async (tx) => {
      await tx.query('select no from turn', [])
      const began = performance.now()
      expect(await dropOldPartitions(db, later(HOUR, HOUR_MS))).toBe(0)
      expect(performance.now() - began).toBeLessThan(5_000)
    })
    expect(await dropOldPartitions(db, later(HOUR, HOUR_MS))).toBe(1)
  })

  it('are dropped while turns are written, and no turn is refused', async () => {
    for (let hours = 30; hours > 0; hours -= 4) await createHistoryPartitions(db, later(NOW, -hours * HOUR_MS))
    expect((await partitions()).length).toBeGreaterThan(25)
    await turn(ORG, 1, later(NOW, -29 * HOUR_MS))
    const stop = new AbortController()
    const writing = (async () => {
      let no = 2
      for (; !stop.signal.aborted; no += 1) await turn(ORG, no)
      return no - 1
    })()
    let dropped = 0
    while (dropped < 6) dropped += await dropOldPartitions(db, later(NOW, -24 * HOUR_MS))
    stop.abort()
    const written = await writing
    expect(await loadVersion(db, ORG)).toMatchObject({ version: written })
    expect(await column('select count(*) from turn')).toEqual([written - 1])
  })

  it('leave what is in the default partition to be removed by row', async () => {
    for (let no = 1; no <= 3; no += 1) await turn(ORG, no, later(NOW, -DAY_MS + no))
    expect(await deleteUnpartitionedHistory(db, { before: later(NOW, -DAY_MS + 3), limit: 1 })).toBe(1)
    expect(await deleteUnpartitionedHistory(db, { before: later(NOW, -DAY_MS + 3), limit: 9 })).toBe(1)
    expect(await column('select no from turn')).toEqual([3])
  })
})

describe('a look at what has changed', () => {
  it('names the orgs with turns since then', async () => {
    await turn(ORG, 1, later(NOW, -10))
    await turn(OTHER_ORG, 1, later(NOW, -10))
    await turn(OTHER_ORG, 2)
    await turn(OTHER_ORG, 3, later(NOW, 1))
    expect(await loadChangedOrgs(db, NOW)).toEqual(
      new Map([[OTHER_ORG, { version: 3, at: later(NOW, 1), writer: 'nod_1' }]]),
    )
    expect(await loadChangedOrgs(db, later(NOW, 2))).toEqual(new Map())
  })

  it('reads the history from a time on', async () => {
    for (let no = 1; no <= 3; no += 1) await turn(ORG, no, later(NOW, no))
    const asked = { orgId: ORG, after: 1, limit: 10 }
    const numbers = async (since: Instant | null) =>
      (await loadTransactionsAfter(db, { ...asked, since })).map(({ no }) => no)
    expect(await numbers(null)).toEqual([2, 3])
    expect(await numbers(later(NOW, 1))).toEqual([2, 3])
    expect(await numbers(later(NOW, 3))).toEqual([3])
  })

  it('touches a handful of pages, whatever the number of orgs, hours and turns', async () => {
    for (let hours = 26; hours > 0; hours -= 4) await createHistoryPartitions(db, later(HOUR, -hours * HOUR_MS))
    await db.query(`alter table turn disable trigger user;
      insert into turn (org_id, no, at, node_id, events)
      select 'org_' || n % 500, n, '${new Date(HOUR).toISOString()}'::timestamptz - n * interval '2 s', 'nod_1', '[]'
        from generate_series(1, 40000) n;
      insert into org_version (org_id, no, at, node_id)
      select distinct on (org_id) org_id, no, at, node_id from turn order by org_id, no desc;
      alter table turn enable trigger user; analyze turn`)
    const since = later(HOUR, -10_000)
    expect((await loadChangedOrgs(db, since)).size).toBe(5)
    const plans: string[] = []
    const explained: Connection = {
      query: async (text, params) => {
        const [row] = await db.query(`explain (analyze, buffers, format json) ${text}`, params)
        plans.push(JSON.stringify(row?.['QUERY PLAN']))
        return []
      },
    }
    await loadChangedOrgs(explained, since)
    const [{ Plan: plan }] = JSON.parse(plans[0] ?? '') as [{ Plan: Record<string, number> }]
    expect((plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)).toBeLessThan(60)
  })
})
