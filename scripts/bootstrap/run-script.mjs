import { spawn } from 'node:child_process'
import os from 'node:os'

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Runs a script in this terminal as if it had been started directly, forwards signals to it, and returns how it ended.
 * `interrupted` is true if this process was asked to end meanwhile; callers must not start more work then. With `output`,
 * a file descriptor, the script prints there; `priority` applies to the script and its children. `env` is added to the
 * environment.
 */
export async function runScript(script, args, { cwd, nodeArgs = [], output, priority, env = {} } = {}) {
  const stdio = output === undefined ? 'inherit' : ['ignore', output, output]
  const child = spawn(process.execPath, [...nodeArgs, script, ...args], { cwd, stdio, env: { ...process.env, ...env } })
  if (priority !== undefined) setPriority(child, priority)
  let interrupted = false
  const handlers = FORWARDED.map((signal) => {
    const handler = () => {
      interrupted ||= ENDING.includes(signal)
      if (!terminalTellsChild(signal)) child.kill(signal)
    }
    process.on(signal, handler)
    return [signal, handler]
  })
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve({ code: code ?? 1, signal, interrupted }))
    })
  } finally {
    for (const [signal, handler] of handlers) process.off(signal, handler)
  }
}

function setPriority({ pid }, priority) {
  try {
    if (pid !== undefined) os.setPriority(pid, priority)
  } catch {
    // It has already ended.
  }
}

/**
 * Ctrl-C reaches every process of the terminal's foreground group. If it were also forwarded, the child would receive it
 * twice, and programs that drain on the first signal would stop at once.
 */
function terminalTellsChild(signal) {
  return signal === 'SIGINT' && process.stdin.isTTY === true
}
