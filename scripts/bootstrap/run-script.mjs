import { spawn } from 'node:child_process'
import os from 'node:os'

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Runs a script in this terminal as if it had been started directly, forwards signals to it, and answers how it ended.
 * `interrupted` says that somebody asked us to end meanwhile: whoever has more to do must not go on with it. With a file
 * as `output` it prints there instead, and with a `priority` it and whatever it starts have that one. `env` is added to
 * the environment.
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
    // It has ended already.
  }
}

/**
 * Ctrl-C reaches every process of the terminal's foreground group by itself. Forwarding it too would make the child
 * believe that it was pressed twice, which programs that drain on the first one take as "at once".
 */
function terminalTellsChild(signal) {
  return signal === 'SIGINT' && process.stdin.isTTY === true
}
