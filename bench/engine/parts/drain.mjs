// 50,000 no-op jobs of 1,000 agents and 10,000 sessions, from a full queue to an empty one.
import { round, summary, thousands, withRange } from '../statistics.mjs'

export const title = 'Drain of a full queue, completed per second'

export async function measure(bench) {
  const count = bench.quick ? 10_000 : 50_000
  const rounds = bench.quick ? 1 : 3
  const results = Object.fromEntries(bench.contestants.map(({ name }) => [name, []]))
  for (let i = 0; i < rounds; i += 1)
    for (const contestant of bench.contestants) {
      results[contestant.name].push(await once(bench, contestant, count))
      bench.say(`${contestant.name} ${thousands(results[contestant.name].at(-1).perSecond)}/s`)
    }
  const of = (name, field) => results[name].map((one) => one[field])
  const facts = Object.fromEntries(
    Object.keys(results).map((name) => [
      name,
      {
        perSecond: summary(of(name, 'perSecond')),
        perSecondFromStart: summary(of(name, 'perSecondFromStart')),
        serverMicros: summary(of(name, 'serverMicros'), 1),
        nodeMicros: summary(of(name, 'nodeMicros'), 1),
        rounds: results[name],
      },
    ]),
  )
  return { count, facts, rows: rowsOf(facts) }
}

function rowsOf(facts) {
  const raw = facts['raw-sql']?.perSecond.median
  return Object.entries(facts).map(([name, fact]) => ({
    contestant: name,
    'completed/s (range)': withRange(fact.perSecond),
    'of raw': raw === undefined ? '–' : (fact.perSecond.median / raw).toFixed(2),
    'from start/s': thousands(fact.perSecondFromStart.median),
    'server µs': round(fact.serverMicros.median, 1),
    'node µs': round(fact.nodeMicros.median, 1),
    checked: fact.rounds.map((one) => one.checked ?? '–').join(' '),
  }))
}

const once = (bench, contestant, count) =>
  bench.server.withDatabase('drain', async (url) => {
    await bench.call(contestant, 'fill', { url, count })
    await bench.analyze('drain')
    return bench.call(contestant, 'drain', { url, count, server: bench.server.pid, profile: bench.profile })
  })
