// Submit → start of the handler in the same process, nothing else going on.
import { median, quantile, round } from '../statistics.mjs'

export const title = 'Submit → handler starts, idle, milliseconds'

export async function measure(bench) {
  const rounds = bench.quick ? 1 : 5
  const times = Object.fromEntries(bench.contestants.map(({ name }) => [name, []]))
  for (let i = 0; i < rounds; i += 1)
    for (const contestant of bench.contestants) {
      const round = await bench.server.withDatabase('latency', (url) =>
        bench.call(contestant, 'latency', { url, rounds: 100 }),
      )
      times[contestant.name].push(...round)
      bench.say(`${contestant.name} ${median(round).toFixed(2)} ms`)
    }
  const facts = Object.fromEntries(
    Object.entries(times).map(([name, all]) => [
      name,
      { n: all.length, p50: median(all), p99: quantile(all, 0.99), least: Math.min(...all) },
    ]),
  )
  return { facts, rows: rowsOf(facts) }
}

function rowsOf(facts) {
  const peer = facts['graphile-worker']?.p50
  return Object.entries(facts).map(([name, { n, least, p50, p99 }]) => ({
    contestant: name,
    n,
    least: round(least, 2),
    p50: round(p50, 2),
    p99: round(p99, 2),
    'p50 of graphile-worker': peer === undefined ? '–' : (p50 / peer).toFixed(2),
  }))
}
