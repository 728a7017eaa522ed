// `npm run lint`: ESLint, Prettier, the import table. `npm run check`: the compiler, the same, and the fast tests.
// Every step runs even if an earlier one failed, so that one call shows everything there is to mend.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runScript } from './bootstrap/run-script.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
const tool = (name) => path.join(root, 'node_modules', name)

const LINT = [
  {
    name: 'eslint',
    script: tool('eslint/bin/eslint.js'),
    args: ['.', '--max-warnings=0'],
    nodeArgs: ['--max-old-space-size=8192'], // the types of the whole checkout do not fit into 4 GB
  },
  { name: 'prettier', script: tool('prettier/bin/prettier.cjs'), args: ['--check', '--log-level=warn', '.'] },
  {
    name: 'imports',
    script: tool('dependency-cruiser/bin/dependency-cruise.mjs'),
    args: ['--config', '.dependency-cruiser.cjs', 'src', 'test', 'ui'],
  },
]
const TYPES = [
  { name: 'types', script: tool('typescript/bin/tsc'), args: ['--noEmit', '-p', 'tsconfig.json'] },
  { name: 'types of the console', script: tool('typescript/bin/tsc'), args: ['--noEmit', '-p', 'ui/tsconfig.json'] },
]
const TESTS = [{ name: 'tests', script: path.join(root, 'scripts/test.mjs'), args: ['core', 'docs'] }]

const WHAT = { all: [...TYPES, ...LINT, ...TESTS], lint: LINT, static: [...TYPES, ...LINT] }
const steps = WHAT[process.argv[2] ?? 'all']

if (steps === undefined) {
  process.stderr.write(`usage: check.mjs [${Object.keys(WHAT).join('|')}]\n`)
  process.exitCode = 2
} else {
  process.exitCode = await runAll(steps)
}

async function runAll(all) {
  const failed = []
  const titles = all.map(({ name }) => name).join(', ')
  process.stdout.write(`Checks: ${titles}. Most of them say nothing until they are done.\n`)
  for (const { name, script, args, nodeArgs } of all) {
    const started = performance.now()
    const { code, interrupted } = await runScript(script, args, { cwd: root, nodeArgs })
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'}  ${name}  ${seconds} s\n`)
    if (code !== 0) failed.push(name)
    if (interrupted) {
      process.stdout.write(`Interrupted in ${name}.\n`)
      return 1
    }
  }
  process.stdout.write(
    failed.length === 0
      ? `All ${all.length} steps passed.\n`
      : `Failed: ${failed.join(', ')}. What to mend is said above.\n`,
  )
  return failed.length > 0 ? 1 : 0
}
