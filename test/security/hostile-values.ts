import { MAX_FIELDS } from '../../src/domain/json.ts'
import { ODD_TEXTS } from '../fuzz/odd-values.ts'

/** What a body may have at most. */
const MAX_BYTES = 1_048_576
/** Room for what stands around a value. */
const MOST = MAX_BYTES - 4_096

const list = (piece: string, most = MOST): string => {
  const times = Math.floor(most / (piece.length + 1))
  return `[${`${piece},`.repeat(times - 1)}${piece}]`
}

const fields = (count: number, value: (index: number) => string): string =>
  `{${Array.from({ length: count }, (_, index) => value(index)).join(',')}}`

const nested = (depth: number, [open, close]: readonly [string, string]): string =>
  open.repeat(depth) + '1' + close.repeat(depth)

/** Where nobody can tell two names apart before their ends. */
const longName = (index: number): string => `${'schedule_name'.repeat(3)}${index}`

const upTo = (count: number): string => Array.from({ length: count }, (_, index) => index).join()

/** Recurrence rules with very many occurrences, as texts of JSON. */
const DENSE_RULES: Readonly<Record<string, string>> = {
  'a rule for every second of a year': `"FREQ=YEARLY;BYHOUR=${upTo(24)};BYMINUTE=${upTo(60)};BYSECOND=${upTo(60)}"`,
  'a rule for a day that never comes': '"FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30"',
}

/** Values that cost more than they look like, as texts of JSON, most of them as large as a body may be. */
export const HOSTILE_VALUES: Readonly<Record<string, string>> = {
  'as many unknown fields as a body may have': fields(MAX_FIELDS - 100, (index) => `"cro${index}":1`),
  'more unknown fields than a body may have': fields(60_000, (index) => `"u${index}":1`),
  'unknown fields with long names': fields(MAX_FIELDS - 100, (index) => `"${longName(index)}":""`),
  'fields that are numbers': fields(MAX_FIELDS - 100, (index) => `"${index * 65_537}":0`),
  'one field again and again': fields(100_000, () => '"name":1'),
  'nested lists': nested(500_000, ['[', ']']),
  'nested objects': nested(170_000, ['{"a":', '}']),
  'nested lists side by side': list(nested(60, ['[', ']'])),
  'nested objects side by side': list(nested(60, ['{"":', '}']), 95_000),
  'empty objects': list('{}', 590_000),
  numbers: list('7', 398_000),
  'small objects': list('{"id":1,"name":"x"}', 190_000),
  'short texts': list('"schedule"'),
  'odd texts': list(
    ODD_TEXTS.filter((text) => !/[\0\ud800-\udfff]/.test(text))
      .map((text) => JSON.stringify(text))
      .join(','),
  ),
  'a long text': JSON.stringify('x'.repeat(MOST)),
  'a long text of brackets': JSON.stringify('{{'.repeat(MOST / 2)),
  'a long text of commas': JSON.stringify('1,'.repeat(MOST / 2)),
  'a long text of lines': `"${'0 9 * * * x\\n'.repeat(MOST / 14)}"`,
  'a long text of escapes': `"${'\\u00e9'.repeat(MOST / 6)}"`,
  'escapes that cannot be kept': `"${'\\u0000'.repeat(MOST / 6)}"`,
  'a long number': '9'.repeat(MOST),
  'numbers beyond all numbers': list('1e999'),
  'half of JSON': '{"a":['.repeat(MOST / 6),
  ...DENSE_RULES,
}
