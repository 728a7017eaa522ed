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
  // Whoever comes in this moment is to come again, and not to wait for an answer.
  const server = createServer((socket) => void socket.destroy())
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
