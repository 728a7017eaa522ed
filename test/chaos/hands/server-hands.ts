import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { createRandom, type Random } from '../../simulation/random.ts'
import type { Hands } from '../faults.ts'
import type { Victims } from './victims.ts'
import { fillServer } from './full-server.ts'
import { failOver } from './failover.ts'
import { floodPool } from './full-pool.ts'
import { withClient } from './with-client.ts'

type ServerKind =
  'cut' | 'restart' | 'db_locked' | 'db_busy' | 'disk_slow' | 'full_server' | 'full_pool' | 'stall' | 'failover'

/** Tables that turns write, and the one in which nodes say that they are alive. */
const TABLES = ['run', 'pending', 'turn', 'schedule', 'node'] as const

const HOGS = 3

/** What is done to the server, and to its connections. */
export function serverHands(victims: Victims): Pick<Hands, ServerKind> {
  const { server, nodeAt, userAt } = victims
  return {
    cut: async ({ slot }) => {
      const cut = await server.cut(userAt(slot))
      return cut === 0 ? null : { process: nodeAt(slot).name, how: `${cut} connections` }
    },
    restart: async ({ lastsMs }) => {
      await server.restart(lastsMs)
      return { process: null }
    },
    db_locked: async ({ lastsMs, seed }) => {
      const table = createRandom(seed).one(TABLES)
      await withClient(victims, async (client) => {
        await client.query(`begin; lock table escapement.${table} in share mode`)
        await sleep(lastsMs)
      })
      return { process: null, how: table }
    },
    db_busy: async ({ lastsMs }) => {
      await Promise.all(Array.from({ length: HOGS }, () => withClient(victims, (client) => hog(client, lastsMs))))
      return { process: null, how: `${HOGS} endless loops` }
    },
    disk_slow: async ({ lastsMs, seed }) => {
      const pulses = await withClient(victims, (client) =>
        stallDisk(victims, { client, lastsMs, random: createRandom(seed) }),
      )
      return { process: null, how: `${pulses} stalls` }
    },
    stall: async ({ lastsMs }) => {
      const goOn = await server.freeze()
      await sleep(lastsMs).finally(goOn)
      return { process: null }
    },
    failover: (fault) => failOver(victims, fault),
    full_server: (fault) => fillServer(victims, fault),
    full_pool: (fault) => floodPool(victims, fault),
  }
}

/** Keeps a core busy. The server ends it, as it ends every statement that takes too long. */
async function hog(client: Client, lastsMs: number): Promise<void> {
  await client.query(`set statement_timeout = ${lastsMs}`)
  await client.query('do $$ begin loop perform 1; end loop; end $$').catch(() => undefined)
}

interface Stalling {
  readonly client: Client
  readonly lastsMs: number
  readonly random: Random
}

/** Whoever writes: those who wait for the disk first, then those who are at work, then the rest. */
const WRITERS = `
  select pid from pg_stat_activity
   where usename = any($1) or backend_type in ('walwriter', 'checkpointer', 'background writer')
   order by wait_event in ('WalSync', 'WalWrite', 'WALSync', 'WALWrite') desc nulls last, state = 'active' desc nulls last, random()
   limit $2`

/**
 * Stalls as a slow disk makes them: those who write stand still for a while, with whatever locks they hold. Processes of
 * the server are stopped and continued, because slowing the device itself takes rights that nobody has in a checkout.
 */
async function stallDisk(victims: Victims, { client, lastsMs, random }: Stalling): Promise<number> {
  const { server, slots, userAt } = victims
  const users = Array.from({ length: slots }, (_, slot) => userAt(slot))
  const until = performance.now() + lastsMs
  let pulses = 0
  while (performance.now() < until) {
    const { rows } = await client.query<{ pid: number }>(WRITERS, [users, random.int(1, 4)])
    for (const { pid } of rows) server.signal(pid, 'SIGSTOP')
    await sleep(random.int(50, 500)).finally(() => {
      for (const { pid } of rows) server.signal(pid, 'SIGCONT')
    })
    pulses += 1
    await sleep(random.int(10, 80))
  }
  return pulses
}
