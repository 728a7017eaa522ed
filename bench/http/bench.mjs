// `npm run bench -- http [--quick] [--only messages,schedules,tasks,runs,sse] [--runs n] [--profile <folder>]`: the HTTP
// API of `escapement serve`. Prints a table per part and writes bench/results/http.json.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { endAll, inProcess } from '../engine/processes.mjs'
import { goalsOf } from './goals.mjs'
import * as messages from './parts/messages.mjs'
import * as runs from './parts/runs.mjs'
import * as schedules from './parts/schedules.mjs'
import * as sse from './parts/sse.mjs'
import * as tasks from './parts/tasks.mjs'
import { endServers } from './served.mjs'

const HERE = path.dirname(fileURLToPath(import.meta.url))
const RESULTS = path.join(HERE, '../results')
const LOAD = path.join(HERE, 'load.mjs')
const PARTS = { messages, schedules, tasks, runs, sse }

export async function run(args = []) {
  const options = parse(args)
  const results = { when: new Date().toISOString(), machine: machine(), quick: options.quick, parts: {} }
  const leave = leaveOnSignal()
  const failed = []
  for (const [name, part] of options.parts) {
    console.log(`\n── ${part.title}`)
    try {
      const { rows, ...facts } = await part.measure(createBench(options))
      results.parts[name] = { title: part.title, loadAverage: loadavg()[0], rows, ...facts }
      console.table(rows)
    } catch (error) {
      // Don't lose the results of the other parts because of this one.
      failed.push(name)
      console.error(error)
    }
    save(results)
  }
  leave()
  results.goals = goalsOf(results.parts)
  save(results)
  console.log(`\n── Goals${options.quick ? ' (a quick run: smaller counts, no repetitions)' : ''}`)
  console.table(results.goals)
  if (failed.length > 0) throw new Error(`not measured: ${failed.join(', ')}`)
  return `bench/results/http.json written. Load average now: ${loadavg()[0].toFixed(1)} on ${cpus().length} cores.`
}

function parse(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: Object.keys(PARTS).join(',') },
      runs: { type: 'string', default: '1000000' },
      profile: { type: 'string' },
    },
  })
  const parts = values.only.split(',').map((name) => [name, PARTS[name]])
  const unknown = parts.find(([, part]) => part === undefined)
  if (unknown !== undefined)
    throw new Error(`There is no part "${unknown[0]}" (allowed: ${Object.keys(PARTS).join(', ')})`)
  return { quick: values.quick, runs: Number(values.runs), parts, profile: values.profile }
}

/** The context that is passed to a part. */
const createBench = ({ quick, runs: count, profile }) => ({
  quick,
  runs: count,
  say: (line) => process.stdout.write(`   ${line}\n`),
  /** Calls an export of load.mjs in a separate process. */
  load: (name, options) => inProcess({ node: process.execPath, file: LOAD, name, options }),
  /** Node arguments for a CPU profile, if one is requested. */
  profileArgs: (name) =>
    profile === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(profile)}`, `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`],
})

function leaveOnSignal() {
  const leave = () => {
    endAll()
    endServers()
    process.exitCode = 1
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, leave)
  return () => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, leave)
  }
}

const machine = () => ({
  processor: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  platform: `${process.platform}-${process.arch}`,
  node: process.version,
})

/** The folder contains its own .gitignore, because figures of one machine don't belong in the repository. */
function save(results) {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(path.join(RESULTS, '.gitignore'), '*\n')
  writeFileSync(path.join(RESULTS, 'http.json'), `${JSON.stringify(results, null, 2)}\n`)
}
