// `npm test [-- step …] [vitest arguments]`: runs the suites in named steps and ends with `N passed, N failed`.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeCounts, NOTHING, total } from './test/counts.mjs'
import { runStep } from './test/run-step.mjs'
import { runSteps } from './test/run-steps.mjs'
import { STEPS, WHOLE } from './test/steps.mjs'

// Without a handler Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
const { names, vitestArgs } = readArguments(process.argv.slice(2))
const WIDTH = 2 + Math.max(...STEPS.map(({ name }) => name.length))
const unknown = names.find((name) => !STEPS.some((step) => step.name === name))

if (unknown === undefined) {
  process.exitCode = await test(STEPS.filter((step) => names.length === 0 || names.includes(step.name)))
} else {
  process.stderr.write(`There is no test step "${unknown}" (allowed: ${STEPS.map((step) => step.name).join(', ')})\n`)
  process.exitCode = 2
}

/** Leading words name steps; from the first thing that looks like an option or a path on, it is for vitest. */
function readArguments(args) {
  const end = args.findIndex((argument) => argument.startsWith('-') || /[./]/.test(argument))
  return end === -1 ? { names: args, vitestArgs: [] } : { names: args.slice(0, end), vitestArgs: args.slice(end) }
}

async function test(steps) {
  const started = performance.now()
  // Each step is a process of its own, and most load the same sources: what one has compiled the others need not.
  const compiled = mkdtempSync(path.join(os.tmpdir(), 'escapement-test-compiled-'))
  process.env['ESCAPEMENT_TEST_COMPILED'] = compiled
  const results = await runSteps(steps, {
    run: (step, isBeside) => runStep(root, { ...step, vitestArgs, isBeside }),
    print: (text) => process.stdout.write(text),
    // On one server for all they would take each other's template away.
    apart: (process.env['ESCAPEMENT_TEST_DATABASE_URL'] ?? '') !== '',
  }).finally(() => rmSync(compiled, { recursive: true, force: true }))
  const seconds = (performance.now() - started) / 1000
  process.stdout.write('\n')
  for (const { step, counts, seconds: spent, troubles, failures, budget } of results) {
    const beside = budget === step.budget ? '' : ', beside other steps'
    process.stdout.write(`${step.name.padEnd(WIDTH)}${describeCounts(counts)} in ${spent.toFixed(1)} s${beside}\n`)
    for (const line of [...troubles, ...failures])
      process.stdout.write(`  failed: ${line.replace(`${root}${path.sep}`, '')}\n`)
  }
  const whole = results.length === STEPS.length ? [{ budget: WHOLE, seconds }] : []
  for (const line of budgets([...results, ...whole])) process.stdout.write(`${line}\n`)
  const sum = results.reduce((counts, result) => total(counts, result.counts), NOTHING)
  const empty = sum.passed + sum.failed === 0
  if (empty) process.stdout.write('No test ran.\n')
  process.stdout.write(`${describeCounts(sum)}\n`)
  return sum.failed > 0 || empty || results.some((result) => result.interrupted) ? 1 : 0
}

function budgets(results) {
  const spent = new Map()
  for (const { budget, seconds } of results) {
    const { name, seconds: allowed } = budget
    spent.set(name, { allowed, seconds: (spent.get(name)?.seconds ?? 0) + seconds })
  }
  return [...spent].map(
    ([name, { allowed, seconds }]) =>
      `${'budget'.padEnd(WIDTH)}${name}: ${seconds.toFixed(1)} s of ${allowed} s${seconds > allowed ? ' - OVER BUDGET' : ''}`,
  )
}
