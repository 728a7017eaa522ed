import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { attemptId, runId } from '../../../src/domain/ids.ts'
import { formatInstant, later } from '../../../src/domain/instant.ts'
import { findNodes } from '../../../src/features/nodes/service.ts'
import { getOrCreateLane, loadLaneSizes, setLane } from '../../../src/features/lanes/service.ts'
import { findRuns, getRun, getRunDetail } from '../../../src/features/runs/service.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import { sessionChange } from '../../../src/features/sessions/schema.ts'
import { updateSession, findSessions, getSession } from '../../../src/features/sessions/view.ts'
import { parseSettings } from '../../../src/features/config/settings.ts'
import { findTasks, getTask } from '../../../src/features/tasks/view.ts'
import { insertAttempts } from '../../../src/features/runs/attempts-store.ts'
import { insertNode } from '../../../src/features/nodes/store.ts'
import { insertSessions } from '../../../src/features/sessions/store.ts'
import { aSessionRow, ORG, OTHER_ORG, seedRun } from '../../platform/db/records.ts'
import { anAsker } from '../../support/asker.ts'
import { NOW } from '../../support/builders.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld
const { live } = anAsker({} as never)

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(() => world.startOver('run', 'pending', 'attempt', 'session'))
afterAll(() => world.drop())

