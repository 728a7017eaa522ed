import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BackfillInput } from '../../../src/features/backfill/schema.ts'
import type { Refusal } from '../../../src/api/refusals.ts'
import type { ScheduleInput } from '../../../src/features/schedules/schema.ts'
import { isBackfilled } from '../../../src/domain/schedule/backfill.ts'
import { attemptId, runId } from '../../../src/domain/ids.ts'
import { DAY_MS, earlier, formatInstant, HOUR_MS, instant, later } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { advanceCommand, listOpenBackfills } from '../../../src/features/backfill/advance.ts'
import { cancelBackfill, findBackfills, getBackfill, startBackfill } from '../../../src/features/backfill/service.ts'
import { pendingOfSchedule } from '../../../src/engine/org-state/org-state.ts'
import { applyEvent } from '../../../src/engine/commands/runs.ts'
import { endAttempt } from '../../../src/engine/commands/settle.ts'
import { explainOccurrence } from '../../../src/features/explain/occurrence.ts'
import { retryRun } from '../../../src/features/runs/retry.ts'
import { runScheduleNow } from '../../../src/features/runs/service.ts'
import {
  createSchedule,
  deleteSchedule,
  disableSchedule,
  getSchedule,
} from '../../../src/features/schedules/service.ts'
import type { RunRow } from '../../../src/features/runs/store.ts'
import { ORG } from '../../platform/db/records.ts'
import { anAsker } from '../../support/asker.ts'
import { NOW } from '../../support/builders.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(() => world.startOver('backfill', 'schedule', 'run', 'pending', 'occurrence', 'turn'))
afterAll(() => world.drop())

/** Every hour, made so long ago that it could have run. */
const hourly = async (more: ScheduleInput = {}) =>
  (await createSchedule(world.ports, world.caller, { cron: '0 * * * *', payload: 'hi', ...more })).id
const hoursAgo = (hours: number): string => formatInstant(earlier(NOW, hours * HOUR_MS))
const start = (id: string, input: Partial<BackfillInput> = {}) =>
  startBackfill(world.ports, world.caller, { id, input: { from: hoursAgo(5), to: hoursAgo(0), ...input } })
const get = (id: string | null) => getBackfill(world.ports, world.caller, id ?? '')
const refused = async (work: Promise<unknown>): Promise<Refusal> =>
  work.then(
    () => Promise.reject(new Error('was not refused')),
    (error: unknown) => error as Refusal,
  )

/** What a node does about backfills, over and over until there is nothing left to do. */
async function look(): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    const ready = (await listOpenBackfills(world.ports, world.now)).filter(({ isReady }) => isReady)
    if (ready.length === 0) return
    for (const one of ready) await world.take(advanceCommand(one))
  }
  throw new Error('a backfill is ready for ever')
}

/** Every pending run that a backfill has made is executed, and ends so. */
const settle = (kind: 'succeeded' | 'failed' = 'succeeded', which: (run: RunRow) => boolean = isBackfilled) =>
  world.take({
    orgId: ORG,
    apply: (desk) => {
      for (const run of [...desk.runs.values()].filter(which)) {
        applyEvent(desk, run, { event: 'claim', why: because('accepted', 'test') })
        Object.assign(run, { attemptId: attemptId(`att_${run.id}`), nodeId: 'nod_1', startedAt: desk.now })
        const failed = { kind: 'failed', errorCode: 'agent_error', retryable: false, retryAfterMs: null } as const
        endAttempt(desk, run, kind === 'failed' ? failed : { kind })
      }
    },
  })
const runs = () =>
  world.rows(`select r.id, r.nominal_at, r.trigger, r.job_run_id, r.lane, r.priority, coalesce(r.state, p.state) as state,
    p.slot from run r left join pending p on p.org_id = r.org_id and p.id = r.id order by r.created_at, r.id`)
const moments = async (): Promise<readonly string[]> =>
  (await runs()).map((run) => formatInstant(instant(run['nominal_at'] as number)).slice(11, 16))

