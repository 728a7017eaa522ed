// `npm test [-- step … | file … | all | rest] [vitest options]`: runs the test suites in named steps and ends with
// `N passed, N failed`. Without arguments it runs the first circle, `npm run test:all` both; see steps.mjs.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeCounts, NOTHING, total } from './test/counts.mjs'
import { endedChildrenSeconds } from './test/cpu.mjs'
import { createDisplay, duration } from './test/display.mjs'
import { LOGS, runStep } from './test/run-step.mjs'
import { runSteps } from './test/run-steps.mjs'
import { NAMES, select } from './test/select.mjs'
import { BUDGETS, STEPS } from './test/steps.mjs'

// Without a handler, Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
const WIDTH = 2 + Math.max(...STEPS.map(({ name }) => name.length))
/** CPU time that has already been printed in the line of a step. */
let counted = 0
const selected = select(process.argv.slice(2), root)

if (selected.unknown === undefined) {
  process.exitCode = await test(selected)
} else {
  process.stderr.write(
    `There is no test step or test file "${selected.unknown}" (steps: ${NAMES.join(', ')}; files: by a part of their path)\n`,
  )
  process.exitCode = 2
}

async function test({ steps, vitestArgs, circle }) {
  const started = performance.now()
  // Most steps load the same sources, so they share a cache of compiled modules.
  const compiled = mkdtempSync(path.join(os.tmpdir(), 'escapement-test-compiled-'))
  process.env['ESCAPEMENT_TEST_COMPILED'] = compiled
  // A single step prints the output of vitest.
  const display = steps.length > 1 ? createDisplay({ width: WIDTH }) : undefined
  const results = await runSteps(steps, {
    run: (step, isBeside) => runStep(root, { ...{ step, vitestArgs, isBeside, display }, summarize: summarizer(step) }),
    // On a shared server, steps would drop each other's template database.
    apart: (process.env['ESCAPEMENT_TEST_DATABASE_URL'] ?? '') !== '',
  }).finally(() => rmSync(compiled, { recursive: true, force: true }))
  const spent = { clock: (performance.now() - started) / 1000, cpu: endedChildrenSeconds() }
  process.stdout.write(`\n${display === undefined ? '' : `The complete output is in ${LOGS}.\n`}`)
  for (const { step, troubles, failures } of results)
    for (const line of [...troubles, ...failures])
      process.stdout.write(`  failed: ${step.name}: ${line.replace(`${root}${path.sep}`, '')}\n`)
  const isOver = circle !== undefined && printBudget(circle, spent)
  return conclude(results, isOver)
}

/** The last line of a step. Its CPU time is what has been added since the last step ended. */
function summarizer({ name }) {
  return ({ counts, seconds }) => {
    const cpu = endedChildrenSeconds()
    const own = cpu === undefined ? '' : `, ${(cpu - counted).toFixed(1)} s of CPU time`
    counted = cpu ?? 0
    return `${name.padEnd(WIDTH)}${describeCounts(counts)} in ${seconds.toFixed(1)} s${own}\n`
  }
}

/** Prints the time of a circle, and returns whether it exceeds its limit of CPU time. */
function printBudget(circle, { clock, cpu }) {
  const { first, all } = BUDGETS
  const allowed = circle === 'rest' ? { cpu: all.cpu - first.cpu, clock: all.clock - first.clock } : BUDGETS[circle]
  const isOver = cpu !== undefined && cpu > allowed.cpu
  process.stdout.write(`time: ${duration(clock)} (${duration(allowed.clock)} on two idle cores)\n`)
  if (cpu === undefined) process.stdout.write('CPU time: not available on this system\n')
  else process.stdout.write(`CPU time: ${cpu.toFixed(0)} s of ${allowed.cpu} s\n`)
  if (isOver) process.stdout.write(`  failed: CPU time: ${cpu.toFixed(0)} s, more than ${allowed.cpu} s\n`)
  return isOver
}

function conclude(results, isOver) {
  const sum = results.reduce((counts, result) => total(counts, result.counts), {
    ...NOTHING,
    failed: isOver ? 1 : 0,
  })
  const isEmpty = sum.passed + sum.failed === 0
  if (isEmpty) process.stdout.write('No test ran.\n')
  process.stdout.write(`${describeCounts(sum)}\n`)
  return sum.failed > 0 || isEmpty || results.some((result) => result.interrupted) ? 1 : 0
}
