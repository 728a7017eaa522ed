import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OperationSpec } from '../../src/api/operation.ts'
import { OPERATIONS } from '../../src/operations/table.ts'
import { RPC_METHODS, type RpcMethodSpec } from '../../src/server/rpc/methods.ts'
import { OPERATOR_ORG } from '../../src/domain/access/access.ts'
import { principalId } from '../../src/domain/ids.ts'
import { DEFAULT_RESTRICTIONS } from '../../src/domain/access/restrictions.ts'
import { aPrincipal, createHttpWorld, KEYS, refusedIn, type HttpWorld } from '../server/support.ts'
import { seedRun } from '../platform/db/records.ts'

// What a key with guard rails reaches at all. An operation says so itself, and one that says nothing is closed; here it is
// written down a second time, so that nobody opens a door, or makes a new one, without saying what rails mean there.

const OPEN: Readonly<Record<string, readonly string[]>> = {
  free: ['auth.me', 'schedules.preview', 'schedules.parse'],
  list: [
    ...['events.stream', 'explain.ask', 'runs.list', 'tasks.list', 'tasks.submit', 'tasks.batch', 'tasks.submitMany'],
    'sessions.sendMany',
    ...['schedules.list', 'schedules.create', 'schedules.bulk', 'schedules.outcomes'],
  ],
  schedule: [
    ...['schedules.get', 'schedules.update', 'schedules.delete', 'schedules.enable', 'schedules.disable'],
    ...['schedules.runNow', 'schedules.runs', 'schedules.explain'],
  ],
  run: [
    ...['runs.get', 'runs.explain', 'runs.lineage', 'runs.cancel', 'runs.retry', 'runs.schedule', 'runs.proposal'],
    ...['runs.getScheduleRun', 'runs.retryScheduleRun', 'tasks.get', 'tasks.cancel'],
  ],
  session: ['sessions.get', 'sessions.messages', 'sessions.send', 'sessions.stop', 'sessions.stopAll'],
}

const CLOSED_GROUPS = [
  ...[
    'agents',
    'asCode',
    'audit',
    'backfills',
    'budgets',
    'channels',
    'config',
    'deliveries',
    'alerts',
    'heartbeat',
    'keys',
    'lanes',
  ],
  ...['members', 'import', 'metrics', 'nodes', 'orgs', 'providers', 'secrets', 'stats', 'targets', 'worker', 'workers'],
]
/** Of groups that are open, what is closed. */
const CLOSED = [
  ...[
    'schedules.approve',
    'schedules.reject',
    'schedules.backfill',
    'schedules.simulate',
    'schedules.probe',
    'schedules.compare',
    'schedules.forecast',
  ],
  ...['sessions.list', 'sessions.update', 'sessions.reset', 'tasks.stats', 'auth.link', 'auth.signOut'],
]

const ALL = Object.entries(OPERATIONS as Readonly<Record<string, OperationSpec>>)
const KEYED = ALL.filter(([, spec]) => spec.permission !== 'none')
const groupOf = (id: string): string => id.split('.')[0] ?? ''

let world: HttpWorld
const railed = { restrictions: DEFAULT_RESTRICTIONS, owner: 'key_rails', attempt: null }

beforeAll(async () => {
  world = await createHttpWorld()
  // By role it may do everything: nothing but its rails is in the way.
  KEYS.set('rails', aPrincipal('owner', { id: principalId('key_rails'), restricted: railed }))
  KEYS.set(
    'rails-of-operator',
    aPrincipal('owner', { id: principalId('key_ops'), orgId: OPERATOR_ORG, restricted: railed }),
  )
  const made = await world.ask('POST', '/api/v1/schedules', { body: { every_seconds: 3600 } })
  others.schedule = made.json<{ id: string }>().id
  await seedRun(world.services.db, others.run, { state: 'success' })
})
afterAll(async () => {
  KEYS.delete('rails')
  KEYS.delete('rails-of-operator')
  await world.close()
})

const others = { schedule: '', run: 'run_others', session: 'agent:writer:main' }

describe('doors for keys with guard rails', () => {
  it('are those that are written down, each for what it is about', () => {
    const open: Record<string, string[]> = {}
    for (const [id, { restrictedAccess: rails }] of KEYED) if (rails !== undefined) (open[rails] ??= []).push(id)
    for (const [door, ids] of Object.entries(OPEN)) expect(open[door]?.toSorted()).toEqual(ids.toSorted())
    const closed = KEYED.filter(([, { restrictedAccess: rails }]) => rails === undefined).map(([id]) => id)
    expect(closed.filter((id) => !CLOSED.includes(id) && !CLOSED_GROUPS.includes(groupOf(id)))).toEqual([])
  })

  it('are the same over JSON-RPC', () => {
    const methods = Object.entries(RPC_METHODS as Readonly<Record<string, RpcMethodSpec>>)
    const open = methods
      .filter(([, { restrictedAccess: rails }]) => rails !== undefined)
      .map(([name, { restrictedAccess: rails }]) => `${name} ${rails}`)
    expect(open.toSorted()).toEqual(
      [
        ...['cron.list list', 'cron.create list', 'cron.status list', 'cron.update schedule', 'cron.delete schedule'],
        ...['cron.toggle schedule', 'cron.run schedule', 'cron.runs schedule'],
        ...['sessions.stop session', 'sessions.stopall session'],
      ].toSorted(),
    )
  })

  it.each(KEYED.filter(([, { restrictedAccess: rails }]) => rails === undefined))('%s is closed', async (_id, spec) => {
    // Of the operator, so that nothing else is in the way.
    const asked = { ...asRailed(spec), as: 'rails-of-operator' }
    const answer = await world.ask(spec.method, spec.path.replaceAll(/:\w+/g, 'x'), asked)
    expect(refusedIn(spec, answer, 'GUARD_RAIL').details).toMatchObject({ rail: 'operation' })
  })

  it.each(
    KEYED.filter(([, { restrictedAccess: rails }]) => rails === 'schedule' || rails === 'run' || rails === 'session'),
  )('%s knows nothing of what is not its own', async (_id, spec) => {
    const door = spec.restrictedAccess as 'schedule' | 'run' | 'session'
    const query = spec.path === '/api/v1/schedules/:id/explain' ? '?at=2026-01-01T00:00:00Z' : ''
    const url = spec.path.replaceAll(/:\w+/g, encodeURIComponent(others[door])) + query
    const answer = await world.ask(spec.method, url, asRailed(spec))
    refusedIn(spec, answer, door === 'session' ? 'GUARD_RAIL' : 'NOT_FOUND')
  })
})

/** Bodies that are read before anybody asks whose something is. */
const BODIES: Readonly<Record<string, unknown>> = { POST: {}, PATCH: {}, PUT: {} }
const asRailed = ({ method, examples }: OperationSpec) => ({ as: 'rails', body: examples?.body ?? BODIES[method] })
