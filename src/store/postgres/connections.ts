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
          hangUp(client)
        }
    },
  }
}

/** How long a goodbye may take. */
const GOODBYE_MS = 1_000

/** Says goodbye and waits until the connection has ended; one on which nobody answers is ended without it. */
export async function part(client: ClientBase & { readonly end: () => Promise<void> }): Promise<void> {
  const patience = setTimeout(() => hangUp(client), GOODBYE_MS)
  await client.end().finally(() => clearTimeout(patience))
}

/** Ends a connection without a goodbye, which a dead one would never hear. The driver has no other way to do so. */
function hangUp(client: ClientBase): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy: () => void } } }
  connection.stream.destroy()
}
