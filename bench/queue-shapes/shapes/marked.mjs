// B. One table; a session head carries a `place` in the line of its lane. The scan of the line begins at a low-water mark.
import * as world from '../world.mjs'
import { LANE, ORG, run } from '../world.mjs'

const PENDING = `('waiting','queued','assigned','running','awaiting_callback','stopping')`

export const name = 'B marked'
export const ddl = `
  create sequence b_number;
  create table b_run (${world.FACTS},
    state text not null, seq bigint, place bigint, held boolean not null default false, claim_no bigint, not_before timestamptz,
    primary key (id),
    check ((state in ${world.TERMINAL}) = (finished_at is not null)));
  ${world.listIndexes('b_run')}
  create index b_run_ready on b_run (org_id, lane, place) where place is not null;
  create index b_run_held on b_run (org_id, lane, agent_id, priority, created_at) where held;
  create index b_run_session on b_run (org_id, session_key, seq) where state in ${PENDING};
  create index b_run_active on b_run (org_id, claim_no) where claim_no is not null;`
export const tables = ['b_run']
export const history = 'b_run'
export const newState = () => ({ mark: 0, claimMark: -100, sessions: new Map(), served: new Map() })

export async function submit(client, state, runs) {
  const firsts = world.firstOfSession(runs)
  const find = `select true from b_run p where p.state in ${PENDING}`
  const idle = await world.idleSessions(client, state.sessions, { name: 'b_idle', find, sequence: 'b_number', firsts })
  const heads = new Set(firsts.filter(({ session }) => idle.has(session)))
  await run(client, 'b_submit', [
    `insert into b_run (${world.SEED_COLUMNS}, state, seq, place)
     select id, $1, $2, agent_id, session_key, 'message', priority, created_at, payload, decision, 'queued',
            nextval('b_number'), case when head then nextval('b_number') end
       from unnest($3::uuid[], $4::text[], $5::text[], $6::int[], $7::timestamptz[], $8::jsonb[], $9::jsonb[], $10::boolean[])
         as s (id, agent_id, session_key, priority, created_at, payload, decision, head)`,
    [ORG, LANE, ...world.runColumns(runs), runs.map((one) => heads.has(one))],
  ])
}

export async function turn(client, state, { finished, slots, now }) {
  if (finished.length > 0)
    await run(client, 'b_settle', [
      `with done as (
         update b_run r set state = 'success', finished_at = $2, output = d.output, claim_no = null
           from (select (select case when p.org_id = $1 and p.state = 'running' then p.ctid end from b_run p where p.id = d.id) as at, output from unnest($3::uuid[], $4::text[]) as d (id, output) offset 0) d
          where r.ctid = d.at
         returning r.session_key, r.seq),
       next as (
         select n.ctid from done d cross join lateral (
           select q.ctid from b_run q where q.org_id = $1 and q.session_key = d.session_key and q.seq > d.seq and q.state in ${PENDING}
            order by q.seq limit 1) n)
       update b_run set place = nextval('b_number') where ctid = any(array(select ctid from next))`,
      [ORG, now, finished, finished.map(() => 'done')],
    ])
  const inFlight = await world.activeAgents(client, state, { name: 'b_active', table: 'b_run', sequence: 'b_number' })
  const candidates = await run(client, 'b_candidates', [
    `select ctid::text as ctid, id, agent_id, session_key, priority, seq, created_at, place
       from b_run where org_id = $1 and lane = $2 and place >= $3
      order by place limit $4`,
    [ORG, LANE, state.mark, slots * 2],
  ])
  if (candidates.length > 0) state.mark = Number(candidates[0].place)
  const picked = world.pickRemembering(state.served, { candidates, inFlight, slots })
  if (picked.length === 0) return []
  return run(client, 'b_claim', [
    `update b_run set state = 'running', started_at = $1, node_id = $2, place = null, claim_no = nextval('b_number')
      where ctid = any($3::tid[]) returning id, payload`,
    [now, 'node_1', picked.map((one) => one.row.ctid)],
  ])
}

export const seed = (client) =>
  client.query(`
  insert into b_run (${world.SEED_COLUMNS}, state, seq, place, held, claim_no)
  select ${world.SEED_FACTS}, state, seq, case when head and not held then seq end, head and held, case when state = 'running' then seq end from seed;
  select setval('b_number', 10000000)`)
