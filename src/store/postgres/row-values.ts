import { types, type CustomTypesConfig } from 'pg'
import { fromTimestamp } from '../../platform/db/table.ts'

/** Numbers of the types in PostgreSQL's catalogue; they never change. */
const OID = {
  int8: 20,
  int8Array: 1016,
  timestamptz: 1184,
  timestamptzArray: 1185,
  textArray: 1009,
  date: 1082,
  timestamp: 1114,
  interval: 1186,
} as const

// The driver's type knows only the scalar types by number.
const driverParser = types.getTypeParser as (oid: number, format?: 'text' | 'binary') => (text: string) => unknown

const parseTextArray = driverParser(OID.textArray) as (text: string) => readonly unknown[]

const asText = (text: string): string => text

/** BIGINT is a number where that is exact; beyond, a bigint, so that nothing is rounded in silence. */
function parseInt8(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}

const inArray = (parse: (text: string) => unknown) => {
  const each = (item: unknown): unknown =>
    Array.isArray(item) ? item.map(each) : typeof item === 'string' ? parse(item) : item
  return (text: string): unknown => parseTextArray(text).map(each)
}

// The driver would make local-time Date objects of the last three, which mean something else on every machine.
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [OID.int8, parseInt8],
  [OID.int8Array, inArray(parseInt8)],
  [OID.timestamptz, fromTimestamp],
  [OID.timestamptzArray, inArray(fromTimestamp)],
  [OID.date, asText],
  [OID.timestamp, asText],
  [OID.interval, asText],
])

/** How values of rows are read. Given to each connection: the driver's own table is shared by the whole process. */
export const ROW_VALUES: CustomTypesConfig = {
  getTypeParser: (oid, format) => (format === 'binary' ? undefined : PARSERS.get(oid)) ?? driverParser(oid, format),
}
