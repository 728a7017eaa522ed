// D. Three narrow tables by phase and a line of agents. `queue`: what waits, never touched until it ends. `ready`: the
// session heads that compete. `active`: attempts in flight. `stand`: one row per agent that has heads and room for them.
// A turn reads the front of the line, then the first heads of exactly the agents whose turn it is. A stand remembers
// below which place its agent has nothing left, so that neither scan meets what has ended. Nothing hot is ever updated
// but stands; no row of these tables has more than two versions.
import * as world from '../world.mjs'
import { AGENT_LIMIT, column, LANE, ORG, run } from '../world.mjs'

export const name = 'D line'
export const ddl = `
  create sequence d_number;
  create table d_run (${world.FACTS},
    state text check (state in ${world.TERMINAL}),
    primary key (id),
    check ((state is null) = (finished_at is null))) with (fillfactor = 45);
  ${world.listIndexes('d_run')}
  create table d_queue (
    id uuid primary key, org_id text not null, lane text not null, agent_id text not null, session_key text,
    schedule_id text, trigger text not null, priority int not null, created_at timestamptz not null,
    seq bigint, not_before timestamptz, deadline timestamptz, attempt smallint not null default 1, first_attempt smallint not null default 1);
  create index d_queue_session on d_queue (org_id, session_key, seq) where seq is not null;
  create index d_queue_due on d_queue (not_before) where not_before is not null;
  create index d_queue_deadline on d_queue (deadline) where deadline is not null;
  create table d_ready (
    id uuid primary key, org_id text not null, lane text not null, agent_id text not null, session_key text, trigger text not null,
    priority int not null, created_at timestamptz not null, seq bigint not null, place bigint not null);
  create index d_ready_heads on d_ready (org_id, lane, agent_id, priority, place);
  create table d_active (
    id uuid primary key, org_id text not null, lane text not null, agent_id text not null, session_key text, trigger text not null,
    seq bigint not null, claim_no bigint not null, state text not null default 'running', attempt smallint not null default 1,
    node_id text not null, started_at timestamptz not null, deadline timestamptz,
    check (state in ('assigned','running','awaiting_callback','stopping')));
  create index d_active_claims on d_active (org_id, claim_no);
  create table d_stand (
    org_id text not null, lane text not null, agent_id text not null, no bigint not null,
    held boolean not null default false, levels int[] not null, marks bigint[] not null);
  create index d_stand_line on d_stand (org_id, lane, held, no);
  create index d_stand_agent on d_stand (org_id, lane, agent_id, no);`
export const tables = ['d_run', 'd_queue', 'd_ready', 'd_active', 'd_stand']
export const history = 'd_run'
export const newState = () => ({ lineMark: 0, heldMark: 0, claimMark: -100, sessions: new Map() })

export async function submit(client, state, runs) {
  const firsts = world.firstOfSession(runs)
  const find = 'select true from d_queue p where p.seq is not null'
  const free = await world.idleSessions(client, state.sessions, { name: 'd_idle', find, sequence: 'd_number', firsts })
  const heads = new Set(firsts.filter(({ session }) => free.has(session)))
  await run(client, 'd_submit', [
    `with s as materialized (
       select *, nextval('d_number') as number
         from unnest($3::uuid[], $4::text[], $5::text[], $6::int[], $7::timestamptz[], $8::jsonb[], $9::jsonb[], $10::boolean[])
           as s (id, agent_id, session_key, priority, created_at, payload, decision, head)),
     facts as (
       insert into d_run (${world.SEED_COLUMNS})
       select id, $1, $2, agent_id, session_key, 'message', priority, created_at, payload, decision from s),
     queued as (
       insert into d_queue (id, org_id, lane, agent_id, session_key, trigger, priority, created_at, seq)
       select id, $1, $2, agent_id, session_key, 'message', priority, created_at, number from s),
     heads as (
       insert into d_ready (id, org_id, lane, agent_id, session_key, trigger, priority, created_at, seq, place)
       select id, $1, $2, agent_id, session_key, 'message', priority, created_at, number, number from s where head)
     insert into d_stand (org_id, lane, agent_id, no, levels, marks)
     select $1, $2, agent_id, nextval('d_number'), array[0], array[mark]
       from (select agent_id, min(number) as mark from s where head group by agent_id order by min(number)) a
      where ${noStand('a.agent_id', '$11')}`,
    [ORG, LANE, ...world.runColumns(runs), runs.map((one) => heads.has(one)), Math.min(state.lineMark, state.heldMark)],
  ])
}

/** The newest stand of an agent is looked at first; below the marks there is none alive. */
const noStand = (agent, mark) =>
  `(select true from d_stand t where t.org_id = $1 and t.lane = $2 and t.agent_id = ${agent} and t.no >= ${mark} order by t.no desc limit 1) is null`

