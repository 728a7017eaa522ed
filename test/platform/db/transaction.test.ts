import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database, Transaction } from '../../../src/platform/db/database.ts'
import { isDatabaseAway } from '../../../src/platform/db/database-error.ts'
import { openPostgres } from '../../../src/platform/db/postgres/postgres.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createCutOff } from './cut-off.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase()
  db = await world.open()
  await db.query('create table kept (n int)')
})
afterAll(() => world.drop())

const kept = async (n: number): Promise<boolean> =>
  (await db.query('select 1 from kept where n = $1', [n])).length === 1
const keep = (tx: Transaction, n: number) => tx.query('insert into kept values ($1)', [n])
const pidOf = async (tx: Transaction) => (await tx.query('select pg_backend_pid() as pid', []))[0]?.['pid'] as number
const terminate = (pid: number) => world.outside('select pg_terminate_backend($1, 5000)', [pid])

describe('a transaction', () => {
  it('keeps what it did and answers what the work answered', async () => {
    expect(await db.transaction((tx) => keep(tx, 1).then(() => 'done'))).toBe('done')
    expect(await kept(1)).toBe(true)
  })

  it('keeps nothing when the work throws, and throws the same', async () => {
    const why = new Error('changed my mind')
    await expect(db.transaction((tx) => keep(tx, 2).then(() => Promise.reject(why)))).rejects.toBe(why)
    expect(await kept(2)).toBe(false)
  })

  it('says so when a failed statement was ignored and COMMIT did not keep anything', async () => {
    const work = async (tx: Transaction): Promise<void> => {
      await keep(tx, 3)
      await tx.query('select 1/0', []).catch(() => undefined)
    }
    await expect(db.transaction(work)).rejects.toMatchObject({ code: 'rolled_back' })
    expect(await kept(3)).toBe(false)
  })

  it('takes no statement after its end', async () => {
    const escaped = await db.transaction((tx) => Promise.resolve(tx))
    await expect(escaped.query('select 1', [])).rejects.toMatchObject({ code: 'statement_failed' })
  })
})

describe('statements nobody waits for', () => {
  const send = (tx: Transaction, n: number): void => {
    tx.send('insert into kept values ($1)', [n])
  }

  it('are kept, in their order, before the transaction answers', async () => {
    await db.transaction((tx) => {
      send(tx, 30)
      tx.send('update kept set n = n + 1 where n = $1', [30])
    })
    expect([await kept(30), await kept(31)]).toEqual([false, true])
  })

  it('fail the transaction with their own error, and nothing is kept', async () => {
    const work = (tx: Transaction): void => {
      send(tx, 32)
      tx.send('select 1 / $1::int', [0])
      send(tx, 33)
    }
    await expect(db.transaction(work)).rejects.toMatchObject({ code: 'statement_failed', sqlState: '22012' })
    expect([await kept(32), await kept(33)]).toEqual([false, false])
  })

  it('are the reason when a later statement fails only because of them', async () => {
    const work = async (tx: Transaction): Promise<void> => {
      tx.send('select 1 / $1::int', [0])
      await tx.query('select 1', [])
    }
    await expect(db.transaction(work)).rejects.toMatchObject({ sqlState: '22012' })
  })

  it('are not followed by COMMIT when the driver could not send one of them', async () => {
    const circle: unknown[] = []
    circle.push(circle)
    const work = (tx: Transaction): void => {
      send(tx, 34)
      tx.send('insert into kept values ($1)', [circle as never])
    }
    await expect(db.transaction(work)).rejects.toMatchObject({ code: 'connection_lost' })
    expect(await kept(34)).toBe(false)
  })

  it('leave it known that nothing was kept when the server ended the session before it read them', async () => {
    const quick = await world.open({ limits: { idleInTransactionMs: 30 } })
    const work = async (tx: Transaction): Promise<void> => {
      const pid = await pidOf(tx)
      await untilGone(pid)
      send(tx, 35)
    }
    await expect(quick.transaction(work)).rejects.toMatchObject({ code: 'connection_lost', mayHaveCommitted: false })
    expect(await kept(35)).toBe(false)
  })

  it('leave time for other things once COMMIT is on its way', async () => {
    const told: string[] = []
    await db.transaction(
      (tx) => {
        send(tx, 36)
      },
      { committing: () => told.push('committing') },
    )
    expect(told).toEqual(['committing'])
    await expect(
      db.transaction(() => Promise.reject(new Error('no')), { committing: () => told.push('again') }),
    ).rejects.toThrow('no')
    expect(told).toEqual(['committing'])
  })
})

