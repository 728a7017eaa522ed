import { spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import type { WorkerHandler } from '../client/worker/handler.ts'

/** More output than this is a failure, as it is everywhere. */
const MOST_BYTES = 1_048_576
const MOST_COMPLAINT = 8_192
/** Who was asked to end and has not by then is killed. */
const KILL_AFTER_MS = 2_000

/**
 * A program that does the work of an agent: it reads the attempt as JSON from its input, and what it writes is the
 * output, as JSON if it is. It has the environment of the worker: this is the machine of whoever started that.
 */
export const programHandler =
  (program: string, args: readonly string[]): WorkerHandler =>
  (attempt, { signal, progress }) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, [...args], { stdio: ['pipe', 'pipe', 'pipe'], detached: true })
      const kill = (by: 'SIGTERM' | 'SIGKILL'): void => {
        try {
          if (child.pid !== undefined) process.kill(-child.pid, by)
        } catch {
          // It has ended already.
        }
      }
      let late: NodeJS.Timeout | undefined
      const stop = (): void => {
        kill('SIGTERM')
        late = setTimeout(() => {
          kill('SIGKILL')
        }, KILL_AFTER_MS)
      }
      signal.addEventListener('abort', stop, { once: true })
      const said = listen(child, progress, () => {
        kill('SIGKILL')
      })
      child.stdin.on('error', () => undefined)
      child.stdin.end(`${JSON.stringify(attempt)}\n`)
      child.once('error', (error) => {
        reject(failed(`${program} could not be started: ${error.message}`, false))
      })
      child.once('close', (code, by) => {
        clearTimeout(late)
        signal.removeEventListener('abort', stop)
        const how = code === null ? `was ended by ${by ?? 'a signal'}` : `ended with exit code ${code}`
        if (said.isTooLarge())
          reject(failed(`${program} has written more than ${MOST_BYTES} bytes`, false, 'answer_too_large'))
        else if (code === 0) resolve(valueOf(said.output()))
        else reject(failed(`${program} ${how}${said.complaint() === '' ? '' : `: ${said.complaint()}`}`))
      })
    })

const failed = (message: string, retryable = true, code = 'command_failed'): Error =>
  Object.assign(new Error(message), { code, retryable })

function listen(
  child: { readonly stdout: NodeJS.ReadableStream; readonly stderr: NodeJS.ReadableStream },
  progress: (text: string) => void,
  overflow: () => void,
): { readonly output: () => string; readonly complaint: () => string; readonly isTooLarge: () => boolean } {
  const pieces: Buffer[] = []
  let bytes = 0
  let complaint = ''
  const decoder = new StringDecoder('utf8')
  child.stdout.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > MOST_BYTES) {
      overflow()
      return
    }
    pieces.push(piece)
    const text = decoder.write(piece)
    if (text !== '') progress(text)
  })
  child.stderr.on('data', (piece: Buffer) => {
    complaint = (complaint + piece.toString('utf8')).slice(-MOST_COMPLAINT)
  })
  return {
    output: () => Buffer.concat(pieces).toString('utf8'),
    complaint: () => complaint.trim(),
    isTooLarge: () => bytes > MOST_BYTES,
  }
}

/** What it wrote, as what it looks like. */
function valueOf(text: string): unknown {
  if (text.trim() === '') return null
  if (/^\s*[[{]/.test(text))
    try {
      return JSON.parse(text) as unknown
    } catch {
      // It only looks like it.
    }
  return text.replace(/\r?\n$/, '')
}
