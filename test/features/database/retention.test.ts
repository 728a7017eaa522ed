import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { attemptId, runId, scheduleId } from '../../../src/domain/ids.ts'
import { DAY_MS, later } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { explainOccurrence } from '../../../src/features/explain/occurrence.ts'
import { insertRunLogs } from '../../../src/features/runs/log-store.ts'
import { createRetention } from '../../../src/features/retention/service.ts'
import { createSchedule } from '../../../src/features/schedules/service.ts'
import { DEFAULT_SETTINGS } from '../../../src/features/config/settings.ts'
import { loadDecisionAt } from '../../../src/features/schedules/occurrences-store.ts'
import { ORG, seedRun } from '../../platform/db/records.ts'
import { anAsker } from '../../support/asker.ts'
import { NOW } from '../../support/builders.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(async () => {
  world.settings = DEFAULT_SETTINGS
  await world.startOver('run', 'run_log', 'pending', 'turn', 'schedule', 'decision')
})
afterAll(() => world.drop())

const ids = async (): Promise<readonly unknown[]> =>
  (await world.rows('select id from run order by id')).map(({ id }) => id)

describe('a pass of retention', () => {
  it('removes what its setting says, however much that is', async () => {
    for (let index = 0; index < 7; index += 1) {
      const createdAt = later(NOW, -31 * DAY_MS + index)
      await seedRun(world.db, `old_${index}`, { state: 'success', createdAt })
      await seedRun(world.db, `tsk_${index}`, { trigger: 'task', state: 'success', createdAt: later(NOW, -300_001) })
      await seedRun(world.db, `sch_${index}`, { schedule: 'sch', state: 'success', createdAt })
    }
    await seedRun(world.db, 'young', { state: 'success' })
    const { retention } = DEFAULT_SETTINGS
    world.settings = { ...DEFAULT_SETTINGS, retention: { ...retention, runsPerSchedule: 2 } }
    const pruned = await createRetention(world.ports, { batch: 3 }).pass()
    expect(pruned).toMatchObject({ tasks: 7, runs: 12, folded: 0 })
    expect(await ids()).toEqual(['sch_5', 'sch_6', 'young'])
  })

  it('removes the log of a run with it', async () => {
    const log = { orgId: ORG, attemptId: attemptId('att_1'), id: '1', bytes: 2, entries: '[]' }
    await seedRun(world.db, 'old', { state: 'success', createdAt: later(NOW, -31 * DAY_MS) })
    await seedRun(world.db, 'young', { state: 'success' })
    await insertRunLogs(
      world.db,
      ['old', 'young'].map((id) => ({ ...log, runId: runId(id) })),
    )
    await createRetention(world.ports).pass()
    expect(await world.rows('select run_id from run_log')).toEqual([{ run_id: 'young' }])
  })

  it('keeps runs for ever when it is told to', async () => {
    const { retention } = DEFAULT_SETTINGS
    world.settings = { ...DEFAULT_SETTINGS, retention: { ...retention, runDays: null } }
    await seedRun(world.db, 'ancient', { state: 'success', createdAt: later(NOW, -900 * DAY_MS) })
    expect(await createRetention(world.ports).pass()).toMatchObject({ runs: 0 })
    expect(await ids()).toEqual(['ancient'])
  })

  it('keeps no more runs of a schedule than its setting says, however young they are', async () => {
    const { id } = await createSchedule(world.ports, world.caller, { every_seconds: 60 })
    await world.rows('update schedule set fires = 9 returning id')
    for (let index = 0; index < 5; index += 1)
      await seedRun(world.db, `run_${index}`, { schedule: id, state: 'success', createdAt: later(NOW, index - 9) })
    const { retention } = DEFAULT_SETTINGS
    world.settings = { ...DEFAULT_SETTINGS, retention: { ...retention, runsPerSchedule: 2, maxRunsPerSchedule: 3 } }
    await createRetention(world.ports).pass()
    expect(await ids()).toEqual(['run_2', 'run_3', 'run_4'])
  })

  it('folds each skipped run once, and what was folded can still be explained', async () => {
    const { id } = await createSchedule(world.ports, world.caller, { every_seconds: 60, overlap_action: 'SKIP' })
    for (let minute = 0; minute < 3; minute += 1) {
      world.pass(60_000)
      await world.fire(id)
    }
    const retention = createRetention(world.ports)
    expect(await retention.pass()).toMatchObject({ folded: 0 })
    world.pass(2 * DAY_MS)
    expect(await retention.pass()).toMatchObject({ folded: 2 })
    expect(await retention.pass()).toMatchObject({ folded: 0 })
    expect(await ids()).toHaveLength(1)
    const explained = await explainOccurrence(world.ports, anAsker(world.caller), { id, at: later(NOW, 120_000) })
    expect(explained).toMatchObject({ run_id: null, status: 'skipped', reason: 'overlap', evidence: { count: 2 } })
    expect(await world.rows('select run_id from occurrence')).toHaveLength(1)
  })

  it('removes all turns of an org, whose history goes on from its version', async () => {
    await createSchedule(world.ports, world.caller, { every_seconds: 60 })
    await createSchedule(world.ports, world.caller, { every_seconds: 60 })
    world.pass(2 * DAY_MS)
    expect(await createRetention(world.ports).pass()).toMatchObject({ historyRows: 2 })
    expect(await world.rows('select no from turn')).toEqual([])
    await createSchedule(world.ports, world.caller, { every_seconds: 60 })
    expect(await world.rows('select no from turn')).toEqual([{ no: 3 }])
  })

  it('keeps the one-line record of what a schedule skipped when its runs are gone', async () => {
    const decision = because('overlap', 'overlap_action=SKIP', { previous_run: 'run_0', previous_state: 'running' })
    const nominal = later(NOW, -40 * DAY_MS)
    await seedRun(world.db, 'skip', { schedule: 'sch', state: 'skipped', nominal, createdAt: nominal, decision })
    await createRetention(world.ports).pass()
    const found = await loadDecisionAt(world.db, { orgId: ORG, scheduleId: scheduleId('sch'), at: nominal })
    expect(found).toMatchObject({ count: 1, why: { reason: 'overlap' } })
  })
})
