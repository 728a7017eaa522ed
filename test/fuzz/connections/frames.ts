/** A frame of a WebSocket, also one that must not be. */
export interface Frame {
  readonly opcode: number
  readonly payload?: Buffer | string
  readonly fin?: boolean
  /** The three reserved bits. */
  readonly reserved?: number
  readonly masked?: boolean
  /** What is said to be its length, when that is a lie. */
  readonly length?: bigint
}

export const TEXT = 1
const BINARY = 2
const CLOSE = 8
export const PING = 9
export const PONG = 10

/** The bytes of a frame, as a client sends it. */
export function frameOf({ opcode, payload = '', fin = true, reserved = 0, masked = true, length }: Frame): Buffer {
  const body = Buffer.from(payload)
  const said = length ?? BigInt(body.length)
  const head = [(fin ? 0x80 : 0) | (reserved << 4) | opcode]
  const bit = masked ? 0x80 : 0
  if (said < 126n) head.push(bit | Number(said))
  else if (said < 65_536n) head.push(bit | 126, ...bytesOf(said, 2))
  else head.push(bit | 127, ...bytesOf(said, 8))
  // A mask of zeros changes nothing.
  return Buffer.concat([Buffer.from(head), Buffer.alloc(masked ? 4 : 0), body])
}

const bytesOf = (value: bigint, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => Number((value >> BigInt(8 * (count - 1 - index))) & 0xffn))

/** What a server must answer with the end of the connection, and the closing code it says. */
export interface BadFrames {
  readonly name: string
  readonly bytes: Buffer
  readonly code: number
}

const bytes = (...frames: readonly Frame[]): Buffer => Buffer.concat(frames.map(frameOf))

const CALL = '{"jsonrpc":"2.0","id":1,"method":"cron.status"}'

export const BAD_FRAMES: readonly BadFrames[] = [
  { name: 'not masked', bytes: bytes({ opcode: TEXT, payload: CALL, masked: false }), code: 1002 },
  { name: 'a reserved bit', bytes: bytes({ opcode: TEXT, payload: CALL, reserved: 2 }), code: 1002 },
  { name: 'compressed without asking', bytes: bytes({ opcode: TEXT, payload: CALL, reserved: 4 }), code: 1002 },
  { name: 'opcode 3', bytes: bytes({ opcode: 3, payload: CALL }), code: 1002 },
  { name: 'opcode 15', bytes: bytes({ opcode: 15 }), code: 1002 },
  { name: 'goes on with nothing', bytes: bytes({ opcode: 0, payload: CALL }), code: 1002 },
  {
    name: 'begins anew in the middle',
    bytes: bytes({ opcode: TEXT, payload: '{', fin: false }, { opcode: TEXT, payload: CALL }),
    code: 1002,
  },
  { name: 'a ping in parts', bytes: bytes({ opcode: PING, payload: 'x', fin: false }), code: 1002 },
  { name: 'a ping of 126 bytes', bytes: bytes({ opcode: PING, payload: 'x'.repeat(126) }), code: 1002 },
  { name: 'a close of one byte', bytes: bytes({ opcode: CLOSE, payload: 'x' }), code: 1002 },
  { name: 'a close with code 1005', bytes: bytes({ opcode: CLOSE, payload: Buffer.from([3, 237]) }), code: 1002 },
  { name: 'a close that is no text', bytes: bytes({ opcode: CLOSE, payload: Buffer.from([3, 232, 255]) }), code: 1007 },
  { name: 'text that is no UTF-8', bytes: bytes({ opcode: TEXT, payload: Buffer.from([0xc3, 0x28]) }), code: 1007 },
  {
    name: 'half a character at the end',
    bytes: bytes(
      { opcode: TEXT, payload: Buffer.from([0xe2, 0x82]), fin: false },
      { opcode: 0, payload: Buffer.from([0x7b]) },
    ),
    code: 1007,
  },
  { name: 'bytes', bytes: bytes({ opcode: BINARY, payload: CALL }), code: 1003 },
  { name: 'a length of 2 MiB', bytes: bytes({ opcode: TEXT, length: 2_097_152n }), code: 1009 },
  { name: 'a length beyond all numbers', bytes: bytes({ opcode: TEXT, length: 0x7fffffffffffffffn }), code: 1009 },
  {
    name: '1 MiB in parts and one byte more',
    bytes: bytes({ opcode: TEXT, payload: 'x'.repeat(1_048_576), fin: false }, { opcode: 0, payload: 'y' }),
    code: 1009,
  },
]

/** What follows the head of the answer to a handshake. */
const afterHandshake = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4)

/** The code of the first closing frame in what a server has said; null when there is none. */
export function closingCode(text: string): number | null {
  const said = Buffer.from(afterHandshake(text), 'latin1')
  let at = 0
  while (at + 2 <= said.length) {
    const short = (said[at + 1] ?? 0) & 0x7f
    const extra = short === 126 ? 2 : short === 127 ? 8 : 0
    const length = extra === 0 ? short : extra === 2 ? said.readUInt16BE(at + 2) : Number(said.readBigUInt64BE(at + 2))
    const begin = at + 2 + extra
    if (((said[at] ?? 0) & 0x0f) === CLOSE) return length >= 2 ? said.readUInt16BE(begin) : null
    at = begin + length
  }
  return null
}
