import { setTimeout as sleep } from 'node:timers/promises'
import { type Client } from 'pg'
import { backoffMs, RECONNECT_BACKOFF } from '../backoff.ts'
import { type Heard, type Listening } from '../../../store/database.ts'
import { DatabaseError } from '../database-error.ts'
import { quoteChannel } from '../../../store/identifier.ts'
import { part } from '../../../store/postgres/connections.ts'
import { translate } from './failures.ts'

type Hear = (heard: Heard) => void

export interface ListenerContext {
  /** A new connection, set up and ready. */
  readonly connect: () => Promise<Client>
  readonly random: () => number
}

export interface Listener {
  readonly listen: (channel: string, hear: Hear) => Promise<Listening>
  readonly close: () => Promise<void>
}

/**
 * One connection of its own that hears every channel. When it breaks it comes back by itself, listens again and tells
 * everybody that it was away: what was notified in between is gone, and a look at the tables has to replace it.
 */
export function createListener(ctx: ListenerContext): Listener {
  const channels = new Map<string, Set<Hear>>()
  const closing = new AbortController()
  let client: Promise<Client> | undefined

  const open = async (): Promise<Client> => {
    const opened = await connectAndListen(ctx, channels)
    opened.once('end', () => {
      if (!closing.signal.aborted) client = comeBack()
    })
    return opened
  }

  const comeBack = (): Promise<Client> => {
    const again = reconnect(open, { ...ctx, signal: closing.signal })
    again.then(
      () =>
        tell(
          { kind: 'was_away' },
          [...channels.values()].flatMap((hearers) => [...hearers]),
        ),
      () => undefined,
    )
    return again
  }

  const stopHearing = async (channel: string, hear: Hear): Promise<void> => {
    const hearers = channels.get(channel)
    if (hearers?.delete(hear) !== true || hearers.size > 0) return
    channels.delete(channel)
    // Best effort: a connection that breaks now comes back without this channel anyway.
    await client?.then((open_) => open_.query(`unlisten ${quoteChannel(channel)}`)).catch(() => undefined)
  }

  return {
    listen: async (channel, hear) => {
      const name = quoteChannel(channel)
      const hearers = channels.get(channel) ?? new Set()
      channels.set(channel, hearers.add(hear))
      try {
        client ??= open().catch((error: unknown) => {
          client = undefined
          throw error
        })
        await (await client).query(`listen ${name}`)
      } catch (error) {
        hearers.delete(hear)
        if (hearers.size === 0) channels.delete(channel)
        throw translate(error, 'statement')
      }
      return { stop: () => stopHearing(channel, hear) }
    },
    close: async () => {
      closing.abort()
      channels.clear()
      await client?.then(part).catch(() => undefined)
    },
  }
}

async function connectAndListen(ctx: ListenerContext, channels: ReadonlyMap<string, Set<Hear>>): Promise<Client> {
  const opened = await ctx.connect()
  opened.on('notification', ({ channel, payload }) =>
    tell({ kind: 'notified', payload: payload ?? '' }, channels.get(channel) ?? []),
  )
  try {
    for (const channel of channels.keys()) await opened.query(`listen ${quoteChannel(channel)}`)
    return opened
  } catch (error) {
    await opened.end().catch(() => undefined)
    throw error
  }
}

function tell(heard: Heard, hearers: Iterable<Hear>): void {
  // A copy: who hears something may stop listening because of it.
  for (const hear of [...hearers]) hear(heard)
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
    // Closed meanwhile or not: whoever closes waits for us and closes what we opened.
    if (opened !== undefined) return opened
  }
  throw new DatabaseError('connection_lost', { detail: 'the listener was closed' })
}