describe('runs', () => {
  it('are read with their attempts', async () => {
    await seedRun(world.db, 'run_1', { state: 'failed', attempt: 2, finishedAt: later(NOW, 9), errorCode: 'network' })
    await world.db.transaction((tx) =>
      insertAttempts(tx, [
        {
          ...{ orgId: ORG, runId: runId('run_1'), number: 1, id: attemptId('att_0'), nodeId: 'nod_1' },
          ...{ startedAt: NOW, finishedAt: later(NOW, 1), status: 'timeout', errorCode: 'timeout', errorMessage: null },
        },
      ]),
    )
    const detail = await getRunDetail(world.ports, { orgId: ORG, id: 'run_1' })
    expect(detail.attempts).toMatchObject([
      { number: 1, status: 'timeout' },
      { number: 2, status: 'failed', error_code: 'network' },
    ])
    expect(detail.status).toBe('failed')
    await expect(getRun(world.ports, OTHER_ORG, 'run_1')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('are listed by the words of every surface', async () => {
    await seedRun(world.db, 'a', { state: 'timeout' })
    await seedRun(world.db, 'b', { state: 'cancelled' })
    await seedRun(world.db, 'c', { state: 'queued', session: 's' })
    const ids = async (filter: Parameters<typeof findRuns>[2]): Promise<readonly string[]> =>
      (await findRuns(world.ports, { orgId: ORG }, filter)).items.map(({ id }) => id)
    expect(await ids({ status: 'FAILED_TIMEOUT, canceled' })).toEqual(['b', 'a'])
    expect(await ids({ status: ['SCHEDULED'] })).toEqual(['c'])
    expect(await ids({ session: 's' })).toEqual(['c'])
    expect(await ids({ from: formatInstant(later(NOW, 1)) })).toEqual([])
    const first = await findRuns(world.ports, { orgId: ORG }, { limit: 2 })
    expect(first.items.map(({ id }) => id)).toEqual(['c', 'b'])
    expect(await ids({ limit: 2, cursor: first.next_cursor ?? '' })).toEqual(['a'])
    await expect(ids({ status: 'lost', limit: 0, from: 'x' })).rejects.toMatchObject({
      flaws: [{ field: 'status' }, { field: 'from' }, { field: 'limit' }],
    })
  })
})

describe('tasks', () => {
  it('have positions among those of their agent, and the states of their façade', async () => {
    const task = { trigger: 'task', payload: { action: 'click' } } as const
    await seedRun(world.db, 'tsk_1', { ...task, createdAt: NOW })
    await seedRun(world.db, 'tsk_2', { ...task, createdAt: later(NOW, 1), priority: -1 })
    await seedRun(world.db, 'tsk_3', { ...task, createdAt: later(NOW, 2), state: 'expired', agent: 'reader' })
    await seedRun(world.db, 'run_1')
    expect(await getTask({ ...world.ports, live }, ORG, 'tsk_1')).toMatchObject({
      action: 'click',
      state: 'queued',
      position: 3,
    })
    expect(
      (await findTasks({ ...world.ports, live }, { orgId: ORG })).tasks.map(({ taskId, state }) => [taskId, state]),
    ).toEqual([
      ['tsk_3', 'failed'],
      ['tsk_2', 'queued'],
      ['tsk_1', 'queued'],
    ])
    expect((await findTasks({ ...world.ports, live }, { orgId: ORG }, { state: 'failed,done' })).tasks).toHaveLength(1)
    expect(
      (await findTasks({ ...world.ports, live }, { orgId: ORG }, { agentId: 'reader', limit: 5 })).tasks,
    ).toHaveLength(1)
    expect((await findTasks({ ...world.ports, live }, { orgId: ORG }, { state: 'odd' })).tasks).toEqual([])
    await expect(getTask({ ...world.ports, live }, ORG, 'run_1')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(getTask({ ...world.ports, live }, OTHER_ORG, 'tsk_1')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

const readChange = schemaReader(sessionChange)

describe('sessions', () => {
  it('show their own rules and the deployment’s, and what is pending', async () => {
    await world.db.transaction((tx) => insertSessions(tx, [aSessionRow('s', { own: { cap: 3 } }), aSessionRow('t')]))
    await seedRun(world.db, 'a', { session: 's', state: 'running' })
    await seedRun(world.db, 'b', { session: 's' })
    expect(await getSession(world.ports, ORG, 's')).toMatchObject({ cap: 3, debounce_ms: 800, active: 1, waiting: 1 })
    expect((await findSessions(world.ports, ORG)).items.map(({ key, active }) => [key, active])).toEqual([
      ['t', 0],
      ['s', 1],
    ])
    await expect(getSession(world.ports, OTHER_ORG, 's')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(getSession(world.ports, ORG, 'x'.repeat(513))).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('take rules of their own, before anybody has spoken, and give them back', async () => {
    const target = { ...world.caller, key: 'group' }
    const made = await updateSession(world.ports, target, readChange({ max_concurrent: 3, mode: 'INTERRUPT' }))
    expect(made).toMatchObject({ max_concurrent: 3, mode: 'interrupt', cap: 10 })
    const change = readChange({ mode: null, cap: 2 })
    expect(await updateSession(world.ports, target, change)).toMatchObject({ max_concurrent: 3, mode: 'queue', cap: 2 })
    expect(await world.rows('select mode, cap, max_concurrent from session')).toEqual([
      { mode: null, cap: 2, max_concurrent: 3 },
    ])
    expect(() => readChange({ cap: 0 })).toThrow(expect.objectContaining({ code: 'VALIDATION' }) as Error)
  })
})

describe('nodes and lanes', () => {
  it('are alive while their lease is good', async () => {
    const node = { startedAt: NOW, draining: false, executors: ['echo'], lanes: {}, program: 'x' }
    await insertNode(world.db, { ...node, id: 'nod_a', leaseUntil: later(NOW, 1), lost: false })
    await insertNode(world.db, { ...node, id: 'nod_b', leaseUntil: NOW, lost: false })
    await insertNode(world.db, { ...node, id: 'nod_c', leaseUntil: later(NOW, 1), lost: true })
    expect((await findNodes(world.ports)).map(({ alive }) => alive)).toEqual([true, false, false])
  })

  it('have the size that was set for all, else the node’s own', async () => {
    const own = parseSettings({ lanes: { main: 4 } })
    if (own.ok) world.settings = own.value
    await setLane(world.ports, world.caller, { name: 'delegate', concurrency: 2 })
    expect(await getOrCreateLane(world.ports, world.caller, { name: 'gpu', concurrency: 1 })).toEqual({
      name: 'gpu',
      concurrency: 1,
    })
    expect(await getOrCreateLane(world.ports, world.caller, { name: 'gpu', concurrency: 9 })).toEqual({
      name: 'gpu',
      concurrency: 1,
    })
    expect(await getOrCreateLane(world.ports, world.caller, { name: 'main', concurrency: 9 })).toEqual({
      name: 'main',
      concurrency: 4,
    })
    expect(Object.fromEntries(await loadLaneSizes(world.ports))).toMatchObject({ main: 4, team: 2, gpu: 1, cron: 30 })
    await expect(setLane(world.ports, world.caller, { name: 'main', concurrency: 0 })).rejects.toMatchObject({
      code: 'VALIDATION',
    })
  })
})
