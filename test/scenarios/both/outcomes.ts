import { describe, expect } from 'vitest'
import type { RunDetail } from '../../../src/features/runs/schema.ts'
import type { Handler } from '../../../src/executors/in-process/execute.ts'
import { labelOf } from '../stage.ts'
import { chat, decidedWhen, ended, eventually, inShort, send, statusOf, timeOf } from '../support.ts'
import type { Declare } from './world.ts'

/** Fails so often, in this way, and works from then on. */
export function failing(times: number, how: object = {}): Handler {
  let failed = 0
  return () => {
    if (failed >= times) return 'works'
    failed += 1
    throw Object.assign(new Error(`failure ${failed}`), how)
  }
}

/** From the end of each attempt to the beginning of the next. */
export const gapsOf = ({ attempts }: RunDetail): readonly number[] =>
  attempts.slice(1).map((attempt, index) => timeOf(attempt.started_at) - timeOf(attempts[index]?.finished_at ?? null))

/** A function that accepts what begins with `later` and reports afterwards, and the tokens it was given. */
export function createAsync(): {
  readonly handler: Handler
  readonly tokens: readonly string[]
  readonly first: () => Promise<string>
} {
  const tokens: string[] = []
  return {
    tokens,
    handler: async (attempt, context) => {
      if (!labelOf(attempt.payload).startsWith('later')) return 'at once'
      const deferred = await context.defer()
      tokens.push(deferred.token)
      return deferred
    },
    first: () => eventually(() => tokens[0] ?? Promise.reject(new Error('nothing was deferred'))),
  }
}

export function retryScenarios(scenario: Declare): void {
  describe.concurrent('26: a failing agent turn', () => {
    scenario('with 3 retries: 4 attempts after about 2, 4 and 8 s, one run `failed`', async (world) => {
      const node = await world.start({ agents: { worker: failing(9) } })
      const { run_id: id } = await send(node, chat('s'), 'turn')
      expect(await ended(node, id)).toMatchObject({
        status: 'failed',
        reason: 'retries_exhausted',
        attempt: 4,
        first_attempt: 1,
        error_code: 'agent_error',
        error_message: 'failure 4',
      })
      const run = await node.runs.get(id)
      expect(run.attempts.map(({ number, status }) => [number, status])).toEqual(
        [1, 2, 3, 4].map((number) => [number, 'failed']),
      )
      for (const [index, gap] of gapsOf(run).entries()) {
        const about = 2_000 * 2 ** index
        expect(gap, `gap ${index + 1}`).toBeGreaterThanOrEqual(0.75 * about)
        // The wait is below the bound; picking it up afterwards may take a busy machine a moment.
        expect(gap, `gap ${index + 1}`).toBeLessThan(1.25 * about + 700)
      }
      // No wait after the last.
      expect(timeOf(run.finished_at) - timeOf(run.attempts[3]?.finished_at ?? null)).toBeLessThan(200)
      expect((await node.runs.list({ session: chat('s') })).items).toHaveLength(1)
    })

    scenario('that fails twice and then works: `success` on attempt 3', async (world) => {
      const node = await world.start({ agents: { worker: failing(2) } })
      await node.agents.update('worker', { retry_policy: { max_retries: 3, strategy: 'fixed', base_ms: 100 } })
      const settled = await node.sessions.ask(chat('s'), 'turn')
      expect(settled).toMatchObject({ status: 'success', attempt: 3, output: 'works', error_code: null })
      const run = await node.runs.get(settled.id)
      expect(run.attempts.map(({ number, status }) => [number, status])).toEqual([
        [1, 'failed'],
        [2, 'failed'],
        [3, 'success'],
      ])
      for (const gap of gapsOf(run)) expect(gap).toBeGreaterThanOrEqual(100)
      expect(new Set(run.attempts.map((attempt) => attempt.id)).size).toBe(3)
    })
  })
}

export function callbackScenarios(scenario: Declare): void {
  describe.concurrent('28: an agent that reports later', () => {
    scenario('that never reports ends `timeout`', async (world) => {
      const agent = createAsync()
      const node = await world.start({ agents: { worker: agent.handler } })
      await node.agents.update('worker', { timeout_seconds: 1, retry_policy: { max_retries: 0 } })
      const { run_id: id } = await send(node, chat('s'), 'later')
      expect(await ended(node, id)).toMatchObject({ status: 'timeout', error_code: 'callback_timeout' })
      expect(await node.callbacks.settle(await agent.first(), { status: 'success' })).toEqual({
        status: 'timeout',
        ignored: true,
      })
      expect(await statusOf(node, id)).toBe('timeout')
    })

    scenario('counts as pending for overlap meanwhile', async (world) => {
      const agent = createAsync()
      const node = await world.start({ agents: { worker: agent.handler } })
      const { id } = await node.schedules.create({
        agent_id: 'worker',
        every_seconds: 1,
        overlap_action: 'SKIP',
        payload: 'later',
      })
      const runs = await decidedWhen(
        node,
        id,
        (found) => found.length >= 3 && found.every((run) => run.status !== 'waiting'),
      )
      expect(runs.slice(0, 3).map(inShort)).toEqual(['awaiting_callback', 'skipped/overlap', 'skipped/overlap'])
      await node.callbacks.settle(await agent.first(), { status: 'success' })
      const more = await decidedWhen(node, id, (found) => found.some((run, n) => n > 0 && run.status !== 'skipped'))
      expect(more[0]?.status).toBe('success')
    })
  })
}
