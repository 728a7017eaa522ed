import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Explanation,
  type ExplainFinding,
  type ExplainQuery,
  explanation,
  occurrenceExplanation,
} from '../../../src/features/explain/schema.ts'

import type { ScheduleInput, ScheduleView } from '../../../src/features/schedules/schema.ts'
import { formatInstant, HOUR_MS, instant, later, MINUTE_MS, SECOND_MS } from '../../../src/domain/instant.ts'
import { DEFAULT_RESTRICTIONS } from '../../../src/domain/access/restrictions.ts'
import { because } from '../../../src/domain/reasons.ts'
import { answerQuestion } from '../../../src/features/explain/service.ts'
import { explainOccurrence, type ExplainCaller } from '../../../src/features/explain/occurrence.ts'
import { ID_PREFIXES, newId } from '../../../src/engine/ids.ts'
import type { Ports } from '../../../src/engine/ports.ts'
import {
  updateSchedule,
  createSchedule,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
} from '../../../src/features/schedules/service.ts'
import { insertAlerts, type AlertChange } from '../../../src/features/alerts/store.ts'
import { toTimestamp } from '../../../src/platform/db/table.ts'
import { ORG, seedRun } from '../../platform/db/records.ts'
import { anAsker } from '../../support/asker.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

/** A Monday. Every test takes a day of its own, so that they do not see each other. */
const FIRST_DAY = Date.parse('2026-02-02T00:00:00Z')

let world: ServiceWorld
let ports: Ports
let day = 0

beforeAll(async () => {
  world = await createServiceWorld()
  let made = 0
  ports = { ...world.ports, newId: (kind) => `${ID_PREFIXES[kind]}${(made += 1)}` }
})
afterAll(() => world.drop())

const at = (hour: number, minute = 0): ReturnType<typeof instant> =>
  instant(FIRST_DAY + day * 24 * HOUR_MS + hour * HOUR_MS + minute * MINUTE_MS)
const to = (hour: number, minute = 0): void => {
  world.now = at(hour, minute)
}
const newDay = (): void => {
  day += 7
  to(6)
}
const create = (input: ScheduleInput): Promise<ScheduleView> =>
  createSchedule(ports, world.caller, { timezone: 'UTC', name: 'Look', ...input })

async function ask(query: ExplainQuery, over: Partial<ExplainCaller> = {}): Promise<Explanation> {
  const answer = await answerQuestion(ports, anAsker(world.caller, over), query)
  const told = [answer.sentence, ...answer.findings.map(({ sentence }) => sentence)]
  for (const sentence of told) expect(sentence).not.toMatch(/[{}]|undefined|unknown|not on record/)
  return explanation.parse(answer)
}

const nine = (more: Partial<ExplainQuery> = {}): ExplainQuery => ({ at: formatInstant(at(9)), ...more })
const kindOf = (finding: ExplainFinding | undefined): readonly unknown[] => [finding?.kind, finding?.reason]

