import { once } from 'node:events'
import { createServer } from 'node:net'
import { bare } from './loopback.ts'

/** Listens for a moment; what stood in the way, or null. */
export async function tryListening({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): Promise<NodeJS.ErrnoException | null> {
  const server = createServer()
  try {
    server.listen({ host: bare(host), port })
    await once(server, 'listening')
    return null
  } catch (error) {
    return error as NodeJS.ErrnoException
  } finally {
    server.close()
  }
}
