import { spawn } from 'node:child_process'

const FRAMES = ['-', '\\', '|', '/']
const FRAME_MS = 120
const LINE_MS = 5_000

/**
 * Runs a command whose output only matters if it fails, and shows the elapsed time: a spinner on a terminal, otherwise a
 * line every few seconds. A signal to this process ends the command and is returned as its result.
 */
export async function runQuietly(title, { command, args, cwd }) {
  const progress = startProgress(title)
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks = []
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  child.stderr.on('data', (chunk) => chunks.push(chunk))
  const stopped = stopOnSignal(child)
  const ending = await new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: 127, trouble: `${command}: ${error.message}\n` }))
    child.once('close', (code, signal) => resolve({ code: code ?? 1, signal: signal ?? undefined }))
  })
  const signal = stopped.release()
  progress.end(ending.code === 0 ? 'done' : 'failed')
  const output = Buffer.concat(chunks).toString('utf8') + (ending.trouble ?? '')
  return {
    code: ending.code,
    signal,
    output: ending.signal && !signal ? `${output}killed by ${ending.signal}\n` : output,
  }
}

function stopOnSignal(child) {
  let received
  const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => {
    const handler = () => {
      received = signal
      child.kill(signal)
    }
    process.on(signal, handler)
    return [signal, handler]
  })
  return {
    release: () => {
      for (const [signal, handler] of handlers) process.off(signal, handler)
      return received
    },
  }
}

function startProgress(title) {
  const started = performance.now()
  const elapsed = () => `${((performance.now() - started) / 1000).toFixed(1)} s`
  const live = process.stderr.isTTY === true
  let frame = 0
  const show = () => {
    if (live) process.stderr.write(`\r${FRAMES[frame++ % FRAMES.length]} ${title} … ${elapsed()} `)
    else process.stderr.write(`${title} … ${elapsed()}\n`)
  }
  const timer = setInterval(show, live ? FRAME_MS : LINE_MS)
  return {
    end: (word) => {
      clearInterval(timer)
      process.stderr.write(`${live ? '\r' : ''}${title}: ${word} after ${elapsed()}${live ? '   ' : ''}\n`)
    },
  }
}
