import { text as readAll } from 'node:stream/consumers'
import { isTerminal, write, type Terminal } from '../terminal.ts'
import { UsageError } from './usage.ts'

/** What a terminal is beside a stream. */
interface Keyboard {
  readonly setRawMode: (raw: boolean) => unknown
}

const ENTER = /[\r\n]/
const CANCELLED = '\u0003'
const ENDED = '\u0004'
const ERASED = new Set(['\u0008', '\u007f'])

/**
 * Reads a text that nobody may see: typed without an echo, or everything a pipe holds but its last line break. Never an
 * argument: those are in the history of the shell and in the list of processes.
 */
export async function readHidden(terminal: Terminal, prompt: string): Promise<string> {
  const { stdin, stderr } = terminal
  if (!isKeyboard(stdin)) return (await readAll(stdin)).replace(/\r?\n$/, '')
  if (isTerminal(stderr)) await write(stderr, prompt)
  stdin.setRawMode(true)
  try {
    return await typed(stdin)
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    if (isTerminal(stderr)) await write(stderr, '\n')
  }
}

const isKeyboard = (stream: Terminal['stdin']): stream is Terminal['stdin'] & Keyboard =>
  'isTTY' in stream && stream.isTTY === true && 'setRawMode' in stream

function typed(stdin: Terminal['stdin']): Promise<string> {
  return new Promise((resolve, reject) => {
    let line: readonly string[] = []
    const end = (settle: () => void): void => {
      stdin.off('data', hear).off('end', over)
      settle()
    }
    const over = (): void => {
      end(() => {
        resolve(line.join(''))
      })
    }
    const hear = (chunk: Buffer | string): void => {
      for (const sign of String(chunk)) {
        if (sign === CANCELLED) {
          end(() => {
            reject(new UsageError('Nothing was set.'))
          })
          return
        }
        if (ENTER.test(sign) || sign === ENDED) {
          over()
          return
        }
        line = ERASED.has(sign) ? line.slice(0, -1) : [...line, sign]
      }
    }
    stdin.on('data', hear).on('end', over).resume()
  })
}
