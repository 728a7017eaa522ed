import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

describe('two databases of a test run', () => {
  let one: TestDatabase
  let other: TestDatabase

  beforeAll(async () => {
    ;[one, other] = await Promise.all([createTestDatabase(), createTestDatabase()])
  })
  afterAll(() => Promise.all([one.drop(), other.drop()]))

  it('are migrated', async () => {
    expect(await one.outside('select number from escapement.migration order by number')).toContainEqual({ number: 1 })
  })

  it('do not see each other', async () => {
    await one.outside('create table escapement.only_here (n int)')
    expect(await other.outside("select to_regclass('escapement.only_here') as found")).toEqual([{ found: null }])
  })
})
