// Submit and run at full speed for a minute, with and without a transaction that pins the horizon.
import { round, thousands } from '../statistics.mjs'

export const title = 'Submit and run at full speed, settled per second'

export async function measure(bench) {
  const seconds = bench.quick ? 10 : 60
  const all = { free: [], pinned: [] }
  // There and back again, so that a machine that gets busier or idler meanwhile favours neither.
  for (const name of bench.quick ? ['free', 'pinned'] : ['free', 'pinned', 'pinned', 'free']) {
    all[name].push(await once(bench, { seconds, pinned: name === 'pinned' }))
    bench.say(`${name} ${thousands(all[name].at(-1).mean)}/s`)
  }
  const facts = Object.fromEntries(Object.entries(all).map(([name, rounds]) => [name, together(rounds)]))
  const rows = Object.entries(facts).map(([name, { mean, serverMicros, rounds }]) => ({
    horizon: name,
    'mean/s': thousands(mean),
    'first 5 s': rounds.map(({ windows }) => thousands(windows[0])).join(' '),
    'last 5 s': rounds.map(({ windows }) => thousands(windows.at(-1))).join(' '),
    'server µs': round(serverMicros),
    'of free': (mean / facts.free.mean).toFixed(2),
  }))
  return { seconds, facts, rows }
}

const once = (bench, { seconds, pinned }) =>
  bench.server.withDatabase('pinned', async (url) => {
    const used = bench.server.cpuSeconds()
    const { windows } = await bench.ask('steady', { url, seconds, pinned })
    const mean = windows.reduce((sum, one) => sum + one, 0) / windows.length
    const server = bench.server.cpuSeconds()
    return { windows, mean, serverMicros: used === null ? null : ((server - used) / (mean * seconds)) * 1e6 }
  })

const together = (rounds) => ({
  mean: rounds.reduce((sum, { mean }) => sum + mean, 0) / rounds.length,
  serverMicros: rounds.reduce((sum, { serverMicros }) => sum + serverMicros, 0) / rounds.length,
  rounds,
})
