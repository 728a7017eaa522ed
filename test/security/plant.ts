import type { Row } from '../../src/platform/db/database.ts'
import { toTimestamp } from '../../src/platform/db/table.ts'
import { HOUR_MS, instant, type Instant } from '../../src/domain/instant.ts'
import { because } from '../../src/domain/reasons.ts'
import { logEvent } from '../../src/domain/run/log-entry.ts'
import { TIMELINE_LEVELS } from '../../src/features/stats/timeline-store.ts'
import { make } from '../server/contract/objects.ts'
import type { HttpWorld } from '../server/support.ts'
import { intoBacklog } from '../platform/db/into-backlog.ts'
import { ORG, seedRun } from '../platform/db/records.ts'
import { createStamp, type Stamp } from './stamp.ts'

/** One request that plants something, and what it was answered. */
export interface Planting {
  readonly operation: string
  readonly method: 'POST' | 'PUT' | 'PATCH'
  readonly url: string
  readonly body: Readonly<Record<string, unknown>>
  /** The idempotency key it was sent with, which somebody else may use too. */
  readonly key: string
  readonly answer: Readonly<Record<string, unknown>>
}

/** An org full of values that nobody else may see. */
export interface Garden {
  readonly stamp: Stamp
  readonly plantings: readonly Planting[]
  /** What a path names things by, by tag and parameter. */
  readonly things: Readonly<Record<string, readonly string[]>>
}

/** Marked values that nobody gets to see, not even who has brought them. */
export const NEVER_SHOWN = ['bot-token', 'secret-value', 'slack-address']

/** Fills the org `acme`: every kind of thing, a marked value in each of its fields that takes one. */
export async function plant(world: HttpWorld): Promise<Garden> {
  const stamp = createStamp()
  const { ports } = world.services
  const { newId } = ports
  let made = 0
  // Ids of things are marked like what is in them.
  Object.assign(ports, { newId: (kind: string) => `${kind}_${stamp.mark('id')}_${(made += 1)}` })
  const planter = createPlanter(world, stamp)
  await plantModel(planter)
  await plantWork(planter)
  await plantHistory(world, stamp)
  Object.assign(ports, { newId })
  return { stamp, plantings: planter.plantings, things: await thingsOf(world) }
}

interface Planter {
  readonly world: HttpWorld
  readonly stamp: Stamp
  readonly plantings: Planting[]
  readonly put: (
    operation: string,
    way: readonly [Planting['method'], string],
    body: Planting['body'],
  ) => Promise<Planting['answer']>
}

function createPlanter(world: HttpWorld, stamp: Stamp): Planter {
  const plantings: Planting[] = []
  return {
    ...{ world, stamp, plantings },
    put: async (operation, [method, url], body) => {
      const key = `planted ${plantings.length}`
      const response = await world.ask(method, url, { body, headers: { 'idempotency-key': key } })
      if (response.statusCode >= 300) throw new Error(`${operation} answered ${response.statusCode}: ${response.body}`)
      const answer = response.json<Planting['answer']>()
      plantings.push({ operation, method, url, body, key, answer })
      return answer
    },
  }
}

const idIn = (answer: Planting['answer']): string => String(answer['id'])

