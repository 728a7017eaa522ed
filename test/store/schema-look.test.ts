import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConfiguration } from '../../src/serve/configuration.ts'
import { lookAtDatabase } from '../../src/serve/look-at-database.ts'
import { bringUpToDate } from '../../src/serve/migrate.ts'
import { urlOf } from '../scenarios/url.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

// What `escapement doctor` says of a PostgreSQL that a server would use.

let database: TestDatabase
let url: string

beforeAll(async () => {
  database = await createTestDatabase()
  url = urlOf(database.target)
})

afterAll(() => database.drop())

describe('a look at a database', () => {
  it('finds it up to date, and changes nothing', async () => {
    expect(await lookAtDatabase({ url, schema: 'escapement' })).toEqual({ ok: true, missing: 0 })
  })

  it('counts what is missing in a schema that is not there, without making it', async () => {
    const look = await lookAtDatabase({ url, schema: 'elsewhere' })
    expect(look.ok && look.missing).toBeGreaterThan(10)
    expect(await database.outside("select 1 from pg_namespace where nspname = 'elsewhere'")).toEqual([])
  })

  it('knows a schema that a newer program has prepared', async () => {
    await database.outside(
      "insert into escapement.migration (number, name, checksum, applied_at) values (9999, 'later', 'x', now())",
    )
    expect(await lookAtDatabase({ url, schema: 'escapement' })).toMatchObject({ ok: false, code: 'database_newer' })
    await database.outside('delete from escapement.migration where number = 9999')
  })

  it('knows a password that is wrong, and does not repeat it', async () => {
    const look = await lookAtDatabase({ url: url.replace(/:[^:@/]+@/, ':guessed@'), schema: 'escapement' })
    expect(look).toMatchObject({ ok: false, code: 'database_refused' })
    expect(JSON.stringify(look)).not.toContain('guessed')
  })

  it('finds another schema up to date after a migration, beside the usual one', async () => {
    const flags = { 'database.url': url, 'database.schema': 'elsewhere' }
    const applied = await bringUpToDate(await openConfiguration({ file: null, flags, variables: {}, cwd: '/' }))
    expect(applied.length).toBeGreaterThan(10)
    expect(await lookAtDatabase({ url, schema: 'elsewhere' })).toEqual({ ok: true, missing: 0 })
  })
})
