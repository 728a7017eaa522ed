import { connect, type Socket } from 'node:net'

/** Whom bytes are sent to. */
export interface Place {
  readonly port: number
  /** The text of a key that may do everything. */
  readonly key: string
}

/** What came back. */
export interface Heard {
  /** Everything that was said, byte for byte. */
  readonly text: string
  /** Whether the other side has hung up. */
  readonly closed: boolean
  readonly ms: number
}

export interface Sending {
  /** How long an answer is waited for when the other side does not hang up. */
  readonly withinMs?: number
  /** Hears no more once this much has been said. */
  readonly until?: (text: string) => boolean
  /** Says that nothing more will come. */
  readonly half?: boolean
}

/** The lines that every request has. */
export const hostLine = ({ port }: Place): string => `Host: 127.0.0.1:${port}\r\n`
export const keyLine = ({ key }: Place): string => `Authorization: Bearer ${key}\r\n`

/** Sends bytes as they are and hears what comes back. */
export function exchange({ port }: Place, bytes: string | Buffer, sending: Sending = {}): Promise<Heard> {
  const { withinMs = 2_000, until = () => false, half = false } = sending
  return new Promise((resolve) => {
    const began = performance.now()
    let text = ''
    const socket = dial(port)
    const done = (closed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text, closed, ms: performance.now() - began })
    }
    const timer = setTimeout(() => {
      done(false)
    }, withinMs)
    socket.setEncoding('latin1')
    socket.on('data', (part: string) => {
      text += part
      if (until(text)) done(false)
    })
    socket.on('close', () => {
      done(true)
    })
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    if (half) socket.end()
  })
}

/** A connection whose end is nothing to complain about. */
export function dial(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  return socket
}

/** The statuses of the answers in what was said, in order. */
export const statusesIn = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

/** Asks for a WebSocket. */
export const handshake = (place: Place, path = '/rpc', more = ''): string =>
  `GET ${path} HTTP/1.1\r\n${hostLine(place)}${keyLine(place)}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
  `Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n${more}\r\n`
