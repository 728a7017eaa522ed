// How many next() a second, against two well-known libraries. Needs `npm run build`.
import { CronExpressionParser } from 'cron-parser'
import { Cron } from 'croner'
import { nextFire } from '../dist/core/time/cron.js'
import { parseCron } from '../dist/core/time/cron-grammar.js'
import { parseZone } from '../dist/core/time/zone.js'

const EXPRESSIONS = [
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
const ZONES = ['Europe/Berlin', 'UTC']
const REPETITIONS = 3
const START = Date.UTC(2026, 0, 15, 9, 30)
// Half a year in steps that are no multiple of any interval, so that clock changes and every time of day occur.
const STARTS = Array.from({ length: 1000 }, (_, index) => START + index * 15_731_123)

const value = (parsed) => {
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.flaws))
  return parsed.value
}

/** Each contender: prepares all expressions for a zone, then answers one question. */
const CONTENDERS = {
  escapement: (zone) => {
    const plans = EXPRESSIONS.map((text) => ({
      expression: value(parseCron('cron', text)),
      zone: value(parseZone('timezone', zone)),
      dst: 'vixie',
      dayMatch: 'or',
    }))
    return (index, from) => nextFire(plans[index], from)
  },
  croner: (zone) => {
    const jobs = EXPRESSIONS.map((text) => new Cron(text, { timezone: zone, paused: true }))
    return (index, from) => jobs[index].nextRun(new Date(from)).getTime()
  },
  'cron-parser': (zone) => {
    const jobs = EXPRESSIONS.map((text) => CronExpressionParser.parse(text, { tz: zone }))
    return (index, from) => {
      jobs[index].reset(new Date(from))
      return jobs[index].next().getTime()
    }
  },
}

/** Calls for about `milliseconds` and answers with calls a second. */
function measure(ask, milliseconds) {
  let calls = 0
  let sum = 0
  const begin = performance.now()
  let elapsed = 0
  while (elapsed < milliseconds) {
    // Every expression gets its turn at every start; the clock is read once in a while so that it is not measured.
    const from = STARTS[(calls / EXPRESSIONS.length) % STARTS.length]
    for (let index = 0; index < EXPRESSIONS.length; index += 1) sum += ask(index, from)
    calls += EXPRESSIONS.length
    if (calls % 200 === 0) elapsed = performance.now() - begin
  }
  if (!Number.isFinite(sum)) throw new Error('an answer is missing')
  return (calls / elapsed) * 1000
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

/** One object: for each zone and contender the median of next() a second, and our ratio to each of the others. */
export async function run({ milliseconds = 500 } = {}) {
  const figures = {}
  for (const zone of ZONES) {
    const asks = Object.entries(CONTENDERS).map(([name, prepare]) => [name, prepare(zone)])
    for (const [, ask] of asks) measure(ask, 50)
    const runs = Object.fromEntries(asks.map(([name]) => [name, []]))
    for (let repetition = 0; repetition < REPETITIONS; repetition += 1)
      for (const [name, ask] of asks) runs[name].push(measure(ask, milliseconds))
    const perSecond = Object.fromEntries(Object.entries(runs).map(([name, rates]) => [name, Math.round(median(rates))]))
    figures[zone] = {
      perSecond,
      ratioToCroner: Number((perSecond.escapement / perSecond.croner).toFixed(1)),
      ratioToCronParser: Number((perSecond.escapement / perSecond['cron-parser']).toFixed(1)),
    }
  }
  return figures
}

if (import.meta.url === new URL(process.argv[1], 'file:').href) {
  const figures = await run()
  console.table(
    Object.entries(figures).map(([zone, { perSecond, ratioToCroner, ratioToCronParser }]) => ({
      zone,
      ...perSecond,
      'times croner': ratioToCroner,
      'times cron-parser': ratioToCronParser,
    })),
  )
}
