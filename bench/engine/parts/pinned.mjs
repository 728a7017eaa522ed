// Submit and run at full speed for a minute, with and without a transaction that pins the horizon.
import { round, thousands } from '../statistics.mjs'

export const title = 'Submit and run at full speed, settled per second'

export async function measure(bench) {
  const seconds = bench.quick ? 10 : 60
  const facts = {}
  for (const pinned of [false, true]) {
    const name = pinned ? 'pinned' : 'free'
    facts[name] = await bench.server.withDatabase('pinned', async (url) => {
      const used = bench.server.cpuSeconds()
      const { windows } = await bench.ask('steady', { url, seconds, pinned })
      const mean = windows.reduce((sum, one) => sum + one, 0) / windows.length
      const server = bench.server.cpuSeconds()
      return { windows, mean, serverMicros: used === null ? null : ((server - used) / (mean * seconds)) * 1e6 }
    })
    bench.say(`${name} ${thousands(facts[name].mean)}/s`)
  }
  const rows = Object.entries(facts).map(([name, { windows, mean, serverMicros }]) => ({
    horizon: name,
    'mean/s': thousands(mean),
    'first 5 s': thousands(windows[0]),
    'last 5 s': thousands(windows.at(-1)),
    'server µs': round(serverMicros),
    'of free': (mean / facts.free.mean).toFixed(2),
  }))
  return { seconds, facts, rows }
}
