import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instant, type Instant } from '../../../src/domain/instant.ts'
import { readClock } from '../../../src/platform/db/clock.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { fromTimestamp, toTimestamp } from '../../../src/platform/db/table.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase()
  db = await world.open({ pool: 2 })
})
afterAll(() => world.drop())

/** From the first instant PostgreSQL has to the last one a number has. */
const EARLIEST = Date.UTC(-4712, 0, 1)
const LATEST = 8.64e15

const instants = fc.oneof(
  fc.integer({ min: EARLIEST, max: LATEST }),
  fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2100, 0, 1) }),
  fc.integer({ min: Date.UTC(-1, 0, 1), max: Date.UTC(120, 0, 1) }),
)

async function echo(type: string, values: readonly (string | number | bigint)[]): Promise<readonly unknown[]> {
  const rows = await db.query(
    `select value from unnest($1::${type}[]) with ordinality as given(value, place) order by place`,
    [values],
  )
  return rows.map((row) => row['value'])
}

describe('an instant', () => {
  it('comes back from a timestamptz as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(instants, { minLength: 1, maxLength: 50 }), async (given) => {
        expect(
          await echo(
            'timestamptz',
            given.map((at) => toTimestamp(instant(at))),
          ),
        ).toEqual(given)
      }),
      { numRuns: 60 },
    )
  })

  it('comes back inside an array', async () => {
    const given = [0, -1, LATEST, EARLIEST].map(instant)
    const [row] = await db.query('select $1::timestamptz[] as list', [given.map(toTimestamp)])
    expect(row?.['list']).toEqual(given)
  })

  it('is cut off downwards where the database is finer', () => {
    expect(fromTimestamp('1969-12-31 23:59:59.999999+00')).toBe(-1)
    expect(fromTimestamp('2026-01-01 00:00:00.000999+00')).toBe(Date.UTC(2026, 0, 1))
  })

  it.each([
    ['2026-01-01 02:00:00+02', '2026-01-01T00:00:00.000Z'],
    ['2025-12-31 18:30:00.5-05:30', '2026-01-01T00:00:00.500Z'],
  ])('is read from %s whatever the offset', (text, iso) => {
    expect(fromTimestamp(text)).toBe(Date.parse(iso))
  })

  it('may be without end', async () => {
    const ends = [Infinity, -Infinity].map(instant)
    expect(await echo('timestamptz', ends.map(toTimestamp))).toEqual(ends)
  })

  it('is refused when it is something else', () => {
    expect(() => fromTimestamp('yesterday')).toThrow(TypeError)
  })
})

describe('a BIGINT', () => {
  it('is a number where that is exact and a bigint beyond', async () => {
    const beyond = BigInt(Number.MAX_SAFE_INTEGER) + 2n
    expect(await echo('int8', [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, beyond])).toEqual([
      ...[Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, beyond],
    ])
  })

  it('comes back as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.maxSafeInteger(), { minLength: 1 }), async (given) => {
        expect(await echo('int8', given)).toEqual(given.map((n) => (n === 0 ? 0 : n)))
      }),
      { numRuns: 40 },
    )
  })
})

describe('other values', () => {
  it('come back as they were', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme' }),
        fc.double({ noNaN: true }).map((n) => (n === 0 ? 0 : n)),
        fc.boolean(),
        async (text, number, flag) => {
          const [row] = await db.query(
            'select $1::text as text, $2::float8 as number, $3::boolean as flag, $4::jsonb as json',
            [text, number, flag, JSON.stringify({ flag, list: [1, null] })],
          )
          expect(row).toEqual({ text, number, flag, json: { flag, list: [1, null] } })
        },
      ),
      { numRuns: 30 },
    )
  })

  it('never are dates of the host', async () => {
    const [row] = await db.query(
      "select date '2026-01-02' as day, timestamp '2026-01-02 03:04' as local, interval '1 day' as span, 1.10::numeric as cost",
      [],
    )
    expect(row).toEqual({ day: '2026-01-02', local: '2026-01-02 03:04:00', span: '1 day', cost: '1.10' })
  })
})

describe('the clock of the database', () => {
  it('goes on inside a transaction', async () => {
    const [first, second] = await db.transaction(async (tx): Promise<readonly [Instant, Instant]> => {
      const before = await readClock(tx)
      await tx.query('select pg_sleep(0.005)', [])
      return [before, await readClock(tx)]
    })
    expect(second - first).toBeGreaterThanOrEqual(5)
    expect(Number.isInteger(first)).toBe(true)
  })
})
