import type { Client } from 'pg'
import type { Victims } from './victims.ts'

/** Does something with a connection and closes it. */
export async function withClient<T>({ server }: Victims, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await server.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}
