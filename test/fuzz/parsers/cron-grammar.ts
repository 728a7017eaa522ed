import type { Random } from '../../simulation/random.ts'

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

/** What cron expressions are made of. */
export const CRON_WORDS: readonly string[] = [
  ...['*', '?', '-', ',', '/', '#', 'L', 'W', 'LW', 'L-3', '15W', '5L', '+', '+5', 'R', 'H', '~', '*/7', '1-5', '1/2'],
  ...[
    '59',
    '60',
    '23',
    '24',
    '31',
    '32',
    '12',
    '13',
    '7',
    '0',
    '2199',
    '2200',
    '1970',
    '@daily',
    '@reboot',
    '@every 5m',
  ],
  ...['MON', 'sun', 'FEB', 'FRI#2', 'MON#5', 'MON-FRI', 'SAT-SUN', '22-2', ' ', '\t', '0 0 31 2 *', '29 2 +1'],
]

/** One field: mostly what it may hold. */
function field(random: Random, [low, high]: readonly [number, number], names: readonly string[] = []): string {
  const value = (): string =>
    names.length > 0 && random.chance(0.4)
      ? random.one(names)
      : String(random.int(low, high + (random.chance(0.03) ? 2 : 0)))
  const item = (): string => {
    const [a, b] = [random.int(low, high), random.int(low, high)]
    const range = `${Math.min(a, b)}-${Math.max(a, b)}`
    return random.one([
      '*',
      value(),
      value(),
      value(),
      range,
      `*/${random.int(1, high)}`,
      `${range}/${random.int(1, 9)}`,
    ])
  }
  return Array.from({ length: random.one([1, 1, 1, 2, 4]) }, item).join(',')
}

const dayOfMonth = (random: Random): string =>
  random.chance(0.2)
    ? random.one(['L', 'LW', '15W', '1W', '31W', 'L-3', '?', '30', '31', '29'])
    : field(random, [1, 31])

const dayOfWeek = (random: Random): string =>
  random.chance(0.2)
    ? random.one(['5L', 'MON#2', '?', '7', '+1', '0#5', 'FRI#5', 'SUNL', '1#1,3#3'])
    : field(random, [0, 7], DAYS)

/** An expression of five, six or seven fields. */
export function drawCron(random: Random): string {
  if (random.chance(0.03)) return random.one(['@daily', '@hourly', '@YEARLY', '@monthly', '@weekly', '@midnight'])
  const five = [field(random, [0, 59]), field(random, [0, 23]), dayOfMonth(random), field(random, [1, 12], MONTHS)]
  const fields = [...five, dayOfWeek(random)]
  const more = random.int(0, 3)
  if (more >= 2) fields.unshift(field(random, [0, 59]))
  if (more === 3)
    fields.push(random.one(['*', '2026', '2026-2030', '2199', '1970', '2027/5', '2096,2104', '1970-2199/7']))
  return fields.join(random.chance(0.05) ? '\t ' : ' ')
}

type Set60 = ReadonlySet<number>

/** What a field means, told a second time in the plainest way; null for everything that is more than lists and ranges. */
function plainField(text: string, low: number, high: number): Set60 | null {
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const match = /^(?:(\*)|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(item)
    if (match === null) return null
    const [, star, from, to, step] = match
    // A single number with a step means "from here on", which not everybody agrees about: left to the parser's own tests.
    if (star === undefined && to === undefined && step !== undefined) return null
    const begin = star === undefined ? Number(from) : low
    const end = star === undefined ? Number(to ?? from) : high
    for (let value = begin; value <= end; value += Number(step ?? 1)) values.add(value)
  }
  return values
}

/** Whether a second in UTC fits an expression of five plain fields; null: this matcher does not understand it. */
export function plainMatcher(text: string): ((epochMs: number) => boolean) | null {
  const fields = text.trim().split(/[ \t]+/)
  if (fields.length !== 5) return null
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields
  const sets = [
    plainField(minute, 0, 59),
    plainField(hour, 0, 23),
    plainField(day, 1, 31),
    plainField(month, 1, 12),
    plainField(weekday, 0, 7),
  ]
  const [minutes, hours, days, months, weekdays] = sets
  if (!minutes || !hours || !days || !months || !weekdays) return null
  // With a star in front a day does not restrict, as cron has always had it.
  const [anyDay, anyWeekday] = [day.startsWith('*'), weekday.startsWith('*')]
  if ((anyDay && day !== '*') || (anyWeekday && weekday !== '*') || day.includes(',*') || weekday.includes(',*'))
    return null
  return (epochMs) => {
    const at = new Date(epochMs)
    const onDay = days.has(at.getUTCDate())
    const onWeekday = weekdays.has(at.getUTCDay()) || (at.getUTCDay() === 0 && weekdays.has(7))
    const isDay = anyDay || anyWeekday ? (anyDay || onDay) && (anyWeekday || onWeekday) : onDay || onWeekday
    return (
      at.getUTCSeconds() === 0 &&
      minutes.has(at.getUTCMinutes()) &&
      hours.has(at.getUTCHours()) &&
      months.has(at.getUTCMonth() + 1) &&
      isDay
    )
  }
}
