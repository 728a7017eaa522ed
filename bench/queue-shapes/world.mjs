// What all shapes have in common: the runs, the way a turn is wrapped in a transaction, and the picker of the core.
import { randomBytes } from 'node:crypto'
import { pickRuns } from '../../dist/core/picking/picking.js'

export const ORG = 'org_1'
export const LANE = 'main'
export const AGENT_LIMIT = 10
/** One number per org; the product hashes the org's id. */
const ORG_LOCK = 7_001

/** Plans must not depend on statistics that are minutes old: the hot statements know which index they want. */
export const PINNED_PLANS =
  'set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set enable_bitmapscan = off; set jit = off'

/** The columns a run needs whatever the shape; the facts, the first attempt and the last outcome in one row. */
export const FACTS = `
  id uuid not null,
  org_id text not null,
  lane text not null,
  agent_id text not null,
  session_key text,
  schedule_id text,
  trigger text not null,
  priority int not null,
  created_at timestamptz not null,
  deadline timestamptz,
  first_attempt smallint not null default 1,
  attempt smallint not null default 1,
  node_id text,
  started_at timestamptz,
  finished_at timestamptz,
  payload jsonb not null,
  decision jsonb not null,
  output text,
  error_code text,
  usage jsonb,
  trace_id text`

/** How people look at runs; every shape pays for these. */
export const listIndexes = (table) => `
  create index ${table}_by_org on ${table} (org_id, id);
  create index ${table}_by_agent on ${table} (org_id, agent_id, id);
  create index ${table}_by_session on ${table} (org_id, session_key, id);
  create index ${table}_by_schedule on ${table} (org_id, schedule_id, id) where schedule_id is not null;`

export const TERMINAL = `('success','failed','timeout','cancelled','skipped','dropped','rejected','expired')`

