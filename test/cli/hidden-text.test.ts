import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readSecretText } from '../../src/cli/remote/hidden-text.ts'
import { UsageError } from '../../src/cli/remote/call.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { instant } from '../../src/domain/instant.ts'

/** A terminal whose keyboard the test is, and whether it echoes at the moment. */
function createKeyboard(): {
  readonly terminal: Terminal
  readonly stdin: PassThrough
  readonly raw: boolean[]
  shown: () => string
} {
  const raw: boolean[] = []
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (on: boolean) => raw.push(on) })
  const stderr = Object.assign(new PassThrough(), { isTTY: true })
  const terminal = { stdin, stdout: new PassThrough(), stderr, now: () => instant(0) }
  let shown = ''
  stderr.on('data', (chunk) => (shown += String(chunk)))
  return { terminal, stdin, raw, shown: () => shown }
}

describe('a text that nobody may see', () => {
  it('is typed without an echo, with what was erased taken back', async () => {
    const { terminal, stdin, raw, shown } = createKeyboard()
    const read = readSecretText(terminal, 'Value: ')
    stdin.write('hunter3')
    stdin.write('\u007f2-hünter')
    stdin.write('\r')
    expect(await read).toBe('hunter2-hünter')
    expect([raw, shown()]).toEqual([[true, false], 'Value: \n'])
  })

  it('is given up with Ctrl-C, and the terminal is as before', async () => {
    const { terminal, stdin, raw } = createKeyboard()
    const read = readSecretText(terminal, 'Value: ')
    stdin.write('hunter2\u0003')
    await expect(read).rejects.toThrow(UsageError)
    expect(raw).toEqual([true, false])
  })

  it('comes whole from a pipe, but for its last line break', async () => {
    const stdin = new PassThrough()
    stdin.end('-----BEGIN-----\nline\n-----END-----\n')
    const terminal = { stdin, stdout: new PassThrough(), stderr: new PassThrough(), now: () => instant(0) }
    expect(await readSecretText(terminal, 'Value: ')).toBe('-----BEGIN-----\nline\n-----END-----')
  })
})
