import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ORG_TABLES } from '../../../src/features/access/orgs-store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

let world: TestDatabase

beforeAll(async () => {
  world = await createTestDatabase()
})
afterAll(() => world.drop())

/** What stays, what goes with a member, and what an org that is removed has none of. */
const NOT_EMPTIED = [
  ...['audit', 'audit_head', 'console_session', 'org_version', 'sign_in'],
  ...['pending', 'backlog', 'backlog_line'],
]

describe('the tables that are emptied when an org is deleted', () => {
  it('are all in which rows belong to an org', async () => {
    const rows = await world.outside(
      `select c.table_name from information_schema.columns c
         join pg_class t on t.oid = ('escapement.' || c.table_name)::regclass and not t.relispartition
        where c.table_schema = 'escapement' and c.column_name = 'org_id' order by c.table_name`,
    )
    expect([...ORG_TABLES, ...NOT_EMPTIED].sort()).toEqual(rows.map(({ table_name: name }) => name))
  })
})
