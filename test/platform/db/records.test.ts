import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentId, attemptId, laneName, runId, scheduleId, sessionKey } from '../../../src/domain/ids.ts'
import { DAY_MS, later, type Instant } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { DEFAULT_RETRY_POLICY } from '../../../src/domain/run/retry-policy.ts'
import { deleteAgentRow, insertAgents, listAgents, loadAgents, saveAgent } from '../../../src/features/agents/store.ts'
import {
  type AttemptRow,
  type CallbackRow,
  insertAttempts,
  insertCallbacks,
  loadAttempts,
  loadCallback,
} from '../../../src/features/runs/attempts-store.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { insertIdempotencies, loadIdempotencies } from '../../../src/engine/transaction/idempotency-store.ts'
import { insertLane, loadLanes, saveLane } from '../../../src/features/lanes/store.ts'
import {
  declareLost,
  deleteNode,
  insertNode,
  lapseNodes,
  loadNodes,
  renewNode,
  type NodeRow,
} from '../../../src/features/nodes/store.ts'
import {
  type DecisionRow,
  insertDecisions,
  insertOccurrences,
  loadDecisionAt,
  loadOccurrence,
  loadOccurrences,
  type OccurrenceRow,
} from '../../../src/features/schedules/occurrences-store.ts'
import { ensureOrg, listOrgs, loadOrg } from '../../../src/features/access/orgs-store.ts'
import { NOW } from '../../support/builders.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { anAgent, makeOrgs, ORG, OTHER_ORG } from './records.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase('migrated')
  db = await world.open()
  await makeOrgs(db)
})
afterAll(() => world.drop())

const hashOf = (text: string): Uint8Array => createHash('sha256').update(text).digest()

describe('orgs', () => {
  it('are made once, and stay as they are', async () => {
    const org = { id: ORG, name: 'again', defaultTimezone: 'Asia/Tokyo', defaultAgentId: null, at: later(NOW, 1) }
    expect(await ensureOrg(db, org)).toBe(false)
    expect(await loadOrg(db, ORG)).toEqual({
      id: ORG,
      name: ORG,
      defaultTimezone: 'UTC',
      defaultAgentId: null,
      maxConcurrent: null,
      maxSchedules: null,
      maxTimeoutSeconds: null,
      runsPerDay: null,
      createdAt: NOW,
    })
    expect((await listOrgs(db)).map(({ id }) => id)).toEqual([ORG, OTHER_ORG])
  })
})

describe('agents', () => {
  const full = anAgent({
    id: agentId('full'),
    description: 'everything',
    executor: { kind: 'http', url: 'https://example.org', headers: { a: 'b' } },
    retryPolicy: DEFAULT_RETRY_POLICY,
    timeoutSeconds: 5,
    maxConcurrent: 2,
    contextWindow: 200_000,
    defaultSession: sessionKey('home'),
  })

  it('are made together; those that exist stay', async () => {
    expect(await db.transaction((tx) => insertAgents(tx, [anAgent(), full]))).toEqual(['writer', 'full'])
    expect(await db.transaction((tx) => insertAgents(tx, [anAgent({ name: 'other' })]))).toEqual([])
    expect(await listAgents(db, { orgId: ORG })).toEqual([full, anAgent()])
    expect(await loadAgents(db, { orgId: ORG, ids: [full.id, agentId('nobody')] })).toEqual([full])
    expect(await loadAgents(db, { orgId: OTHER_ORG, ids: [full.id] })).toEqual([])
  })

  it('are changed in the version that was read', async () => {
    const changed = { ...full, name: 'changed', timeoutSeconds: null, updatedAt: later(NOW, 1) }
    expect(await db.transaction((tx) => saveAgent(tx, changed))).toBe(true)
    expect(await db.transaction((tx) => saveAgent(tx, changed))).toBe(false)
    expect(await loadAgents(db, { orgId: ORG, ids: [full.id] })).toEqual([{ ...changed, version: 2 }])
  })

  it('are deleted in their org', async () => {
    expect(await db.transaction((tx) => deleteAgentRow(tx, { orgId: OTHER_ORG, id: full.id }))).toBe(false)
    expect(await db.transaction((tx) => deleteAgentRow(tx, { orgId: ORG, id: full.id }))).toBe(true)
  })
})

