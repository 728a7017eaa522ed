// `npm run chaos -- virtual-day`: runs the pure core through a day of virtual time with a million occurrences.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { compileProgram } from './compile.mjs'

/** Answers with the exit code. */
export async function main(args) {
  const program = mkdtempSync(path.join(os.tmpdir(), 'escapement-virtual-day-'))
  process.on('exit', () => rmSync(program, { recursive: true, force: true }))
  compileProgram({ entries: ['test/simulation/virtual-day/main.ts'], into: program })
  const day = await import(pathToFileURL(path.join(program, 'test/simulation/virtual-day/main.js')).href)
  return day.main(args)
}
