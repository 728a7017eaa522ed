// A million enabled schedules, the first of them due in an hour: what a node and the server spend on waiting.
import { seedSchedules, settle, withClient } from '../seeding.mjs'
import { median, round, thousands } from '../statistics.mjs'

export const title = 'Idle with 1,000,000 enabled schedules'

export async function measure(bench) {
  const count = bench.quick ? 100_000 : 1_000_000
  const seconds = bench.quick ? 10 : 60
  return bench.server.withDatabase('idle', async (url) => {
    await bench.ask('makeSchedule', { url })
    const startUpEmpty = await startUps(bench, url)
    await withClient(url, async (client) => {
      await seedSchedules(client, count)
      await settle(client)
    })
    bench.say(`${thousands(count)} schedules written`)
    const startUpFull = await startUps(bench, url)
    const facts = await bench.ask('idle', { url, seconds, server: bench.server.pid })
    return {
      count,
      seconds,
      facts: { ...facts, startUpEmpty, startUpFull },
      rows: rowsOf(facts, { startUpEmpty, startUpFull }),
    }
  })
}

async function startUps(bench, url) {
  const all = []
  for (let i = 0; i < 5; i += 1) all.push(await bench.ask('startUp', { url }))
  return all
}

const rowsOf = (facts, { startUpEmpty, startUpFull }) => [
  { what: 'node processor, % of a core', value: round(facts.nodeCpuPercent, 2) },
  { what: 'PostgreSQL processor, % of a core', value: round(facts.serverCpuPercent, 2) },
  { what: 'node RSS, MiB', value: round(facts.rssMiB) },
  { what: 'node RSS at its highest, MiB', value: round(facts.peakRssMiB) },
  { what: 'start() with one schedule, ms', value: round(median(startUpEmpty)) },
  { what: 'start() with all of them, ms', value: round(median(startUpFull)) },
]
