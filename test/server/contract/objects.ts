import type { OperationSpec } from '../../../src/api/operation.ts'
import { OPERATIONS } from '../../../src/operations/table.ts'
import { attemptId, runId } from '../../../src/domain/ids.ts'
import { because } from '../../../src/domain/reasons.ts'
import { hashSecret } from '../../../src/features/access/key-text.ts'
import { insertCallbacks } from '../../../src/features/runs/attempts-store.ts'
import { insertWorker, insertWorkerAttempts } from '../../../src/features/workers/store.ts'
import { ORG, seedRun } from '../../platform/db/records.ts'
import type { HttpWorld } from '../support.ts'

/** Every operation of the table, with its id. */
export const ALL_OPERATIONS: readonly (readonly [string, OperationSpec])[] = Object.entries(OPERATIONS)

/** True of what answers with a stream that does not end by itself. */
export const isStream = ({ answers }: OperationSpec): boolean =>
  Object.values(answers).some((answer) => answer !== null && 'contentType' in answer)

/** The names of the parameters in a path. */
export const paramsIn = (path: string): readonly string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

/** The path with its parameters filled in. */
export const fillPath = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))

/** Makes one thing of a kind in the org `acme` and answers with what its path names it by. */
export type Maker = (world: HttpWorld) => Promise<string>

let made = 0
const next = (word: string): string => `${word}-${(made += 1)}`

const posting =
  (url: string, body: (name: string) => unknown, field = 'id'): Maker =>
  async (world) => {
    const response = await world.ask('POST', url, { body: body(next('made')) })
    if (response.statusCode >= 300) throw new Error(`${url} answered ${response.statusCode}: ${response.body}`)
    return response.json<Record<string, string>>()[field] ?? ''
  }

const makeRun: Maker = async ({ services }) => {
  const id = next('run_made')
  await seedRun(services.db, id, { state: 'failed', errorCode: 'agent_error', errorMessage: 'It broke' })
  return id
}

const makePendingRun: Maker = async ({ services }) => {
  const id = next('run_pending')
  await seedRun(services.db, id, { state: 'queued' })
  return id
}

const makeSession: Maker = async (world) => {
  const key = `agent:writer:${next('talk')}/ü`
  const body = { text: 'Hello', debounce_ms: 0 }
  const sent = await world.ask('POST', `/api/v1/sessions/${encodeURIComponent(key)}/messages`, { body })
  if (sent.statusCode !== 202) throw new Error(`the message was answered ${sent.statusCode}: ${sent.body}`)
  return key
}

/** The token of an attempt that waits for its result. */
const makeToken: Maker = async ({ services }) => {
  const token = next('token')
  const id = next('run_deferred')
  await seedRun(services.db, id, { state: 'awaiting_callback' })
  const row = { tokenHash: hashSecret(token), orgId: ORG, runId: runId(id), attemptId: attemptId(`att_${id}`) }
  await services.db.transaction((tx) =>
    insertCallbacks(tx, [{ ...row, createdAt: services.now, work: null, pollAt: null }]),
  )
  return token
}

/** An attempt that a worker of the org works on. */
const makeAttempt: Maker = async ({ services }) => {
  const id = next('run_elsewhere')
  await seedRun(services.db, id, { state: 'running' })
  const worker = { orgId: ORG, id: `wrk_${id}`, name: id, agents: ['writer'], capacity: 1, principal: null }
  await insertWorker(services.db, {
    ...{ ...worker, connectedAt: services.now, leaseUntil: services.now, draining: false, lost: false },
  })
  const attempt = { orgId: ORG, id: attemptId(`att_${id}`), runId: runId(id), workerId: worker.id }
  await services.db.transaction((tx) => {
    insertWorkerAttempts(tx, [{ ...attempt, assignedAt: services.now }])
    return Promise.resolve()
  })
  return attempt.id
}

/** A message that was given up, of a run that is still there. */
const makeDelivery: Maker = async (world) => {
  const run = await makeRun(world)
  const target = await make(world, 'targets.id')
  const id = next('dlv_made')
  await world.services.db.query(
    `insert into delivery (org_id, id, run_id, kind, target_id, line, state, why, created_at, finished_at)
     values ($1, $2, $3, 'saved', $4, $4, 'failed', $5::jsonb, now(), now())`,
    [ORG, id, run, target, JSON.stringify(because('delivery_given_up', 'delivery.max_tries', { tries: 30, target }))],
  )
  return id
}