describe('the beginning of a transaction', () => {
  it('says why the lock was not given, not what failed for it', async () => {
    const lock = [7, 8] as const
    const hasty = await world.open({ limits: { lockMs: 50 } })
    await db.transaction(
      async () => {
        const waiting = hasty.transaction((tx) => keep(tx, 40), { lock })
        await expect(waiting).rejects.toMatchObject({ code: 'timed_out' })
      },
      { lock },
    )
    expect(await kept(40)).toBe(false)
  })
})

describe('a connection that ends inside a transaction', () => {
  it('certainly kept nothing, and the pool goes on', async () => {
    const work = async (tx: Transaction): Promise<void> => {
      await keep(tx, 10)
      await terminate(await pidOf(tx))
      await tx.query('select 1', [])
    }
    const failure = await db.transaction(work).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'connection_lost', mayHaveCommitted: false })
    expect(isDatabaseAway(failure)).toBe(true)
    expect(await kept(10)).toBe(false)
  })

  it('is ended by the server when a node idles in it', async () => {
    const quick = await world.open({ limits: { idleInTransactionMs: 30 } })
    const work = async (tx: Transaction): Promise<void> => {
      await keep(tx, 11)
      const pid = await pidOf(tx)
      await untilGone(pid)
    }
    await expect(quick.transaction(work)).rejects.toMatchObject({ code: 'connection_lost', mayHaveCommitted: false })
    expect(await kept(11)).toBe(false)
  })

  it('may have carried out a single statement', async () => {
    const lonely = await world.open({ pool: 1, applicationName: 'lonely' })
    const sleeping = lonely.query('select pg_sleep(20)', [])
    const failing = expect(sleeping).rejects.toMatchObject({ code: 'connection_lost', mayHaveCommitted: true })
    await untilActive('lonely')
    await world.outside('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
      'lonely',
    ])
    await failing
  })
})

describe('a connection that ends during COMMIT', () => {
  it('leaves open whether the changes were kept: here they were not', async () => {
    await db.query(`
      create table slow_commit (n int);
      create function wait_for_lock() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(77); return null; end $$;
      create constraint trigger waits after insert on slow_commit deferrable initially deferred
        for each row execute function wait_for_lock()`)
    const failing = await db.transaction(async (holder) => {
      await holder.query('select pg_advisory_xact_lock(77)', [])
      let pid = 0
      const cut = db.transaction(async (tx) => {
        pid = await pidOf(tx)
        await tx.query('insert into slow_commit values ($1)', [1])
      })
      const failure = cut.catch((error: unknown) => error)
      await untilWaiting()
      await terminate(pid)
      return failure
    })
    expect(failing).toMatchObject({ code: 'commit_unknown', mayHaveCommitted: true })
    expect(await db.query('select * from slow_commit', [])).toEqual([])
  })

  it('leaves open whether the changes were kept: here they were', async () => {
    const wire = await createCutOff(world.target)
    const far = await openPostgres({ target: wire.target, pool: 1 })
    const cut = far.transaction(async (tx) => {
      await keep(tx, 20)
      wire.swallowAnswerTo('commit')
    })
    await expect(cut).rejects.toMatchObject({ code: 'commit_unknown', mayHaveCommitted: true })
    expect(await kept(20)).toBe(true)
    await far.close()
    wire.close()
  })
})

// Asked again and again rather than slept for: each answer is a round trip to the server.
async function until(text: string, params: readonly unknown[]): Promise<void> {
  while ((await world.outside(text, params)).length === 0);
}
const untilGone = (pid: number) =>
  until('select 1 where not exists (select from pg_stat_activity where pid = $1)', [pid])
const untilActive = (name: string) =>
  until("select 1 from pg_stat_activity where application_name = $1 and state = 'active'", [name])
const untilWaiting = () =>
  until("select 1 from pg_locks where locktype = 'advisory' and objid = 77 and not granted", [])