describe('a node', () => {
  const node: NodeRow = {
    id: 'nod_1',
    startedAt: NOW,
    leaseUntil: later(NOW, 15_000),
    draining: false,
    executors: ['echo', 'in-process:a "b"'],
    lanes: { main: 30 },
    program: 'escapement',
    lost: false,
  }
  const renewal = { ...node, leaseUntil: later(NOW, 20_000) }

  it('extends its lease, and says what has become of it', async () => {
    await insertNode(db, node)
    expect(await renewNode(db, { ...renewal, draining: true, lanes: { main: 1 }, executors: [] })).toBe(true)
    expect(await loadNodes(db)).toEqual([
      {
        ...{ ...node, leaseUntil: later(NOW, 20_000), draining: true, lanes: { main: 1 }, executors: [] },
        ...{ scannedAt: null, keyIds: [], backlog: true },
      },
    ])
  })

  it('shows that it has renewed even when the clock was set back', async () => {
    await renewNode(db, { ...renewal, leaseUntil: later(NOW, -7_200_000) })
    expect(await loadNodes(db)).toMatchObject([{ leaseUntil: NOW - 7_200_000 }])
    await renewNode(db, renewal)
  })

  it('is declared lost only while its lease is the one that was seen, and never renews it from then on', async () => {
    const seen = { id: 'nod_1', leaseUntil: later(NOW, 20_000) }
    expect(await declareLost(db, [node])).toEqual([])
    expect(await declareLost(db, [seen, { ...seen, id: 'nod_9' }])).toEqual(['nod_1'])
    expect(await renewNode(db, { ...renewal, leaseUntil: later(NOW, 40_000) })).toBe(false)
    expect(await loadNodes(db)).toMatchObject([{ leaseUntil: NOW + 20_000, lost: true }])
  })

  it('lapses with all others when an embedded server starts anew', async () => {
    await insertNode(db, { ...node, id: 'nod_2' })
    await insertNode(db, { ...node, id: 'nod_3' })
    expect(await lapseNodes(db, { now: later(NOW, 1), except: ['nod_3'] })).toEqual(['nod_1', 'nod_2'])
    expect((await loadNodes(db)).map(({ leaseUntil }) => leaseUntil - NOW)).toEqual([1, 1, 15_000])
  })

  it('holds nothing when its row is gone', async () => {
    await deleteNode(db, 'nod_2')
    expect(await renewNode(db, { ...renewal, id: 'nod_2' })).toBe(false)
  })
})

describe('callbacks', () => {
  const row = (token: string): CallbackRow => ({
    tokenHash: hashOf(token),
    orgId: ORG,
    runId: runId('run_1'),
    attemptId: attemptId(`att_${token}`),
    createdAt: NOW,
    ...{ work: null, pollAt: null },
  })

  it('are found by the hash of their token', async () => {
    await db.transaction((tx) => insertCallbacks(tx, [row('a'), row('b')]))
    expect(await loadCallback(db, hashOf('b'))).toMatchObject({ orgId: ORG, runId: 'run_1', attemptId: 'att_b' })
    expect(await loadCallback(db, hashOf('c'))).toBeUndefined()
  })
})

describe('the ledger of occurrences', () => {
  const entry = (minutes: number, over: Partial<OccurrenceRow> = {}): OccurrenceRow => ({
    orgId: ORG,
    scheduleId: scheduleId('sch_1'),
    nominal: later(NOW, minutes * 60_000),
    kind: 'occurrence',
    discriminator: '',
    runId: runId(`run_${minutes}`),
    ...over,
  })

  it('has each moment once, and a manual run beside it', async () => {
    const manual = entry(1, { kind: 'manual', discriminator: 'run_m', runId: runId('run_m') })
    await db.transaction((tx) => insertOccurrences(tx, [entry(1), entry(2), manual]))
    await expect(db.transaction((tx) => insertOccurrences(tx, [entry(3), entry(2)]))).rejects.toMatchObject({
      code: 'constraint_violated',
    })
    const wanted = { orgId: ORG, scheduleId: scheduleId('sch_1') }
    expect(await loadOccurrence(db, { ...wanted, nominal: later(NOW, 60_000) })).toEqual(entry(1))
    expect(await loadOccurrence(db, { ...wanted, nominal: later(NOW, 180_000) })).toBeUndefined()
    expect(await loadOccurrence(db, { ...wanted, orgId: OTHER_ORG, nominal: later(NOW, 60_000) })).toBeUndefined()
    const window = { from: NOW, to: later(NOW, 120_000) }
    expect(await loadOccurrences(db, { ...wanted, ...window })).toEqual([manual, entry(1), entry(2)])
  })
})

