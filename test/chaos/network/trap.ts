import type { Direction } from './weather.ts'

/** What happens to bytes that come to a trap: how many of them still pass before the connection is cut. */
export interface Snap {
  readonly passes: number
}

/** Waits for certain bytes and cuts the connection at them, once. */
export interface Trap {
  /** Null: these bytes do not concern it. Otherwise it has snapped. */
  readonly look: (chunk: Buffer, direction: Direction) => Snap | null
  readonly disarm: () => void
  /** Whether it snapped, once it did or was disarmed. */
  readonly over: Promise<boolean>
}

/** COMMIT on its way to the server, as a message of PostgreSQL's protocol. */
const COMMIT = Buffer.from('Q\0\0\0\u000bcommit\0', 'latin1')

/** What the server answers when it has committed. */
const COMMITTED = Buffer.from('C\0\0\0\u000bCOMMIT\0', 'latin1')

/** The whole of COMMIT goes to the server, and the connection is cut at once: nobody knows what became of it. */
export const cutBehindCommit = (): Trap =>
  createTrap((chunk, direction) => {
    const at = direction === 'to_server' ? chunk.indexOf(COMMIT) : -1
    return at === -1 ? null : { passes: at + COMMIT.length }
  })

/** The server has committed, and says so to nobody. */
export const loseCommitted = (): Trap =>
  createTrap((chunk, direction) => {
    const at = direction === 'to_node' ? chunk.indexOf(COMMITTED) : -1
    return at === -1 ? null : { passes: at }
  })

/** So many bytes pass in a direction, and the next message is cut in two. */
export function cutAfterBytes(bytes: number, towards: Direction): Trap {
  let left = bytes
  return createTrap((chunk, direction) => {
    if (direction !== towards || chunk.length < 2) return null
    if (left >= chunk.length) {
      left -= chunk.length
      return null
    }
    // Chunks end where messages end, so what ends before them is cut in two.
    return { passes: Math.max(1, left) }
  })
}

function createTrap(look: Trap['look']): Trap {
  let armed = true
  let settle: (snapped: boolean) => void = () => undefined
  const over = new Promise<boolean>((resolve) => {
    settle = resolve
  })
  return {
    look: (chunk, direction) => {
      const snap = armed ? look(chunk, direction) : null
      if (snap !== null) {
        armed = false
        settle(true)
      }
      return snap
    },
    disarm: () => {
      armed = false
      settle(false)
    },
    over,
  }
}
