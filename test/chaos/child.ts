import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** How a process ended. */
export interface Ending {
  readonly at: number
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A child process that is talked to in JSON lines and can be hurt. */
export interface Child<Said> {
  readonly pid: number
  readonly tell: (command: unknown) => void
  /** Resolves with the next line, read or unread, that fits; rejects when the process has ended or takes too long. */
  readonly hear: <Line extends Said>(fits: (line: Said) => line is Line, withinMs: number) => Promise<Line>
  readonly signal: (signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM') => void
  readonly ended: Promise<Ending>
  /** Null while it lives. */
  readonly ending: () => Ending | null
}

interface Waiter<Said> {
  readonly offer: (line: Said) => boolean
  readonly giveUp: (why: string) => void
}

/** Starts a program; what it says on stderr goes to a file. */
export function startChild<Said>(args: readonly string[], complaints: string): Child<Said> {
  const errors = openSync(complaints, 'a', 0o600)
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', errors] })
  closeSync(errors)
  const { stdin, stdout, pid } = child
  if (stdin === null || stdout === null || pid === undefined) throw new Error(`could not start ${args.join(' ')}`)
  // A process that was killed does not read any more.
  stdin.on('error', () => undefined)
  const unread: Said[] = []
  const waiters = new Set<Waiter<Said>>()
  let ending: Ending | null = null
  createInterface({ input: stdout }).on('line', (text) => {
    const line = JSON.parse(text) as Said
    for (const waiter of waiters) if (waiter.offer(line)) return
    unread.push(line)
  })
  const ended = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => {
      ending = { at: Date.now(), code, signal }
      for (const waiter of waiters) waiter.giveUp(`process ${pid} ended with ${String(signal ?? code)}`)
      resolve(ending)
    })
  })
  return {
    pid,
    tell: (command) => void stdin.write(`${JSON.stringify(command)}\n`),
    hear: (fits, withinMs) => hear({ unread, waiters, ending: () => ending }, fits, withinMs),
    // A process that has ended may have given its number to another.
    signal: (signal) => {
      if (ending === null) child.kill(signal)
    },
    ended,
    ending: () => ending,
  }
}

interface Ear<Said> {
  readonly unread: Said[]
  readonly waiters: Set<Waiter<Said>>
  readonly ending: () => Ending | null
}

function hear<Said, Line extends Said>(
  { unread, waiters, ending }: Ear<Said>,
  fits: (line: Said) => line is Line,
  withinMs: number,
): Promise<Line> {
  const index = unread.findIndex(fits)
  const [known] = index === -1 ? [] : unread.splice(index, 1)
  if (known !== undefined && fits(known)) return Promise.resolve(known)
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      waiters.delete(waiter)
      clearTimeout(timer)
    }
    const waiter: Waiter<Said> = {
      offer: (line) => {
        if (!fits(line)) return false
        leave()
        resolve(line)
        return true
      },
      giveUp: (why) => {
        leave()
        reject(new Error(why))
      },
    }
    const timer = setTimeout(() => waiter.giveUp(`nothing heard within ${withinMs} ms`), withinMs)
    waiters.add(waiter)
    const over = ending()
    if (over !== null) waiter.giveUp(`the process has ended with ${String(over.signal ?? over.code)}`)
  })
}
