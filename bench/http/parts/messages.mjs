// Messages and schedules, acknowledged after the commit, and the same through the library.
import path from 'node:path'
import { round, summary, thousands, withRange } from '../../engine/statistics.mjs'
import { withDirectory, withServed } from '../served.mjs'
import { cpuPer } from '../load.mjs'

export const CONNECTIONS = 16

/** A part of the benchmark that compares one kind of request over HTTP and through the library. */
export const comparing = (kind, title) => ({
  title: `${title}, ${CONNECTIONS} at a time`,
  measure: async (bench) => {
    const rounds = bench.quick ? 1 : 3
    const of = { http: [], library: [] }
    for (let i = 0; i < rounds; i += 1) {
      of.http.push(await overHttp(bench, kind))
      bench.say(lineOf('HTTP', of.http.at(-1)))
      of.library.push(await throughLibrary(bench, kind))
      bench.say(lineOf('library', of.library.at(-1)))
    }
    const facts = { http: factsOf(of.http), library: factsOf(of.library) }
    return { facts, rows: rowsOf(facts) }
  },
})

const echoing = comparing('messages', 'POST /api/v1/sessions/:key/messages')

export const { title } = echoing

/** Messages that are processed at once, and messages to an offline agent, which are only accepted and wait. */
export async function measure(bench) {
  const { facts } = await echoing.measure(bench)
  const accepted = []
  for (let i = 0; i < (bench.quick ? 1 : 3); i += 1) {
    accepted.push(await acceptedOnly(bench))
    bench.say(lineOf('HTTP, agent away', accepted.at(-1)))
  }
  const all = { ...facts, accepted: factsOf(accepted) }
  return { facts: all, rows: rowsOf(all) }
}

/** The capacity of the queues of 10,000 sessions. */
const acceptedOnly = (bench) =>
  withServed({ nodeArgs: bench.profileArgs('http-accepted') }, async (served) => {
    const { id } = await served.ask('POST', '/api/v1/agents', { name: 'away', executor: { kind: 'in-process' } })
    const { warmUp, count } = countsOf(bench)
    const options = { kind: 'messages', options: { agent: id } }
    await hammered(bench, served, { ...options, count: warmUp, waits: true })
    return hammered(bench, served, { ...options, count, waits: true })
  })

const countsOf = ({ quick }) => ({ warmUp: quick ? 6_000 : 20_000, count: quick ? 12_000 : 60_000 })

const overHttp = (bench, kind) =>
  withServed({ nodeArgs: bench.profileArgs(`http-${kind}`) }, async (served) => {
    const { warmUp, count } = countsOf(bench)
    await hammered(bench, served, { kind, count: warmUp, turn: 0 })
    return hammered(bench, served, { kind, count, turn: 1 })
  })

/** Sends the requests, and measures CPU time until all resulting work is done, unless it waits. */
export async function hammered(bench, served, { waits = false, ...options }) {
  const { url, key } = served
  const before = served.cpu()
  const figures = await bench.load('hammer', { url, key, connections: CONNECTIONS, ...options })
  refuseFailures(figures)
  if (!waits) await served.drained()
  return { ...figures, ...cpuPer(figures.count, before, served.cpu()) }
}

function refuseFailures({ statuses }) {
  if (Object.keys(statuses).some((status) => !status.startsWith('2')))
    throw new Error(`unexpected responses: ${JSON.stringify(statuses)}`)
}

const throughLibrary = (bench, kind) =>
  withDirectory((directory) =>
    bench.load('library', { data: path.join(directory, 'data'), kind, connections: CONNECTIONS, ...countsOf(bench) }),
  )

const lineOf = (who, { perSecond, nodeUs, postgresUs }) =>
  `${who} ${thousands(perSecond)}/s, node ${thousands(nodeUs)} µs, PostgreSQL ${thousands(postgresUs)} µs`

const FIGURES = { perSecond: 0, p50: 2, p99: 2, nodeUs: 1, postgresUs: 1 }

const factsOf = (all) =>
  Object.fromEntries(
    Object.entries(FIGURES).map(([name, digits]) => [
      name,
      summary(
        all.map((one) => one[name]),
        digits,
      ),
    ]),
  )

function rowsOf(facts) {
  const rows = Object.entries(facts).map(([name, fact]) => ({
    by: name,
    'per second': withRange(fact.perSecond),
    'p50 ms': fact.p50.median,
    'p99 ms': fact.p99.median,
    'node µs': withRange(fact.nodeUs),
    'PostgreSQL µs': withRange(fact.postgresUs),
  }))
  const { http, library } = facts
  const of = (name) => round(http[name].median / library[name].median, 2)
  return [
    ...rows,
    {
      ...{ by: 'HTTP of library', 'per second': of('perSecond'), 'p50 ms': of('p50'), 'p99 ms': of('p99') },
      ...{ 'node µs': of('nodeUs'), 'PostgreSQL µs': of('postgresUs') },
    },
  ]
}
