import type { Random } from '../../simulation/random.ts'

const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY']
const DAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']

/** What recurrence rules are made of. */
export const RULE_WORDS: readonly string[] = [
  ...['FREQ=', 'INTERVAL=', 'COUNT=', 'UNTIL=', 'BYSECOND=', 'BYMINUTE=', 'BYHOUR=', 'BYDAY=', 'BYMONTHDAY=', 'WKST='],
  ...[
    'BYYEARDAY=',
    'BYWEEKNO=',
    'BYMONTH=',
    'BYSETPOS=',
    ';',
    ',',
    '=',
    '-1',
    '+1',
    '31',
    '366',
    '53',
    '-53',
    '100000',
  ],
  ...['RRULE:', 'DTSTART:', 'DTSTART;TZID=Europe/Berlin:20260329T023000\n', 'EXDATE:', 'RDATE:', '\n', '\r\n', 'Z'],
  ...['20260101T000000Z', '99991231', '00010101', '20260230', ...FREQUENCIES, ...DAYS, '-1FR', '53MO', 'RSCALE=HEBREW'],
]

const list = (random: Random, draw: () => string): string =>
  Array.from({ length: random.one([1, 1, 1, 2, 3, 12]) }, draw).join(',')

const numbers = (random: Random, low: number, high: number): string => list(random, () => String(random.int(low, high)))

const signed = (random: Random, high: number): string =>
  list(random, () => `${random.one(['', '', '-', '+'])}${random.one([1, high, random.int(1, high)])}`)

const PARTS: Readonly<Record<string, (random: Random) => string>> = {
  INTERVAL: (random) => String(random.one([1, 2, 3, 7, 13, 60, 999, 86_400, 100_000])),
  COUNT: (random) => String(random.one([1, 2, 5, 100, 999, 10_000])),
  UNTIL: (random) => random.one(['20261231', '20300101T000000Z', '20260115T000000', '21991231T235959Z', '19700101']),
  BYSECOND: (random) => numbers(random, 0, 59),
  BYMINUTE: (random) => numbers(random, 0, 59),
  BYHOUR: (random) => numbers(random, 0, 23),
  BYDAY: (random) =>
    list(random, () => `${random.one(['', '', '', '1', '-1', '2', '5', '-5', '53', '-53'])}${random.one(DAYS)}`),
  BYMONTHDAY: (random) => (random.chance(0.3) ? random.one(['30', '31', '29', '-31']) : signed(random, 31)),
  BYYEARDAY: (random) => signed(random, 366),
  BYWEEKNO: (random) => signed(random, 53),
  BYMONTH: (random) => (random.chance(0.4) ? '2' : numbers(random, 1, 12)),
  BYSETPOS: (random) => signed(random, 366),
  WKST: (random) => random.one(DAYS),
}

/** A rule: mostly one that may be, now and then one that can never come. */
export function drawRule(random: Random): string {
  const names = Object.keys(PARTS).filter(() => random.chance(0.22))
  const parts = [`FREQ=${random.one(FREQUENCIES)}`, ...names.map((name) => `${name}=${PARTS[name]?.(random) ?? ''}`)]
  const rule = `${random.one(['', '', 'RRULE:'])}${parts.join(';')}`
  if (random.chance(0.8)) return rule
  const start = random.one([
    ...['DTSTART:20260115T000000Z', 'DTSTART;TZID=Europe/Berlin:20260329T023000', 'DTSTART:19700101T000000Z'],
    ...[
      'DTSTART;VALUE=DATE:20260115',
      'DTSTART:00010101T000000Z',
      'DTSTART:99991231T235959Z',
      'DTSTART:20240229T000000Z',
    ],
  ])
  return `${start}\n${rule}`
}