describe('why did nothing happen at nine?', () => {
  it('the run before was still going', async () => {
    newDay()
    const { id } = await create({ cron: '0 8,9 * * *', overlap_action: 'SKIP' })
    to(8)
    await world.fire(id)
    to(9)
    await world.fire(id)
    const { findings, sentence, looked_at: looked } = await ask(nine({ schedule_id: id }))
    expect(kindOf(findings[0])).toEqual(['occurrence', 'overlap'])
    expect(sentence).toMatch(/^Look was skipped: The previous run run_\d+ was still queued\./)
    expect(findings[0]?.policy).toMatchObject({ name: 'overlap_action', value: 'SKIP' })
    expect(findings[0]?.links).toContainEqual(expect.objectContaining({ kind: 'run', role: 'previous_run' }))
    expect(looked).toMatchObject({ schedules: 1, complete: true })
    // The same without naming it, found among all.
    expect(kindOf((await ask(nine())).findings[0])).toEqual(['occurrence', 'overlap'])
  })

  it('somebody had switched it off: who, and when, for whoever may know', async () => {
    newDay()
    const { id } = await create({ cron: '0 9 * * *' })
    to(7)
    await disableSchedule(ports, world.caller, { id })
    to(10)
    const told = await ask(nine({ schedule_id: id }))
    expect(told.sentence).toContain(`key_1 disabled the schedule at ${formatInstant(at(7))}`)
    expect(told.findings[0]?.links).toContainEqual(expect.objectContaining({ kind: 'audit', id }))
    const less = await ask(nine({ schedule_id: id }), { may: (permission) => permission !== 'audit:read' })
    expect(less.findings[0]).toMatchObject({ reason: 'not_active' })
    expect(less.sentence).not.toContain('key_1')
    // Switched on again: it was still off at nine.
    await enableSchedule(ports, world.caller, { id })
    expect((await ask(nine({ schedule_id: id }))).findings[0]).toMatchObject({ reason: 'switched_off' })
  })

  it('it was made later, begins later, has ended, or has made all its runs', async () => {
    newDay()
    to(10)
    const late = await create({ cron: '0 9 * * *', name: 'Late' })
    const tomorrow = formatInstant(at(24))
    const begins = await create({ cron: '0 9 * * *', name: 'Begins', starts_at: tomorrow })
    expect((await ask(nine({ schedule_id: late.id }))).findings[0]).toMatchObject({ reason: 'before_creation' })
    expect((await ask(nine({ schedule_id: begins.id }))).findings[0]).toMatchObject({ reason: 'before_start' })
    newDay()
    const once = await create({ cron: '0 8,9 * * *', name: 'Once', max_fires: 1 })
    to(8)
    await world.fire(once.id)
    to(10)
    expect((await ask(nine({ schedule_id: once.id }))).findings[0]).toMatchObject({ reason: 'all_fires_made' })
  })

  it('its rule means nine by another clock, or that day is excluded', async () => {
    newDay()
    const date = formatInstant(at(9)).slice(0, 10)
    const tokyo = await create({ cron: '0 9 * * *', timezone: 'Asia/Tokyo', name: 'Tokyo' })
    const holiday = await create({ cron: '0 9 * * *', exclude: [date], name: 'Holiday' })
    to(10)
    const { findings } = await ask(nine())
    expect(findings.map(({ about, reason }) => [about, reason])).toEqual(
      expect.arrayContaining([
        ['Tokyo', 'other_zone'],
        ['Holiday', 'excluded_date'],
      ]),
    )
    for (const { id } of [tokyo, holiday]) await deleteSchedule(ports, world.caller, { id })
  })

  it('nobody looked: the engine was down', async () => {
    newDay()
    const { id } = await create({ cron: '0 9 * * *', misfire_policy: 'SKIP' })
    to(12)
    await world.fire(id)
    const { findings } = await ask(nine({ schedule_id: id }))
    expect(findings.map(kindOf)).toEqual([
      ['occurrence', 'misfire'],
      ['engine', 'unattended'],
    ])
    expect(findings[1]?.sentence).toContain(formatInstant(at(12)))
  })

  it('nobody has looked yet', async () => {
    newDay()
    const { id } = await create({ cron: '0 9 * * *' })
    to(9, 30)
    expect((await ask(nine({ schedule_id: id }))).findings[0]).toMatchObject({ reason: 'undecided' })
    expect((await ask({ at: formatInstant(at(24 + 9)), schedule_id: id })).findings[0]).toMatchObject({
      reason: 'not_yet',
    })
  })

  it('the schedule is gone, and who deleted it is known', async () => {
    newDay()
    const { id } = await create({ cron: '0 9 * * *', name: 'Gone' })
    to(8)
    await deleteSchedule(ports, world.caller, { id })
    to(10)
    const found = (await ask(nine())).findings.find(({ reason }) => reason === 'deleted_by')
    expect(found).toMatchObject({ about: 'Gone', sentence: expect.stringContaining('key_1 deleted') as string })
    expect((await ask(nine({ schedule_id: id }))).findings[0]).toMatchObject({ reason: 'deleted_by' })
    await expect(ask(nine({ schedule_id: 'sch_never' }))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('its timing was another one then', async () => {
    newDay()
    const { id } = await create({ cron: '0 9 * * *' })
    to(9)
    to(10)
    await updateSchedule(ports, world.caller, { id, change: { cron: '0 11 * * *' } })
    expect((await ask(nine({ schedule_id: id }))).findings[0]).toMatchObject({
      ...{ reason: 'retimed', evidence: { before_cron: '0 9 * * *', actor: 'key_1' } },
    })
  })

  it('what was submitted was rejected, or waited', async () => {
    newDay()
    const full = because('session_queue_full', 'session.drop=new', { waiting: 10, cap: 10 })
    const session = 'agent:writer:x:direct:ann'
    await seedRun(world.db, 'run_full', {
      session,
      state: 'rejected',
      createdAt: at(9),
      finishedAt: at(9),
      decision: full,
      why: full,
    })
    await seedRun(world.db, 'run_slow', {
      ...{ session, state: 'success', createdAt: at(9), startedAt: at(9, 2), finishedAt: at(9, 3) },
    })
    const { findings } = await ask(nine({ session }))
    expect(findings.map(({ about, reason, status }) => [about, reason, status])).toEqual([
      ['run_full', 'session_queue_full', 'rejected'],
      ['run_slow', 'waited', 'success'],
    ])
    expect(findings[0]?.sentence).toBe('run_full was rejected: 10 of 10 messages were waiting in the session.')
  })

  it('a heart did not beat, and says why', async () => {
    newDay()
    const why = because('outside_active_hours', 'heartbeat.active_hours', {
      ...{ local_time: '09:00', timezone: 'UTC', start: '10:00', end: '18:00' },
    })
    await world.db.query(
      `insert into heartbeat_log (org_id, id, agent_id, due_at, at, last_at, outcome, why, target, finished_at)
       values ($1, $2, 'writer', $3::timestamptz, $3::timestamptz, $3::timestamptz, 'skipped', $4::jsonb, 'none', $3::timestamptz)`,
      [ORG, `hbt_${day}`, toTimestamp(at(9)), JSON.stringify(why)],
    )
    const { findings } = await ask(nine({ agent_id: 'writer' }))
    expect(findings.map(kindOf)).toContainEqual(['heartbeat', 'outside_active_hours'])
    expect((await ask({ id: `hbt_${day}` })).sentence).toContain('outside the active hours 10:00-18:00')
  })

  it('nothing was planned, and what is nearest', async () => {
    newDay()
    const { id } = await create({ cron: '30 7 * * *', name: 'Early', agent_id: 'reader' })
    to(12)
    const { sentence, nearest, findings, next } = await ask(nine({ agent_id: 'reader' }))
    expect(findings.map(kindOf)).toEqual([['nothing', 'nothing_planned']])
    expect(nearest).toMatchObject({
      before: { schedule_id: id, at: formatInstant(at(7, 30)) },
      after: { name: 'Early' },
    })
    expect(sentence).toContain('Before it: Early at')
    expect(next?.actions.map(({ action }) => action)).toEqual(['ask_moment', 'ask_moment'])
  })

  it('by the clock of the schedule where no zone is given', async () => {
    newDay()
    const { id } = await create({ cron: '0 9 * * *', timezone: 'Asia/Tokyo' })
    const { asked } = await ask({ at: `${formatInstant(at(9)).slice(0, 10)}T09:00`, schedule_id: id })
    expect(asked).toMatchObject({ at: formatInstant(at(0)), timezone: 'Asia/Tokyo', timezone_from: 'schedule' })
  })
})

describe('one thing', () => {
  it('a run, also by its job run id, its attempt and its messages', async () => {
    newDay()
    const made = newId('message', at(9), new Uint8Array(10))
    const second = newId('message', later(at(9), SECOND_MS), new Uint8Array(10))
    await seedRun(world.db, 'run_m', {
      ...{
        state: 'failed',
        createdAt: at(9),
        finishedAt: at(9, 1),
        payload: { messageIds: [made, second, 'telegram:7'] },
      },
      ...{ errorCode: 'network', session: 'agent:writer:x:direct:bob' },
      why: because('retries_exhausted', 'retry_policy.max_retries', {
        ...{ attempt: 4, error_code: 'network', max_retries: 3 },
      }),
    })
    to(10)
    const run = await ask({ id: 'run_m' })
    expect(run.sentence).toBe('Attempt 4 failed with network, and all 3 retries are used up.')
    expect(run.steps.find(({ stage }) => stage === 'execution')).toMatchObject({ state: 'closed' })
    expect(run.next?.actions).toMatchObject([{ action: 'retry', command: 'escapement runs retry run_m' }])
    expect((await ask({ id: made })).sentence).toBe(run.sentence)
    expect((await ask({ id: 'att_run_m' })).sentence).toBe(run.sentence)
    for (const id of [second, 'telegram:7'])
      expect((await ask({ id })).findings.map(({ reason }) => reason)).toEqual(['merged', 'retries_exhausted'])
    const { id } = await create({ cron: '0 9 * * *', name: 'Mine' })
    to(24 + 9)
    await world.fire(id)
    const job = `${id}@${formatInstant(at(24 + 9))}`
    expect((await ask({ id: job })).findings[0]).toMatchObject({ kind: 'occurrence', reason: 'due', status: 'queued' })
    await expect(ask({ id: 'run_nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(answerQuestion(ports, anAsker(world.stranger), { id: 'run_m' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  it('a schedule, a target, an alert, an agent and a session', async () => {
    newDay()
    const { id } = await create({ cron: '0 9 * * *' })
    expect((await ask({ id })).findings[0]).toMatchObject({
      reason: 'planned',
      evidence: { next: formatInstant(at(9)) },
    })
    await disableSchedule(ports, world.caller, { id })
    const off = await ask({ id })
    expect(off.findings[0]).toMatchObject({ reason: 'switched_off' })
    expect(off.next?.actions.map(({ action }) => action)).toEqual(['enable', 'run_now'])
    await world.db.transaction((tx) => {
      const raised: AlertChange = {
        ...({ change: 'raised', id: 'alr_1', kind: 'late', subjectKind: 'schedule' } as const),
        ...{ subjectId: id, about: 'Look' },
        why: because('run_late', 'max_lateness_seconds', { nominal: 'then', late_seconds: 9, max_lateness_seconds: 5 }),
      }
      insertAlerts(tx, ORG, { raised: [raised], now: world.now })
      return Promise.resolve()
    })
    expect((await ask({ id: 'alr_1' })).findings[0]).toMatchObject({ kind: 'alert', reason: 'run_late' })
    expect((await ask({ id: 'reader' })).findings[0]).toMatchObject({ kind: 'agent' })
    await expect(ask({ id: 'reader' }, { may: () => false })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    // Guard rails leave schedules and runs, also where those of the whole org are open.
    const rails = { ...DEFAULT_RESTRICTIONS, ownSchedulesOnly: false }
    const railed = { restrictions: rails, owner: 'key_bot', attempt: null }
    expect((await ask({ id }, { restricted: railed })).findings[0]).toMatchObject({ kind: 'schedule' })
    for (const closed of ['alr_1', 'reader'])
      await expect(ask({ id: closed }, { restricted: railed })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    for (const nothing of ['dlv_1', 'tgt_1', 'hbt_none', 'msg_1', 'att_1', 'agent:none', 'nul\u0000', '%'])
      await expect(ask({ id: nothing })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a key with guard rails', () => {
  const railed = { restrictions: DEFAULT_RESTRICTIONS, owner: 'key_bot', attempt: null }

  it('is told about its own schedules and runs, and knows of no others', async () => {
    newDay()
    const others = await create({ cron: '0 9 * * *', name: 'Others' })
    const own = await create({ cron: '0 9 * * *', name: 'Own' })
    await world.db.query(`update schedule set owner = 'key_bot' where id = $1`, [own.id])
    for (const [id, schedule] of [
      ['run_of_others', others.id],
      ['run_own', own.id],
    ] as const)
      await seedRun(world.db, id, { schedule, state: 'failed', finishedAt: at(9) })
    await world.db.query(`update run set owner = 'key_bot' where id = 'run_own'`)
    to(10)
    const asks = ({ id }: ScheduleView, run: string): readonly ExplainQuery[] => [
      ...[{ id }, { id: `${id}@${formatInstant(at(9))}` }, { id: run }],
      ...[nine({ schedule_id: id }), { id: `${id}@${formatInstant(at(9))}/manual:${run}` }],
    ]
    for (const query of asks(own, 'run_own'))
      expect((await ask(query, { restricted: railed })).findings).not.toEqual([])
    for (const query of asks(others, 'run_of_others')) {
      expect((await ask(query)).findings).not.toEqual([])
      await expect(ask(query, { restricted: railed })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
    const around = await ask(nine(), { restricted: railed })
    expect(JSON.stringify(around)).toContain('Own')
    expect(JSON.stringify(around)).not.toMatch(/Others|of_others/)
    expect(around.looked_at).toMatchObject({ schedules: 1, schedules_in_all: 1 })
  })
})

describe('a question that makes no sense', () => {
  it.each([{}, { id: 'run_1', at: '09:00' }, { at: 'nine' }, { at: '25:00' }])('is refused: %o', async (query) => {
    await expect(ask(query)).rejects.toMatchObject({ code: 'VALIDATION' })
  })
})

describe('a moment that was folded, or is too long ago', () => {
  it('says what is still known, and what is not', async () => {
    newDay()
    const { id } = await create({ every_seconds: 60 })
    const first = because('overlap', 'overlap_action=SKIP', { previous_run: 'run_9', previous_state: 'running' })
    await world.db.query(
      `insert into decision (org_id, schedule_id, first_at, last_at, count, why, decided_at)
       values ($1, $2, $3::timestamptz, $4::timestamptz, 31, $5::jsonb, $4::timestamptz)`,
      [ORG, id, toTimestamp(at(8)), toTimestamp(at(8, 30)), JSON.stringify(first)],
    )
    const asker = anAsker(world.caller)
    const explain = async (moment: number) =>
      occurrenceExplanation.parse(await explainOccurrence(ports, asker, { id, at: moment }))
    expect(await explain(at(8))).toMatchObject({
      sentence: expect.stringContaining('run_9') as string,
      status: 'skipped',
    })
    const other = await explain(at(8, 15))
    expect(other.reason).toBe('overlap')
    expect(other.sentence).toMatch(/^It is one of 31 occurrences .* they are not recorded one by one\.$/)
    expect(other.steps.find(({ state }) => state === 'closed')).toMatchObject({ name: 'overlap' })
    // Long ago: the runs are gone, and with them what became of their moments.
    await world.db.query(`update schedule set watermark = $2::timestamptz where id = $1`, [
      id,
      toTimestamp(at(24 * 60)),
    ])
    to(24 * 60)
    expect(await explain(at(7))).toMatchObject({ reason: 'not_kept' })
    expect(await explain(at(24 * 59))).toMatchObject({ reason: 'was_not_active' })
  })
})
