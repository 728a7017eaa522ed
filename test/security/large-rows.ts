import { because } from '../../src/domain/reasons.ts'
import { later } from '../../src/domain/instant.ts'
import { toTimestamp } from '../../src/platform/db/table.ts'
import { make } from '../server/contract/objects.ts'
import type { HttpWorld } from '../server/support.ts'
import { ORG, seedRun } from '../platform/db/records.ts'

/** Fills a list with the largest rows it can have, and answers with its address and how many there are. */
export type Filler = (
  world: HttpWorld,
) => Promise<{ readonly url: string; readonly rows: number; readonly as?: string }>

/** Nearly as large as a body may be. */
const LARGE = 900_000
/** The body of an executor has a limit of its own. */
const EXECUTOR_BODY = 65_000
/** As much of an output as a run keeps unless somebody says otherwise. */
const OUTPUT = 16_000
/** More than a page may have. */
const MANY = 205
/** Enough with as much as an executor may hold for several pages. */
const SEVERAL = 90
/** Enough as large as a body for several pages. */
const SOME = 12

/** A text that no compression makes small: what the database has to hold is what is sent. */
const text = (length: number, seed = 0): string => {
  const letters: string[] = []
  let state = seed * 7_919 + 17
  for (let at = 0; at < length; at += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    letters.push(String.fromCharCode(97 + (Math.floor(state / 65_536) % 26)))
  }
  return letters.join('')
}

async function post(world: HttpWorld, url: string, body: unknown): Promise<Readonly<Record<string, unknown>>> {
  const response = await world.ask('POST', url, { body })
  if (response.statusCode >= 300)
    throw new Error(`${url} answered ${response.statusCode}: ${response.body.slice(0, 300)}`)
  return response.json()
}

const posting =
  (url: string, rows: number, body: (index: number) => unknown, as?: string): Filler =>
  async (world) => {
    for (let index = 0; index < rows; index += 1) {
      const response = await world.ask('POST', url, { body: body(index), ...(as === undefined ? {} : { as }) })
      if (response.statusCode >= 300)
        throw new Error(`${url} answered ${response.statusCode}: ${response.body.slice(0, 300)}`)
    }
    return { url, rows, ...(as === undefined ? {} : { as }) }
  }

const httpExecutor = (index: number): unknown => ({
  ...{ kind: 'http', url: 'https://agents.example.com/in', body: { text: text(EXECUTOR_BODY, index) } },
})

/** Runs as large as a body, and many with as much output as is kept. */
async function seedRuns(world: HttpWorld, seed: Parameters<typeof seedRun>[2], prefix: string): Promise<number> {
  const { db, now } = world.services
  for (let index = 0; index < MANY + SOME; index += 1)
    await seedRun(db, `${prefix}_${String(index).padStart(4, '0')}`, {
      ...{ state: 'success', createdAt: later(now, -index), ...seed, output: { text: text(OUTPUT, index) } },
      payload: index % 20 === 0 ? { text: text(LARGE, index) } : { text: 'Hello' },
    })
  return MANY + SOME
}

const largeIds = (length: number): readonly string[] =>
  Array.from({ length }, (_, index) => `${text(190, index)}${index}`)

