// The comparison: the library of Escapement, raw SQL, pg-boss, graphile-worker and BullMQ in one run, under the same Node.
// Prints a table per part and a table of the goals, and writes the results to a file.
import { cpus, loadavg } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { endServers } from '../http/served.mjs'
import { installPeers } from '../peers/install.mjs'
import { CONTESTANTS } from './contestants.mjs'
import { goalsOf } from './goals.mjs'
import { loadParts } from './parts.mjs'
import { endAll, inProcess } from './processes.mjs'
import { redisVersion } from './redis.mjs'
import { createResults } from './results.mjs'
import { openStores } from './stores.mjs'

const HERE = path.dirname(fileURLToPath(import.meta.url))
const MEASUREMENTS = path.join(HERE, 'measurements')
const SIGNALS = ['SIGINT', 'SIGTERM']
const EXIT_INTERRUPTED = 130

/** Runs the requested parts; returns whether all of them were measured. */
export async function compare(wanted) {
  const parts = await loadParts(wanted.parts)
  const estimate = parts.reduce((sum, { minutes }) => sum + (wanted.quick ? minutes.quick : minutes.full), 0)
  const { node, nodeVersion } = await installPeers()
  const { contestants, absent } = present(wanted.contestants)
  const results = createResults({ wanted, nodeVersion, contestants, absent })
  console.log(`${parts.length} parts, ${contestants.length} contestants: about ${Math.ceil(estimate)} min if`)
  console.log(`nothing else runs on this machine. Load average: ${loadavg()[0].toFixed(1)} on ${cpus().length} cores.`)
  for (const line of absent) console.log(`Left out: ${line}`)
  if (contestants.length === 0) {
    console.log('No contestants are left to measure.')
    return false
  }
  const failed = []
  for (const part of parts) {
    const answer = await measured(part, { ...wanted, contestants, absent, node, results })
    if (answer === 'interrupted') return false
    if (answer === 'failed') failed.push(part.name)
  }
  const goals = goalsOf(results.parts)
  const file = results.finish({ goals, failed })
  console.log(`\n── Goals${wanted.quick ? ' (quick run: smaller counts, one round, not meaningful)' : ''}`)
  if (goals.length === 0) console.log('   The measured parts have no goals.')
  else console.table(goals)
  console.log(`${path.relative(process.cwd(), file)} written. Load average now: ${loadavg()[0].toFixed(1)}.`)
  if (failed.length > 0) console.log(`NOT MEASURED, because they failed: ${failed.join(', ')}`)
  return failed.length === 0
}

/** The contestants that can run on this machine, and a message for each that can't. */
function present(names) {
  const wanted = CONTESTANTS.filter(({ name }) => names.includes(name))
  if (redisVersion() !== undefined) return { contestants: wanted, absent: [] }
  const without = wanted.filter(({ engine }) => engine === 'redis')
  return {
    contestants: wanted.filter(({ engine }) => engine !== 'redis'),
    absent: without.map(({ name }) => `${name}, because there is no redis-server on this machine`),
  }
}

async function measured(part, { results, absent, ...options }) {
  console.log(`\n── ${part.title}`)
  const loadAverage = loadavg()[0]
  const began = performance.now()
  const guard = leaveOnSignal()
  try {
    const stores = await openStores(part)
    guard.watch(stores)
    await results.notePostgres(stores.server)
    const { rows, tables, notes = [], ...facts } = await part.measure(createBench(stores, options))
    const seconds = Math.round((performance.now() - began) / 1_000)
    const all = [...notes, ...absent.map((line) => `Left out: ${line}.`)]
    results.add(part.name, { title: part.title, loadAverage, seconds, rows, tables, notes: all, ...facts })
    show(rows === undefined ? tables : { '': rows }, all)
    return 'measured'
  } catch (error) {
    if (guard.left) return 'interrupted'
    // Don't lose the results of the other parts because of this one.
    console.error(error)
    return 'failed'
  } finally {
    guard.release()
    await guard.stop()
  }
}

function show(tables, notes) {
  for (const [heading, rows] of Object.entries(tables)) {
    if (heading !== '') console.log(`   ${heading}`)
    console.table(rows)
  }
  for (const note of notes) console.log(`   ${note}`)
}

/** The context that is passed to a part. */
function createBench({ server, withStore }, { quick, rounds, contestants, node, profile }) {
  return {
    ...{ quick, rounds, contestants, node, profile, server, withStore },
    say: (line) => process.stdout.write(`   ${line}\n`),
    /** Runs a measurement of a contestant, an export of a file in measurements/, in a separate process. */
    call: ({ file: contestant, variant }, [file, name], options) =>
      inProcess({
        ...{ node, name, file: path.join(MEASUREMENTS, file) },
        options: { contestant: { file: contestant, variant }, ...options },
      }),
    /** The same for measurements without a contestant. */
    ask: (name, options, { file }) => inProcess({ node, name, options, file: path.join(MEASUREMENTS, file) }),
    analyze: (database) => server.analyze(database),
  }
}

/**
 * On Ctrl-C, ends the processes of contestants and stores; results written so far are kept. Installed before the stores
 * start, so that a starting store is not left behind.
 */
function leaveOnSignal() {
  let stores
  const stop = async () => stores?.stop()
  const leave = () => {
    guard.left = true
    process.exitCode = EXIT_INTERRUPTED
    endAll()
    endServers()
    void stop()
  }
  const guard = {
    left: false,
    stop,
    watch: (started) => {
      stores = started
      if (guard.left) throw new Error('told to end')
    },
    release: () => {
      for (const signal of SIGNALS) process.off(signal, leave)
    },
  }
  for (const signal of SIGNALS) process.on(signal, leave)
  return guard
}
