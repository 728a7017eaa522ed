// `npm run chaos -- faults`: runs nodes with their own server under load and faults, then audits the result.
// The program is written in TypeScript next to the tests.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { compileProgram } from './compile.mjs'

const ENTRIES = ['test/chaos/main.ts', 'test/chaos/node-process.ts']

/** Answers with the exit code. */
export async function main(args) {
  const program = mkdtempSync(path.join(os.tmpdir(), 'escapement-chaos-program-'))
  process.on('exit', () => rmSync(program, { recursive: true, force: true }))
  compileProgram({ entries: ENTRIES, into: program })
  const faults = await import(pathToFileURL(path.join(program, 'test/chaos/main.js')).href)
  return faults.main(args)
}
