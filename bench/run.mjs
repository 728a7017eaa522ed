// `npm run bench [-- part … | name] [options]`: compares Escapement with its peers; with a name, runs one of the benchmarks of
// Escapement alone, in a separate process. `npm run bench -- --help` shows help.
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runScript } from '../scripts/bootstrap/run-script.mjs'
import { readArguments, usage, UsageError } from './engine/arguments.mjs'
import { CONTESTANTS } from './engine/contestants.mjs'
import { PART_NAMES } from './engine/parts.mjs'

const self = fileURLToPath(import.meta.url)
const here = path.dirname(self)
/** Benchmarks of Escapement alone: each exports `run(args)`, whose result is printed after its own output. */
const ALONE = {
  http: 'http/bench.mjs',
  console: 'console/bench.mjs',
  memory: 'memory.mjs',
  start: 'start.mjs',
  statements: 'engine/statements.mjs',
  pairs: 'engine/pairs.mjs',
}
const NAMES = {
  parts: PART_NAMES,
  contestants: CONTESTANTS.map(({ name }) => name),
  others: Object.keys(ALONE),
}
const EXIT_USAGE = 2

const [flag, ...rest] = process.argv.slice(2)
if (flag === '--inside') await inside(rest)
else process.exitCode = await main(process.argv.slice(2))

async function main(args) {
  try {
    const wanted = readArguments(args, NAMES)
    if (wanted.kind === 'help') process.stdout.write(usage(NAMES))
    return wanted.kind === 'help' ? 0 : await start(wanted)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n\n${usage(NAMES)}`)
    return EXIT_USAGE
  }
}

async function start(wanted) {
  if (wanted.kind === 'report') return shown(await loaded('report/report.mjs', []))
  if (wanted.kind === 'other') return alone(wanted)
  const { compare } = await import('./engine/bench.mjs')
  const isComplete = await compare(wanted)
  return process.exitCode ?? (isComplete ? 0 : 1)
}

/** Runs a benchmark in a separate process, so that this one doesn't affect it. */
async function alone({ name, args }) {
  const { code } = await runScript(self, ['--inside', name, ...args], { nodeArgs: ['--expose-gc'] })
  return code
}

async function inside([name, ...args]) {
  try {
    process.exitCode = shown(await loaded(ALONE[name], args))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = EXIT_USAGE
  }
}

async function loaded(file, args) {
  const { run } = await import(pathToFileURL(path.join(here, file)).href)
  return run(args)
}

/** Prints text as it is, a list of rows as a table, and anything else as JSON. A result with `ok: false` fails the command. */
function shown(result) {
  if (result === undefined || result === null) return 0
  if (typeof result === 'string') process.stdout.write(`${result}\n`)
  else if (Array.isArray(result)) console.table(result)
  else process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  const rows = Array.isArray(result) ? result : [result]
  return rows.some((row) => row?.ok === false) ? 1 : 0
}
