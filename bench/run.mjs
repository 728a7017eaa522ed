// `npm run bench [-- name … --option …]`: runs the benchmarks of this folder one after another, each in a process of its
// own, so that none inherits the other's heap or compiled code. A benchmark is a file that exports `run(options)`; what it
// returns is printed after what it printed itself.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runScript } from '../scripts/bootstrap/run-script.mjs'

const here = path.dirname(fileURLToPath(import.meta.url))
const self = fileURLToPath(import.meta.url)
/** Those that take long run only when they are named. */
const LONG = { engine: 'engine/bench.mjs', http: 'http/bench.mjs', console: 'console/bench.mjs' }
const [flag, ...rest] = process.argv.slice(2)

if (flag === '--one') {
  const [name, ...options] = rest
  const { run } = await import(pathToFileURL(path.join(here, LONG[name] ?? `${name}.mjs`)).href)
  show(await run(options))
} else {
  const args = flag === undefined ? [] : [flag, ...rest]
  const option = args.findIndex((arg) => arg.startsWith('--'))
  const named = option < 0 ? args.length : option
  process.exitCode = await runAll(args.slice(0, named), args.slice(named))
}

async function runAll(wanted, options) {
  const short = readdirSync(here)
    .filter((file) => file.endsWith('.mjs') && file !== path.basename(self))
    .map((file) => path.basename(file, '.mjs'))
    .sort()
  const known = [...short, ...Object.keys(LONG)]
  const unknown = wanted.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    process.stderr.write(`There is no benchmark "${unknown}" (allowed: ${known.join(', ')})\n`)
    return 2
  }
  const failed = []
  for (const name of wanted.length === 0 ? short : wanted) {
    process.stdout.write(`\n== ${name}\n`)
    const { code, interrupted } = await runScript(self, ['--one', name, ...options], { nodeArgs: ['--expose-gc'] })
    if (code !== 0) failed.push(name)
    if (interrupted) break
  }
  if (failed.length > 0) process.stdout.write(`\nFailed: ${failed.join(', ')}\n`)
  return failed.length > 0 ? 1 : 0
}

/** Text as it is, a list of rows as a table, anything else as JSON. A result with `ok: false` fails the command. */
function show(result) {
  if (result === undefined || result === null) return
  if (typeof result === 'string') process.stdout.write(`${result}\n`)
  else if (Array.isArray(result)) console.table(result)
  else process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  const rows = Array.isArray(result) ? result : [result]
  if (rows.some((row) => row?.ok === false)) process.exitCode = 1
}
