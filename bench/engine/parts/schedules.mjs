// 1,000 schedules with the same moment: how late their runs start.
import { thousands } from '../statistics.mjs'

export const title = '1,000 schedules due in one second, milliseconds late'

export async function measure(bench) {
  const count = 1_000
  const facts = {}
  for (const variant of variantsOf(bench)) {
    facts[variant.title] = await bench.server.withDatabase('schedules', (url) =>
      bench.call(variant.contestant, 'schedules', { url, count, timeoutMs: 90_000, ...variant.options }),
    )
    bench.say(`${variant.title}: last ${thousands(facts[variant.title].last)} ms`)
  }
  const rows = Object.entries(facts).map(([name, fact]) => ({
    contestant: name,
    started: fact.started,
    first: thousands(fact.first),
    p50: thousands(fact.p50),
    last: fact.complete ? thousands(fact.last) : `not all within 90 s`,
  }))
  return { count, facts, rows }
}

/** Escapement also with its lane as it is by default; raw SQL has no schedules. */
function variantsOf({ contestants }) {
  return contestants
    .filter(({ name }) => name !== 'raw-sql')
    .flatMap((contestant) =>
      contestant.name === 'escapement'
        ? [
            { contestant, title: 'escapement, lane of 500', options: { lane: 500 } },
            { contestant, title: 'escapement, lane of 30 (default)', options: { lane: 30 } },
          ]
        : [{ contestant, title: contestant.name, options: {} }],
    )
}
