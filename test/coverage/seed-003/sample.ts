import { expect } from 'vitest'
import { inShort } from '../../scenarios/support.ts'
import { once } from '../experiment.ts'
import type { Row } from '../row.ts'
import { SAMPLE_JSON, SAMPLE_POLICIES, SAMPLE_TEXT } from '../../support/seed-003-sample.ts'
import { crowded, misfires, watched } from './experiments.ts'

/** The sample without its comment, read back. */
const created = once(async (world) => {
  const commented = await world.server.raw('POST', '/api/v1/schedules', { text: SAMPLE_TEXT })
  const { status, body } = await world.server.raw('POST', '/api/v1/schedules', { text: SAMPLE_JSON })
  const id = String(body['id'])
  const shown = (await world.get(`/api/v1/schedules/${id}`)).body
  await world.del(`/api/v1/schedules/${id}`)
  return { commented: commented.status, status, shown }
})

const has =
  (field: string, value: unknown): NonNullable<Row['check']> =>
  async (world) =>
    expect((await created(world)).shown[field]).toBe(value)

/** The sample every two seconds, its target slower than that. */
const slow = watched({
  fields: { ...SAMPLE_POLICIES, every_seconds: 2 },
  prepare: (agent) => agent.hold(),
  isEnough: (runs) => runs.length >= 2 && runs[0]?.finished_at !== null && runs.at(-1)?.status === 'running',
  isSeen: (agent) => agent.dispatches.length >= 2,
})

/** The sample every two seconds, its target failing. */
const failing = watched({
  fields: { ...SAMPLE_POLICIES, every_seconds: 2 },
  prepare: (agent) => agent.respond((_, response) => response.writeHead(500).end()),
  isEnough: (runs) => runs.some(({ status, attempt }) => status === 'failed' && attempt === 3),
})

/** The sample with its one place taken by a run that is not the previous one: that has succeeded. */
const overLimit = crowded({ ends: ['open', 'success'], policies: SAMPLE_POLICIES, count: 1 })

/** The sample and what it does: lines 212 to 229. */
export const SAMPLE_ROWS: readonly Row[] = [
  {
    line: '212',
    says: 'The sample is taken as it stands.',
    differs:
      'Without its comment: the body of a request is JSON, which has none. Files that are imported may have comments.',
    check: async (world) => {
      const { commented, status } = await created(world)
      expect([commented, status]).toEqual([400, 201])
    },
  },
  { line: '213', says: 'The sample has a name.', check: has('name', 'demo-task') },
  { line: '214', says: 'The sample has a cron expression with seconds.', check: has('cron', '*/5 * * * * *') },
  { line: '215', says: 'The sample has `max_concurrency` 1.', check: has('max_concurrency', 1) },
  { line: '216', says: 'The sample has `concurrency_policy` SKIP.', check: has('concurrency_policy', 'SKIP') },
  { line: '217', says: 'The sample has `overlap_action` CANCEL_PREV.', check: has('overlap_action', 'CANCEL_PREV') },
  { line: '218', says: 'The sample has `failure_action` RETRY.', check: has('failure_action', 'RETRY') },
  {
    line: '219',
    says: 'The sample has `misfire_policy` CATCH_UP_LIMITED.',
    check: has('misfire_policy', 'CATCH_UP_LIMITED'),
  },
  { line: '220', says: 'The sample has `catchup_limit` 3.', check: has('catchup_limit', 3) },
  { line: '221', says: 'The sample has `timeout_seconds` 8.', check: has('timeout_seconds', 8) },
  {
    line: '226',
    says: 'A run that still runs at the next moment is cancelled, and the new one starts at once.',
    check: async (world) => {
      const { runs, dispatches } = await slow(world)
      expect(runs[0]).toMatchObject({ status: 'cancelled', superseded: true })
      const [one, two] = dispatches
      expect([one?.attempt, two?.attempt, one?.run_id === two?.run_id]).toEqual([1, 1, false])
    },
  },
  {
    line: '227',
    says: 'After a failure the attempt goes up by one.',
    check: async (world) => {
      const attempts = (await failing(world)).runs.map(({ attempt }) => attempt)
      // On a slow machine a moment may come before the run of the one before has failed.
      expect(attempts.slice(0, attempts.indexOf(3) + 1).slice(-3)).toEqual([1, 2, 3])
    },
  },
  {
    line: '228',
    says: 'After a late scan the last three moments are made up for.',
    check: async (world) =>
      expect((await misfires(world)).of('sample').map(inShort)).toEqual([
        ...['skipped/misfire', 'skipped/misfire', 'success', 'success', 'success'],
      ]),
  },
  {
    line: '229',
    says: 'What is over the limit without an overlap is skipped.',
    check: async (world) => expect((await overLimit(world)).map(inShort)).toEqual(['skipped/concurrency']),
  },
]
