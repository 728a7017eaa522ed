import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Trap } from './trap.ts'
import { DIRECTIONS, isSilent, type Direction, type Weather } from './weather.ts'

/** One connection of a node, by way of the road. */
export interface Link {
  readonly weatherChanged: () => void
  readonly reset: () => void
  readonly forget: () => void
  readonly halfClose: (direction: Direction) => void
  readonly over: Promise<void>
}

export interface LinkContext {
  /** The side of the node. */
  readonly near: Socket
  /** The side of the server. */
  readonly far: Socket
  readonly weather: () => Weather
  readonly trap: () => Trap | null
}

/** The server learns late that somebody is gone whom the network has forgotten. */
const FORGOTTEN_MS = 3_000

/** Joins the two sides until one of them ends. */
export function openLink(ctx: LinkContext): Link {
  const { near, far } = ctx
  const state = { forgotten: false }
  const reset = (): void => {
    if (!near.destroyed) near.resetAndDestroy()
    far.destroy()
  }
  const lanes = DIRECTIONS.map((direction) =>
    openLane({ ...ctx, direction, reset, isForgotten: () => state.forgotten }),
  )
  const over = new Promise<void>((resolve) => {
    for (const socket of [near, far]) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        if (near.destroyed && far.destroyed) resolve()
      })
    }
  })
  return {
    weatherChanged: () => {
      for (const lane of lanes) lane.look()
    },
    reset,
    forget: () => {
      state.forgotten = true
    },
    halfClose: (direction) => (direction === 'to_server' ? far : near).end(),
    over,
  }
}

interface LaneContext extends LinkContext {
  readonly direction: Direction
  readonly reset: () => void
  readonly isForgotten: () => boolean
}

interface Lane extends LaneContext {
  readonly source: Socket
  readonly sink: Socket
  readonly waiting: Buffer[]
  /** What the source has said about its end, which travels behind its bytes. */
  end: 'none' | 'goodbye' | 'gone'
  busy: boolean
}

/** One direction of a link. */
function openLane(ctx: LaneContext): { readonly look: () => void } {
  const [source, sink] = ctx.direction === 'to_server' ? [ctx.near, ctx.far] : [ctx.far, ctx.near]
  const lane: Lane = { ...ctx, source, sink, waiting: [], end: 'none', busy: false }
  const look = (): void => {
    if (!lane.busy) void carry(lane)
  }
  source.on('data', (chunk: Buffer) => {
    if (lane.isForgotten()) return
    lane.waiting.push(chunk)
    look()
  })
  source.on('end', () => {
    if (lane.end === 'none') lane.end = 'goodbye'
    look()
  })
  source.on('close', () => {
    lane.end = 'gone'
    if (lane.isForgotten()) setTimeout(() => sink.destroy(), FORGOTTEN_MS).unref()
    look()
  })
  return { look }
}

const isBlocked = (lane: Lane): boolean => lane.isForgotten() || isSilent(lane.weather(), lane.direction)

async function carry(lane: Lane): Promise<void> {
  lane.busy = true
  while (!isBlocked(lane)) {
    const chunk = lane.waiting.shift()
    if (chunk === undefined) break
    await pass(lane, chunk)
  }
  lane.busy = false
  if (isBlocked(lane) || lane.sink.destroyed) return
  if (lane.end === 'goodbye') lane.sink.end()
  // Behind the last bytes, so that what was said before the end still arrives.
  else if (lane.end === 'gone') lane.sink.destroySoon()
}

/** Slices of a second in which so many bytes may go. */
const SLICES = 20

async function pass(lane: Lane, chunk: Buffer): Promise<void> {
  const weather = lane.weather()
  if (weather.kind === 'slow') await sleep(weather.delayMs())
  const snap = lane.trap()?.look(chunk, lane.direction) ?? null
  if (snap !== null) {
    const part = chunk.subarray(0, snap.passes)
    lane.waiting.length = 0
    await write(lane.sink, part)
    lane.reset()
    return
  }
  if (weather.kind !== 'slow' || weather.bytesPerSecond === null) {
    await write(lane.sink, chunk)
    return
  }
  const size = Math.max(1, Math.ceil(weather.bytesPerSecond / SLICES))
  for (let from = 0; from < chunk.length && !lane.sink.destroyed; from += size) {
    await write(lane.sink, chunk.subarray(from, from + size))
    await sleep(1_000 / SLICES)
  }
}

/** Resolves when the bytes are out of our hands, or never will be. */
function write(sink: Socket, part: Buffer): Promise<void> {
  if (sink.destroyed || sink.writableEnded || part.length === 0) return Promise.resolve()
  return new Promise((resolve) => {
    sink.once('close', resolve)
    sink.write(part, () => {
      sink.off('close', resolve)
      resolve()
    })
  })
}
