#!/usr/bin/env node
// Without a handler Node opens its debugger on SIGUSR1. Nothing is imported before it is installed: imports are loaded
// ahead of the first line, and that is long enough for a signal to arrive.
process.on('SIGUSR1', () => undefined)

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever read our output has seen enough, as in `… | head`.
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const { runCli } = await import('./program.ts')
const { systemNow } = await import('./clock.ts')

process.exitCode = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  now: systemNow,
})
