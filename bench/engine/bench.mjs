// `npm run bench -- engine [--quick] [--only drain,latency] [--contestants raw-sql,…] [--ended n] [--profile <folder>]`:
// Escapement through its library beside raw SQL, pg-boss and graphile-worker, on one kind of PostgreSQL, in one run, all
// under the same Node. Prints a table per part and writes bench/results/engine.json.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installPeers, peerFile } from '../peers/install.mjs'
import { goalsOf } from './goals.mjs'
import * as buffers from './parts/buffers.mjs'
import * as drain from './parts/drain.mjs'
import * as idle from './parts/idle.mjs'
import * as latency from './parts/latency.mjs'
import * as pinned from './parts/pinned.mjs'
import * as schedules from './parts/schedules.mjs'
import * as submission from './parts/submission.mjs'
import { endAll, inProcess } from './processes.mjs'
import { startServer } from './server.mjs'

const HERE = path.dirname(fileURLToPath(import.meta.url))
const RESULTS = path.join(HERE, '../results')
const MEASUREMENTS = path.join(HERE, 'measurements.mjs')
const OWN_MEASUREMENTS = path.join(HERE, 'escapement-measurements.mjs')
const PARTS = { drain, submission, latency, schedules, idle, buffers, pinned }
const PEERS = ['raw-sql', 'pg-boss', 'graphile-worker']

export async function run(args = []) {
  const options = parse(args)
  const { node, nodeVersion } = await installPeers()
  const results = { when: new Date().toISOString(), machine: machine(nodeVersion), parts: {} }
  const failed = []
  for (const [name, part] of options.parts) {
    console.log(`\n── ${part.title}`)
    const server = await startServer(part.settings)
    const leave = leaveOnSignal(server)
    try {
      results.machine.postgres ??= await versionOf(server)
      const { rows, ...facts } = await part.measure(createBench(server, { ...options, node }))
      results.parts[name] = { title: part.title, loadAverage: loadavg()[0], rows, ...facts }
      console.table(rows)
    } catch (error) {
      // The other parts took long enough not to be thrown away for this one.
      failed.push(name)
      console.error(error)
    } finally {
      leave()
      await server.stop()
    }
    save(results)
  }
  results.goals = goalsOf(results.parts)
  save(results)
  console.log(`\n── Goals${options.quick ? ' (a quick run: smaller counts, no repetitions)' : ''}`)
  console.table(results.goals)
  if (failed.length > 0) throw new Error(`not measured: ${failed.join(', ')}`)
  return `bench/results/engine.json is written. Load average now: ${loadavg()[0].toFixed(1)} on ${cpus().length} cores.`
}

function parse(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: Object.keys(PARTS).join(',') },
      contestants: { type: 'string', default: [...PEERS, 'escapement'].join(',') },
      ended: { type: 'string', default: '10000000' },
      profile: { type: 'string' },
    },
  })
  const parts = values.only.split(',').map((name) => [name, PARTS[name]])
  const unknown = parts.find(([, part]) => part === undefined)
  if (unknown !== undefined)
    throw new Error(`There is no part "${unknown[0]}" (allowed: ${Object.keys(PARTS).join(', ')})`)
  const contestants = values.contestants.split(',').map((name) => ({
    name,
    file: PEERS.includes(name) ? peerFile(name) : path.join(HERE, `${name}.mjs`),
  }))
  return { quick: values.quick, ended: Number(values.ended), parts, contestants, profile: values.profile }
}

/** What a part has to work with. */
function createBench(server, { quick, ended, contestants, node, profile }) {
  return {
    quick,
    ended,
    contestants,
    profile,
    server,
    say: (line) => process.stdout.write(`   ${line}\n`),
    /** Takes a measurement of a contestant, in a process of its own. */
    call: ({ file }, name, options) =>
      inProcess({ node, file: MEASUREMENTS, name, options: { contestant: file, ...options } }),
    /** The same for what only Escapement is asked. */
    ask: (name, options) => inProcess({ node, file: OWN_MEASUREMENTS, name, options }),
    /**
     * Fresh statistics for everybody. No checkpoint: after one, the first change of every page goes to the log in full,
     * which a queue that is worked off soon after it was filled does not pay.
     */
    analyze: async (database) => {
      const client = await server.connect(database)
      await client.query('analyze')
      await client.end()
    },
  }
}

function leaveOnSignal(server) {
  const leave = () => {
    endAll()
    void server.stop().finally(() => process.exit(1))
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, leave)
  return () => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, leave)
  }
}

const machine = (nodeVersion) => ({
  processor: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  platform: `${process.platform}-${process.arch}`,
  node: nodeVersion,
})

async function versionOf(server) {
  const client = await server.connect()
  const { rows } = await client.query('show server_version')
  await client.end()
  return rows[0].server_version
}

/** The folder keeps itself out of the repository: figures of one machine are nobody else's. */
function save(results) {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(path.join(RESULTS, '.gitignore'), '*\n')
  writeFileSync(path.join(RESULTS, 'engine.json'), `${JSON.stringify(results, null, 2)}\n`)
}
