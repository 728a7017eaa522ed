// Schedules of which none is due: the cost of idling for a program and its server.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { seedSchedules, settle, withClient } from '../seeding.mjs'
import { median, round, thousands } from '../statistics.mjs'

export const title = 'Idle with schedules that are not due'
export const minutes = { full: 3.8, quick: 0.6 }

const HERE = path.dirname(fileURLToPath(import.meta.url))
const OWN = path.join(HERE, '../escapement-schedules.mjs')
const peer = (name) => path.join(HERE, '../../peers/schedules', `${name}.mjs`)
const FILE = { file: 'idle.mjs' }

/** The contestants with schedules, and how they check them. */
const WAYS = {
  'pg-boss': [
    // It checks twice a minute; a shorter measurement would include one check or none.
    { label: 'pg-boss', file: peer('pg-boss'), atLeastSeconds: 30 },
    { label: 'pg-boss, looking every second', file: peer('pg-boss'), lookEverySecond: true },
  ],
  'graphile-worker': [{ label: 'graphile-worker', file: peer('graphile-worker') }],
  'bullmq-redis': [{ label: 'bullmq-redis', file: peer('bullmq') }],
  'bullmq-postgres': [{ label: 'bullmq-postgres', file: peer('bullmq') }],
  escapement: [{ label: 'escapement', file: OWN }],
}

export async function measure(bench) {
  const plan = bench.quick
    ? { few: 1_000, many: 100_000, settleSeconds: 1, seconds: 3 }
    : { few: 10_000, many: 1_000_000, settleSeconds: 3, seconds: 15 }
  const facts = { few: {} }
  for (const contestant of bench.contestants)
    if (WAYS[contestant.name] !== undefined) Object.assign(facts.few, await fewOf(bench, contestant, plan))
  if (bench.contestants.some(({ name }) => name === 'escapement')) facts.many = await manyOf(bench, plan)
  return { ...plan, facts, tables: tablesOf(facts, plan), notes: NOTES }
}

function fewOf(bench, contestant, { few, seconds, settleSeconds }) {
  return bench.withStore(contestant, 'idle', async ({ url, pid }) => {
    const [{ file }] = WAYS[contestant.name]
    await bench.ask('make', { file, url, count: few }, FILE)
    const facts = {}
    for (const { label, atLeastSeconds = 0, ...way } of WAYS[contestant.name]) {
      const asked = { url, pid, count: few, settleSeconds, ...way }
      const length = bench.quick ? seconds : Math.max(seconds, atLeastSeconds)
      facts[label] = await bench.ask('idle', { ...asked, seconds: length }, FILE)
      bench.say(`${label}: ${shownPercent(facts[label])} % of a core`)
    }
    return facts
  })
}

const manyOf = (bench, { many, seconds, settleSeconds }) =>
  bench.server.withDatabase('idle', async (url) => {
    await bench.ask('makeSchedule', { url, everySeconds: 86_400 }, { file: 'lateness.mjs' })
    const startUpsEmpty = await bench.ask('startUps', { file: OWN, url, times: 5 }, FILE)
    await withClient(url, async (client) => {
      await seedSchedules(client, many)
      await settle(client)
    })
    bench.say(`${thousands(many)} schedules written`)
    const startUpsFull = await bench.ask('startUps', { file: OWN, url, times: 5 }, FILE)
    const fact = await bench.ask('idle', { file: OWN, url, pid: bench.server.pid, seconds, settleSeconds }, FILE)
    bench.say(`escapement: ${shownPercent(fact)} % of a core`)
    return { ...fact, startUpEmptyMs: median(startUpsEmpty), startUpFullMs: median(startUpsFull) }
  })

const sum = ({ nodeCpuPercent, serverCpuPercent }) => nodeCpuPercent + (serverCpuPercent ?? 0)
const shownPercent = (fact) => round(sum(fact), 2)

function tablesOf({ few, many }, plan) {
  const own = few.escapement === undefined ? undefined : sum(few.escapement)
  const shown = Object.entries(few).map(([contestant, fact]) => ({
    contestant,
    ...costOf(fact),
    'of Escapement': own === undefined || own === 0 ? '–' : `${round(sum(fact) / own, 1)} ×`,
    'start-up, ms': round(fact.startMs),
  }))
  const [fewer, more] = [plan.few, plan.many].map(thousands)
  if (many === undefined) return { [`${fewer} schedules`]: shown }
  const starts = {
    'start-up with one, ms': round(many.startUpEmptyMs, 1),
    'start-up with all, ms': round(many.startUpFullMs, 1),
  }
  return {
    [`${fewer} schedules`]: shown,
    [`${more} schedules, Escapement alone`]: [{ contestant: 'escapement', ...costOf(many), ...starts }],
  }
}

const costOf = (fact) => ({
  'node, % of a core': round(fact.nodeCpuPercent, 2),
  'server, % of a core': round(fact.serverCpuPercent, 2),
  'node RSS, MiB': round(fact.rssMiB),
  'at its highest, MiB': round(fact.peakRssMiB),
})

const NOTES = [
  'Everybody as it comes, with a program that works on what comes due. pg-boss looks at its schedules twice a minute by default; every second is what it needs to be as little late as in the part `schedules`. graphile-worker is given its crontab at every start and keeps it in memory.',
  'Start-up: from the call until it answers, in a process that has loaded the code; one time with few schedules, the median of five with many.',
]
