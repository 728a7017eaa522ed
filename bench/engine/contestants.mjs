// The contestants. The module of each exports:
//   prepare(url)                      creates the schema
//   open(url, { handle, tuned, variant })   works if there is a `handle(n)`, otherwise only submits
//     → { submit(job), submitMany(jobs), batchSize, start(), close(), check?(count) }
//   observe(url)                      → { left(), counts(), close() }: counts from its store
//   dueTogether(url, { count, handle, … })  → { due, close() }: schedules due at the same time, if it supports any
// `durable`: accepted jobs are on the disk when it responds.
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = path.dirname(fileURLToPath(import.meta.url))
const own = (name) => path.join(HERE, `${name}.mjs`)
const peer = (name) => path.join(HERE, '../peers', `${name}.mjs`)

export const CONTESTANTS = [
  { name: 'raw-sql', file: peer('raw-sql'), engine: 'postgres', durable: true, rival: false, packages: ['pg'] },
  { name: 'pg-boss', file: peer('pg-boss'), engine: 'postgres', durable: true, rival: true, packages: ['pg-boss'] },
  {
    ...{ name: 'graphile-plain', file: peer('graphile-worker'), variant: 'plain', engine: 'postgres' },
    ...{ durable: true, rival: true, packages: ['graphile-worker'] },
  },
  {
    ...{ name: 'graphile-worker', file: peer('graphile-worker'), variant: 'batched', engine: 'postgres' },
    ...{ durable: true, rival: true, packages: ['graphile-worker'] },
  },
  {
    ...{ name: 'bullmq-postgres', file: peer('bullmq'), variant: 'postgres', engine: 'postgres' },
    ...{ durable: true, rival: true, packages: ['bullmq'] },
  },
  {
    ...{ name: 'bullmq-redis', file: peer('bullmq'), variant: 'redis', engine: 'redis', appendfsync: 'everysec' },
    ...{ durable: false, rival: true, packages: ['bullmq', 'ioredis'] },
  },
  {
    ...{ name: 'bullmq-redis-always', file: peer('bullmq'), variant: 'redis', engine: 'redis', appendfsync: 'always' },
    ...{ durable: true, rival: true, packages: ['bullmq', 'ioredis'] },
  },
  { name: 'escapement', file: own('escapement'), engine: 'postgres', durable: true, rival: false, packages: [] },
]

/** The peers that call fsync before they respond. */
export const DURABLE_PEERS = CONTESTANTS.filter(({ durable, rival }) => durable && rival).map(({ name }) => name)

/** The peers that keep their jobs in PostgreSQL. */
export const POSTGRES_PEERS = CONTESTANTS.filter(({ engine, rival }) => rival && engine === 'postgres').map(
  ({ name }) => name,
)

/** All peers; the bare table is not a peer but the maximum. */
export const PEERS = CONTESTANTS.filter(({ rival }) => rival).map(({ name }) => name)
