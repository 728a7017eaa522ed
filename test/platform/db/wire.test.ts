import { Writable } from 'node:stream'
import type { ClientBase } from 'pg'
import { describe, expect, it } from 'vitest'
import { openWire } from '../../../src/platform/db/postgres/transaction.ts'

/** The connection of a driver that remembers what was written to it at once. */
function createConnection() {
  const writes: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      writes.push(chunk)
      done()
    },
    writev: (chunks, done) => {
      writes.push(chunks.map(({ chunk }) => chunk as string).join(' + '))
      done()
    },
  })
  return { writes, stream, wire: openWire({ connection: { stream } } as unknown as ClientBase) }
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('what is written to the server', () => {
  it('is sent in one piece when it was held', () => {
    const { writes, stream, wire } = createConnection()
    wire.hold()
    stream.write('begin')
    stream.write('look')
    expect(writes).toEqual([])
    wire.flush()
    expect(writes).toEqual(['begin + look'])
    stream.write('alone')
    expect(writes.at(-1)).toBe('alone')
  })

  it('is not held for longer than a turn of the event loop', async () => {
    const { writes, stream, wire } = createConnection()
    wire.hold()
    stream.write('forgotten')
    await soon()
    expect(writes).toEqual(['forgotten'])
  })

  it('is not held when there is much of it', () => {
    const { writes, stream, wire } = createConnection()
    wire.hold()
    stream.write('little')
    wire.flushIfMuch()
    expect(writes).toEqual([])
    stream.write('x'.repeat(9_000))
    wire.flushIfMuch()
    expect(writes).toHaveLength(1)
  })
})
