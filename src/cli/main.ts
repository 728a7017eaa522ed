#!/usr/bin/env node
// Without a handler Node opens its debugger on SIGUSR1, and the others end the process. Nothing is imported before they
// are installed: imports are loaded ahead of the first line, and that is long enough for a signal to arrive.
process.on('SIGUSR1', () => undefined)

const isServer = process.argv[2] === 'serve'
const early: ('SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGUSR1')[] = []
let hear = (signal: (typeof early)[number]): void => void early.push(signal)
// Every other command is ended by them, as anybody would expect.
if (isServer)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const) process.on(signal, () => hear(signal))

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever read our output has seen enough, as in `… | head`, or has closed the terminal. A server has more to do.
  if ((error.code === 'EPIPE' || error.code === 'EIO') && isServer) return
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

if (isServer) {
  const { readOpenFileLimit, tooFewOpenFiles } = await import('./open-files.ts')
  const refusal = tooFewOpenFiles(readOpenFileLimit())
  if (refusal !== null) {
    process.stderr.write(`${refusal}\n`)
    process.exit(1)
  }
}

const { runCli } = await import('./program.ts')
const { systemNow } = await import('./clock.ts')

process.exitCode = await runCli(process.argv.slice(2), {
  // Looked at only by who reads it: looking makes a pipe answer "try again", also to the shell that shares it with us.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  now: systemNow,
  signals: {
    listen: (listener) => {
      hear = listener
      for (const signal of early.splice(0)) listener(signal)
    },
  },
})
// A server is over when it says so, whatever else would keep the process.
if (isServer) process.exit()
