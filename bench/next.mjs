// The next time of a cron expression: results per second compared with popular libraries, and whether the results agree.
import { summary, thousands, withRange } from './engine/statistics.mjs'

export const title = 'next() of ten cron expressions, answers per second'
export const minutes = { full: 0.5, quick: 0.2 }
export const store = 'none'

const ZONES = ['Europe/Berlin', 'UTC']
/** cron-schedule doesn't support time zones. */
const CONTESTANTS = [
  { name: 'escapement', zones: ZONES },
  { name: 'croner', zones: ZONES },
  { name: 'cron-parser', zones: ZONES },
  { name: 'cronosjs', zones: ZONES },
  { name: 'cron-schedule', zones: ['UTC'] },
]

export async function measure(bench) {
  const milliseconds = bench.quick ? 150 : 500
  const facts = {}
  for (const zone of ZONES) {
    const taking = CONTESTANTS.filter(({ zones }) => zones.includes(zone))
    const all = Object.fromEntries(taking.map(({ name }) => [name, []]))
    for (let round = 0; round < bench.rounds; round += 1)
      for (const { name } of taking)
        all[name].push(
          await bench.ask('next', { contestant: name, zone, milliseconds, apart: 5 }, { file: 'next.mjs' }),
        )
    facts[zone] = Object.fromEntries(taking.map(({ name }) => [name, factOf(all, name)]))
    bench.say(
      `${zone}: ${taking.map(({ name }) => `${name} ${thousands(facts[zone][name].perSecond.median)}`).join(', ')}`,
    )
  }
  return { facts, rows: rowsOf(facts), notes: notesOf(facts) }
}

const factOf = (all, name) => ({
  perSecond: summary(all[name].map(({ perSecond }) => perSecond)),
  ...agreement(all.escapement[0].answers, all[name][0].answers),
})

/** The number of results that are the same as Escapement's. */
function agreement(ours, theirs) {
  const same = ours.flatMap((answers, start) => answers.map((answer, index) => answer === theirs[start][index]))
  return { asked: same.length, same: same.filter(Boolean).length }
}

const rowsOf = (facts) =>
  Object.entries(facts).flatMap(([zone, byName]) =>
    Object.entries(byName).map(([name, { perSecond, asked, same }]) => ({
      zone,
      library: name,
      'next()/s (range)': withRange(perSecond),
      'Escapement is': `${(byName.escapement.perSecond.median / perSecond.median).toFixed(1)} ×`,
      'same answers': `${thousands(same)} of ${thousands(asked)}`,
    })),
  )

const notesOf = (facts) => [
  'cron-schedule does not support time zones and takes part in UTC only.',
  ...Object.entries(facts).flatMap(([zone, byName]) =>
    Object.entries(byName)
      .filter(([, { asked, same }]) => same < asked)
      .map(
        ([name, { asked, same }]) => `${name} has different results in ${zone} in ${asked - same} of ${asked} cases.`,
      ),
  ),
]
