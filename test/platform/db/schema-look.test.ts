import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConfiguration } from '../../../src/serve/configuration.ts'
import { inspectDatabase } from '../../../src/serve/inspect-database.ts'
import { migrateDatabase } from '../../../src/serve/with-database.ts'
import { urlOf } from '../../scenarios/url.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

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
    expect(await inspectDatabase({ url, schema: 'escapement' })).toEqual({ ok: true, missing: 0, locked: null })
  })

  it('counts what is missing in a schema that is not there, without making it', async () => {
    const look = await inspectDatabase({ url, schema: 'elsewhere' })
    expect(look.ok && look.missing).toBeGreaterThan(10)
    expect(await database.outside("select 1 from pg_namespace where nspname = 'elsewhere'")).toEqual([])
  })

  it('knows that the key of its secrets is another one, or is none at all', async () => {
    const lookWith = async (environment: string | null): Promise<string | null> => {
      const look = await inspectDatabase({ url, schema: 'escapement', keys: { environment, file: null } })
      return look.ok ? look.locked : look.message
    }
    expect(await lookWith(null)).toBeNull()
    await database.outside("insert into escapement.sealing_key (id, taken_at) values ('fd6283f432ee93bf', now())")
    expect(await lookWith(null)).toContain('encrypted with key fd6283f432ee93bf, and this node has no key')
    expect(await lookWith('0'.repeat(64))).toContain('add that key to ESCAPEMENT_SECRET_KEY')
    expect(await lookWith('short')).toContain('Key 1 of ESCAPEMENT_SECRET_KEY is not valid')
    // A migration asks for no key: it opens nothing.
    const flags = { 'database.url': url }
    const configuration = await openConfiguration({ file: null, flags, variables: {}, cwd: '/' })
    expect(await migrateDatabase(configuration)).toEqual([])
    await database.outside('delete from escapement.sealing_key')
  })

  it('knows a schema that a newer program has prepared', async () => {
    await database.outside(
      "insert into escapement.migration (number, name, checksum, applied_at) values (9999, 'later', 'x', now())",
    )
    expect(await inspectDatabase({ url, schema: 'escapement' })).toMatchObject({ ok: false, code: 'database_newer' })
    await database.outside('delete from escapement.migration where number = 9999')
  })

  it('knows a password that is wrong, and does not repeat it', async () => {
    const look = await inspectDatabase({ url: url.replace(/:[^:@/]+@/, ':guessed@'), schema: 'escapement' })
    expect(look).toMatchObject({ ok: false, code: 'database_refused' })
    expect(JSON.stringify(look)).not.toContain('guessed')
  })

  it('finds another schema up to date after a migration, beside the usual one', async () => {
    const flags = { 'database.url': url, 'database.schema': 'elsewhere' }
    const applied = await migrateDatabase(await openConfiguration({ file: null, flags, variables: {}, cwd: '/' }))
    expect(applied.length).toBeGreaterThan(10)
    expect(await inspectDatabase({ url, schema: 'elsewhere' })).toEqual({ ok: true, missing: 0, locked: null })
  })
})
