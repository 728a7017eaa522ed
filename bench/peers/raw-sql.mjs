// The practical maximum: a bare table, claimed and completed in batches, without any features.
import pg from 'pg'

const BATCH = 500
const CLAIM = `update job set state = 1 where ctid = any(array(
  select ctid from job where state = 0 order by id limit $1 for update skip locked)) returning ctid::text, id, payload`
const COMPLETE = 'update job set state = 2 where ctid = any($1::tid[])'
const INSERT = 'insert into job (state, payload) values (0, $1)'
const INSERT_MANY = 'insert into job (state, payload) select 0, unnest($1::jsonb[])'

/** Counts from the store. */
export async function observe(url) {
  const client = await connected(url)
  const ask = async (text) => (await client.query(text)).rows[0]
  return {
    left: async () => (await ask('select count(*)::int as left from job where state < 2')).left,
    counts: () =>
      ask(`select count(*) filter (where state < 2)::int as left, count(*) filter (where state = 2)::int as completed,
                  0 as failed from job`),
    close: () => client.end(),
  }
}

export async function prepare(url) {
  const client = await connected(url)
  await client.query(`create table job (
      id bigint generated always as identity primary key, state smallint not null, payload jsonb not null);
    create index job_waiting on job (id) where state = 0`)
  await client.end()
}

/** Works if there is a `handle`, one claim after the other, woken by notifications; otherwise it only submits. */
export async function open(url, { handle }) {
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  const worker = handle === undefined ? undefined : await createWorker(url, handle)
  const insert = {
    name: 'insert',
    text: handle === undefined ? INSERT : `with made as (${INSERT}) select pg_notify('job', '')`,
  }
  return {
    batchSize: 1_000,
    submit: (job) => pool.query({ ...insert, values: [JSON.stringify(job)] }),
    submitMany: (jobs) =>
      pool.query({ name: 'insert_many', text: INSERT_MANY, values: [jobs.map((job) => JSON.stringify(job))] }),
    start: () => worker.start(),
    close: async () => {
      await worker?.stop()
      await pool.end()
    },
  }
}

async function createWorker(url, handle) {
  const client = await connected(url)
  let turning = null
  let woken = false
  const turn = async () => {
    do {
      woken = false
      for (let more = true; more;) {
        const { rows } = await client.query({ name: 'claim', text: CLAIM, values: [BATCH] })
        for (const row of rows) handle(row.payload.n)
        if (rows.length > 0)
          await client.query({ name: 'complete', text: COMPLETE, values: [rows.map((row) => row.ctid)] })
        more = rows.length === BATCH
      }
    } while (woken)
    turning = null
  }
  const wake = () => {
    woken = true
    turning ??= turn()
  }
  client.on('notification', wake)
  return {
    start: async () => {
      await client.query('listen job')
      wake()
    },
    stop: async () => {
      await turning
      await client.end()
    },
  }
}

async function connected(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}