describe('a plan', () => {
  it('says what would be done and changes nothing', async () => {
    const id = await hourly({ max_fires: 3 })
    const planned = await start(id, { dry_run: true, max_active: 4, spacing_ms: 1_000 })
    expect(planned).toMatchObject({
      ...{ id: null, state: 'planned', total: 5, remaining: 5, first: hoursAgo(5), last: hoursAgo(1) },
      ...{ which: 'missing', policy: 'wait', order: 'oldest', stop_on_failures: 5, finished_at: null },
      expected: { at_once: 1, duration_ms: 4_000, tokens: null, cost: null },
    })
    expect(planned.notes.join('\n')).toMatch(/max_concurrency 1.*\n.*max_fires/)
    expect((await findBackfills(world.ports, world.caller)).items).toEqual([])
    expect(await runs()).toEqual([])
  })

  it('refuses what is no range, with what to do about it', async () => {
    const id = await hourly()
    expect((await refused(start(id, { from: hoursAgo(1), to: hoursAgo(1) }))).message).toContain('must be before to')
    expect((await refused(start(id, { to: formatInstant(later(NOW, 1)) }))).message).toContain('is in the future')
    const many = await hourly({ cron: '* * * * *' })
    const tooMany = await refused(start(many, { from: formatInstant(earlier(NOW, 8 * DAY_MS)) }))
    expect(tooMany).toMatchObject({ code: 'VALIDATION', flaws: [{ field: 'to' }] })
    expect(tooMany.message).toContain(
      'more than 10000 occurrences in the range; start with those before 2026-01-14T10:40:00.000Z',
    )
    expect(await refused(start('sch_nobody'))).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('refuses to guess what ran where that is not kept any more', async () => {
    const id = await hourly()
    await world.db.query(`update schedule set created_at = created_at - interval '90 days', fires = 9`)
    const from = formatInstant(earlier(NOW, 40 * DAY_MS))
    const forgotten = await refused(start(id, { from, to: hoursAgo(24) }))
    expect(forgotten).toMatchObject({ code: 'VALIDATION', flaws: [{ field: 'from' }] })
    expect(forgotten.message).toContain(formatInstant(earlier(NOW, 30 * DAY_MS)))
    await expect(start(id, { from, which: 'all', dry_run: true })).resolves.toMatchObject({ total: 960 })
  })

  it('leaves to an active schedule what it has not looked at yet', async () => {
    const id = await hourly()
    world.pass(2 * HOUR_MS)
    const range = { from: hoursAgo(2), to: hoursAgo(-2), dry_run: true }
    expect(await start(id, range)).toMatchObject({ total: 3, last: hoursAgo(0), left_out: { pending: 1 } })
    await disableSchedule(world.ports, world.caller, { id })
    expect(await start(id, range)).toMatchObject({ total: 4, left_out: { pending: 0 } })
  })

  it('keeps to exclusions, to beginning and end, and to clock changes', async () => {
    const id = await hourly({ cron: '30 2 * * *', timezone: 'Europe/Berlin', exclude: ['2025-10-25'] })
    const planned = await start(id, { from: '2025-10-24T00:00:00Z', to: '2025-10-28T00:00:00Z', dry_run: true })
    // The 25th is excluded, and on the 26th half past two comes twice and counts once.
    expect(planned).toMatchObject({ total: 3, first: '2025-10-24T00:30:00.000Z', last: '2025-10-27T01:30:00.000Z' })
  })
})

describe('a backfill', () => {
  it('makes the runs one after the other, each once, and is done', async () => {
    const id = await hourly({ name: 'Hourly' })
    const begun = await start(id)
    expect(begun).toMatchObject({ state: 'running', total: 5, remaining: 5, created_by: 'key_1' })
    for (let done = 0; done < 5; done += 1) {
      await look()
      expect(await get(begun.id)).toMatchObject({ ended: done, in_flight: 1, remaining: 4 - done })
      await settle()
      world.pass(60_000)
    }
    await look()
    expect(await get(begun.id)).toMatchObject({
      ...{ state: 'done', ended: 5, in_flight: 0, remaining: 0, counts: { success: 5 }, runs_per_minute: 1 },
      why: { reason: 'backfill_done' },
    })
    expect(await moments()).toEqual(['07:00', '08:00', '09:00', '10:00', '11:00'])
    const [run] = await runs()
    expect(run).toMatchObject({ trigger: 'manual', lane: 'cron', state: 'success' })
    expect(run?.['job_run_id']).toBe(`${id}@2026-01-15T07:00:00.000Z/backfill:${begun.id ?? ''}`)
  })

  it('leaves the schedule as it was: its next run, its streak, its last run and its fires', async () => {
    const id = await hourly({ max_lateness_seconds: 5, alert_after: 1 })
    const before = await getSchedule(world.ports, world.caller, id)
    await start(id)
    await look()
    await settle('failed')
    expect(await getSchedule(world.ports, world.caller, id)).toEqual(before)
    expect(await world.rows('select 1 from alert')).toEqual([])
  })

  it('takes what is missing, and what failed when asked for that; success of a retry counts', async () => {
    const id = await hourly()
    await start(id, { which: 'all', stop_on_failures: null, max_active: 9, policy: 'beside' })
    await look()
    await settle('failed')
    await look()
    const [first, second] = await runs()
    for (const run of [first, second]) {
      await retryRun(world.ports, world.caller, { id: String(run?.['id']), force: false })
    }
    await settle('succeeded', ({ retryOf }) => retryOf === first?.['id'])
    const [third] = (await runs()).slice(2)
    await world.db.query(`update run set state = 'cancelled' where id = '${String(third?.['id'])}'`)
    expect(await start(id, { which: 'failed', dry_run: true })).toMatchObject({
      ...{ total: 2, left_out: { succeeded: 1, pending: 1, not_run: 0, failed: 0, cancelled: 1 } },
    })
    expect(await start(id, { dry_run: true })).toMatchObject({ total: 3, left_out: { succeeded: 1, pending: 1 } })
  })

  it('has its pace: so many at a time, so far apart, in its lane, newest first, without deliveries', async () => {
    const id = await hourly({ max_concurrency: 9 })
    const begun = await start(id, { max_active: 2, order: 'newest', lane: 'main', spacing_ms: 1_000 })
    await look()
    expect(await moments()).toEqual(['11:00'])
    world.pass(1_000)
    await look()
    world.pass(1_000)
    await look()
    expect(await moments()).toEqual(['11:00', '10:00'])
    expect(await runs()).toMatchObject([{ lane: 'main', slot: 'held', priority: 100 }, { lane: 'main' }])
    expect(await get(begun.id)).toMatchObject({ in_flight: 2, remaining: 3 })
  })

  it('under wait begins nothing beside a run of the schedule; beside does, and takes no slot of it', async () => {
    const id = await hourly()
    await runScheduleNow(world.ports, world.caller, { id, mode: 'force' })
    const begun = await start(id)
    await look()
    expect(await get(begun.id)).toMatchObject({ in_flight: 0, why: { reason: 'backfill_waits' } })
    await cancelBackfill(world.ports, world.caller, { id: begun.id ?? '', cancel: {} })
    await start(id, { policy: 'beside' })
    await look()
    expect((await runs()).map(({ slot }) => slot)).toEqual(['held', null])
    const seen = await world.take({
      ...{ orgId: ORG, needs: { schedules: [] } },
      apply: (desk) => pendingOfSchedule(desk, [...desk.bySchedule.keys()][0] as never).length,
    })
    expect(seen).toBe(1)
  })

  it('gives its slot to the own run that waited for it', async () => {
    const id = await hourly()
    await start(id)
    await look()
    world.pass(HOUR_MS)
    await world.fire(id)
    expect((await runs()).map(({ slot, trigger }) => [trigger, slot])).toEqual([
      ['manual', 'held'],
      ['schedule', 'parked'],
    ])
    await settle()
    expect((await runs()).at(-1)).toMatchObject({ slot: 'held' })
  })

  it('is not superseded by an occurrence under CANCEL_PREV', async () => {
    const id = await hourly({ overlap_action: 'CANCEL_PREV', max_concurrency: 2 })
    await start(id)
    await look()
    await runScheduleNow(world.ports, world.caller, { id, mode: 'force' })
    world.pass(HOUR_MS)
    await world.fire(id)
    expect((await runs()).map(({ state }) => state)).toEqual(['queued', 'cancelled', 'queued'])
  })

  it('stops after so many failures in a row', async () => {
    const id = await hourly()
    const begun = await start(id, { stop_on_failures: 2 })
    for (const _ of [1, 2]) {
      await look()
      await settle('failed')
    }
    await look()
    expect(await get(begun.id)).toMatchObject({
      state: 'failed',
      ended: 2,
      remaining: 3,
      why: { reason: 'backfill_failing' },
    })
  })

  it('makes no more runs than the org may have in a day, and waits for the next', async () => {
    const id = await hourly({ max_concurrency: 9 })
    await world.db.query(`update org set runs_per_day = 2 where id = 'acme'`, [])
    const begun = await start(id, { max_active: 4 })
    await look()
    expect(await runs()).toHaveLength(2)
    expect(await get(begun.id)).toMatchObject({ remaining: 3, why: { reason: 'runs_per_day' } })
    world.pass(DAY_MS)
    await look()
    expect(await runs()).toHaveLength(4)
    await world.db.query('update org set runs_per_day = null', [])
  })

  it('is one at a time for a schedule, and nothing to do is done at once', async () => {
    const id = await hourly()
    const begun = await start(id)
    expect(await refused(start(id))).toMatchObject({ code: 'CONFLICT', details: { backfill: begun.id } })
    expect((await start(id, { dry_run: true })).notes.join()).toContain(`Backfill ${begun.id ?? ''}`)
    const nothing = await start(await hourly(), { from: '2026-01-15T11:10:00Z', to: '2026-01-15T11:20:00Z' })
    expect(nothing).toMatchObject({ state: 'done', total: 0 })
  })

  it('ends with its schedule', async () => {
    const id = await hourly()
    const begun = await start(id)
    await deleteSchedule(world.ports, world.caller, { id })
    await look()
    expect(await get(begun.id)).toMatchObject({ state: 'cancelled', why: { reason: 'schedule_gone' } })
  })

  it('has made nothing when its step was not kept: the runs and how far it is stand or fall together', async () => {
    await start(await hourly())
    const [open] = await listOpenBackfills(world.ports, world.now)
    if (open === undefined) throw new Error('it is not open')
    const step = advanceCommand(open)
    const killed: typeof step = {
      ...step,
      afterApply: async (tx, row, now) => {
        await step.afterApply?.(tx, row, now)
        throw new Error('killed')
      },
    }
    await expect(world.take(killed)).rejects.toThrow('killed')
    expect(await runs()).toEqual([])
    await world.take(step)
    expect(await moments()).toEqual(['07:00'])
  })

  it('makes nothing twice, however often and from wherever a step is taken', async () => {
    const id = await hourly()
    await start(id)
    const [open] = await listOpenBackfills(world.ports, world.now)
    if (open === undefined) throw new Error('it is not open')
    // A second node saw it at the same time, and takes its step later.
    await world.take(advanceCommand(open))
    await world.take(advanceCommand(open))
    expect(await runs()).toHaveLength(1)
  })
})

describe('cancelling', () => {
  it('ends what waits and lets work go on, unless that is to end too; once', async () => {
    const id = await hourly({ max_concurrency: 9 })
    const begun = await start(id, { max_active: 2 })
    await look()
    const [first] = await runs()
    await world.take({
      orgId: ORG,
      apply: (desk) => {
        const run = desk.runs.get(runId(String(first?.['id'])))
        if (run === undefined) return
        applyEvent(desk, run, { event: 'claim', why: because('accepted', 'test') })
        Object.assign(run, { attemptId: attemptId('att_1'), nodeId: 'nod_1', startedAt: desk.now })
      },
    })
    const cancelled = await cancelBackfill(world.ports, world.caller, { id: begun.id ?? '', cancel: {} })
    expect(cancelled).toMatchObject({ state: 'cancelled', why: { reason: 'backfill_cancelled' }, remaining: 3 })
    expect((await runs()).map(({ state }) => state)).toEqual(['running', 'cancelled'])
    const again = cancelBackfill(world.ports, world.caller, { id: begun.id ?? '', cancel: {} })
    expect(await refused(again)).toMatchObject({ code: 'ALREADY_ENDED' })
    await settle()
    await look()
    expect(await get(begun.id)).toMatchObject({ in_flight: 0, counts: { success: 1, cancelled: 1 }, eta: null })
  })

  it('of somebody else is of nothing', async () => {
    const begun = await start(await hourly())
    const theirs = cancelBackfill(world.ports, world.stranger, { id: begun.id ?? '', cancel: {} })
    expect(await refused(theirs)).toMatchObject({ code: 'NOT_FOUND' })
    expect(await refused(getBackfill(world.ports, world.stranger, begun.id ?? ''))).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('asked about a moment', () => {
  it('tells what the plan made of it, and the backfill', async () => {
    const id = await hourly()
    const begun = await start(id)
    await look()
    const told = await explainOccurrence(world.ports, anAsker(world.caller), { id, at: hoursAgo(5) })
    expect(told).toMatchObject({ reason: 'before_creation', run_id: null })
    expect(told.steps.at(-1)).toMatchObject({ stage: 'backfill', name: begun.id, state: 'passed' })
    expect(told.steps.at(-1)?.sentence).toContain('key_1')
    expect(told.links.some(({ kind, role }) => kind === 'run' && role === 'backfill')).toBe(true)
  })
})
