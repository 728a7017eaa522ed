// `npm run lint`: oxlint, Prettier and the import rules. `npm run check`: the same, the compiler, and the fast tests.
// Every step runs even if an earlier one failed, so that one call shows all problems.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runScript } from './bootstrap/run-script.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
const tool = (name) => path.join(root, 'node_modules', name)
// Another step uses the second core.
const types = (project, ...more) => ({
  script: tool('typescript-7/bin/tsc'),
  args: ['--noEmit', '--singleThreaded', '-p', project, ...more],
})

// Two run at a time, so the longest come first.
const LINT = [
  { name: 'oxlint', script: tool('oxlint/bin/oxlint'), args: ['-c', 'oxlint.config.js'] },
  { name: 'prettier', script: tool('prettier/bin/prettier.cjs'), args: ['--check', '--log-level=warn', '.'] },
  {
    name: 'imports',
    script: tool('dependency-cruiser/bin/dependency-cruise.mjs'),
    args: ['--config', '.dependency-cruiser.cjs', 'src', 'test', 'ui'],
  },
]
const TYPES = [
  { name: 'types', ...types('tsconfig.json') },
  { name: 'types of the console', ...types('ui/tsconfig.json') },
  // Declarations can fail when everything else passes, and only a package needs them.
  {
    name: 'declarations',
    ...types('tsconfig.build.json', '--incremental', 'null', '--tsBuildInfoFile', 'null'),
  },
]
// They use both cores and print as they go.
const TESTS = [{ name: 'tests', script: path.join(root, 'scripts/test.mjs'), args: ['core', 'commands', 'docs'] }]

const STATIC = [...LINT.slice(0, 2), ...TYPES, ...LINT.slice(2)]
const WHAT = {
  all: { beside: STATIC, alone: TESTS },
  lint: { beside: LINT, alone: [] },
  static: { beside: STATIC, alone: [] },
}
const what = WHAT[process.argv[2] ?? 'all']

if (what === undefined) {
  process.stderr.write(`usage: check.mjs [${Object.keys(WHAT).join('|')}]\n`)
  process.exitCode = 2
} else {
  process.exitCode = await runAll(what)
}

async function runAll({ beside, alone }) {
  const logs = mkdtempSync(path.join(os.tmpdir(), 'escapement-check-'))
  const all = [...beside, ...alone]
  const ended = { failed: [], interrupted: false }
  process.stdout.write(`Checks: ${all.map(({ name }) => name).join(', ')}. Most print nothing until they end.\n`)
  try {
    const waiting = beside.map((step, index) => ({ ...step, log: path.join(logs, `${index}.log`) }))
    await Promise.all([runEach(waiting, ended), runEach(waiting, ended)])
    await runEach([...alone], ended)
  } finally {
    rmSync(logs, { recursive: true, force: true })
  }
  const { failed, interrupted } = ended
  if (!interrupted && failed.length === 0) process.stdout.write(`All ${all.length} steps passed.\n`)
  else process.stdout.write(`${interrupted ? 'Interrupted' : 'Failed'}: ${failed.join(', ')}. The errors are above.\n`)
  return failed.length > 0 || interrupted ? 1 : 0
}

/** Runs steps from the list until it is empty; with two callers, two steps run at a time. */
async function runEach(waiting, ended) {
  for (let step = waiting.shift(); step !== undefined && !ended.interrupted; step = waiting.shift()) {
    const started = performance.now()
    const { code, interrupted } = await run(step)
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'}  ${step.name}  ${seconds} s\n`)
    if (step.log !== undefined) process.stdout.write(code === 0 ? '' : readFileSync(step.log))
    if (code !== 0) ended.failed.push(step.name)
    ended.interrupted ||= interrupted
  }
}

/** The output of a step that runs next to another is printed as a whole when it has ended. */
async function run({ script, args, log }) {
  if (log === undefined) return runScript(script, args, { cwd: root })
  const output = openSync(log, 'w')
  try {
    return await runScript(script, args, { cwd: root, output })
  } finally {
    closeSync(output)
  }
}
