import type { OrgId } from '../../domain/ids.ts'
import { type Instant, instant } from '../../domain/instant.ts'
import type { Connection, Row, SqlValue } from './database.ts'

/**
 * Declares once what a statement reads or writes: the property, its type, and its column or expression. The database
 * returns each value under the name of its property, so that rows need no conversion.
 */

/** A parameter for a nullable `timestamptz`. */
export const timestampOrNull = (at: Instant | null): string | null => (at === null ? null : toTimestamp(at))

/** A parameter for a `jsonb`. Null and undefined become SQL null rather than JSON null. */
export const jsonOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value)

/**
 * Array literals of PostgreSQL. Faster than the encoding of the driver, which reads every element twice; that matters with
 * thousands of elements per statement.
 */
type Element = string | number | boolean | null

/** An array of values that need no quotes: numbers, booleans, timestamps, ids and fixed words. */
export function plainArray(values: readonly Element[]): string {
  let text = '{'
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? null
    if (index > 0) text += ','
    text += value === null ? 'NULL' : String(value)
  }
  return `${text}}`
}

const SPECIAL = /["\\]/
const EVERY_SPECIAL = /["\\]/g

/** An array of any texts. */
export function textArray(values: readonly (string | null)[]): string {
  let text = '{'
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? null
    if (index > 0) text += ','
    text += value === null ? 'NULL' : `"${SPECIAL.test(value) ? value.replace(EVERY_SPECIAL, '\\$&') : value}"`
  }
  return `${text}}`
}

/** How values of a kind become parameters, single or as an array for `unnest`. */
export interface Kind {
  readonly type: string
  readonly encode: (value: unknown) => SqlValue
  readonly list: (values: readonly SqlValue[]) => SqlValue
}

const asIs = (value: unknown): SqlValue => value as SqlValue
const timestamp = (at: unknown): string | null => timestampOrNull(at as Instant | null)
const listAsIs = (values: readonly SqlValue[]): SqlValue => values
const quoted = (values: readonly SqlValue[]): SqlValue => textArray(values as readonly (string | null)[])
const plain = (values: readonly SqlValue[]): SqlValue => plainArray(values as readonly (string | number | null)[])

const KINDS = {
  /** Any text. */
  text: { type: 'text', encode: asIs, list: quoted },
  /** Generated ids and fixed words: never empty, and without characters that need quotes in an array. */
  word: { type: 'text', encode: asIs, list: plain },
  int: { type: 'int', encode: asIs, list: plain },
  bigint: { type: 'bigint', encode: asIs, list: plain },
  float: { type: 'double precision', encode: asIs, list: plain },
  boolean: { type: 'boolean', encode: asIs, list: plain },
  bytes: { type: 'bytea', encode: asIs, list: listAsIs },
  texts: { type: 'text[]', encode: asIs, list: listAsIs },
  instant: { type: 'timestamptz', encode: timestamp, list: plain },
  json: { type: 'jsonb', encode: jsonOrNull, list: quoted },
} satisfies Readonly<Record<string, Kind>>

/** A column, or an expression that is only read. Without `sql`, the column named after the property. */
export interface Column<T> {
  readonly kind: keyof typeof KINDS
  readonly sql: string | undefined
  /** The type of the property; only for the compiler. */
  readonly holds?: T
}

/** Declares a column of a kind, of its default type or another one. */
interface Declare<Default> {
  (sql?: string): Column<Default>
  <T extends Default | null>(sql?: string): Column<T>
}

const declare =
  <Default>(kind: keyof typeof KINDS): Declare<Default> =>
  (sql?: string) => ({ kind, sql })

export const column = {
  text: declare<string>('text'),
  int: declare<number>('int'),
  bigint: declare<number>('bigint'),
  float: declare<number>('float'),
  boolean: declare<boolean>('boolean'),
  bytes: declare<Uint8Array>('bytes'),
  texts: declare<readonly string[]>('texts'),
  instant: declare<Instant>('instant'),
  /** JSON, or an array that is only read. */
  json: declare<unknown>('json'),
}

/** A written column, with the function that gets its parameter from a row. */
export type WrittenColumn<R> = readonly [name: string, kind: keyof typeof KINDS, value: (row: R) => SqlValue]

/** The SQL fragments and parameters of written columns. */
export interface Writes<R> {
  readonly count: number
  readonly names: string
  /** `$1::text, $2::int`: the values of one row. */
  readonly params: (first: number) => string
  /** `$1::text[], $2::int[]`: an array per column, for `unnest`. */
  readonly arrays: (first: number) => string
  /** `name = $3::text`, for `update`. */
  readonly assigned: (first: number) => string
  /** `name = i.name`, where `i` is the source of the new values. */
  readonly assignedFrom: (alias: string) => string
  readonly values: (row: R) => readonly SqlValue[]
  readonly lists: (rows: readonly R[]) => readonly SqlValue[]
}

/** Writes columns with a function per value, for rows with another form in memory and for the hot path. */
export function writes<R>(columns: readonly WrittenColumn<R>[]): Writes<R> {
  const all = columns.map(([name, kind, value]) => {
    const { type, list }: Kind = KINDS[kind]
    return { name, type, list, value }
  })
  const each = (text: (column: (typeof all)[number], index: number) => string): string => all.map(text).join(', ')
  return {
    count: all.length,
    names: each(({ name }) => name),
    params: (first) => each(({ type }, index) => `$${first + index}::${type}`),
    arrays: (first) => each(({ type }, index) => `$${first + index}::${type}[]`),
    assigned: (first) => each(({ name, type }, index) => `${name} = $${first + index}::${type}`),
    assignedFrom: (alias) => each(({ name }) => `${name} = ${alias}.${name}`),
    values: (row) => all.map(({ value }) => value(row)),
    lists: (rows) => all.map(({ value, list }) => list(rows.map((row) => value(row)))),
  }
}

type Definitions = Readonly<Record<string, Column<unknown>>>

type Values<D extends Definitions> = { readonly [Name in keyof D]: D[Name] extends Column<infer T> ? T : never }

/** The row type of columns. */
export type RowOf<C extends { readonly definitions: Definitions }> = Values<C['definitions']>

/** The columns that a statement reads. */
export interface Columns<D extends Definitions> {
  readonly definitions: D
  /** The select list. */
  readonly list: string
  /** The select list with a table alias. */
  readonly of: (alias: string) => string
  readonly read: (rows: readonly Row[]) => readonly Values<D>[]
  readonly first: (rows: readonly Row[]) => Values<D> | undefined
  /** The row of a statement that always returns one. */
  readonly only: (rows: readonly Row[]) => Values<D>
}

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const NAME = /^[a-z_0-9]+$/

/** Declares the columns that a statement reads: `select ${counts.list} from …`. */
export function columns<const D extends Definitions>(definitions: D): Columns<D> {
  const of = (prefix: string): string =>
    Object.entries(definitions)
      .map(([name, { sql = snake(name) }]) => {
        const from = NAME.test(sql) ? `${prefix}${sql}` : sql
        if (sql === name) return from
        return `${from} as ${NAME.test(name) ? name : `"${name}"`}`
      })
      .join(', ')
  const first = (rows: readonly Row[]): Values<D> | undefined => rows[0] as Values<D> | undefined
  return {
    definitions,
    list: of(''),
    of: (alias) => of(`${alias}.`),
    read: (rows) => rows as readonly Values<D>[],
    first,
    only: (rows) => {
      const row = first(rows)
      if (row === undefined) throw new Error('expected one row, but the statement returned none')
      return row
    },
  }
}

/** Replaces values of a row in place; safe because rows are not shared, and faster than a copy. */
export const withValues = <R extends object, U extends object>(row: R, values: U): Omit<R, keyof U> & U =>
  Object.assign(row, values)

/** The number of rows. */
export const counted = columns({ count: column.bigint('count(*)') })

/** A table, or some of its columns. */
export interface Table<D extends Definitions> extends Columns<D>, Writes<Values<D>> {
  /** Inserts one row, from `values`. */
  readonly insert: string
  /** Inserts many rows, from `lists`. */
  readonly insertMany: string
  readonly pick: <Name extends keyof D & string>(...names: readonly Name[]) => Table<Pick<D, Name>>
  readonly omit: <Name extends keyof D & string>(...names: readonly Name[]) => Table<Omit<D, Name>>
}

/** Declares the columns of a table for reading, inserting and updating. */
export function table<const D extends Definitions>(name: string, definitions: D): Table<D> {
  const written = writes<Values<D>>(
    Object.entries(definitions).map(([key, { kind, sql = snake(key) }]) => {
      const { encode }: Kind = KINDS[kind]
      return [sql, kind, (row) => encode(row[key])]
    }),
  )
  const only = <Part extends Definitions>(isKept: (key: string) => boolean): Table<Part> =>
    table(name, Object.fromEntries(Object.entries(definitions).filter(([key]) => isKept(key))) as Part)
  return {
    ...columns(definitions),
    ...written,
    insert: `insert into ${name} (${written.names}) values (${written.params(1)})`,
    insertMany: `insert into ${name} (${written.names}) select * from unnest(${written.arrays(1)})`,
    pick: (...names) => only((key) => (names as readonly string[]).includes(key)),
    omit: (...names) => only((key) => !(names as readonly string[]).includes(key)),
  }
}

/**
 * Conversion between instants (milliseconds) and `timestamptz` (microseconds). Fractions of milliseconds are rounded down,
 * so that an instant is never later than the time in the row.
 */

/** A parameter for a `timestamptz`. The instant is a whole number of milliseconds from 4713 BC on. */
export function toTimestamp(at: Instant): string {
  // Cached, because rows of one transaction mostly share their time, and formatting a date is the slowest part.
  if (at !== lastAt) {
    lastText = print(at)
    lastAt = at
  }
  return lastText
}

let lastAt = instant(Number.NaN)
let lastText = ''

function print(at: Instant): string {
  if (at === Infinity) return 'infinity'
  if (at === -Infinity) return '-infinity'
  const date = new Date(at)
  const year = date.getUTCFullYear()
  if (year >= 0 && year <= 9999 && year !== 0) return date.toISOString()
  // From year 10000 on, ISO 8601 needs a sign, which PostgreSQL does not read; before year 1, PostgreSQL uses BC.
  const rest = date.toISOString().slice(-20)
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`
}

const TEXT = /^(\d{4,6})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/

/** Parses a `timestamptz` in the ISO style of PostgreSQL. */
export function fromTimestamp(text: string): Instant {
  if (text === 'infinity') return instant(Infinity)
  if (text === '-infinity') return instant(-Infinity)
  const match = TEXT.exec(text)
  if (match === null) throw new TypeError(`not a timestamptz in ISO style: ${text}`)
  const part = (index: number): number => Number(match[index] ?? '0')
  const year = match[12] === undefined ? part(1) : 1 - part(1)
  const millis = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const date = new Date(0)
  // Not Date.UTC, which maps the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(year, part(2) - 1, part(3))
  date.setUTCHours(part(4), part(5), part(6), millis)
  const offsetMs = ((part(9) * 60 + part(10)) * 60 + part(11)) * 1000
  return instant(date.getTime() - (match[8] === '-' ? -offsetMs : offsetMs))
}

/** Selects rows of an org from before a time, in batches. */
export interface OldRows {
  readonly orgId: OrgId
  readonly before: Instant
  readonly limit: number
}

const removedRows = columns({ removed: column.bigint() })

/** Runs a statement that deletes rows and returns their number as `removed`. */
export async function countRemoved(connection: Connection, text: string, params: readonly SqlValue[]): Promise<number> {
  return removedRows.only(await connection.query(text, params)).removed
}