/** What people set up. */
async function plantModel(planter: Planter): Promise<void> {
  const { put, stamp, world } = planter
  const { mark } = stamp
  const header = { 'x-marked': mark('agent-header') }
  const secret = mark('secret')
  await put('secrets.create', ['POST', '/api/v1/secrets'], {
    ...{ name: secret, value: mark('secret-value'), hosts: [`${mark('host')}.example.com`] },
  })
  const provider = mark('provider')
  await put('providers.create', ['POST', '/api/v1/providers'], { name: provider, requests_per_minute: 60 })
  const agent = mark('agent')
  await put('agents.create', ['POST', '/api/v1/agents'], {
    ...{ id: agent, name: mark('agent-name'), description: mark('agent-description') },
    executor: { kind: 'http', url: `https://${mark('agent-host')}.example.com/`, headers: header, body: { a: header } },
    ...{ default_session: mark('default-session'), provider },
  })
  await put('heartbeat.set', ['PUT', `/api/v1/agents/${agent}/heartbeat`], {
    ...{ checklist: { text: mark('checklist') }, prompt: mark('prompt'), session: mark('heartbeat-session') },
    ...{ interval_seconds: 900, target: 'none', active_hours: { start: '00:00', end: '24:00', timezone: 'UTC' } },
  })
  const target = await put('targets.create', ['POST', '/api/v1/targets'], {
    ...{
      name: mark('target-name'),
      kind: 'webhook',
      url: `https://${mark('target-host')}.example.com/in`,
      alerts: true,
    },
    quiet_hours: { start: '22:00', end: '06:00', timezone: 'Europe/Berlin' },
  })
  await put('targets.create', ['POST', '/api/v1/targets'], {
    ...{ name: mark('slack-name'), kind: 'slack', url: `https://hooks.example.com/${mark('slack-address')}` },
  })
  await world.ask('GET', '/api/v1/targets/signing-secret')
  await put('channels.create', ['POST', '/api/v1/channels'], {
    ...{ name: mark('bot'), kind: 'telegram', agent_id: agent, token: `4711:${mark('bot-token')}` },
    ...{ allowed_users: [mark('user')], allowed_chats: [mark('chat')], default_recipient: mark('recipient') },
  })
  await put('budgets.create', ['POST', '/api/v1/budgets'], {
    ...{ unit: 'tokens', amount: 1_000_000, period: 'day', agent_id: agent, timezone: 'Europe/Berlin' },
  })
  const member = await put('members.create', ['POST', `/api/v1/orgs/${ORG}/members`], {
    ...{ name: mark('member-name'), email: `${mark('email')}@example.com`, role: 'owner' },
  })
  await put('members.invite', ['POST', `/api/v1/orgs/${ORG}/members/${idIn(member)}/sign-in-link`], {})
  await put('keys.create', ['POST', '/api/v1/keys'], { name: mark('key-name'), scopes: ['runs:read'] })
  await put('schedules.create', ['POST', '/api/v1/schedules'], {
    ...{
      name: mark('schedule-name'),
      description: mark('schedule-description'),
      agent_id: agent,
      every_seconds: 3_600,
    },
    ...{ payload: { prompt: mark('payload'), [mark('payload-field')]: true }, delivery: { target_id: idIn(target) } },
    session: mark('schedule-session'),
  })
}

/** What is done, and what comes of it. */
async function plantWork(planter: Planter): Promise<void> {
  const { put, stamp, world } = planter
  const { mark } = stamp
  const session = `agent:writer:${mark('session')}/ü`
  await put('sessions.send', ['POST', `/api/v1/sessions/${encodeURIComponent(session)}/messages`], {
    ...{ text: mark('text'), sender: mark('sender'), message_id: mark('message-id'), debounce_ms: 0 },
    attachments: [{ name: mark('attachment') }],
  })
  await put('sessions.sendMany', ['POST', '/api/v1/messages'], {
    messages: [
      { session: `agent:writer:${mark('many-session')}`, text: mark('many-text'), sender: mark('many-sender') },
    ],
  })
  await put('sessions.update', ['PATCH', `/api/v1/sessions/${encodeURIComponent(session)}`], { cap: 7 })
  const { items } = (await world.ask('GET', '/api/v1/schedules')).json<{ items: readonly { readonly id: string }[] }>()
  await put('schedules.runNow', ['POST', `/api/v1/schedules/${items[0]?.id ?? ''}/run-now`], {})
  await put('schedules.backfill', ['POST', `/api/v1/schedules/${items[0]?.id ?? ''}/backfill`], {
    ...{ from: '2026-01-10T00:00:00Z', to: '2026-01-12T00:00:00Z', which: 'all' },
  })
  const task = { tabId: mark('tab'), selector: mark('selector'), ref: mark('ref'), params: { text: mark('param') } }
  const callbackUrl = `https://${mark('callback-host')}.example.com/`
  await put('tasks.submit', ['POST', '/tasks'], {
    ...{ agentId: mark('task-agent'), action: mark('action'), ...task, callbackUrl },
  })
  await put('tasks.batch', ['POST', '/tasks/batch'], {
    ...{ agentId: mark('batch-agent'), callbackUrl, tasks: [{ action: mark('batch-action'), ...task }] },
  })
  await put('tasks.submitMany', ['POST', '/tasks/many'], {
    tasks: [{ agentId: mark('many-agent'), action: mark('many-action'), ...task, callbackUrl }],
  })
  await put('worker.claim', ['POST', '/api/v1/worker/claim'], {
    ...{ name: mark('worker-name'), agents: [await make(world, 'workers.agent')], capacity: 1, wait_seconds: 0 },
  })
}