/** By list. A list that is not here is a gap in these tests. */
export const FILLERS: Readonly<Record<string, Filler>> = {
  'schedules.list': posting('/api/v1/schedules', SEVERAL, (index) => ({
    ...{ name: `s${index}`, every_seconds: 3_600 },
    ...(index % 10 === 0 ? { payload: { text: text(LARGE, index) } } : { executor: httpExecutor(index) }),
  })),
  'schedules.runs': async (world) => {
    const schedule = await make(world, 'schedules.id')
    return { url: `/api/v1/schedules/${schedule}/runs`, rows: await seedRuns(world, { schedule }, 'run_of_schedule') }
  },
  'runs.list': async (world) => ({ url: '/api/v1/runs', rows: await seedRuns(world, {}, 'run_large') }),
  'runs.lineage': async (world) => {
    const parent = await make(world, 'runs.id')
    const rows = await seedRuns(world, {}, 'run_child')
    await world.services.db.query(`update run set parent_run_id = $1 where id like 'run_child%'`, [parent])
    return { url: `/api/v1/runs/${parent}/lineage`, rows }
  },
  'runs.log': async (world) => {
    const run = await make(world, 'runs.id')
    await world.services.db.query(`update run set attempt_id = 'att_large' where org_id = $1 and id = $2`, [ORG, run])
    const [chunks, perChunk] = [15, 14]
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const ids = Array.from({ length: perChunk }, (_, index) => `000000000${chunk + 10}${index + 10}node`)
      const entries = JSON.stringify(ids.map((id, index) => [id, text(4_600, chunk * perChunk + index)]))
      await world.services.db.query(
        `insert into run_log (org_id, run_id, attempt_id, id, bytes, entries) values ($1, $2, 'att_large', $3, $4, $5)`,
        [ORG, run, ids[0] ?? '', entries.length, entries],
      )
    }
    return { url: `/api/v1/runs/${run}/log`, rows: chunks * perChunk }
  },
  'stats.timeline': async (world) => {
    await world.services.db.query(
      `insert into timeline_count (org_id, step, line, at, state, count)
       select $1, step, 'schedule:' || repeat('s', 200) || line,
              date_trunc(step, $2::timestamptz - bucket * interval '7 minutes', 'UTC'), 'failed', 1000000000
         from generate_series(1, ${MANY}) as line, generate_series(1, 200) as bucket, (values ('minute'), ('hour')) as s (step)
        group by 1, 2, 3, 4, 5`,
      [ORG, toTimestamp(world.services.now)],
    )
    return { url: '/api/v1/stats/timeline', rows: MANY }
  },
  'sessions.messages': async (world) => {
    const session = await make(world, 'sessions.key')
    const rows = await seedRuns(world, { session }, 'run_message')
    return { url: `/api/v1/sessions/${encodeURIComponent(session)}/messages`, rows: rows + 1 }
  },
  'tasks.list': async (world) => {
    const rows = await seedRuns(world, { trigger: 'task', finishedAt: world.services.now }, 'run_task')
    await world.services.db.query(
      `update run set payload = jsonb_build_object('action', 'click', 'params', payload) where id like 'run_task%'`,
      [],
    )
    return { url: '/tasks', rows }
  },
  'sessions.list': async (world) => {
    for (let index = 0; index < MANY; index += 1) {
      const url = `/api/v1/sessions/${encodeURIComponent(`agent:writer:${text(480)}${index}`)}`
      const response = await world.ask('PATCH', url, { body: { cap: 7 } })
      if (response.statusCode >= 300) throw new Error(`${url} answered ${response.statusCode}: ${response.body}`)
    }
    return { url: '/api/v1/sessions', rows: MANY }
  },
  'agents.list': posting('/api/v1/agents', SEVERAL, (index) => ({
    ...{ id: `large-${index}`, name: `a${index}`, executor: httpExecutor(index) },
  })),
  'heartbeat.log': async (world) => {
    const agent = await make(world, 'agents.id')
    const why = JSON.stringify(because('completed', 'executor'))
    for (let index = 0; index < MANY; index += 1)
      await world.services.db.query(
        `insert into heartbeat_log (org_id, id, agent_id, at, last_at, outcome, why, target, content)
         values ($1, $2, $3, $4::timestamptz, $4::timestamptz, 'sent', $5::jsonb, 'none', $6)`,
        [ORG, `beat_${index}`, agent, toTimestamp(later(world.services.now, -index)), why, text(OUTPUT * 2, index)],
      )
    return { url: `/api/v1/agents/${agent}/heartbeat/log`, rows: MANY }
  },
  'backfills.list': async (world) => {
    for (let index = 0; index < SOME; index += 1) await make(world, 'backfills.id')
    return { url: '/api/v1/backfills', rows: SOME }
  },
  'budgets.list': posting('/api/v1/budgets', MANY, (index) => ({
    unit: 'tokens',
    amount: index + 1,
    period: 'day',
    timezone: 'America/Argentina/ComodRivadavia',
  })),
  'providers.list': posting('/api/v1/providers', MANY, (index) => ({
    name: `${text(80)}-${index}`,
    requests_per_minute: 60,
  })),
  'targets.list': posting('/api/v1/targets', MANY, (index) => ({
    ...{ name: `${text(190)}${index}`, url: `https://hooks.example.com/${text(8_000, index)}` },
  })),
  'channels.list': posting('/api/v1/channels', 2 * SOME, (index) => ({
    ...{ name: `bot-${index}`, kind: 'telegram', agent_id: 'writer', token: `4711${index}:AAH-${text(30, index)}` },
    ...{ allowed_users: largeIds(1_000), allowed_chats: largeIds(1_000) },
  })),
  'secrets.list': posting('/api/v1/secrets', MANY, (index) => ({
    ...{ name: `SECRET_${index}`, value: 'a value to hide' },
    hosts: Array.from({ length: 50 }, (_, host) => `${text(60, host)}.${text(60)}.${text(60)}.example${host}.com`),
  })),
  'deliveries.list': async (world) => {
    const first = await make(world, 'deliveries.id')
    // What is stored by us has milliseconds, and no more.
    await world.services.db.query(
      `update delivery set created_at = date_trunc('milliseconds', created_at), tries_in_all = 30`,
      [],
    )
    for (let index = 0; index < MANY; index += 1) {
      const id = index === 0 ? first : `dlv_large_${index}`
      await world.services.db.query(
        `insert into delivery (org_id, id, run_id, kind, target_id, line, state, why, created_at, finished_at, tries_in_all)
         select org_id, $2, run_id, kind, target_id, line, state, why, created_at, finished_at, 30 from delivery
          where org_id = $1 order by id limit 1 on conflict do nothing`,
        [ORG, id],
      )
      await world.services.db.query(
        `insert into delivery_try (org_id, delivery_id, number, node_id, started_at, finished_at, ok, status_code, message)
         select $1, $2, n, 'nod_1', now(), now(), false, 500, $3 from generate_series(1, 30) n`,
        [ORG, id, text(2_000, index)],
      )
    }
    return { url: '/api/v1/deliveries', rows: MANY }
  },
  'alerts.list': async (world) => {
    await world.services.db.query(
      `insert into alert (org_id, id, kind, subject_kind, subject_id, why, raised_at)
       select $1, 'alt_' || n, 'failures', 'schedule', 'sch_' || n, $2::jsonb, date_trunc('milliseconds', now()) from generate_series(1, ${MANY}) n`,
      [ORG, JSON.stringify(because('completed', 'executor'))],
    )
    return { url: '/api/v1/alerts', rows: MANY }
  },
  'keys.list': posting('/api/v1/keys', MANY, (index) => ({
    name: `${text(190)}${index}`,
    scopes: ['runs:read', 'agents:read'],
  })),
  'orgs.list': posting('/api/v1/orgs', MANY, (index) => ({ id: `org-${index}`, name: text(200, index) }), 'operator'),
  'members.list': posting(`/api/v1/orgs/${ORG}/members`, MANY, (index) => ({ name: `${text(190)}${index}` })),
  'audit.list': async (world) => {
    for (let index = 0; index < SOME; index += 1)
      await post(world, '/api/v1/schedules', { every_seconds: 3_600, payload: { text: text(LARGE, index) } })
    return { url: '/api/v1/audit', rows: SOME }
  },
}
