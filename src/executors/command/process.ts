import { spawn, type ChildProcess } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'

/** A program to be started: what it is handed, and nothing beside it. */
export interface ProcessRequest {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  /** As whom; null: as ourselves. */
  readonly account: { readonly uid: number; readonly gid: number } | null
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Who was asked to end and has not by then is killed. */
  readonly killAfterMs: number
  /** Pieces of what it writes, as it writes them. */
  readonly heard: (text: string) => void
}

/** What became of it. */
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

/** What its children still hold open after it has ended is not waited for longer than this. */
const LINGER_MS = 250
const MOST_STDERR = 8_192

/**
 * Starts a program in a process group of its own, without a shell, and waits for its end. Whatever happens, nothing of
 * the group is left: who is told to end ends with all it has started.
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
  return watch(child, request)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Ends everything in the group of a process. It may be gone already. */
function killGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody is left in it.
  }
}

function watch(child: ChildProcess, request: ProcessRequest): Promise<ProcessEnd> {
  const { signal } = request
  const said = collect(child, request, () => {
    killGroup(child, 'SIGKILL')
  })
  const timers = new Set<NodeJS.Timeout>()
  const stop = (): void => {
    killGroup(child, 'SIGTERM')
    timers.add(setTimeout(() => killGroup(child, 'SIGKILL'), request.killAfterMs))
  }
  signal.addEventListener('abort', stop, { once: true })
  // Who does not read what it is handed has its reasons.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(request.stdin)
  return new Promise<ProcessEnd>((resolve) => {
    child.once('error', (error) => {
      resolve({ kind: 'not_started', message: messageOf(error) })
    })
    child.once('exit', (code, by) => {
      const done = (): void => {
        killGroup(child, 'SIGKILL')
        resolve(endOf(said, { code, by, isStopped: signal.aborted }))
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

interface Said {
  readonly stdout: () => string
  readonly stderr: () => string
  readonly isTooLarge: () => boolean
}

function endOf(
  said: Said,
  { code, by, isStopped }: { readonly code: number | null; readonly by: string | null; readonly isStopped: boolean },
): ProcessEnd {
  if (said.isTooLarge()) return { kind: 'too_large', stderr: said.stderr() }
  if (isStopped) return { kind: 'stopped', stdout: said.stdout() }
  return { kind: 'exited', code, signal: by, stdout: said.stdout(), stderr: said.stderr() }
}

/** Keeps what it writes, up to its limit; of what it complains about, the end. */
function collect(child: ChildProcess, { maxBytes, heard }: ProcessRequest, overflow: () => void): Said {
  const pieces: Buffer[] = []
  let bytes = 0
  let complaint = Buffer.alloc(0)
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
    if (text !== '') heard(text)
  })
  child.stderr?.on('data', (piece: Buffer) => {
    complaint = Buffer.concat([complaint, piece]).subarray(-MOST_STDERR)
  })
  return {
    stdout: () => Buffer.concat(pieces).toString('utf8'),
    stderr: () => complaint.toString('utf8').trim(),
    isTooLarge: () => bytes > maxBytes,
  }
}
