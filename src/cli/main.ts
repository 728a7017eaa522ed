#!/usr/bin/env node
// Without handlers, SIGUSR1 opens Node's debugger and the other signals end the process. Handlers are installed before any
// import, because a signal may arrive while modules load.
process.on('SIGUSR1', () => undefined)

const isServer = process.argv[2] === 'serve'
const earlySignals: ('SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGUSR1')[] = []
let deliverNotification = (signal: (typeof earlySignals)[number]): void => void earlySignals.push(signal)
// Other commands end on these signals, which is the default.
if (isServer)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const)
    process.on(signal, () => deliverNotification(signal))

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of the output is gone (`… | head`, a closed terminal). A server keeps running.
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
const { systemNow } = await import('./output/times.ts')

process.exitCode = await runCli(process.argv.slice(2), {
  // Lazy: opening stdin makes a shared pipe non-blocking, which also breaks reads of the shell.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  now: systemNow,
  signals: {
    listen: (listener) => {
      deliverNotification = listener
      for (const signal of earlySignals.splice(0)) listener(signal)
    },
  },
})
// Ends the process although timers or sockets may still be open.
if (isServer) process.exit()
