// `npm test [-- step …] [vitest arguments]`: runs the suites in named steps and ends with `N passed, N failed`.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeCounts, NOTHING, total } from './test/counts.mjs'
import { runStep } from './test/run-step.mjs'
import { STEPS } from './test/steps.mjs'

// Without a handler Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
const { names, vitestArgs } = readArguments(process.argv.slice(2))
const unknown = names.find((name) => !STEPS.some((step) => step.name === name))

if (unknown === undefined) {
  process.exitCode = await runSteps(STEPS.filter((step) => names.length === 0 || names.includes(step.name)))
} else {
  process.stderr.write(`There is no test step "${unknown}" (allowed: ${STEPS.map((step) => step.name).join(', ')})\n`)
  process.exitCode = 2
}

/** Leading words name steps; from the first thing that looks like an option or a path on, it is for vitest. */
function readArguments(args) {
  const end = args.findIndex((argument) => argument.startsWith('-') || /[./]/.test(argument))
  return end === -1 ? { names: args, vitestArgs: [] } : { names: args.slice(0, end), vitestArgs: args.slice(end) }
}

async function runSteps(steps) {
  const results = []
  for (const step of steps) {
    process.stdout.write(`\n== ${step.name}: ${step.folders.join(' ')}\n`)
    const result = await runStep(root, { ...step, vitestArgs })
    results.push({ step, ...result })
    if (result.interrupted) break
  }
  process.stdout.write('\n')
  for (const { step, counts, seconds, troubles } of results) {
    process.stdout.write(`${step.name.padEnd(12)}${describeCounts(counts)} in ${seconds.toFixed(1)} s\n`)
    for (const trouble of troubles) process.stdout.write(`  ${trouble}\n`)
  }
  for (const line of budgets(results)) process.stdout.write(`${line}\n`)
  const sum = results.reduce((counts, result) => total(counts, result.counts), NOTHING)
  const empty = sum.passed + sum.failed === 0
  if (empty) process.stdout.write('No test ran.\n')
  process.stdout.write(`${describeCounts(sum)}\n`)
  return sum.failed > 0 || empty || results.some((result) => result.interrupted) ? 1 : 0
}

function budgets(results) {
  const spent = new Map()
  for (const { step, seconds } of results) {
    const { name, seconds: allowed } = step.budget
    spent.set(name, { allowed, seconds: (spent.get(name)?.seconds ?? 0) + seconds })
  }
  return [...spent].map(
    ([name, { allowed, seconds }]) =>
      `budget      ${name}: ${seconds.toFixed(1)} s of ${allowed} s${seconds > allowed ? ' - OVER BUDGET' : ''}`,
  )
}
