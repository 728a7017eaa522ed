import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instant, type Instant } from '../../../src/domain/instant.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { column, columns, table, writes, type RowOf } from '../../../src/platform/db/table.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

const things = table('thing', {
  id: column.text(),
  shownAs: column.text<string | null>('label'),
  size: column.int(),
  used: column.bigint<number | null>(),
  isOn: column.boolean('enabled'),
  keyHash: column.bytes<Uint8Array | null>(),
  createdAt: column.instant(),
  endedAt: column.instant<Instant | null>(),
  settings: column.json<{ readonly words: readonly string[] } | null>(),
})
type Thing = RowOf<typeof things>

const FULL: Thing = {
  id: 'a "quoted", {odd} \\ id',
  shownAs: 'null',
  size: 3,
  used: 2 ** 40,
  isOn: true,
  keyHash: Buffer.from([0, 255]),
  createdAt: instant(1),
  endedAt: instant(2),
  settings: { words: ['"', '\\', ''] },
}
const EMPTY: Thing = {
  id: '',
  shownAs: null,
  size: -1,
  used: null,
  isOn: false,
  keyHash: null,
  createdAt: instant(0),
  endedAt: null,
  settings: null,
}

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase()
  db = await world.open({ pool: 2 })
  await db.query(`create table thing (id text primary key, label text, size int not null, used bigint,
    enabled boolean not null, key_hash bytea, created_at timestamptz not null, ended_at timestamptz, settings jsonb)`)
})
afterAll(() => world.drop())

const stored = async (): Promise<readonly Thing[]> =>
  things.read(await db.query(`delete from thing where size < $1 returning ${things.list}`, [100]))

describe('a table', () => {
  it('reads a row as it was inserted', async () => {
    await db.query(things.insert, things.values(FULL))
    await db.query(things.insert, things.values(EMPTY))
    expect(await stored()).toEqual([FULL, EMPTY])
  })

  it('inserts many rows with one statement, or none', async () => {
    const part = things.omit('keyHash')
    await db.query(part.insertMany, part.lists([FULL, EMPTY]))
    await db.query(part.insertMany, part.lists([]))
    expect(await stored()).toEqual([{ ...FULL, keyHash: null }, EMPTY])
  })

  it('changes some of its columns', async () => {
    const edited = things.pick('shownAs', 'settings', 'endedAt')
    await db.query(things.insert, things.values(FULL))
    await db.query(`update thing set ${edited.assigned(2)} where id = $1`, [FULL.id, ...edited.values(EMPTY)])
    expect(await stored()).toEqual([{ ...FULL, shownAs: null, settings: null, endedAt: null }])
  })

  it('changes many rows from lists', async () => {
    const edited = things.pick('size', 'isOn')
    await db.query(things.insertMany, things.lists([FULL, EMPTY]))
    await db.query(
      `update thing t set ${edited.assignedFrom('i')}
         from unnest($1::text[], ${edited.arrays(2)}) as i (id, ${edited.names}) where t.id = i.id`,
      [[FULL.id, EMPTY.id], ...edited.lists([EMPTY, FULL])],
    )
    expect(new Set((await stored()).map(({ id, size, isOn }) => `${id} ${size} ${isOn}`))).toEqual(
      new Set([`${FULL.id} -1 false`, `${EMPTY.id} 3 true`]),
    )
  })

  it('names its columns only where the property has another name', () => {
    expect(things.pick('id', 'shownAs', 'createdAt').list).toBe('id, label as "shownAs", created_at as "createdAt"')
    expect(things.pick('id', 'createdAt').of('t')).toBe('t.id, t.created_at as "createdAt"')
  })
})

describe('columns of a statement', () => {
  const sums = columns({
    total: column.bigint('count(*)'),
    newestAt: column.instant<Instant | null>('max(t.created_at)'),
    at: column.instant('now()'),
  })

  it('are read under the names of their properties', async () => {
    const asked = await db.query(`select ${sums.list} from thing t`, [])
    expect(sums.only(asked)).toEqual({ total: 0, newestAt: null, at: expect.any(Number) as number })
    expect(sums.first(asked)).toEqual(sums.only(asked))
  })

  it('leave an expression as it is, with or without an alias of the table', () => {
    const text = 'count(*) as total, max(t.created_at) as "newestAt", now() as at'
    expect([sums.list, sums.of('t')]).toEqual([text, text])
  })

  it('say when the row is missing that a statement always has', () => {
    expect(sums.first([])).toBeUndefined()
    expect(() => sums.only([])).toThrow('the statement returned none')
  })
})

describe('columns with their own way to a value', () => {
  it('are written as they say', () => {
    const written = writes<{ readonly key: string; readonly list: readonly number[] }>([
      ['id', 'word', ({ key }) => key],
      ['sizes', 'json', ({ list }) => (list.length === 0 ? null : JSON.stringify(list))],
    ])
    expect(written.values({ key: 'a', list: [] })).toEqual(['a', null])
    expect(written.lists([{ key: 'a', list: [1] }])).toEqual(['{a}', '{"[1]"}'])
    expect([written.names, written.count]).toEqual(['id, sizes', 2])
    expect(written.params(3)).toBe('$3::text, $4::jsonb')
    expect(written.arrays(3)).toBe('$3::text[], $4::jsonb[]')
  })
})