let last = 0
/** Ids that grow with time (version 7), made before the commit. */
export function newId() {
  last = Math.max(Date.now() * 4096, last + 1)
  const time = Math.floor(last / 4096)
    .toString(16)
    .padStart(12, '0')
  const order = (last % 4096).toString(16).padStart(3, '0')
  const random = randomBytes(8).toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-a${random.slice(1, 4)}-${random.slice(4)}`.padEnd(36, '0')
}

/** The i-th run of the drain: 1,000 agents, 10,000 sessions. */
export function makeRun(index, { agents = 1_000, sessions = 10_000 } = {}) {
  return {
    id: newId(),
    agent: `agent_${index % agents}`,
    session: `session_${index % sessions}`,
    priority: 0,
    createdAt: new Date(),
    payload: '{"prompt":"say what changed since yesterday","context":{"channel":"console","peer":"p-100"}}',
    decision: '{"code":"admitted","rule":"session.mode=queue","evidence":{"waiting":0,"cap":10}}',
  }
}

/** One transaction under the org's lock. The lock is a statement of its own: what follows must see what its last holder did. */
export async function underLock(client, work) {
  await client.query(`begin; select pg_advisory_xact_lock(${ORG_LOCK})`)
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** A named, prepared statement. `client.observe` sees it first when buffers are being counted. */
export async function run(client, name, [text, values]) {
  if (client.observe !== undefined) await client.observe(name, text, values)
  return (await client.query({ name, text, values })).rows
}

/** The columns of new runs, as arrays for `unnest`. */
export const runColumns = (runs) =>
  ['id', 'agent', 'session', 'priority', 'createdAt', 'payload', 'decision'].map((key) => column(runs, key))

/**
 * Which of the sessions have nothing pending. `marks` remembers below which number a session has nothing left: without it
 * each look at an idle session walks all it ever had. `find` is the shape's lookup of the newest pending run.
 */
export async function idleSessions(client, marks, { name, find, sequence, firsts }) {
  const sessions = column(firsts, 'session')
  const rows = await run(client, name, [
    `select session_key, (select last_value from ${sequence}) as number from unnest($2::text[], $3::bigint[]) as s (session_key, mark)
      where (${find} and p.org_id = $1 and p.session_key = s.session_key and p.seq >= s.mark order by p.seq desc limit 1) is null`,
    [ORG, sessions, sessions.map((session) => marks.get(session) ?? 0)],
  ])
  for (const { session_key: session, number } of rows) marks.set(session, number)
  return new Set(column(rows, 'session_key'))
}

/**
 * What is in flight, by agent. The mark moves up to the oldest claim that is alive; when none is, to the last number drawn,
 * or the next turn would walk everything that has ended.
 */
export async function activeAgents(client, state, { name, table, sequence }) {
  const rows = await run(client, name, [
    `select null as agent_id, 0 as count, (select last_value from ${sequence}) as mark
     union all
     select agent_id, count(*)::int, min(claim_no) from ${table} where org_id = $1 and claim_no >= $2 group by agent_id`,
    [ORG, state.claimMark],
  ])
  state.number = Number(rows[0].mark)
  state.claimMark = rows.reduce((least, row) => Math.min(least, Number(row.mark)), Infinity)
  return new Map(rows.slice(1).map((row) => [row.agent_id, row.count]))
}

/** Runs that are the first of their session in this batch. */
export function firstOfSession(runs) {
  const seen = new Set()
  return runs.filter(({ session }) => !seen.has(session) && seen.add(session))
}

export const column = (rows, name) => rows.map((row) => row[name])

/** Asks the core who starts. `candidates` are session heads; `inFlight` maps agents to their active runs. */
export function pick(candidates, inFlight, slots) {
  const agents = new Map()
  for (const { agent_id: id, served } of candidates)
    if (!agents.has(id)) {
      const count = inFlight.get(id) ?? 0
      agents.set(id, {
        load: { inFlight: count, limit: AGENT_LIMIT },
        tasks: { inFlight: 0, limit: null },
        shares: new Map([[LANE, { inFlight: count, servedAt: Number(served ?? 0) }]]),
      })
    }
  const org = {
    load: { inFlight: 0, limit: null },
    tasks: { inFlight: 0, limit: null },
    shares: new Map(),
    agents,
    sessions: new Map(),
    budgets: new Map(),
  }
  return pickRuns({
    now: Date.now(),
    lanes: new Map([[LANE, { size: slots, held: 0 }]]),
    catchup: { inFlight: 0, limit: 10 },
    orgs: new Map([[ORG, org]]),
    candidates: candidates.map(toCandidate),
  })
}

/** For shapes without a line of agents: who was served when is only in this node's memory. */
export function pickRemembering(served, { candidates, inFlight, slots }) {
  for (const candidate of candidates) candidate.served = served.get(candidate.agent_id) ?? 0
  const picked = pick(candidates, inFlight, slots)
  for (const one of picked) served.set(one.agentId, served.size + (served.turns = (served.turns ?? 0) + 1))
  return picked
}

const toCandidate = (row) => ({
  id: row.id,
  orgId: ORG,
  agentId: row.agent_id,
  sessionKey: row.session_key,
  trigger: 'message',
  lane: LANE,
  priority: row.priority,
  createdAt: row.created_ms ?? row.created_at.getTime(),
  seq: Number(row.seq),
  notBefore: null,
  retrying: false,
  parkedBehind: null,
  interrupts: false,
  executable: true,
  reserves: [],
  row,
})

/** The runs of a layout as a temporary table `seed`: the shapes fill their own tables from it. */
export async function seedLayout(client, layout, count) {
  const { agent, session, rounds } = LAYOUTS[layout]
  await client.query(`drop table if exists seed; drop sequence if exists seed_seq`)
  await client.query(`create temp table seed as
    select uuidv7(make_interval(secs => i * 0.001 - ${count * 0.001 + 3600})) as id, i as seq, ${agent} as agent_id, ${session} as session_key,
           (i <= ${rounds(count)}) as head, 'queued' as state, ${layout === 'full agent'} as held,
           '2026-01-01'::timestamptz + i * interval '1 ms' as created_at
      from generate_series(1, ${count}) i`)
  if (layout === 'full agent')
    await client.query(
      `insert into seed select uuidv7(), -10 + i, 'agent_1', 'busy_' || i, false, 'running', false, '2025-12-31' from generate_series(0, 9) i`,
    )
  if (layout === 'full agent' || layout === 'neighbours')
    await client.query(
      `insert into seed select uuidv7(), ${count} + i, 'free_' || i % 10, 'free_' || i, true, 'queued', false, '2026-02-01' from generate_series(1, 400) i`,
    )
}

export const LAYOUTS = {
  'one session': { agent: `'agent_1'`, session: `'session_1'`, rounds: () => 1 },
  'one agent': { agent: `'agent_1'`, session: `'session_' || i`, rounds: (count) => count },
  '10,000 agents': {
    agent: `'agent_' || i % 10000`,
    session: `'session_' || i % 100000`,
    rounds: (count) => Math.min(count, 100_000),
  },
  // Ten more agents, behind one that has room for ten of its runs.
  neighbours: { agent: `'agent_1'`, session: `'session_' || i`, rounds: (count) => count },
  'full agent': { agent: `'agent_1'`, session: `'session_' || i`, rounds: (count) => count },
}

export const SEED_FACTS = `id, '${ORG}' as org_id, '${LANE}' as lane, agent_id, session_key, 'message' as trigger, 0 as priority, created_at,
  '{"prompt":"say what changed since yesterday","context":{"channel":"console","peer":"p-100"}}'::jsonb as payload,
  '{"code":"admitted","rule":"session.mode=queue","evidence":{"waiting":0,"cap":10}}'::jsonb as decision`
export const SEED_COLUMNS = 'id, org_id, lane, agent_id, session_key, trigger, priority, created_at, payload, decision'
