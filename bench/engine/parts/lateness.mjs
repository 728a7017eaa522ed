// Many recurring schedules: from the due time to the start of the handler.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { seedPhases, settle, withClient } from '../seeding.mjs'
import { round, thousands } from '../statistics.mjs'

export const title = 'Schedules that come due all the time, milliseconds late'
export const minutes = { full: 3, quick: 0.4 }

const BULLMQ = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../peers/schedules/bullmq.mjs')
const FILE = { file: 'lateness.mjs' }
const PER_SECOND = 1_000
const LANE = 500
const WARM_UP_SECONDS = 4
/** Time from writing the schedules to their first occurrence. */
const LEAD_MS = { full: 18_000, quick: 8_000 }

export async function measure(bench) {
  const period = bench.quick ? 20 : 100
  const count = PER_SECOND * period
  const all = {}
  all['escapement'] = await own(bench, { count, seconds: bench.quick ? 6 : 60 })
  if (!bench.quick) for (const peer of peersOf(bench)) all[peer.contestant.name] = await peerOf(bench, peer)
  const { escapement, ...others } = all
  return { facts: { ...escapement, others }, rows: Object.entries(all).map(rowOf), notes: NOTES }
}

/** The contestants that support "every 100 seconds, each at a different time", with a scale at which they keep up. */
function peersOf({ contestants }) {
  const scales = {
    'bullmq-redis': { count: 100_000, perSecond: 1_000, seconds: 20 },
    'bullmq-postgres': { count: 10_000, perSecond: 100, seconds: 15 },
  }
  return contestants
    .filter(({ name }) => name in scales)
    .map((contestant) => ({ contestant, scale: scales[contestant.name] }))
}

const rowOf = ([name, fact]) => ({
  contestant: name,
  schedules: thousands(fact.schedules),
  'due/s': thousands(fact.perSecond),
  seconds: fact.seconds,
  p50: round(fact.p50),
  p99: round(fact.p99),
  max: thousands(fact.max),
  missed: fact.missed,
  doubled: fact.doubled,
  'node % of a core': round(fact.nodeCpuPercent),
  'server % of a core': round(fact.serverCpuPercent),
})

const own = (bench, { count, seconds }) =>
  bench.server.withDatabase('lateness', async (url) => {
    await bench.ask('makeSchedule', { url, everySeconds: count / PER_SECOND }, FILE)
    const first = Math.ceil((Date.now() + (bench.quick ? LEAD_MS.quick : LEAD_MS.full)) / 1_000) * 1_000
    await withClient(url, async (client) => {
      await seedPhases(client, { count, first, perSecond: PER_SECOND })
      await settle(client)
    })
    const from = first + WARM_UP_SECONDS * 1_000
    const window = { from, to: from + seconds * 1_000, expected: PER_SECOND * seconds }
    const fact = await bench.ask('ownLateness', { url, window, lane: LANE, pid: bench.server.pid }, FILE)
    bench.say(`p50 ${fact.p50} ms, p99 ${fact.p99} ms, at most ${fact.max} ms, ${fact.missed} missed`)
    return { schedules: count, perSecond: PER_SECOND, seconds, ...fact }
  })

const peerOf = (bench, { contestant, scale }) =>
  bench.withStore(contestant, 'lateness', async ({ url, pid }) => {
    const asked = { file: BULLMQ, url, pid, warmUpSeconds: WARM_UP_SECONDS, ...scale }
    const fact = await bench.ask('peerLateness', asked, FILE)
    bench.say(`${contestant.name}: p50 ${fact.p50} ms, p99 ${fact.p99} ms, ${fact.missed} missed`)
    return { schedules: scale.count, ...scale, ...fact }
  })

const NOTES = [
  'Every schedule is due every 100 seconds (20 in a quick run), each at a different time, one per millisecond; lane `cron` of 500. Missed: not started half a minute after the window; doubled: started twice for one occurrence. Both must be 0.',
  'pg-boss and graphile-worker have minute precision, so they can not take part; the part `schedules` measures them with 1,000 schedules of one minute. Raw SQL has no schedules.',
  'BullMQ creates the next job of a schedule when the one before starts; on PostgreSQL it is measured with a tenth of the schedules, because it completes about 2,000 jobs per second.',
]