const botChannel = (name: string): unknown => ({
  ...{ name, kind: 'telegram', agent_id: 'writer', token: '4711:AAH-made', allowed_users: ['1001'] },
})

const hookChannel = (name: string): unknown => ({
  ...{ name, kind: 'hook', agent_id: 'writer', signing_secret: `whsec_${'c2VjcmV0'.repeat(5)}` },
})

const makeAgent = posting('/api/v1/agents', (name) => ({ id: name, name, executor: { kind: 'echo' } }))

const makeSchedule = posting('/api/v1/schedules', (name) => ({ name, every_seconds: 3_600 }))

/** A schedule that waits for somebody's leave. */
const makeProposal: Maker = async (world) => {
  const id = await makeSchedule(world)
  await world.services.db.query(
    `update schedule set state = 'pending_approval', next_run_at = null where org_id = $1 and id = $2`,
    [ORG, id],
  )
  return id
}

/** A backfill that is under way. */
const makeBackfill: Maker = async (world) => {
  const id = await posting('/api/v1/schedules', (name) => ({ name, cron: '0 * * * *' }))(world)
  const range = { from: '2026-01-15T00:00:00Z', to: '2026-01-15T03:00:00Z' }
  return posting(`/api/v1/schedules/${id}/backfill`, () => range)(world)
}

/** By the kind of thing: the tag of an operation and the name of its parameter; an operation with needs of its own first. */
export const MAKERS: Readonly<Record<string, Maker>> = {
  'schedules.id': makeSchedule,
  'schedules.approve.id': makeProposal,
  'schedules.reject.id': makeProposal,
  'bulk.ids': makeSchedule,
  'backfills.id': makeBackfill,
  'runs.id': makeRun,
  'runs.runId': makeRun,
  'runs.other': makeRun,
  'runs.cancel.id': makePendingRun,
  'sessions.key': makeSession,
  'agents.id': makeAgent,
  'budgets.id': posting('/api/v1/budgets', () => ({ unit: 'tokens', amount: 1_000, period: 'day' })),
  'providers.name': posting('/api/v1/providers', (name) => ({ name, requests_per_minute: 60 }), 'name'),
  'targets.id': posting('/api/v1/targets', (name) => ({ name, url: 'https://hooks.example.com/in' })),
  'secrets.name': posting(
    '/api/v1/secrets',
    (name) => ({ name, value: 'a value to hide', hosts: ['api.example.com'] }),
    'name',
  ),
  'channels.id': posting('/api/v1/channels', botChannel),
  'hooks.receive.id': posting('/api/v1/channels', hookChannel),
  'deliveries.id': makeDelivery,
  'keys.id': posting('/api/v1/keys', (name) => ({ name, scopes: ['runs:read'] })),
  'members.id': posting(`/api/v1/orgs/${ORG}/members`, (name) => ({ name })),
  'members.org_id': () => Promise.resolve(ORG),
  'orgs.org_id': async (world) => {
    const id = next('org')
    const response = await world.ask('POST', '/api/v1/orgs', { body: { id, name: id }, as: 'operator' })
    if (response.statusCode !== 201) throw new Error(`the org was answered ${response.statusCode}: ${response.body}`)
    return id
  },
  'auth.token': async (world) => {
    const member = await make(world, 'members.id')
    return posting(`/api/v1/orgs/${ORG}/members/${member}/sign-in-link`, () => undefined, 'token')(world)
  },
  'tasks.id': posting('/tasks', (agentId) => ({ agentId, action: 'click' }), 'taskId'),
  'lanes.name': () => Promise.resolve('main'),
  'callbacks.token': makeToken,
  'workers.id': makeAttempt,
  'workers.agent': posting('/api/v1/agents', (name) => ({ id: name, name, executor: { kind: 'worker' } })),
}

/** Lets an owner into `acme`: the one for whom keys make links. */
export async function makeOwner(world: HttpWorld): Promise<void> {
  await posting(`/api/v1/orgs/${ORG}/members`, (name) => ({ name, role: 'owner' }))(world)
}

/** What kind of thing a parameter of an operation names. */
export function kindOf(id: string, { tag }: OperationSpec, param: string): string {
  const own = `${id}.${param}`
  return own in MAKERS ? own : `${tag}.${param}`
}

/** Makes one thing of a kind. A kind that nobody can make is a gap in these tests. */
export function make(world: HttpWorld, kind: string): Promise<string> {
  const maker = MAKERS[kind]
  if (maker === undefined) throw new Error(`say in ${import.meta.url} how ${kind} is made`)
  return maker(world)
}
