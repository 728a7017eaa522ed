// `npm run chaos -- upgrade`: nodes of an earlier build and of this one on one database, across migrations and under load.
// The program is written in TypeScript beside the tests; this compiles it, and the builds it compares.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { compileProgram, ROOT } from './compile.mjs'
import { countMigrations, describeCommit, extract, unmetDependencies, whyMissing } from './history.mjs'

const NODE = 'test/chaos/node-process.ts'

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

/** Compiles today's node of the tests with the sources of then. */
function build(commit, scratch) {
  const sources = path.join(scratch, `${commit.slice(0, 12)}-sources`)
  const program = path.join(scratch, commit.slice(0, 12))
  extract(ROOT, commit, sources)
  const today = path.join(ROOT, 'node_modules')
  const unmet = unmetDependencies(sources, today)
  if (unmet.length > 0) install(sources, unmet)
  compileProgram({
    entries: [NODE],
    into: program,
    from: (file) => (file.startsWith('test/') ? ROOT : sources),
    modules: unmet.length > 0 ? path.join(sources, 'node_modules') : today,
  })
  return { entry: path.join(program, NODE.replace(/\.ts$/, '.js')), migrations: path.join(program, 'migrations') }
}

function install(directory, unmet) {
  process.stdout.write(`installing the packages of then: ${unmet.join(', ')}\n`)
  const args = [
    'ci',
    '--omit=dev',
    '--omit=optional',
    // The packages of the console; its manifest is not among what is extracted.
    '--workspaces=false',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
  ]
  const { status, stderr } = spawnSync('npm', args, { cwd: directory, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ci: ${stderr}`)
}
