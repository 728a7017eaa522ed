// `npm run chaos -- hostile`: two nodes and two orgs; a member of one org attacks the other.
// The program is written in TypeScript next to the tests.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { compileProgram } from './compile.mjs'

const ENTRIES = ['test/chaos/hostile/main.ts', 'test/chaos/hostile/attacker-process.ts', 'src/cli/main.ts']

/** Answers with the exit code. */
export async function main(args) {
  const program = mkdtempSync(path.join(os.tmpdir(), 'escapement-hostile-program-'))
  process.on('exit', () => rmSync(program, { recursive: true, force: true }))
  compileProgram({ entries: ENTRIES, into: program })
  const hostile = await import(pathToFileURL(path.join(program, 'test/chaos/hostile/main.js')).href)
  return hostile.main(args)
}
