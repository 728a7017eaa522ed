// `npm run agree [-- --seeds N --from K]`: compares simulations of random histories with their real execution.
// The program is written in TypeScript next to the tests.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { compileProgram } from './chaos/compile.mjs'

// Without a handler, Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

const ENTRIES = ['test/agreement/main.ts', 'test/agreement/thread.ts']

const program = mkdtempSync(path.join(os.tmpdir(), 'escapement-agreement-program-'))
process.on('exit', () => rmSync(program, { recursive: true, force: true }))
compileProgram({ entries: ENTRIES, into: program })
const { main } = await import(pathToFileURL(path.join(program, 'test/agreement/main.js')).href)
process.exit(await main(process.argv.slice(2)))
