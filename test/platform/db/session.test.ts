import { Client, type ClientBase } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../../src/platform/db/database.ts'
import { DatabaseError } from '../../../src/platform/db/database-error.ts'
import { openPostgres } from '../../../src/platform/db/postgres/postgres.ts'
import { checkServerVersion, checkPooler } from '../../../src/platform/db/postgres/session.ts'
import { clientConfig } from '../../../src/platform/db/postgres/target.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { withDatabase } from '../../support/server-databases.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase()
  db = await world.open({ pool: 3, applicationName: 'node a' })
})
afterAll(() => world.drop())

const SETTINGS = `select current_setting('idle_in_transaction_session_timeout') as idle,
  current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
  current_setting('search_path') as path, current_setting('TimeZone') as zone,
  current_setting('application_name') as name, pg_backend_pid() as pid`

/** Runs the same in several transactions that are open at once, so that each has a connection of its own. */
async function onEveryConnection(count: number, text: string): Promise<readonly (readonly object[])[]> {
  let arrived = 0
  let open: () => void = () => undefined
  const everybody = new Promise<void>((resolve) => void (open = resolve))
  const one = () =>
    db.transaction(async (tx) => {
      const rows = await tx.query(text, [])
      arrived += 1
      if (arrived === count) open()
      await everybody
      return rows
    })
  return Promise.all(Array.from({ length: count }, one))
}

describe('every connection of the pool', () => {
  it('has its limits, its schema and its name set', async () => {
    const all = (await onEveryConnection(3, SETTINGS)).flat() as readonly { readonly pid: number }[]
    expect(new Set(all.map(({ pid }) => pid)).size).toBe(3)
    for (const { pid, ...settings } of all) {
      expect(pid).toBeGreaterThan(0)
      expect(settings).toEqual({
        ...{ idle: '2s', lock: '5s', statement: '30s', path: '"escapement"', zone: 'UTC', name: 'node a' },
      })
    }
  })

  it('prepares a statement with parameters once, and plain text not at all', async () => {
    await world.open({ pool: 1 }).then(async (single) => {
      await single.query('select $1::int as n', [1])
      await single.query('select $1::int as n', [2])
      const rows = await single.query('select count(*) as count from pg_prepared_statements where statement like $1', [
        'select $1::int as n%',
      ])
      expect(rows).toEqual([{ count: 1 }])
    })
  })

  it('is put back into service after a statement that failed', async () => {
    const single = await world.open({ pool: 1 })
    await expect(single.query('select 1/0', [])).rejects.toMatchObject({ code: 'statement_failed', sqlState: '22012' })
    expect(await single.query('select 1 as one', [])).toEqual([{ one: 1 }])
  })
})

describe('what the server refuses', () => {
  it('is told by codes', async () => {
    await db.query('create table ruled (n int primary key check (n > 0))')
    await db.query('insert into ruled values ($1)', [1])
    await expect(db.query('insert into ruled values ($1)', [1])).rejects.toMatchObject({
      ...{ code: 'constraint_violated', sqlState: '23505', constraint: 'ruled_pkey', mayHaveCommitted: false },
    })
    await expect(db.transaction((tx) => tx.query('select pg_sleep(5)', []), { statementMs: 20 })).rejects.toMatchObject(
      { code: 'timed_out' },
    )
  })

  it('waits for a lock only so long', async () => {
    await db.transaction(async (holder) => {
      await holder.query('lock table ruled in access exclusive mode')
      const waiter = db.transaction((tx) => tx.query('select * from ruled', []), { lockMs: 20 })
      await expect(waiter).rejects.toMatchObject({ code: 'timed_out', sqlState: '55P03' })
    })
  })

  it('waits for a free connection only so long', async () => {
    const single = await world.open({ pool: 1, limits: { connectMs: 1_000 } })
    await single.transaction(async () => {
      await expect(single.query('select 1', [])).rejects.toMatchObject({ code: 'no_free_connection' })
    })
  })
})

