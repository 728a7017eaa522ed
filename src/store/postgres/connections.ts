import { type ClientBase } from 'pg'

/**
 * Connections that share a way to the server. A network that drops packets tells nobody: whoever waits for an answer
 * finds out by waiting, and would find out about each connection anew. So when one has waited in vain, all that were not
 * heard of since are ended, and whoever uses them goes on with new ones.
 */
export interface Connections {
  readonly opened: (client: ClientBase) => void
  /** The server has answered on it. */
  readonly heard: (client: ClientBase) => void
  /** Somebody has waited in vain since this time, by the counter. */
  readonly fellSilent: (since: number) => void
  readonly counter: () => number
}

/** Watches over connections, of one pool or of several. The counter only counts milliseconds. */
export function createConnections(counter: () => number = () => performance.now()): Connections {
  const heardAt = new Map<ClientBase, number>()
  return {
    counter,
    opened: (client) => {
      heardAt.set(client, counter())
      client.once('end', () => heardAt.delete(client))
    },
    heard: (client) => {
      if (heardAt.has(client)) heardAt.set(client, counter())
    },
    fellSilent: (since) => {
      for (const [client, at] of heardAt)
        if (at <= since) {
          heardAt.delete(client)
          socketOf(client).destroy()
        }
    },
  }
}

// The driver has no other way to end a connection without saying goodbye, which a dead one would never hear.
const socketOf = (client: ClientBase): { readonly destroy: () => void } =>
  (client as unknown as { readonly connection: { readonly stream: { readonly destroy: () => void } } }).connection
    .stream
