// Calls of next() per second of a library, and its results. Runs in a separate process.
import { CronExpressionParser } from 'cron-parser'
import { Cron } from 'croner'
import { nextFire } from '../../../dist/domain/time/cron.js'
import { parseCron } from '../../../dist/domain/time/cron-grammar.js'
import { parseZone } from '../../../dist/domain/time/zone.js'
import { CRON } from '../../peers/cron.mjs'

/** The expressions for all contestants. */
export const EXPRESSIONS = [
  '* * * * *',
  '*/5 * * * *',
  '0 * * * *',
  '30 2 * * *',
  '0 9 * * 1-5',
  '15 10 1,15 * *',
  '0 0 1 * *',
  '0 0 29 2 *',
  '*/10 * * * * *',
  '0 8-18/2 * * MON-FRI',
]
const START = Date.UTC(2026, 0, 15, 9, 30)
// Half a year in steps that are not a multiple of any interval, to include clock changes and all times of day.
const STARTS = Array.from({ length: 1000 }, (_, index) => START + index * 15_731_123)

const value = (parsed) => {
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.flaws))
  return parsed.value
}

/** The contestants: each prepares all expressions for a zone and returns a function for the next time. */
const CONTESTANTS = {
  escapement: (expressions, zone) => {
    const plans = expressions.map((text) => ({
      expression: value(parseCron('cron', text)),
      zone: value(parseZone('timezone', zone)),
      dst: 'vixie',
      dayMatch: 'or',
    }))
    return (index, from) => nextFire(plans[index], from)
  },
  croner: (expressions, zone) => {
    const jobs = expressions.map((text) => new Cron(text, { timezone: zone, paused: true }))
    return (index, from) => jobs[index].nextRun(new Date(from)).getTime()
  },
  'cron-parser': (expressions, zone) => {
    const jobs = expressions.map((text) => CronExpressionParser.parse(text, { tz: zone }))
    return (index, from) => {
      jobs[index].reset(new Date(from))
      return jobs[index].next().getTime()
    }
  },
  ...CRON,
}

/** Calls per second of one contestant in one zone, and its results for every expression at every `apart`-th start. */
export function next({ contestant, zone, milliseconds, apart }) {
  process.env.TZ = 'UTC'
  const ask = CONTESTANTS[contestant](EXPRESSIONS, zone)
  rateOf(ask, 100)
  const perSecond = rateOf(ask, milliseconds)
  const asked = STARTS.filter((_, index) => index % apart === 0)
  return { perSecond, answers: asked.map((from) => EXPRESSIONS.map((_, index) => ask(index, from))) }
}

/** Calls for about `milliseconds` and returns the calls per second. */
function rateOf(ask, milliseconds) {
  let calls = 0
  let sum = 0
  const begin = performance.now()
  let elapsed = 0
  while (elapsed < milliseconds) {
    // Evaluate every expression at every start; read the clock only occasionally, so that it doesn't affect the result.
    const from = STARTS[(calls / EXPRESSIONS.length) % STARTS.length]
    for (let index = 0; index < EXPRESSIONS.length; index += 1) sum += ask(index, from)
    calls += EXPRESSIONS.length
    if (calls % 200 === 0) elapsed = performance.now() - begin
  }
  if (!Number.isFinite(sum)) throw new Error('an answer is missing')
  return (calls / elapsed) * 1000
}
