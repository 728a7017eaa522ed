import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../src/platform/db/database.ts'
import { migrate, MIGRATIONS_DIRECTORY, readMigrations } from '../../../src/platform/db/migrate.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { startNode } from './node-processes.ts'

let world: TestDatabase
let db: Database
let directory: string
let last: number

beforeEach(async () => {
  world = await createTestDatabase('empty')
  db = await world.open()
  directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-migrations-'))
  cpSync(MIGRATIONS_DIRECTORY, directory, { recursive: true })
  last = (await readMigrations(directory)).length
})
afterEach(async () => {
  rmSync(directory, { recursive: true, force: true })
  await world.drop()
})

const fileOf = (number: number, name: string): string =>
  path.join(directory, `${String(number).padStart(4, '0')}_${name}.sql`)
const add = (number: number, sql: string): void => writeFileSync(fileOf(number, 'probe'), sql)
const numbers = async (): Promise<readonly unknown[]> =>
  (await db.query('select number from migration order by number', [])).map((row) => row['number'])
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

describe('an empty database', () => {
  it('gets every migration, once, in order', async () => {
    expect(await migrate(db)).toEqual({ applied: upTo(last), version: last })
    expect(await migrate(db)).toEqual({ applied: [], version: last })
    expect(await numbers()).toEqual(upTo(last))
  })

  it('may have another schema, beside ours', async () => {
    const other = await world.open({ schema: 'elsewhere' })
    await migrate(db)
    expect((await migrate(other, { schema: 'elsewhere' })).applied).toEqual(upTo(last))
    expect(await other.query('select count(*) as count from elsewhere.migration', [])).toEqual([{ count: last }])
  })

  it('is migrated by one of ten processes that start together', async () => {
    add(last + 1, 'create table once (n int); select pg_sleep(0.1); insert into once values (1);')
    const task = { kind: 'migrate', options: { target: world.target }, directory } as const
    const nodes = Array.from({ length: 10 }, () => startNode(task))
    const said = await Promise.all(nodes.map((node) => node.line('migrated')))
    expect(said.flatMap(({ applied }) => applied).sort((a, b) => a - b)).toEqual(upTo(last + 1))
    expect(await db.query('select n from once', [])).toEqual([{ n: 1 }])
    await Promise.all(nodes.map((node) => node.ended))
  })
})

describe('a migration that fails', () => {
  it('leaves nothing behind and can be mended', async () => {
    add(last + 1, 'create table half (n int); select 1/0;')
    await expect(migrate(db, { directory })).rejects.toMatchObject({ code: 'migration_failed' })
    expect(await numbers()).toEqual(upTo(last))
    expect(await db.query("select to_regclass('half') as found", [])).toEqual([{ found: null }])
    add(last + 1, 'create table half (n int);')
    expect((await migrate(db, { directory })).applied).toEqual([last + 1])
  })

  it('is one that ends its transaction itself', async () => {
    add(last + 1, 'create table half (n int); commit; create table other_half (n int);')
    await expect(migrate(db, { directory })).rejects.toMatchObject({ code: 'migration_failed' })
    expect(await numbers()).toEqual(upTo(last))
  })
})

describe('a migration under nodes at work', () => {
  const waitsFor = async (table: string): Promise<boolean> =>
    (await db.query('select 1 from pg_locks where relation = to_regclass($1) and not granted', [table])).length > 0

  it('begins again when it collides with one of their transactions', async () => {
    add(last + 1, 'create table near_side (n int); create table far_side (n int);')
    await migrate(db, { directory })
    // The migration notices first, so that it is the one to give way.
    const impatient = "set local deadlock_timeout = '300ms';"
    add(last + 2, `${impatient} alter table near_side add m int; alter table far_side add m int;`)
    const other = await world.open()
    const migrating = await other.transaction(async (tx) => {
      await tx.query('select n from far_side')
      const started = migrate(db, { directory })
      while (!(await waitsFor('far_side'))) await new Promise((resolve) => setTimeout(resolve, 5))
      await tx.query('select n from near_side')
      return { started }
    })
    expect((await migrating.started).applied).toEqual([last + 2])
  })
})

describe('a history that is not ours', () => {
  beforeEach(async () => {
    add(last + 1, 'create table added (n int);')
    await migrate(db, { directory })
  })

  it('is refused when a migration was edited after it landed', async () => {
    add(last + 1, 'create table added (n bigint);')
    await expect(migrate(db, { directory })).rejects.toMatchObject({ code: 'migration_edited' })
  })

  it('is the same with the line ends of another system', async () => {
    add(last + 1, 'create table added (n int);\n')
    await db.query('delete from migration where number = $1', [last + 1])
    await db.query('drop table added')
    await migrate(db, { directory })
    add(last + 1, 'create table added (n int);\r\n')
    expect((await migrate(db, { directory })).applied).toEqual([])
  })

  it('is refused when the database is newer than the program', async () => {
    await expect(migrate(db)).rejects.toThrow(
      `migrated by a newer version of Escapement: it has migration ${last + 1}, this version knows ${last}. Start that version.`,
    )
  })

  it('is refused when one in the middle is missing', async () => {
    add(last + 2, 'select 1;')
    await migrate(db, { directory })
    await db.query('delete from migration where number = $1', [last + 1])
    await expect(migrate(db, { directory })).rejects.toMatchObject({ code: 'migration_missing' })
  })
})

describe('the files', () => {
  it.each([
    ['a gap', '0099_far.sql'],
    ['a repeated number', '0001_again.sql'],
    ['a name without a number', 'later.sql'],
  ])('are refused with %s', async (_, name) => {
    writeFileSync(path.join(directory, name), 'select 1;')
    await expect(readMigrations(directory)).rejects.toMatchObject({ code: 'migrations_unreadable' })
  })

  it('are refused when they are not there', async () => {
    await expect(readMigrations(path.join(directory, 'none'))).rejects.toMatchObject({ code: 'migrations_unreadable' })
  })
})