describe('ranges of decisions', () => {
  const range = (first: number, last: number): DecisionRow => ({
    orgId: ORG,
    scheduleId: scheduleId('sch_1'),
    first: later(NOW, first),
    last: later(NOW, last),
    count: last - first + 1,
    why: because('misfire', 'misfire_policy=SKIP', { late_seconds: 1, nominal: 'then', policy: 'SKIP' }),
    decidedAt: NOW,
  })

  it('are found by any moment inside, the narrowest first', async () => {
    await db.transaction((tx) => insertDecisions(tx, [range(0, 100), range(10, 20), range(200, 300)]))
    const at = (ms: number) => loadDecisionAt(db, { orgId: ORG, scheduleId: scheduleId('sch_1'), at: later(NOW, ms) })
    expect(await at(0)).toEqual(range(0, 100))
    expect(await at(15)).toEqual(range(10, 20))
    expect(await at(100)).toEqual(range(0, 100))
    expect(await at(150)).toBeUndefined()
    expect(await at(300)).toEqual(range(200, 300))
  })
})

describe('attempts', () => {
  const attempt = (number: number): AttemptRow => ({
    orgId: ORG,
    runId: runId('run_1'),
    number,
    id: attemptId(`att_${number}`),
    nodeId: number === 1 ? null : 'nod_1',
    startedAt: NOW,
    finishedAt: later(NOW, number),
    status: 'failed',
    errorCode: 'agent_error',
    errorMessage: number === 1 ? null : 'no, "not" {this}',
    agentErrorCode: number === 1 ? null : 'E "1"',
  })

  it('are read in order, of one run', async () => {
    await db.transaction((tx) => insertAttempts(tx, [attempt(2), attempt(1)]))
    expect(await loadAttempts(db, { orgId: ORG, runId: runId('run_1') })).toEqual([attempt(1), attempt(2)])
    expect(await loadAttempts(db, { orgId: OTHER_ORG, runId: runId('run_1') })).toEqual([])
  })
})

describe('an idempotency key', () => {
  const key = { orgId: ORG, principal: 'key_1', route: 'POST /tasks', key: 'abc' }
  const row = { ...key, bodyHash: hashOf('body'), answer: { taskId: 'tsk_1' }, createdAt: NOW }

  it('is bound once and answers with the first answer, as long as it is young enough', async () => {
    const other = { ...row, key: 'def', answer: null }
    await db.transaction((tx) => insertIdempotencies(tx, [row, other]))
    await db.transaction((tx) => insertIdempotencies(tx, [{ ...row, answer: 2 }]))
    const load = (keys: readonly (typeof key)[], since = NOW) => loadIdempotencies(db, { orgId: ORG, keys, since })
    const [found] = await load([key])
    expect(found).toMatchObject({ ...key, answer: { taskId: 'tsk_1' }, createdAt: NOW })
    expect(Buffer.from(found?.bodyHash ?? []).equals(hashOf('body'))).toBe(true)
    expect((await load([key, other, { ...key, key: 'ghi' }])).map((one) => one.key).sort()).toEqual(['abc', 'def'])
    expect(await load([key], later(NOW, 1))).toEqual([])
    expect(await load([{ ...key, principal: 'key_2' }])).toEqual([])
    expect(await loadIdempotencies(db, { orgId: OTHER_ORG, keys: [key], since: NOW })).toEqual([])
  })

  it('binds again, once, when its day is over and nobody has removed it yet', async () => {
    const bind = (answer: number, createdAt: Instant): Promise<void> =>
      db.transaction((tx) => insertIdempotencies(tx, [{ ...row, key: 'daily', answer, createdAt }]))
    const answerAt = async (now: Instant) =>
      (await loadIdempotencies(db, { orgId: ORG, keys: [{ ...key, key: 'daily' }], since: later(now, -DAY_MS) }))[0]
        ?.answer
    await bind(1, NOW)
    await bind(2, later(NOW, DAY_MS))
    expect(await answerAt(later(NOW, DAY_MS))).toBe(1)
    const nextDay = later(NOW, DAY_MS + 1)
    expect(await answerAt(nextDay)).toBeUndefined()
    await bind(3, nextDay)
    await bind(4, later(nextDay, 1))
    expect(await answerAt(later(nextDay, 1))).toBe(3)
  })
})

describe('lanes', () => {
  const lane = (name: string, concurrency: number) => ({ name: laneName(name), concurrency, updatedAt: NOW })

  it('are set, and an existing one wins over whoever only wants it to exist', async () => {
    await saveLane(db, lane('main', 5))
    await saveLane(db, lane('main', 6))
    expect(await insertLane(db, lane('main', 7))).toBe(false)
    expect(await insertLane(db, lane('gpu', 1))).toBe(true)
    expect(await loadLanes(db)).toEqual([lane('gpu', 1), lane('main', 6)])
  })
})
