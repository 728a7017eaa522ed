import { rmSync, mkdtempSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import type { ConnectionTarget } from '../../../src/platform/db/postgres/target.ts'

export interface CutOff {
  /** The same database, by way of the wire. */
  readonly target: ConnectionTarget
  /** From now on: the next message with this text reaches the server, and its answer never comes back. */
  readonly swallowAnswerTo: (text: string) => void
  readonly close: () => void
}

/** A wire between client and server that can be cut at a chosen moment. */
export async function createCutOff(target: ConnectionTarget): Promise<CutOff> {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-wire-'))
  const sockets = new Set<Socket>()
  let cutAfter: string | undefined
  const server = createServer((near) => {
    const far = connectTo(target)
    let cutting = false
    near.on('data', (chunk) => {
      cutting ||= cutAfter !== undefined && chunk.includes(cutAfter)
      far.write(chunk)
    })
    far.on('data', (chunk) => (cutting ? near.destroy() : near.write(chunk)))
    for (const [socket, peer] of [[near, far] as const, [far, near] as const]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => peer.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(path.join(directory, '.s.PGSQL.5432'), resolve))
  return {
    target: throughDirectory(target, directory),
    swallowAnswerTo: (text) => void (cutAfter = text),
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function connectTo(target: ConnectionTarget): Socket {
  if (typeof target !== 'string') return createConnection(path.join(target.host, `.s.PGSQL.${target.port}`))
  const url = new URL(target)
  return createConnection(Number(url.port === '' ? '5432' : url.port), url.hostname)
}

function throughDirectory(target: ConnectionTarget, host: string): ConnectionTarget {
  if (typeof target !== 'string') return { ...target, host, port: 5432 }
  const { username: user, password, pathname } = new URL(target)
  return { host, port: 5432, user, password, database: pathname.slice(1) }
}
