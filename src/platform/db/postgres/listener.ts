import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { backoffMs, RECONNECT_BACKOFF } from '../backoff.ts'
import { type ReceivedNotification, type Subscription, quoteChannel } from '../database.ts'
import { DatabaseError } from '../database-error.ts'
import { disconnect } from './target.ts'
import { toDatabaseError } from './failures.ts'

type ListenerCallback = (event: ReceivedNotification) => void

export interface ListenerContext {
  /** Opens a new, prepared connection. */
  readonly connect: () => Promise<Client>
  readonly random: () => number
}

export interface ListenerConnection {
  readonly listen: (channel: string, listener: ListenerCallback) => Promise<Subscription>
  readonly close: () => Promise<void>
}

/**
 * Listens on all channels with one dedicated connection. Reconnects after a failure, listens again and sends `was_away` to
 * all listeners: notifications in between are lost, so they must read the tables.
 */
export function createListenerConnection(ctx: ListenerContext): ListenerConnection {
  const channels = new Map<string, Set<ListenerCallback>>()
  const closing = new AbortController()
  let client: Promise<Client> | undefined

  const open = async (): Promise<Client> => {
    const opened = await connectAndListen(ctx, channels)
    opened.once('end', () => {
      if (!closing.signal.aborted) client = reopen()
    })
    return opened
  }

  const reopen = (): Promise<Client> => {
    const again = reconnect(open, { ...ctx, signal: closing.signal })
    again.then(
      () =>
        notifyListeners(
          { kind: 'was_away' },
          [...channels.values()].flatMap((listeners) => [...listeners]),
        ),
      () => undefined,
    )
    return again
  }

  const unsubscribe = async (channel: string, listener: ListenerCallback): Promise<void> => {
    const listeners = channels.get(channel)
    if (listeners?.delete(listener) !== true || listeners.size > 0) return
    channels.delete(channel)
    // Best effort: after a reconnect, the connection does not listen on this channel anyway.
    await client?.then((open_) => open_.query(`unlisten ${quoteChannel(channel)}`)).catch(() => undefined)
  }

  return {
    listen: async (channel, listener) => {
      const name = quoteChannel(channel)
      const listeners = channels.get(channel) ?? new Set()
      channels.set(channel, listeners.add(listener))
      try {
        client ??= open().catch((error: unknown) => {
          client = undefined
          throw error
        })
        await (await client).query(`listen ${name}`)
      } catch (error) {
        listeners.delete(listener)
        if (listeners.size === 0) channels.delete(channel)
        throw toDatabaseError(error, 'statement')
      }
      return { stop: () => unsubscribe(channel, listener) }
    },
    close: async () => {
      closing.abort()
      channels.clear()
      await client?.then(disconnect).catch(() => undefined)
    },
  }
}

async function connectAndListen(
  ctx: ListenerContext,
  channels: ReadonlyMap<string, Set<ListenerCallback>>,
): Promise<Client> {
  const opened = await ctx.connect()
  opened.on('notification', ({ channel, payload }) =>
    notifyListeners({ kind: 'notified', payload: payload ?? '' }, channels.get(channel) ?? []),
  )
  try {
    for (const channel of channels.keys()) await opened.query(`listen ${quoteChannel(channel)}`)
    return opened
  } catch (error) {
    await opened.end().catch(() => undefined)
    throw error
  }
}

function notifyListeners(event: ReceivedNotification, listeners: Iterable<ListenerCallback>): void {
  // A copy, because a listener may unsubscribe while it is called.
  for (const listener of [...listeners]) listener(event)
}

async function reconnect(
  open: () => Promise<Client>,
  { random, signal }: { readonly random: () => number; readonly signal: AbortSignal },
): Promise<Client> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    if (failures > 0) {
      await sleep(backoffMs(failures, random(), RECONNECT_BACKOFF), undefined, { signal, ref: false }).catch(
        () => undefined,
      )
    }
    const opened = await open().catch(() => undefined)
    // Returned also if closed meanwhile: `close` waits for this promise and closes the connection.
    if (opened !== undefined) return opened
  }
  throw new DatabaseError('connection_lost', { detail: 'the listener was closed' })
}
