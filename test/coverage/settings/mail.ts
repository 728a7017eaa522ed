import { createServer, type AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { expect } from 'vitest'
import type { World } from '../../http-scenarios/world.ts'
import { eventually } from '../../scenarios/support.ts'

const FROM = 'Clock <clock@example.org>'

/** Sends one message by mail through the server at this port. */
async function mailThrough({ start }: World, smtp: object): Promise<void> {
  const node = await start({ smtp: { host: '127.0.0.1', from: FROM, ...smtp } })
  const target = { name: 'ops', kind: 'email' as const, settings: { to: ['ops@example.com'] } }
  const { id } = await node.client.targets.create(target)
  await node.client.targets.test(id).catch(() => undefined)
}

/** A mail server that takes one user hears from the configured address, after the configured password. */
export async function sendsMail(world: World): Promise<void> {
  const seen: unknown[] = []
  const server = new SMTPServer({
    ...{ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, logger: false },
    onAuth: ({ username, password }, _, done) => {
      seen.push([username, password])
      done(null, { user: username })
    },
    onMailFrom: ({ address }, _, done) => {
      seen.push(address)
      done()
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.server.address() as AddressInfo
    await mailThrough(world, { port, user: 'clock', password: 'sesame' })
    expect(seen).toEqual([['clock', 'sesame'], 'clock@example.org'])
  } finally {
    await new Promise<void>((resolve) => server.close(resolve))
  }
}

/** The first byte of a TLS handshake. */
const HANDSHAKE = 22

/** With `smtp.secure` the client speaks first, and speaks TLS. */
export async function beginsWithTls(world: World): Promise<void> {
  const first: number[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (chunk) => {
      first.push(chunk[0] ?? 0)
      socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    await mailThrough(world, { port, secure: true })
    await eventually(() => expect(first[0]).toBe(HANDSHAKE))
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}