/** What only time and other people bring about. */
async function plantHistory(world: HttpWorld, { mark }: Stamp): Promise<void> {
  const { db, now } = world.services
  const run = `run_${mark('run')}`
  await seedRun(db, run, {
    ...{ state: 'failed', session: mark('run-session'), errorCode: 'agent_error', errorMessage: mark('error') },
    ...{ payload: { prompt: mark('run-payload') }, output: { text: mark('output') } },
  })
  for (const kind of ['deliveries.id', 'workers.id', 'callbacks.token']) await make(world, kind)
  const at = toTimestamp(now)
  const why = JSON.stringify(
    because('delivery_given_up', 'delivery.max_tries', { tries: 30, target: mark('evidence') }),
  )
  const insert: Insert = (table, row) =>
    db.query(`insert into ${table} select * from jsonb_populate_record(null::${table}, $1::jsonb)`, [
      JSON.stringify({ org_id: ORG, ...row }),
    ])
  await insert('attempt', {
    ...{
      run_id: run,
      number: 1,
      id: `att_${run}`,
      node_id: 'nod_1',
      started_at: at,
      finished_at: at,
      status: 'failed',
    },
    ...{ error_code: 'agent_error', error_message: mark('attempt-error') },
  })
  await insert('alert', {
    ...{ id: `alr_${mark('alert')}`, kind: 'schedule_failing', subject_kind: 'schedule', subject_id: mark('subject') },
    ...{ why: JSON.parse(why) as unknown, raised_at: at },
  })
  await insert('heartbeat_log', {
    ...{ id: `hbt_${mark('beat')}`, agent_id: (await agentsOf(world))[0], at, last_at: at, looks: 1 },
    ...{ outcome: 'alerted', why: JSON.parse(why) as unknown, target: 'none', content: mark('beat-content') },
  })
  const [delivery] = await db.query('select id from delivery where org_id = $1', [ORG])
  await insert('delivery_try', {
    ...{ delivery_id: delivery?.['id'], number: 1, node_id: 'nod_1', started_at: at, finished_at: at, ok: false },
    ...{ status_code: 500, error_code: 'http', message: mark('try-message') },
  })
  await db.query('update delivery set tries = 1, tries_in_all = 1 where org_id = $1', [ORG])
  const [channel] = await db.query('select id from channel where org_id = $1', [ORG])
  const chat = { channel_id: channel?.['id'], peer: mark('peer') }
  await insert('chat', {
    ...{
      ...chat,
      kind: 'dm',
      title: mark('chat-title'),
      agent_id: 'writer',
      session_key: mark('chat-session'),
      heard_at: at,
    },
  })
  await insert('chat_mark', { ...chat, run_id: run, messages: [mark('chat-message')], created_at: at })
  const schedule = mark('decided-schedule')
  const first = { schedule_id: schedule, first_at: at, last_at: at, count: 3, decided_at: at }
  await insert('decision', { ...first, why: JSON.parse(why) as unknown })
  const [budget] = await db.query('select id from budget where org_id = $1', [ORG])
  const counted = { counted_at: at, ...COUNTS }
  const seen = { answer: 'no', sentence: 'nothing was new', seen: '' }
  await insert('probe_answer', { run_id: run, at, asked: 'what is stored', ...seen })
  const last = { last_answer: 'no', last_sentence: 'nothing was new', last_at: at, last_run_id: run }
  await insert('probe', { subject: schedule, asked: 4_711, saved: 4_711, errors: 0, ...last })
  await plantOutput(insert, run, mark)
  await db.query('update run set retry_of = $2 where id = $1', [run, `run_${mark('original-run')}`])
  await plantTimeline(insert, now, mark)
  await plantBacklog(world, mark)
  const stopped = { superseded: false, why: { reason: 'stopped_all', rule: '/stopall', evidence: {} } }
  await insert('clearing', { subject: 'session', key: mark('cleared-session'), before: at, ...stopped })
  await insert('clock_step', { no: 4_711, by_ms: 4_711, runs: [mark('moved-run')] })
  await insert('run_count', { hour: at, kind: 'status', key: 'success', count: 4_711 })
  await insert('run_count_place', { no: 4_711 })
  await insert('task_count', { agent_id: mark('counted-agent'), ...counted })
  await insert('task_count_place', { no: 4_711 })
  await insert('timeline_count_place', { no: 4_711 })
  await insert('usage', { budget_id: budget?.['id'], period_start: at, used: 12_345 })
  const [member] = await db.query('select id from member where org_id = $1', [ORG])
  await db.query(`insert into rail_act (org_id, owner, at, kind) values ($1, 'key_bot', $2, 'task')`, [ORG, at])
  await db.query(
    `insert into console_session (cookie_hash, org_id, member_id, created_at, seen_at, expires_at)
     values (sha256('a cookie'::bytea), $1, $2, $3, $3, $3)`,
    [ORG, String(member?.['id']), at],
  )
}

