import type { OrgId } from '../../domain/ids.ts'
import { type Instant, instant } from '../../domain/instant.ts'
import type { Connection, Row, SqlValue } from '../../store/database.ts'

/**
 * The one way to rows. What a statement reads or writes is declared once: the property, its type, and the column or
 * expression behind it. The database gives every value under the name of its property, so reading a row costs nothing.
 */

/** A parameter for a `timestamptz` that may be null. */
export const timestampOrNull = (at: Instant | null): string | null => (at === null ? null : toTimestamp(at))

/** A parameter for a `jsonb`. Nothing is SQL's null, not JSON's: both are read back as null. */
export const jsonOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value)

/**
 * Lists as PostgreSQL reads them. The driver writes them too, but looks at every element twice; with thousands of
 * elements per statement that is felt.
 */
type Element = string | number | boolean | null

/** A list of what needs no quotes: numbers, booleans, timestamps, ids and words of ours. */
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

/** A list of any texts. */
export function textArray(values: readonly (string | null)[]): string {
  let text = '{'
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? null
    if (index > 0) text += ','
    text += value === null ? 'NULL' : `"${SPECIAL.test(value) ? value.replace(EVERY_SPECIAL, '\\$&') : value}"`
  }
  return `${text}}`
}

/** How values of one kind become parameters, alone and as a list for `unnest`. */
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
  /** Generated ids and fixed words: never empty, and without characters that a list has to quote. */
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

/** A column, or an expression that is only read. Without `sql`, it is the column that the property is named after. */
export interface Column<T> {
  readonly kind: keyof typeof KINDS
  readonly sql: string | undefined
  /** Only for the compiler: what the property holds. */
  readonly holds?: T
}

/** Declares a column of one kind. It holds the default type unless another one is given. */
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
  /** JSON, or a list that is only read. */
  json: declare<unknown>('json'),
}

/** A column as it is written, with the parameter that a row has for it. */
export type Written<R> = readonly [name: string, kind: keyof typeof KINDS, value: (row: R) => SqlValue]

/** Columns that are written: the pieces of a statement, and its parameters. */
export interface Writes<R> {
  readonly count: number
  readonly names: string
  /** `$1::text, $2::int`: the values of one row. */
  readonly params: (first: number) => string
  /** `$1::text[], $2::int[]`: a list for each column, for `unnest`. */
  readonly arrays: (first: number) => string
  /** `name = $3::text`, as `update` takes it. */
  readonly assigned: (first: number) => string
  /** `name = i.name`, where `i` has the new values. */
  readonly assignedFrom: (alias: string) => string
  readonly values: (row: R) => readonly SqlValue[]
  readonly lists: (rows: readonly R[]) => readonly SqlValue[]
}

/** Columns with a function for each value, for rows that look different in memory, and for the hot path. */
export function writes<R>(columns: readonly Written<R>[]): Writes<R> {
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

/** The type of the rows that columns describe. */
export type RowOf<C extends { readonly definitions: Definitions }> = Values<C['definitions']>

/** What a statement reads: a row of a table, or columns that it puts together. */
export interface Columns<D extends Definitions> {
  readonly definitions: D
  /** The select list. */
  readonly list: string
  /** The select list where the table has an alias. */
  readonly of: (alias: string) => string
  readonly read: (rows: readonly Row[]) => readonly Values<D>[]
  readonly first: (rows: readonly Row[]) => Values<D> | undefined
  /** The row of a statement that always answers with one. */
  readonly only: (rows: readonly Row[]) => Values<D>
}

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const NAME = /^[a-z_0-9]+$/

/** Declares what a statement reads: `select ${counts.list} from …`. */
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
      if (row === undefined) throw new Error('a statement that answers with one row answered with none')
      return row
    },
  }
}

/** Replaces values of a row in place: nobody else has the row, and a copy of it costs more than reading it. */
export const amended = <R extends object, U extends object>(row: R, values: U): Omit<R, keyof U> & U =>
  Object.assign(row, values)

/** How many rows there are. */
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

/** Declares the columns of a table, once for reading, inserting and changing its rows. */
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
 * The one place where instants (numbers) and `timestamptz` meet. PostgreSQL keeps microseconds, an instant keeps
 * milliseconds: what is finer is cut off downwards, so that an instant read back is never later than the row's.
 */

/** A parameter for a `timestamptz`. The instant is a whole number of milliseconds from 4713 BC on. */
export function toTimestamp(at: Instant): string {
  // Rows of one turn mostly share their moment, and printing a date costs more than everything else about a column.
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
  // From year 10000 on ISO 8601 wants a sign, which PostgreSQL does not read; before year 1 it counts in BC.
  const rest = date.toISOString().slice(-20)
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`
}

const TEXT = /^(\d{4,6})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/

/** Reads what PostgreSQL prints for a `timestamptz` in ISO style. */
export function fromTimestamp(text: string): Instant {
  if (text === 'infinity') return instant(Infinity)
  if (text === '-infinity') return instant(-Infinity)
  const match = TEXT.exec(text)
  if (match === null) throw new TypeError(`not a timestamptz in ISO style: ${text}`)
  const part = (index: number): number => Number(match[index] ?? '0')
  const year = match[12] === undefined ? part(1) : 1 - part(1)
  const millis = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const date = new Date(0)
  // Not Date.UTC: it takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, part(2) - 1, part(3))
  date.setUTCHours(part(4), part(5), part(6), millis)
  const offsetMs = ((part(9) * 60 + part(10)) * 60 + part(11)) * 1000
  return instant(date.getTime() - (match[8] === '-' ? -offsetMs : offsetMs))
}

/** Rows of an org from before a moment, at most so many at a time. */
export interface OldRows {
  readonly orgId: OrgId
  readonly before: Instant
  readonly limit: number
}

const removals = columns({ removed: column.bigint() })

/** Runs a statement that removes rows and answers with how many, as `removed`. */
export async function countRemoved(connection: Connection, text: string, params: readonly SqlValue[]): Promise<number> {
  return removals.only(await connection.query(text, params)).removed
}