export async function turn(client, state, { finished, slots, now }) {
  const touched = finished.length > 0 ? await settle(client, { finished, now }) : []
  const inFlight = await world.activeAgents(client, state, {
    name: 'd_active',
    table: 'd_active',
    sequence: 'd_number',
  })
  const freed = touched.filter(({ agent_id: id, ended }) => (inFlight.get(id) ?? 0) + ended >= AGENT_LIMIT)
  if (freed.length > 0) await release(client, freed)
  const promoted = touched.filter(({ mark }) => mark !== null)
  const limit = slots + inFlight.size + 16
  const rows = await run(client, 'd_stands', [
    `(select ctid::text as ctid, agent_id, t.no::float8 as no, held, levels[1] as level, marks[1]::float8 as mark from d_stand t
       where org_id = $1 and lane = $2 and not held and t.no >= $3 order by t.no limit $5)
     union all
     (select null, agent_id, no, held, levels[1], marks[1] from d_stand
       where org_id = $1 and lane = $2 and held and no >= $4 order by no limit 1)`,
    [ORG, LANE, state.lineMark, state.heldMark, limit],
  ])
  const stands = rows.filter(({ held }) => !held)
  moveMarks(state, stands, rows.at(-1))
  const line = [
    ...stands,
    ...(await newcomers(client, { state, promoted, stands, complete: stands.length < limit && !rows.at(-1)?.held })),
  ]
  const shares = divide(line, inFlight, slots)
  if (shares.length === 0) return []
  const candidates = await run(client, 'd_heads', [
    `select h.*, s.served from unnest($3::text[], $4::int[], $5::bigint[], $6::int[], $7::bigint[]) as s (agent_id, level, mark, share, served)
      cross join lateral (
        select ctid::text as ctid, id, agent_id, session_key, priority, seq::float8 as seq, extract(epoch from created_at)::float8 * 1000 as created_ms, place::float8 as place
          from d_ready q
         where q.org_id = $1 and q.lane = $2 and q.agent_id = s.agent_id and q.priority = s.level and q.place >= s.mark
         order by q.place limit s.share) h`,
    [ORG, LANE, ...['agent_id', 'level', 'mark', 'share', 'no'].map((key) => column(shares, key))],
  ])
  const picked = world.pick(candidates, inFlight, slots)
  return claim(client, { now, picked, ...moveStands(shares, line, { candidates, picked }) })
}

/** Marks only grow: whatever joins the line gets a number above all that were drawn before. */
function moveMarks(state, stands, last) {
  state.lineMark = Number(stands[0]?.no ?? state.number)
  state.heldMark = last?.held === true ? Number(last.no) : state.lineMark
}

/** An agent that was full has room again: its stand goes to the end of the line. */
const release = (client, agents) =>
  run(client, 'd_release', [
    `update d_stand set held = false, no = nextval('d_number')
      where ctid = any(array(
        select (select case when t.held then t.ctid end from d_stand t where t.org_id = $1 and t.lane = $2 and t.agent_id = a.agent_id
                 order by t.no desc limit 1)
          from unnest($3::text[]) as a (agent_id)))`,
    [ORG, LANE, column(agents, 'agent_id')],
  ])

/** Ends what has finished and lets the next of each session come up. Answers with the agents that got a new head. */
const settle = (client, { finished, now }) =>
  run(client, 'd_settle', [
    `with d as materialized (
       select d.id, d.output, (select case when a.org_id = $1 then a.ctid end from d_active a where a.id = d.id) as active,
              (select q.ctid from d_queue q where q.id = d.id) as queued, (select r.ctid from d_run r where r.id = d.id) as run
         from unnest($4::uuid[], $5::text[]) as d (id, output)),
     ended as (
       delete from d_active a using d where a.ctid = d.active
       returning a.agent_id, a.session_key, a.seq, a.attempt, a.node_id, a.started_at, d.run, d.output, d.queued),
     gone as (delete from d_queue where ctid = any(array(select queued from ended))),
     outcome as (
       update d_run r set state = 'success', finished_at = $3, output = e.output, attempt = e.attempt, node_id = e.node_id, started_at = e.started_at
         from ended e where r.ctid = e.run),
     promoted as (
       insert into d_ready (id, org_id, lane, agent_id, session_key, trigger, priority, created_at, seq, place)
       select n.id, $1, n.lane, n.agent_id, n.session_key, n.trigger, n.priority, n.created_at, n.seq, nextval('d_number')
         from ended e cross join lateral (
           select * from d_queue q where q.org_id = $1 and q.session_key = e.session_key and q.seq > e.seq
            order by q.seq limit 1) n
       returning lane, agent_id, place)
     select agent_id, sum(ended)::int as ended, min(place) as mark
       from (select agent_id, 1 as ended, null::bigint as place from ended
             union all select agent_id, 0, place from promoted where lane = $2) t
      group by agent_id`,
    [ORG, LANE, now, finished, finished.map(() => 'done')],
  ])