type Insert = (table: string, row: Readonly<Record<string, unknown>>) => Promise<readonly Row[]>

/** What a run has printed, and what was changed when it was retried. */
async function plantOutput(insert: Insert, run: string, mark: Stamp['mark']): Promise<void> {
  const entry = ['0entry', logEvent('info', mark('log-line'), { source: mark('log-source') })]
  const entries = JSON.stringify([entry])
  const chunk = { run_id: run, attempt_id: `att_${run}`, id: '0entry', bytes: entries.length, entries }
  await insert('run_log', chunk)
  await insert('run_edit', { run_id: run, parts: ['model'], model: mark('edited-model') })
}

/** How runs ended within the last hours, in each of the stored steps. */
async function plantTimeline(insert: Insert, now: Instant, mark: Stamp['mark']): Promise<void> {
  const line = `direct:${mark('timeline-agent')}`
  for (const { name: step, ms } of TIMELINE_LEVELS) {
    const at = toTimestamp(instant(Math.floor((now - HOUR_MS) / ms) * ms))
    await insert('timeline_count', { step, line, at, state: 'failed', count: 4_711 })
  }
}

/** A run that waits far from its turn. */
async function plantBacklog({ services: { db } }: HttpWorld, mark: Stamp['mark']): Promise<void> {
  const id = `run_${mark('late-run')}`
  await seedRun(db, id, { session: mark('late-session'), payload: { prompt: mark('late-payload') } })
  if ((await intoBacklog(db, `id = '${id}'`)) !== 1) throw new Error('nothing was put into the backlog')
}

const COUNTS = { completed: 1, failed: 0, cancelled: 0, rejected: 0, expired: 0, dispatched: 1, dispatch_ms: 1 }

async function agentsOf({ services }: HttpWorld): Promise<readonly string[]> {
  const rows = await services.db.query('select agent_id from heartbeat where org_id = $1', [ORG])
  return rows.map((row) => String(row['agent_id']))
}

const TABLES: Readonly<Record<string, string>> = {
  'schedules.id': 'schedule',
  'backfills.id': 'backfill',
  'runs.id': 'run',
  'runs.runId': 'run',
  'agents.id': 'agent',
  'budgets.id': 'budget',
  'targets.id': 'target',
  'channels.id': 'channel',
  'deliveries.id': 'delivery',
  'keys.id': 'api_key',
  'members.id': 'member',
  'workers.id': 'worker_attempt',
  worker: 'worker',
}

/** Names of everything there is, by the parameter that takes them. */
async function thingsOf({ services: { db } }: HttpWorld): Promise<Garden['things']> {
  const things: Record<string, readonly string[]> = {
    'members.org_id': [ORG],
    'orgs.org_id': [ORG],
    'lanes.name': ['main'],
    'callbacks.token': ['nobody-made-this-token'],
  }
  const read = async (sql: string): Promise<readonly string[]> =>
    (await db.query(sql, [ORG])).map((row) => String(row['id']))
  for (const [kind, table] of Object.entries(TABLES))
    things[kind] = await read(`select id from ${table} where org_id = $1 order by id`)
  // Two agents are there from the beginning, in every org.
  things['agents.id'] = (things['agents.id'] ?? []).filter((id) => id !== 'writer' && id !== 'reader')
  things['tasks.id'] = await read(`select id from run where org_id = $1 and trigger = 'task' order by id`)
  things['sessions.key'] = await read('select key as id from session where org_id = $1 order by key')
  things['providers.name'] = await read('select name as id from provider where org_id = $1 order by name')
  things['secrets.name'] = await read('select name as id from secret where org_id = $1 order by name')
  return things
}

/** Every row of an org in every table that belongs to orgs, as text. */
export async function rowsOf(
  { services: { db } }: HttpWorld,
  org: string,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables = await db.query(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
      where c.relkind in ('r', 'p') and c.relnamespace = 'escapement'::regnamespace order by 1`,
  )
  const rows: Record<string, readonly string[]> = {}
  for (const { name } of tables) {
    const table = String(name)
    const found = await db.query(`select t::text as row from ${table} t where org_id = $1 order by 1`, [org])
    rows[table] = found.map(({ row }) => String(row))
  }
  return rows
}
