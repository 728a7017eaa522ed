import { text as readAll } from 'node:stream/consumers'
import { isTerminal, write, type Terminal } from '../terminal.ts'
import { UsageError } from './call.ts'

/** The part of a TTY stream that a plain stream lacks. */
interface RawInput {
  readonly setRawMode: (raw: boolean) => unknown
}

const ENTER = /[\r\n]/
const CANCELLED = '\u0003'
const ENDED = '\u0004'
const ERASED = new Set(['\u0008', '\u007f'])

/**
 * Reads a secret: typed without echo, or from a pipe without its last line break. Never takes it from an argument, because
 * arguments end up in the shell history and the process list.
 */
export async function readSecretText(terminal: Terminal, prompt: string): Promise<string> {
  const { stdin, stderr } = terminal
  if (!isKeyboard(stdin)) return (await readAll(stdin)).replace(/\r?\n$/, '')
  if (isTerminal(stderr)) await write(stderr, prompt)
  stdin.setRawMode(true)
  try {
    return await readTyped(stdin)
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    if (isTerminal(stderr)) await write(stderr, '\n')
  }
}

const isKeyboard = (stream: Terminal['stdin']): stream is Terminal['stdin'] & RawInput =>
  'isTTY' in stream && stream.isTTY === true && 'setRawMode' in stream

function readTyped(stdin: Terminal['stdin']): Promise<string> {
  return new Promise((resolve, reject) => {
    let line: readonly string[] = []
    const stopReading = (settle: () => void): void => {
      stdin.off('data', onData).off('end', finish)
      settle()
    }
    const finish = (): void => {
      stopReading(() => {
        resolve(line.join(''))
      })
    }
    const onData = (chunk: Buffer | string): void => {
      for (const character of String(chunk)) {
        if (character === CANCELLED) {
          stopReading(() => {
            reject(new UsageError('Cancelled. Nothing was changed.'))
          })
          return
        }
        if (ENTER.test(character) || character === ENDED) {
          finish()
          return
        }
        line = ERASED.has(character) ? line.slice(0, -1) : [...line, character]
      }
    }
    stdin.on('data', onData).on('end', finish).resume()
  })
}
