// Who takes part. Each is opened by a module of one shape:
//   prepare(url)                      makes the schema
//   open(url, { handle, tuned, variant })   with `handle(n)` it works, without it only submits
//     → { submit(job), submitMany(jobs), batchSize, start(), close(), check?(count) }
//   observe(url)                      → { left(), counts(), close() }: what its store says, not what it says itself
//   dueTogether(url, { count, handle, … })  → { due, close() }: schedules with one moment, where it has any
// `durable`: whatever it has accepted is on the disk when it answers.
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

/** The peers that have fsynced before they answer. */
export const DURABLE_PEERS = CONTESTANTS.filter(({ durable, rival }) => durable && rival).map(({ name }) => name)

/** The peers that keep their jobs in PostgreSQL. */
export const POSTGRES_PEERS = CONTESTANTS.filter(({ engine, rival }) => rival && engine === 'postgres').map(
  ({ name }) => name,
)

/** All peers; the bare table is no peer but the ceiling. */
export const PEERS = CONTESTANTS.filter(({ rival }) => rival).map(({ name }) => name)
