// Every measurement runs in a separate process, so that no contestant inherits the heap or compiled code of another.
import { fork } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ENTRY = path.join(path.dirname(fileURLToPath(import.meta.url)), 'contestant.mjs')
const alive = new Set()
let isOver = false

/** When the benchmark is told to end: ends all processes and starts no more. */
export function endAll() {
  isOver = true
  for (const child of alive) child.kill('SIGKILL')
}

/**
 * Calls `export` of the module `file` with `options` in a new process and returns its result. `node`: path of the Node
 * executable.
 */
export function inProcess({ node, file, name, options, timeoutMs = 900_000 }) {
  if (isOver) return Promise.reject(new Error('told to end'))
  const child = fork(ENTRY, [file, name], {
    execPath: node,
    execArgv: ['--no-warnings', '--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  alive.add(child)
  child.send(options)
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      reject(new Error(`${path.basename(file)} ${name}: no answer after ${timeoutMs / 1000} s`))
      child.kill('SIGKILL')
    }, timeoutMs)
    let answer
    child.on('message', (message) => {
      answer = message
    })
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      alive.delete(child)
      clearTimeout(late)
      if (answer !== undefined && 'value' in answer) resolve(answer.value)
      else reject(new Error(`${path.basename(file)} ${name}: ${answer?.error ?? `ended with ${signal ?? code}`}`))
    })
  })
}
