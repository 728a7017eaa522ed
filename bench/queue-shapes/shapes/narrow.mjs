// C. The facts in `run`, written at the beginning and at the end; what is pending in a narrow `queue`, and gone from it at
// the end. Heads stand in the line of their lane as in B.
import * as world from '../world.mjs'
import { LANE, ORG, run } from '../world.mjs'

export const name = 'C narrow'
export const ddl =
  narrowTables('c') + `create index c_queue_ready on c_queue (org_id, lane, place) where place is not null;`
export const tables = ['c_run', 'c_queue']
export const history = 'c_run'
export const newState = () => ({ mark: 0, claimMark: -100, sessions: new Map(), served: new Map() })

/** The two tables, for C and for D. The room in the pages of `run` is for the one update at the end, which no index sees. */
export function narrowTables(prefix) {
  return `
  create sequence ${prefix}_number;
  create table ${prefix}_run (${world.FACTS},
    state text check (state in ${world.TERMINAL}),
    primary key (id),
    check ((state is null) = (finished_at is null))) with (fillfactor = 55);
  ${world.listIndexes(`${prefix}_run`)}
  create table ${prefix}_queue (
    id uuid primary key, org_id text not null, lane text not null, agent_id text not null, session_key text,
    schedule_id text, trigger text not null, state text not null, priority int not null, created_at timestamptz not null,
    seq bigint, place bigint, held boolean not null default false, claim_no bigint,
    not_before timestamptz, deadline timestamptz, attempt smallint not null default 1, first_attempt smallint not null default 1,
    node_id text, started_at timestamptz,
    check ((state in ('assigned','running','awaiting_callback','stopping')) = (claim_no is not null)),
    check (place is null or state = 'queued'));
  create index ${prefix}_queue_session on ${prefix}_queue (org_id, session_key, seq) where seq is not null;
  create index ${prefix}_queue_active on ${prefix}_queue (org_id, claim_no) where claim_no is not null;
  create index ${prefix}_queue_due on ${prefix}_queue (not_before) where state = 'waiting';
  create index ${prefix}_queue_deadline on ${prefix}_queue (deadline) where deadline is not null;`
}

export async function submit(client, state, runs) {
  const firsts = world.firstOfSession(runs)
  const find = 'select true from c_queue p where p.seq is not null'
  const idle = await world.idleSessions(client, state.sessions, { name: 'c_idle', find, sequence: 'c_number', firsts })
  const heads = new Set(firsts.filter(({ session }) => idle.has(session)))
  await run(client, 'c_submit', [
    `with s as (
       select * from unnest($3::uuid[], $4::text[], $5::text[], $6::int[], $7::timestamptz[], $8::jsonb[], $9::jsonb[], $10::boolean[])
         as s (id, agent_id, session_key, priority, created_at, payload, decision, head)),
     facts as (
       insert into c_run (${world.SEED_COLUMNS})
       select id, $1, $2, agent_id, session_key, 'message', priority, created_at, payload, decision from s)
     insert into c_queue (id, org_id, lane, agent_id, session_key, trigger, state, priority, created_at, seq, place)
     select id, $1, $2, agent_id, session_key, 'message', 'queued', priority, created_at,
            nextval('c_number'), case when head then nextval('c_number') end
       from s`,
    [ORG, LANE, ...world.runColumns(runs), runs.map((one) => heads.has(one))],
  ])
}

export async function turn(client, state, { finished, slots, now }) {
  if (finished.length > 0)
    await run(client, 'c_settle', [
      `with done as (
         delete from c_queue q
          using (select (select case when p.org_id = $1 and p.state = 'running' then p.ctid end from c_queue p where p.id = d.id) as at, output from unnest($3::uuid[], $4::text[]) as d (id, output) offset 0) d
          where q.ctid = d.at
         returning q.id, q.session_key, q.seq, q.attempt, q.node_id, q.started_at, d.output),
       outcome as (
         update c_run r set state = 'success', finished_at = $2, output = d.output, attempt = d.attempt, node_id = d.node_id, started_at = d.started_at
           from (select *, (select p.ctid from c_run p where p.id = done.id) as at from done offset 0) d where r.ctid = d.at),
       next as (
         select n.ctid from done d cross join lateral (
           select q.ctid from c_queue q where q.org_id = $1 and q.session_key = d.session_key and q.seq > d.seq
            order by q.seq limit 1) n)
       update c_queue set place = nextval('c_number') where ctid = any(array(select ctid from next))`,
      [ORG, now, finished, finished.map(() => 'done')],
    ])
  const inFlight = await world.activeAgents(client, state, { name: 'c_active', table: 'c_queue', sequence: 'c_number' })
  const candidates = await run(client, 'c_candidates', [
    `select ctid::text as ctid, id, agent_id, session_key, priority, seq, created_at, place
       from c_queue where org_id = $1 and lane = $2 and place >= $3
      order by place limit $4`,
    [ORG, LANE, state.mark, slots * 2],
  ])
  if (candidates.length > 0) state.mark = Number(candidates[0].place)
  const picked = world.pickRemembering(state.served, { candidates, inFlight, slots })
  if (picked.length === 0) return []
  return run(client, 'c_claim', [
    `with claimed as (
       update c_queue set state = 'running', started_at = $1, node_id = $2, place = null, claim_no = nextval('c_number')
        where ctid = any($3::tid[]) returning id)
     select id, (select payload from c_run r where r.id = c.id) as payload from claimed c`,
    [now, 'node_1', picked.map((one) => one.row.ctid)],
  ])
}

export const seedNarrow = (prefix) => `
  insert into ${prefix}_run (${world.SEED_COLUMNS}) select ${world.SEED_FACTS} from seed;
  insert into ${prefix}_queue (id, org_id, lane, agent_id, session_key, trigger, state, priority, created_at, seq, place, held, claim_no)
  select id, '${ORG}', '${LANE}', agent_id, session_key, 'message', state, 0, created_at, seq,
         case when head HOLD then seq end, head and held, case when state = 'running' then seq end from seed;
  select setval('${prefix}_number', 10000000);`
export const seed = (client) => client.query(seedNarrow('c').replace('HOLD', 'and not held'))
