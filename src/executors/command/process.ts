import { type ChildProcess, spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import { createLines } from '../../domain/run/log-entry.ts'

/**
 * The unprivileged user for programs when this process is root. Not `nobody`, which owns the files of the embedded
 * database then.
 */
const UNPRIVILEGED = { uid: 65_533, gid: 65_533 }

/** The user that programs run as; null: the user of this process, which is not root. */
export const unprivilegedAccount = (): { readonly uid: number; readonly gid: number } | null =>
  process.getuid?.() === 0 ? UNPRIVILEGED : null

/** A program to start, with everything it receives. */
export interface ProcessRequest {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  /** The user to run as; null: the user of this process. */
  readonly account: { readonly uid: number; readonly gid: number } | null
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** The time between SIGTERM and SIGKILL. */
  readonly killAfterMs: number
  /** Called with pieces of stdout as they arrive. */
  readonly onOutput: (text: string) => void
  /** Called with lines of stderr as they arrive. */
  readonly onErrorLine: (line: string) => void
}

/** How a program ended. */
export type ProcessEnd =
  | {
      readonly kind: 'exited'
      readonly code: number | null
      readonly signal: string | null
      readonly stdout: string
      readonly stderr: string
    }
  | { readonly kind: 'stopped'; readonly stdout: string }
  | { readonly kind: 'too_large'; readonly stderr: string }
  | { readonly kind: 'not_started'; readonly message: string }

/** The maximum wait for output streams that child processes keep open after the program ended. */
const LINGER_MS = 250
const MAX_STDERR_BYTES = 8_192

/**
 * Starts a program without a shell in its own process group and waits for its end. At the end the whole group is
 * killed, so that no child process is left.
 */
export function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  if (request.signal.aborted) return Promise.resolve({ kind: 'stopped', stdout: '' })
  let child: ChildProcess
  try {
    child = spawn(request.program, [...request.args], {
      ...{ cwd: request.cwd, env: { ...request.env }, shell: false, detached: true, stdio: 'pipe', windowsHide: true },
      ...(request.account ?? {}),
    })
  } catch (error) {
    return Promise.resolve({ kind: 'not_started', message: messageOf(error) })
  }
  return waitForEnd(child, request)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Signals the whole process group, which may be gone already. */
function killGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The group has no processes left.
  }
}

function waitForEnd(child: ChildProcess, request: ProcessRequest): Promise<ProcessEnd> {
  const { signal } = request
  const output = collectOutput(child, request, () => {
    killGroup(child, 'SIGKILL')
  })
  const timers = new Set<NodeJS.Timeout>()
  const stop = (): void => {
    killGroup(child, 'SIGTERM')
    timers.add(setTimeout(() => killGroup(child, 'SIGKILL'), request.killAfterMs))
  }
  signal.addEventListener('abort', stop, { once: true })
  // Write errors are ignored: a program need not read its input.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(request.stdin)
  return new Promise<ProcessEnd>((resolve) => {
    child.once('error', (error) => {
      resolve({ kind: 'not_started', message: messageOf(error) })
    })
    child.once('exit', (code, by) => {
      const done = (): void => {
        killGroup(child, 'SIGKILL')
        resolve(endOf(output, { code, by, isStopped: signal.aborted }))
      }
      child.once('close', done)
      timers.add(setTimeout(done, LINGER_MS))
    })
  }).finally(() => {
    signal.removeEventListener('abort', stop)
    for (const timer of timers) clearTimeout(timer)
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
  })
}

interface CollectedOutput {
  readonly stdout: () => string
  readonly stderr: () => string
  readonly isTooLarge: () => boolean
}

function endOf(
  output: CollectedOutput,
  { code, by, isStopped }: { readonly code: number | null; readonly by: string | null; readonly isStopped: boolean },
): ProcessEnd {
  if (output.isTooLarge()) return { kind: 'too_large', stderr: output.stderr() }
  if (isStopped) return { kind: 'stopped', stdout: output.stdout() }
  return { kind: 'exited', code, signal: by, stdout: output.stdout(), stderr: output.stderr() }
}

/** Collects stdout up to the limit, and the end of stderr. */
function collectOutput(
  child: ChildProcess,
  { maxBytes, onOutput, onErrorLine }: ProcessRequest,
  overflow: () => void,
): CollectedOutput {
  const pieces: Buffer[] = []
  let bytes = 0
  let errorOutput = Buffer.alloc(0)
  const decoder = new StringDecoder('utf8')
  child.stdout?.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > maxBytes) {
      pieces.length = 0
      overflow()
      return
    }
    pieces.push(piece)
    const text = decoder.write(piece)
    if (text !== '') onOutput(text)
  })
  const errorDecoder = new StringDecoder('utf8')
  const errorLines = createLines(onErrorLine)
  child.stderr?.on('data', (piece: Buffer) => {
    errorOutput = Buffer.concat([errorOutput, piece]).subarray(-MAX_STDERR_BYTES)
    errorLines.push(errorDecoder.write(piece))
  })
  child.stderr?.on('end', errorLines.end)
  return {
    stdout: () => Buffer.concat(pieces).toString('utf8'),
    stderr: () => errorOutput.toString('utf8').trim(),
    isTooLarge: () => bytes > maxBytes,
  }
}
