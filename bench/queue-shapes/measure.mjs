// Draining, steady state and buffers of a shape. Throughput is noisy and only good for ratios inside one run; buffers are exact.
import { readFileSync } from 'node:fs'
import { makeRun, PINNED_PLANS, seedLayout, SEED_COLUMNS, SEED_FACTS, underLock } from './world.mjs'

const BATCH = 500

export async function prepare(server, shape) {
  const client = await server.connect()
  await client.query(
    `set client_min_messages = warning; drop schema if exists bench cascade; create schema bench; set search_path = bench; ${PINNED_PLANS}`,
  )
  await client.query(shape.ddl)
  return client
}

export async function another(server) {
  const client = await server.connect()
  await client.query(`set search_path = bench; ${PINNED_PLANS}`)
  return client
}

/** Seconds of processor time the client's server process has used: far less noisy than the clock on a shared machine. */
export async function serverSeconds(client) {
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const fields = readFileSync(`/proc/${rows[0].pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

export const oneTurn = async (client, shape, { state, finished, slots = BATCH }) => {
  const now = new Date()
  const claimed = await underLock(client, () => shape.turn(client, state, { finished, slots, now }))
  return claimed.map((row) => row.id)
}

/** Runs per second from a full queue of 50,000 to an empty one, settled and readable. */
export async function drain(server, shape, count = 50_000) {
  const client = await prepare(server, shape)
  const state = shape.newState()
  for (let from = 0; from < count; from += 1_000)
    await underLock(client, () =>
      shape.submit(
        client,
        state,
        Array.from({ length: 1_000 }, (_, i) => makeRun(from + i)),
      ),
    )
  const used = await serverSeconds(client)
  const started = performance.now()
  let left = count
  for (let finished = []; left > 0 || finished.length > 0;) {
    const done = finished.length
    finished = await oneTurn(client, shape, { state, finished })
    left -= finished.length
    if (done === 0 && finished.length === 0) throw new Error(`${shape.name}: ${left} runs are left and none may start`)
  }
  const seconds = (performance.now() - started) / 1000
  const cpu = ((await serverSeconds(client)) - used) / count
  const { rows } = await client.query(
    `select count(*)::int as n from ${shape.history} where state = 'success' and finished_at is not null and started_at is not null`,
  )
  if (rows[0].n !== count) throw new Error(`${shape.name}: ${rows[0].n} of ${count} are settled`)
  await client.end()
  return { speed: Math.round(count / seconds), cpu: Math.round(cpu * 1e7) / 10 }
}

/** The ceiling: a bare table, claimed and completed in batches, nothing else. */
export async function drainRaw(server, count = 50_000) {
  const client = await server.connect()
  await client.query(`drop schema if exists bench cascade; create schema bench; set search_path = bench;
    create table raw (id bigint primary key, state smallint not null, payload jsonb);
    create index on raw (id) where state = 0;
    insert into raw select i, 0, '{"prompt":"say what changed since yesterday"}' from generate_series(1, ${count}) i`)
  const used = await serverSeconds(client)
  const started = performance.now()
  for (let left = count; left > 0;) {
    const { rows } = await client.query({
      name: 'raw_claim',
      text: `update raw set state = 1 where ctid = any(array(select ctid from raw where state = 0 order by id limit $1 for update skip locked)) returning ctid::text, id, payload`,
      values: [BATCH],
    })
    await client.query({
      name: 'raw_done',
      text: 'update raw set state = 2 where ctid = any($1::tid[])',
      values: [rows.map((row) => row.ctid)],
    })
    left -= rows.length
  }
  const seconds = (performance.now() - started) / 1000
  const cpu = ((await serverSeconds(client)) - used) / count
  await client.end()
  return { speed: Math.round(count / seconds), cpu: Math.round(cpu * 1e7) / 10 }
}

/** Submit, claim and settle as fast as it goes; runs per second in windows of five seconds, and what is left on disk. */
export async function steady(server, shape, { seconds = 60, pinned = false }) {
  const client = await prepare(server, shape)
  const state = shape.newState()
  let index = 0
  const submit = (count) =>
    underLock(client, () =>
      shape.submit(
        client,
        state,
        Array.from({ length: count }, () => makeRun(index++)),
      ),
    )
  for (let i = 0; i < 10; i += 1) await submit(1_000)
  const holder = pinned ? await pin(server, shape) : null
  const windows = []
  const cpu = []
  let finished = []
  const started = performance.now()
  for (let window = 1; window <= seconds / 5; window += 1) {
    const opened = performance.now()
    const used = await serverSeconds(client)
    let settled = 0
    while (performance.now() < started + window * 5_000) {
      await submit(BATCH)
      settled += finished.length
      finished = await oneTurn(client, shape, { state, finished })
    }
    windows.push(Math.round(settled / ((performance.now() - opened) / 1000)))
    cpu.push(Math.round((((await serverSeconds(client)) - used) / settled) * 1e6))
  }
  await holder?.query('rollback')
  await holder?.end()
  const sizes = await sizesOf(client, shape)
  await client.end()
  return { windows, cpu, sizes }
}

/** A reader that has looked once and never ends: nothing that dies from now on can be cleared away. */
async function pin(server, shape) {
  const client = await another(server)
  await client.query('begin isolation level repeatable read')
  await client.query(`select count(*) from ${shape.history}`)
  return client
}

async function sizesOf(client, shape) {
  const { rows } = await client.query(
    `select c.relname as name, c.relkind, pg_relation_size(c.oid) / 1048576.0 as mib
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'bench' and c.relkind in ('r', 'i') order by pg_relation_size(c.oid) desc`,
  )
  await client.query('select pg_stat_force_next_flush()')
  const { rows: updates } = await client.query(
    `select n_tup_upd::int as updates, n_tup_hot_upd::int as hot from pg_stat_user_tables where relname = $1`,
    [shape.history],
  )
  const { rows: alive } = await client.query(
    shape.tables.map((table) => `select '${table}' as name, count(*)::int as rows from ${table}`).join(' union all '),
  )
  return {
    mib: Object.fromEntries(rows.map((row) => [row.name, Number(Number(row.mib).toFixed(1))])),
    rows: Object.fromEntries(alive.map((row) => [row.name, row.rows])),
    ...updates[0],
  }
}

/** What a plan touched. A writing `with` part that nobody reads runs after the rest and is not in the sum at the top. */
function totalBuffers(plan) {
  const parts = []
  const read = new Set()
  const walk = (node) => {
    if (node['CTE Name'] !== undefined) read.add(node['CTE Name'])
    if (node['Subplan Name']?.startsWith('CTE ')) parts.push(node)
    for (const child of node.Plans ?? []) walk(child)
  }
  walk(plan)
  const unread = parts.filter((node) => !read.has(node['Subplan Name'].slice(4)))
  return [plan, ...unread].reduce(
    (sum, node) => sum + (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0),
    0,
  )
}

/** Shared buffers a turn touches, by statement. Each statement is explained first and undone, then executed. */
async function countTurn(client, shape, { state, slots, finished = [] }) {
  const touched = {}
  client.observe = async (name, text, values) => {
    await client.query('savepoint before')
    const { rows } = await client.query({ text: `explain (analyze, buffers, timing off, format json) ${text}`, values })
    await client.query('rollback to savepoint before')
    touched[name.slice(2)] = totalBuffers(rows[0]['QUERY PLAN'][0].Plan)
  }
  const claimed = await oneTurn(client, shape, { state, finished, slots })
  delete client.observe
  return { claimed, touched }
}

/** Buffers per claimed run when `count` wait in a layout: of the load and claim, and of the whole next turn with its settling. */
export async function buffers(server, shape, { layout, count, slots = 100 }) {
  const client = await prepare(server, shape)
  await seedLayout(client, layout, count)
  await shape.seed(client)
  await client.query("drop table seed; set statement_timeout = '60s'")
  for (const table of shape.tables) await client.query(`vacuum analyze ${table}`)
  const state = shape.newState()
  try {
    // The first turn warms up: it reads what the seeding left behind.
    const first = await oneTurn(client, shape, { state, finished: [], slots })
    const { claimed, touched } = await countTurn(client, shape, { state, slots, finished: first })
    const { settle = 0, ...rest } = touched
    const load = Object.values(rest).reduce((sum, one) => sum + one, 0)
    const each = Math.max(claimed.length, 1)
    return {
      claimed: claimed.length,
      perRun: Number((load / each).toFixed(1)),
      settlePerRun: Number((settle / Math.max(first.length, 1)).toFixed(1)),
      ...rest,
    }
  } catch (error) {
    return { claimed: 0, perRun: Infinity, error: error.message }
  } finally {
    await client.end()
  }
}

/** The same with a history: buffers per run of a full turn over 50,000 queued beside `count` ended runs. */
export async function history(server, shape, { count, slots = 500 }) {
  const client = await prepare(server, shape)
  const chunk = 1_000_000
  for (let from = 0; from < count; from += chunk) {
    await client.query(`insert into ${shape.history} (${SEED_COLUMNS}, state, started_at, finished_at, output)
      select ${SEED_FACTS}, 'success', created_at, created_at, 'done' from (
        select uuidv7(make_interval(secs => i * 0.01 - 200000)) as id, 'agent_' || i % 1000 as agent_id, 'session_' || i % 10000 as session_key,
               '2025-01-01'::timestamptz + i * interval '1 ms' as created_at
          from generate_series(${from + 1}, ${Math.min(from + chunk, count)}) i) s`)
  }
  await client.query(`vacuum analyze ${shape.history}`)
  const state = shape.newState()
  for (let from = 0; from < 20_000; from += 1_000)
    await underLock(client, () =>
      shape.submit(
        client,
        state,
        Array.from({ length: 1_000 }, (_, i) => makeRun(from + i)),
      ),
    )
  let finished = []
  for (let i = 0; i < 3; i += 1) finished = await oneTurn(client, shape, { state, finished, slots })
  const { claimed, touched } = await countTurn(client, shape, { state, slots, finished })
  const total = Object.values(touched).reduce((sum, one) => sum + one, 0)
  const started = performance.now()
  let settled = 0
  finished = claimed
  for (let i = 0; i < 10; i += 1) {
    settled += finished.length
    finished = await oneTurn(client, shape, { state, finished, slots })
  }
  const perSecond = Math.round(settled / ((performance.now() - started) / 1000))
  await client.end()
  return { perRun: Number((total / claimed.length).toFixed(1)), perSecond, ...touched }
}
