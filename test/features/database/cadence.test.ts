import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Refusal } from '../../../src/api/refusals.ts'
import type { ScheduleInput, ScheduleView } from '../../../src/features/schedules/schema.ts'
import { attemptId, scheduleId } from '../../../src/domain/ids.ts'
import { formatInstant, later, MINUTE_MS, type Instant } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { pendingOfSchedule, type OrgState } from '../../../src/engine/org-state/org-state.ts'
import { applyEvent } from '../../../src/engine/commands/runs.ts'
import { applyReport, type Report } from '../../../src/engine/commands/settle.ts'
import { explainOccurrence } from '../../../src/features/explain/occurrence.ts'
import { explainRun } from '../../../src/features/explain/run.ts'
import { forecastDraft } from '../../../src/features/forecast/draft.ts'
import { runScheduleNow } from '../../../src/features/runs/service.ts'
import { previewSchedule } from '../../../src/features/schedules/preview.ts'
import {
  updateSchedule,
  createSchedule,
  disableSchedule,
  enableSchedule,
  getSchedule,
} from '../../../src/features/schedules/service.ts'
import { fireCommand } from '../../../src/engine/commands/engine-commands.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import { ORG } from '../../platform/db/records.ts'
import { anAsker } from '../../support/asker.ts'
import { NOW } from '../../support/builders.ts'
import { openNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(() => world.startOver('schedule', 'run', 'pending', 'occurrence', 'turn', 'node'))
afterAll(() => world.drop())

const CADENCE = { min_seconds: 300, max_seconds: 21_600 }
const make = (more: ScheduleInput = {}): Promise<ScheduleView> =>
  createSchedule(world.ports, world.caller, { every_seconds: 1_200, cadence: CADENCE, payload: 'look', ...more })
const get = (id: string): Promise<ScheduleView> => getSchedule(world.ports, world.caller, id)
const minutesFromNow = (minutes: number): string => formatInstant(later(NOW, minutes * MINUTE_MS))

type Said = Partial<Pick<Report, 'output' | 'nextCheck' | 'outcome'>>

/** The oldest pending run of the schedule is executed and says this. */
const reportOf = (id: string, said: Said): Command<void> => ({
  orgId: ORG,
  apply: (desk: OrgState) => {
    const [run] = pendingOfSchedule(desk, scheduleId(id))
    if (run === undefined) throw new Error('nothing is pending')
    if (run.state === 'queued') {
      applyEvent(desk, run, { event: 'claim', why: because('accepted', 'test') })
      Object.assign(run, { attemptId: attemptId(`att_${run.id}`), nodeId: 'nod_1', startedAt: desk.now })
    }
    if (run.attemptId === null) throw new Error('it has not begun')
    applyReport(desk, run, { attemptId: run.attemptId, outcome: { kind: 'succeeded' }, ...said })
  },
})

/** Goes on to a moment, lets what is due run for a minute, and answers with how the schedule stands. */
async function run(id: string, said: Said, take = (work: Command<void>): Promise<unknown> => world.take(work)) {
  const due = (await get(id)).next_run_at
  world.now = Date.parse(due ?? '') as Instant
  await take(fireCommand(ORG, [scheduleId(id)]))
  world.pass(MINUTE_MS)
  await take(reportOf(id, said))
  return get(id)
}

describe('a schedule with a cadence', () => {
  it('stretches while it is quiet, comes back when something is found, and is asked when its agent wants', async () => {
    const { id, pace, sentence, next_run_at: first } = await make()
    expect(sentence).toBe('Every 20 minutes, between 5 minutes and 6 hours depending on its results')
    expect(first).toBe(minutesFromNow(20))
    expect(pace).toMatchObject({ interval_seconds: 1_200, quiet_streak: 0, proposed: null, recent: [] })
    const quiet = await run(id, { output: 'NO_REPLY' })
    expect(quiet.next_run_at).toBe(minutesFromNow(20 + 40))
    expect(quiet.pace).toMatchObject({
      sentence: 'Between 5 minutes and 6 hours, now every 40 minutes after 1 quiet run',
      because: { reason: 'pace_quiet', evidence: { found: 'no_reply' } },
      next: [
        { at: minutesFromNow(60), certainty: 'firm' },
        { at: minutesFromNow(100), certainty: 'likely' },
        ...[140, 180, 220].map((minutes) => ({ at: minutesFromNow(minutes), certainty: 'likely' })),
      ],
    })
    expect((await run(id, { output: '' })).next_run_at).toBe(minutesFromNow(60 + 80))
    const news = await run(id, { output: '3 issues' })
    expect(news.next_run_at).toBe(minutesFromNow(140 + 20))
    const same = await run(id, { output: '3 issues' })
    expect(same.pace).toMatchObject({ quiet_streak: 1, because: { evidence: { found: 'same' } } })
    const asked = await run(id, { output: 'NO_REPLY', nextCheck: 10 })
    expect(asked.next_run_at).toBe(formatInstant(later(world.now, 5 * MINUTE_MS)))
    expect(asked.pace).toMatchObject({
      proposed: { asked: '10', asked_seconds: 10, got_seconds: 300, clamped: true },
      because: { reason: 'pace_proposed' },
    })
    expect(asked.pace?.recent.map(({ reason }) => reason)).toEqual([
      ...['pace_proposed', 'pace_quiet', 'pace_changed', 'pace_quiet', 'pace_quiet'],
    ])
  })

  it('is the same for two nodes that take turns, and after a restart', async () => {
    const { id } = await make()
    const [first, second] = [await openNode(world), await openNode(world)]
    const by = (node: typeof first) => async (work: Command<void>) => {
      const [answer] = await node.turn(work as Command<unknown>)
      if (answer instanceof Error) throw answer
    }
    await run(id, {}, by(first))
    // One fires, the other takes the report.
    const due = (await get(id)).next_run_at ?? ''
    expect(due).toBe(minutesFromNow(60))
    world.now = Date.parse(due) as Instant
    await by(second)(fireCommand(ORG, [scheduleId(id)]))
    world.pass(MINUTE_MS)
    await by(first)(reportOf(id, {}))
    expect((await get(id)).next_run_at).toBe(minutesFromNow(60 + 80))
    // A node that comes after all of it goes on from there.
    const third = await openNode(world)
    expect((await run(id, { output: 'found' }, by(third))).next_run_at).toBe(minutesFromNow(140 + 20))
    expect(await world.rows('select count(*)::int as made from occurrence')).toEqual([{ made: 3 }])
  })

  it('leaves the pace alone when a run fails, when somebody asks for one, and while its moment is only missed', async () => {
    const { id } = await make({ retry_policy: { max_retries: 0 } })
    await run(id, {})
    const failed = { kind: 'failed', errorCode: 'agent_error', retryable: false, retryAfterMs: null } as const
    const after = await run(id, { outcome: failed })
    expect(after.pace).toMatchObject({ interval_seconds: 2_400, quiet_streak: 1 })
    expect(after.next_run_at).toBe(minutesFromNow(60 + 40))
    await runScheduleNow(world.ports, world.caller, { id, mode: 'force' })
    await world.take(reportOf(id, { output: 'news' }))
    expect(await get(id)).toMatchObject({ next_run_at: minutesFromNow(100), pace: { quiet_streak: 1 } })
    // Four of its moments pass while nobody looks: one run makes up for them, on the same grid.
    world.now = later(NOW, (100 + 3 * 40 + 5) * MINUTE_MS)
    await world.fire(id)
    expect((await get(id)).next_run_at).toBe(minutesFromNow(100 + 4 * 40))
    const skipped = await world.rows(`select count(*)::int as found from run where state = 'skipped'`)
    expect(skipped).toEqual([{ found: 3 }])
  })

  it('begins anew when it is switched on, or when its timing or its bounds change, and not for anything else', async () => {
    const { id } = await make()
    await run(id, {})
    const named = await updateSchedule(world.ports, world.caller, { id, change: { name: 'Other' } })
    expect(named).toMatchObject({ next_run_at: minutesFromNow(60), pace: { quiet_streak: 1 } })
    await disableSchedule(world.ports, world.caller, { id })
    expect((await get(id)).pace).toMatchObject({ quiet_streak: 1, next: [] })
    const enabled = await enableSchedule(world.ports, world.caller, { id })
    expect(enabled).toMatchObject({ next_run_at: minutesFromNow(40), pace: { quiet_streak: 0 } })
    await run(id, {})
    const cadence = { ...CADENCE, stretch: 3 }
    const bounded = await updateSchedule(world.ports, world.caller, { id, change: { cadence } })
    expect(bounded.pace).toMatchObject({ interval_seconds: 1_200, quiet_streak: 0, recent: [] })
    const plain = await updateSchedule(world.ports, world.caller, { id, change: { cadence: null } })
    expect(plain.pace).toBeNull()
    expect(plain).not.toHaveProperty('cadence')
    expect(await world.rows('select pace from schedule')).toEqual([{ pace: null }])
  })

  it('is refused where there is no interval, and the schedule stays as it was', async () => {
    const { id } = await make()
    const refused = await updateSchedule(world.ports, world.caller, { id, change: { cron: '0 9 * * *' } }).then(
      () => Promise.reject(new Error('was not refused')),
      (error: unknown) => error as Refusal,
    )
    expect(refused.flaws).toMatchObject([{ field: 'cadence' }])
    expect(await get(id)).toMatchObject({ kind: 'every', version: 1 })
    const change = { cron: '0 9 * * *', cadence: null }
    expect(await updateSchedule(world.ports, world.caller, { id, change })).toMatchObject({ kind: 'cron', pace: null })
  })

  it('has an end that a longer interval may pass, and a shorter one come before', async () => {
    const { id } = await make({ ends_at: minutesFromNow(70) })
    await run(id, {})
    const last = await run(id, {})
    expect(last).toMatchObject({ state: 'finished', next_run_at: null })
    world.now = NOW
    // When its second run begins the next moment would be behind the end; what the run finds brings it before it.
    const other = await make({ ends_at: minutesFromNow(90) })
    await run(other.id, {})
    expect(await run(other.id, { output: 'found' })).toMatchObject({ state: 'active', next_run_at: minutesFromNow(80) })
  })
})

describe('what is told of it', () => {
  it('is in the preview, in the forecast, and in why a run came when it did', async () => {
    const preview = await previewSchedule(world.ports, world.caller, {
      every_seconds: 1_200,
      cadence: CADENCE,
      count: 2,
    })
    expect(preview.coming?.map(({ certainty }) => certainty)).toEqual(['firm', 'likely'])
    const { id } = await make()
    await run(id, {})
    await run(id, { nextCheck: 3_600 })
    const [newest] = await world.rows('select id, nominal_at from run order by created_at desc limit 1')
    const told = await explainRun(world.ports, world.caller, {
      id: String(newest?.['id']),
      live: anAsker(world.caller).live,
    })
    expect(told.steps[0]).toMatchObject({
      ...{ stage: 'plan', name: 'pace', state: 'passed' },
      sentence:
        'After 1 consecutive runs without new results the schedule runs every 2400 s; the interval can vary between 300 s and 21600 s.',
    })
    const asker = anAsker(world.caller)
    const passed = await explainOccurrence(world.ports, asker, { id, at: minutesFromNow(40) })
    expect(passed).toMatchObject({ reason: 'not_at_this_pace', rule: 'cadence' })
    const next = (await get(id)).next_run_at ?? ''
    expect(await explainOccurrence(world.ports, asker, { id, at: next })).toMatchObject({ reason: 'not_yet' })
    const forecast = await forecastDraft(world.ports, world.caller, { input: { id, days: 1 }, seesBudgets: false })
    expect(forecast.notes.join('\n')).toContain('counted at its current interval, every 80 minutes')
  })
})
