// A. One table, a partial index on what is queued. The statement looks for session heads among everything that waits.
import * as world from '../world.mjs'
import { LANE, ORG, run } from '../world.mjs'

const PENDING = `('waiting','queued','assigned','running','awaiting_callback','stopping')`
const IN_FLIGHT = `('assigned','running','awaiting_callback','stopping')`

export const name = 'A naive'
export const ddl = `
  create sequence a_number;
  create table a_run (${world.FACTS},
    state text not null, seq bigint, not_before timestamptz,
    primary key (id),
    check ((state in ${world.TERMINAL}) = (finished_at is not null)));
  ${world.listIndexes('a_run')}
  create index a_run_queued on a_run (org_id, lane, priority, created_at, id) where state = 'queued';
  create index a_run_session on a_run (org_id, session_key, seq) where state in ${PENDING};
  create index a_run_active on a_run (org_id, agent_id) where state in ${IN_FLIGHT};`
export const tables = ['a_run']
export const history = 'a_run'
export const newState = () => ({})

export async function submit(client, _state, runs) {
  await run(client, 'a_submit', [
    `insert into a_run (${world.SEED_COLUMNS}, state, seq)
     select id, $1, $2, agent_id, session_key, 'message', priority, created_at, payload, decision, 'queued', nextval('a_number')
       from unnest($3::uuid[], $4::text[], $5::text[], $6::int[], $7::timestamptz[], $8::jsonb[], $9::jsonb[])
         as s (id, agent_id, session_key, priority, created_at, payload, decision)`,
    [ORG, LANE, ...world.runColumns(runs)],
  ])
}

export async function turn(client, _state, { finished, slots, now }) {
  if (finished.length > 0)
    await run(client, 'a_settle', [
      `update a_run r set state = 'success', finished_at = $2, output = d.output
         from (select (select case when p.org_id = $1 and p.state = 'running' then p.ctid end from a_run p where p.id = d.id) as at, output from unnest($3::uuid[], $4::text[]) as d (id, output) offset 0) d
        where r.ctid = d.at`,
      [ORG, now, finished, finished.map(() => 'done')],
    ])
  const active = await run(client, 'a_active', [
    `select agent_id, count(*)::int as count from a_run where org_id = $1 and state in ${IN_FLIGHT} group by agent_id`,
    [ORG],
  ])
  const inFlight = new Map(active.map((row) => [row.agent_id, row.count]))
  const full = active.filter((row) => row.count >= world.AGENT_LIMIT).map((row) => row.agent_id)
  const candidates = await run(client, 'a_candidates', [
    `select q.ctid::text as ctid, q.id, q.agent_id, q.session_key, q.priority, q.seq, q.created_at
       from a_run q
      where q.org_id = $1 and q.lane = $2 and q.state = 'queued' and q.agent_id <> all($4::text[])
        and (select true from a_run p where p.org_id = q.org_id and p.session_key = q.session_key
                and p.seq < q.seq and p.state in ${PENDING} order by p.seq limit 1) is null
      order by q.priority, q.created_at, q.id
      limit $3`,
    [ORG, LANE, slots * 2, full],
  ])
  const picked = world.pick(candidates, inFlight, slots)
  if (picked.length === 0) return []
  return run(client, 'a_claim', [
    `update a_run set state = 'running', started_at = $1, node_id = $2 where ctid = any($3::tid[]) returning id, payload`,
    [now, 'node_1', picked.map((one) => one.row.ctid)],
  ])
}

export const seed = (client) =>
  client.query(`
  insert into a_run (${world.SEED_COLUMNS}, state, seq) select ${world.SEED_FACTS}, state, seq from seed;
  select setval('a_number', 10000000)`)
