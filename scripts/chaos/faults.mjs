// `npm run chaos -- faults`: nodes and a server of their own, under load and faults, then an audit.
// The program is written in TypeScript beside the tests.
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