describe('a database that cannot be opened', () => {
  it('is unreachable where nobody listens', async () => {
    const nowhere = { host: '/nonexistent', port: 5432, user: 'a', password: 'b', database: 'c' }
    await expect(openPostgres({ target: nowhere })).rejects.toMatchObject({ code: 'database_unreachable' })
    await expect(openPostgres({ target: 'postgres://a:b@127.0.0.1:1/c' })).rejects.toMatchObject({
      code: 'database_unreachable',
    })
  })

  it('refuses a database that does not exist', async () => {
    const target = withDatabase(world.target, 'no_such_database')
    await expect(openPostgres({ target })).rejects.toMatchObject({ code: 'database_refused', sqlState: '3D000' })
  })

  it('refuses a server that is too old with a sentence', async () => {
    const old = {
      query: () => Promise.resolve({ rows: [{ version: '14.9', number: '140009' }] }),
    } as unknown as ClientBase
    await expect(checkServerVersion(old)).rejects.toThrow(
      'The database server is too old: it is PostgreSQL 14.9. Use PostgreSQL 15 or newer.',
    )
  })

  it.each(['Robert"; drop', 'pg_mine', '1st', '', 'a'.repeat(64), 'information_schema'])(
    'refuses %j as the name of the schema',
    async (schema) => {
      const opening = world.open({ schema }).then((opened) => opened.query('select 1', []))
      await expect(opening).rejects.toMatchObject({ code: 'schema_name_invalid' })
    },
  )
})

describe('an error of the database', () => {
  it('keeps its cause and says what to do', () => {
    const cause = new Error('why')
    const error = new DatabaseError('disk_full', { detail: '/data', cause })
    expect(error.message).toBe('The disk is full: /data. Free some space and restart; acknowledged work is not lost.')
    expect(error.cause).toBe(cause)
  })
})

describe('a database whose default is another isolation', () => {
  it('is read as it is under the lock, not as it was before', async () => {
    const other = await createTestDatabase('empty')
    try {
      const [row] = await other.outside('select current_database() as name')
      const name = row?.['name'] as string
      await other.outside(`alter database ${name} set default_transaction_isolation = 'repeatable read'`)
      await other.outside(
        'create schema escapement; create table escapement.version (no int); insert into escapement.version values (1)',
      )
      const [first, second] = [await other.open(), await other.open()]
      const lock = [1, 1] as const
      const reading = async (): Promise<unknown> => {
        let arrived: () => void = () => undefined
        const waiting = new Promise<void>((resolve) => void (arrived = resolve))
        const late = await first.transaction(
          async (tx) => {
            const answer = second.transaction((inner) => inner.query('select no from version', []), { lock })
            await expect
              .poll(async () => (await other.outside('select 1 from pg_locks where not granted')).length)
              .toBeGreaterThan(0)
            await tx.query('update version set no = 2', [])
            arrived()
            return { answer }
          },
          { lock },
        )
        await waiting
        return late.answer
      }
      expect(await reading()).toEqual([{ no: 2 }])
    } finally {
      await other.drop()
    }
  })
})

describe('two deployments in one database', () => {
  it('do not wait for the same lock, and the usual schema takes the number of 0.1.0', async () => {
    const other = await world.open({ schema: 'elsewhere' })
    const held = async (one: Database): Promise<readonly unknown[]> =>
      one.transaction(
        (tx) => tx.query(`select objid from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`, []),
        {
          lock: [3, 77],
        },
      )
    expect(await held(db)).toEqual([{ objid: 77 }])
    const inside = await db.transaction(() => held(other), { lock: [3, 77] })
    expect(inside).toHaveLength(1)
    expect(inside).not.toEqual([{ objid: 77 }])
  })
})

describe('a pooler', () => {
  const refused = { code: 'pooler_unsupported' }
  let clients: readonly Client[]
  beforeAll(async () => {
    clients = [0, 1, 2].map(() => new Client(clientConfig(world.target)))
    await Promise.all(clients.map((client) => client.connect()))
  })
  afterAll(() => Promise.all(clients.map((client) => client.end())))

  /** What a pooler makes of a connection: each transaction goes to the server connection that is next. */
  const pooled = (servers: readonly Client[]): Pick<ClientBase, 'query'> => {
    let next = 0
    const query = (text: string) => servers[next++ % servers.length]?.query(text)
    return { query } as Pick<ClientBase, 'query'>
  }

  it('that gives each transaction another connection is refused', async () => {
    const [a, b, c] = clients as [Client, Client, Client]
    await expect(checkPooler(a, a)).rejects.toMatchObject(refused)
    await expect(checkPooler(pooled([a, b]), c)).rejects.toMatchObject(refused)
  })

  it('that is none, or leaves each client its own, is not', async () => {
    const [a, b] = clients as [Client, Client, Client]
    await expect(checkPooler(a, b)).resolves.toBeUndefined()
    await expect(checkPooler(pooled([a]), pooled([b]))).resolves.toBeUndefined()
  })
})
