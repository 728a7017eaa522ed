import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import type { Instant } from '../../domain/instant.ts'
import type { Ports } from '../../engine/ports.ts'

/** The maximum delay of a timer. */
const MAX_TIMER_MS = 2_147_483_647

/** Calls back when a key or a session expires. Returns a function that cancels it. */
export function atExpiry(clock: Ports['clock'], expiresAt: Instant | null, expired: () => void): () => void {
  if (expiresAt === null) return () => undefined
  let timer: NodeJS.Timeout | null = null
  const wait = (): void => {
    // Expiry follows the database clock, so the timer can be slightly early.
    const left = Math.max(1, expiresAt - clock.now())
    timer = setTimeout(() => (clock.now() >= expiresAt ? expired() : wait()), Math.min(left, MAX_TIMER_MS)).unref()
  }
  wait()
  return () => {
    if (timer !== null) clearTimeout(timer)
  }
}

/** A response, or what is written instead of one. */
export interface Outlet extends Writable {
  readonly socket: Socket | null
  readonly req: { readonly socket: Socket }
}

/**
 * Calls back once when a response was sent or its connection closed. A pipelined response that waits behind another one
 * gets no close event, so the connection is watched too. Returns a function that cancels it.
 */
export function whenOver(response: Outlet, call: () => void): () => void {
  const { socket } = response.req
  const cancel = (): void => {
    socket.off('close', over)
    response.off('close', over)
  }
  const over = (): void => {
    cancel()
    call()
  }
  response.on('close', over)
  if (response.socket === null) {
    // Each waiting response adds a listener.
    socket.setMaxListeners(0)
    socket.on('close', over)
  }
  if (isOver(response)) over()
  return cancel
}

/** Whether the response can no longer be received. */
export const isOver = (response: Outlet): boolean => response.destroyed || response.req.socket.destroyed
