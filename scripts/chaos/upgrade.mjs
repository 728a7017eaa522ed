// `npm run chaos -- upgrade`: runs nodes of an earlier build and of this one on one database, across migrations and under load.
// Compiles the program, which is written in TypeScript next to the tests, and both builds.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { compileProgram, ROOT } from './compile.mjs'
import { countMigrations, describeCommit, extract, unmetDependencies, whyMissing } from './history.mjs'

const NODE = 'test/chaos/node-process.ts'

/** The last commit whose tests know the folders and names of 0.1.0: what was released before is run by them. */
const TESTS_OF_0_1_0 = '83fa41fd3853b8fb3cf30f20ff2070f18d55f04d'

/** Answers with the exit code. */
export async function main(args) {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'escapement-upgrade-program-'))
  process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
  const program = path.join(scratch, 'new')
  compileProgram({ entries: ['test/chaos/upgrade/main.ts', NODE], into: program })
  const upgrade = await import(pathToFileURL(path.join(program, 'test/chaos/upgrade/main.js')).href)
  return upgrade.main(args, {
    whyMissing: (name) => whyMissing(ROOT, name),
    migrations: countMigrations(ROOT),
    describe: (name) => describeCommit(ROOT, name),
    build: (commit) => build(commit, scratch),
  })
}

/** Compiles the node of the tests with the sources of an earlier commit. */
function build(commit, scratch) {
  const sources = path.join(scratch, `${commit.slice(0, 12)}-sources`)
  const program = path.join(scratch, commit.slice(0, 12))
  extract(ROOT, commit, { directory: sources })
  const tests = existsSync(path.join(sources, 'src/domain')) ? ROOT : testsOfThen(scratch)
  const today = path.join(ROOT, 'node_modules')
  const unmet = unmetDependencies(sources, today)
  if (unmet.length > 0) install(sources, unmet)
  compileProgram({
    entries: [NODE],
    into: program,
    from: (file) => (file.startsWith('test/') ? tests : sources),
    modules: unmet.length > 0 ? path.join(sources, 'node_modules') : today,
  })
  return { entry: path.join(program, NODE.replace(/\.ts$/, '.js')), migrations: path.join(program, 'migrations') }
}

function testsOfThen(scratch) {
  const directory = path.join(scratch, 'tests-of-0.1.0')
  extract(ROOT, TESTS_OF_0_1_0, { directory, files: ['test/chaos', 'test/simulation', 'test/support'] })
  return directory
}

function install(directory, unmet) {
  process.stdout.write(`installing packages of the earlier build: ${unmet.join(', ')}\n`)
  const args = [
    'ci',
    '--omit=dev',
    '--omit=optional',
    // The manifest of the console is not extracted.
    '--workspaces=false',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
  ]
  const { status, stderr } = spawnSync('npm', args, { cwd: directory, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ci: ${stderr}`)
}