/** Agents that have a head again and are not in the line. They need no stand unless they are not served at once. */
async function newcomers(client, { state, promoted, stands, complete }) {
  const listed = new Set(column(stands, 'agent_id'))
  let unlisted = promoted.filter(({ agent_id: id }) => !listed.has(id))
  if (unlisted.length > 0 && !complete) {
    const rows = await run(client, 'd_unlisted', [
      `select agent_id from unnest($3::text[]) as a (agent_id) where ${noStand('a.agent_id', '$4')}`,
      [ORG, LANE, column(unlisted, 'agent_id'), Math.min(state.lineMark, state.heldMark)],
    ])
    const missing = new Set(column(rows, 'agent_id'))
    unlisted = unlisted.filter(({ agent_id: id }) => missing.has(id))
  }
  return unlisted.map(({ agent_id, mark }) => ({
    ctid: null,
    agent_id,
    no: Number(mark),
    level: 0,
    mark: Number(mark),
  }))
}

/** Fills the slots level by level, fewest in flight first: how many heads each agent can need at most. */
export function divide(stands, inFlight, slots) {
  const line = stands
    .map((stand) => ({ ...stand, busy: inFlight.get(stand.agent_id) ?? 0 }))
    .sort((a, b) => a.busy - b.busy || a.no - b.no)
  let level = line[0]?.busy ?? AGENT_LIMIT
  let wanted = 0
  let reached = 0
  while (wanted < slots && level < AGENT_LIMIT) {
    while (reached < line.length && line[reached].busy <= level) reached += 1
    wanted += reached
    level += 1
  }
  return line
    .slice(0, Math.min(reached, slots))
    .map((stand) => ({ ...stand, share: level - stand.busy }))
    .filter(({ share }) => share > 0)
}

/** Whoever was served leaves the line and comes back at its end while it has heads left; newcomers not served join it. */
function moveStands(shares, line, { candidates, picked }) {
  const taken = new Set(picked.map((one) => one.id))
  const seen = new Map(shares.map((share) => [share.agent_id, { share, count: 0, served: 0, mark: Infinity, last: 0 }]))
  for (const head of candidates) {
    const one = seen.get(head.agent_id)
    one.count += 1
    one.last = Math.max(one.last, Number(head.place))
    if (taken.has(head.id)) one.served += 1
    else one.mark = Math.min(one.mark, Number(head.place))
  }
  const gone = []
  const back = line
    .filter((stand) => stand.ctid === null && !seen.has(stand.agent_id))
    .map((stand) => ({ agent: stand.agent_id, mark: stand.mark, held: false }))
  for (const { share, count, served, mark, last } of seen.values()) {
    if (served === 0 && count > 0 && share.ctid !== null) continue
    if (share.ctid !== null) gone.push(share.ctid)
    // Fewer heads than its share: it has shown all it has.
    if (mark === Infinity && count < share.share) continue
    back.push({
      agent: share.agent_id,
      mark: mark === Infinity ? last + 1 : mark,
      held: share.busy + served >= AGENT_LIMIT,
    })
  }
  return { gone, back }
}

const claim = (client, { now, picked, gone, back }) =>
  run(client, 'd_claim', [
    `with gone as (delete from d_stand where ctid = any($4::tid[])),
     back as (
       insert into d_stand (org_id, lane, agent_id, no, levels, marks, held)
       select $5, $6, agent_id, nextval('d_number'), array[0], array[mark], held from unnest($7::text[], $8::bigint[], $9::boolean[]) as b (agent_id, mark, held)),
     taken as (delete from d_ready where ctid = any($3::tid[]) returning *),
     claimed as (
       insert into d_active (id, org_id, lane, agent_id, session_key, trigger, seq, claim_no, node_id, started_at)
       select id, org_id, lane, agent_id, session_key, trigger, seq, nextval('d_number'), $2, $1 from taken
       returning id)
     select id, (select payload from d_run r where r.id = c.id) as payload from claimed c`,
    [
      now,
      'node_1',
      picked.map((one) => one.row.ctid),
      gone,
      ORG,
      LANE,
      ...['agent', 'mark', 'held'].map((key) => column(back, key)),
    ],
  ])

export const seed = (client) =>
  client.query(`
  insert into d_run (${world.SEED_COLUMNS}) select ${world.SEED_FACTS} from seed;
  insert into d_queue (id, org_id, lane, agent_id, session_key, trigger, priority, created_at, seq)
  select id, '${ORG}', '${LANE}', agent_id, session_key, 'message', 0, created_at, seq from seed;
  insert into d_ready (id, org_id, lane, agent_id, session_key, trigger, priority, created_at, seq, place)
  select id, '${ORG}', '${LANE}', agent_id, session_key, 'message', 0, created_at, seq, seq from seed where head;
  insert into d_active (id, org_id, lane, agent_id, session_key, trigger, seq, claim_no, node_id, started_at)
  select id, '${ORG}', '${LANE}', agent_id, session_key, 'message', seq, seq, 'node_1', created_at from seed where state = 'running';
  insert into d_stand (org_id, lane, agent_id, no, held, levels, marks)
  select '${ORG}', '${LANE}', agent_id, min(seq) + 5000000, bool_or(held), array[0], array[min(seq)] from seed where head group by agent_id order by min(seq);
  select setval('d_number', 10000000)`)
