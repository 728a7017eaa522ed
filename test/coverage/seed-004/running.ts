import { expect } from 'vitest'
import type { Row } from '../row.ts'
import { life, limits, managed, restarted } from './experiments.ts'

/** Limits, cancellation, deadlines, the contract of execution, and errors: lines 627 to 690. */
export const RUNNING: readonly Row[] = [
  {
    line: '627',
    says: 'Admission checks the size of the global queue.',
    check: async (world) => {
      const { full, inAll } = await limits(world)
      expect([full.queue.totalQueued, inAll.body['code']]).toEqual([6, 'queue_full'])
    },
  },
  {
    line: '628',
    says: 'Admission checks the size of the queue per agent.',
    check: async (world) => {
      const { full, perAgent } = await limits(world)
      expect([full.queue.agents['b']?.queued, perAgent.body['code']]).toEqual([3, 'queue_full'])
    },
  },
  {
    line: '632',
    says: 'Execution checks the number in flight in all.',
    check: async (world) => {
      const { full, most } = await limits(world)
      // Four until the limit was raised to five.
      expect([full.queue.totalInflight, most]).toEqual([4, 5])
    },
  },
  {
    line: '633',
    says: 'Execution checks the number in flight per agent.',
    check: async (world) => {
      const { agents } = (await limits(world)).full.queue
      expect([agents['a'], agents['b']]).toEqual([
        { queued: 3, inflight: 2 },
        { queued: 3, inflight: 2 },
      ])
    },
  },
  {
    line: '639',
    says: 'Each running task has a deadline.',
    check: async (world) => {
      const { done, late, deadline } = await life(world)
      // A minute unless the task says otherwise.
      expect(Date.parse(done.deadline ?? '') - Date.parse(done.createdAt)).toBe(60_000)
      expect(late.deadline).toBe(deadline)
    },
  },
  {
    line: '643',
    says: 'Cancelling stops a running task.',
    check: async (world) => {
      const { running, cancelled, again } = await life(world)
      expect([running.state, cancelled.state, again.status]).toEqual(['running', 'cancelled', 409])
    },
  },
  {
    line: '644',
    says: 'Shutdown cancels work in flight.',
    check: async (world) => {
      const { stopped, dropped } = await restarted(world)
      expect([stopped.state, dropped]).toEqual(['failed', 1])
      expect(stopped.error).toEqual(expect.any(String))
    },
  },
  {
    line: '645',
    says: 'The deadline reaches the request to the instance.',
    check: async (world) => expect((await life(world)).late.error).toBe('deadline exceeded while running'),
  },
  {
    line: '651',
    says: 'A queued task whose deadline has passed is found within a second.',
    check: async (world) => {
      const { expired, deadline } = await limits(world)
      expect(expired.completedAt).toBe(deadline)
    },
  },
  {
    line: '651',
    says: 'A queued task whose deadline has passed is failed.',
    check: async (world) => expect((await limits(world)).expired.state).toBe('failed'),
  },
  {
    line: '652',
    says: 'The deadline of a running task is enforced.',
    check: async (world) => {
      const { late, deadline } = await life(world)
      expect(late.state).toBe('failed')
      expect(Date.parse(late.completedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(deadline))
    },
  },
  {
    line: '657',
    says: 'Its error is `deadline exceeded while queued`.',
    check: async (world) => expect((await limits(world)).expired.error).toBe('deadline exceeded while queued'),
  },
  {
    line: '666',
    says: 'The action request has `kind`.',
    check: async (world) => expect((await life(world)).acted.body['kind']).toBe('type'),
  },
  {
    line: '667',
    says: 'The action request has `ref`.',
    check: async (world) => expect((await life(world)).acted.body['ref']).toBe('e12'),
  },
  {
    line: '668',
    says: 'The action request has the parameters at its top level.',
    check: async (world) => expect((await life(world)).acted.body).toEqual({ kind: 'type', ref: 'e12', text: 'Ann' }),
  },
  {
    line: '675',
    says: 'The request goes to `POST /tabs/{tabId}/action`.',
    check: async (world) => {
      const { method, url } = (await life(world)).acted
      expect(`${method} ${url}`).toBe('POST /tabs/tab/action')
    },
  },
  {
    line: '684',
    says: 'A full queue is an error.',
    check: async (world) => {
      const { inAll } = await limits(world)
      expect([inAll.status, inAll.body['code'], inAll.body['retryable']]).toEqual([429, 'queue_full', true])
    },
  },
  {
    line: '685',
    says: 'A tab that cannot be resolved is an error.',
    check: async (world) => {
      expect((await life(world)).unknown.error).toMatch(/^could not resolve tab "unknown"/)
      expect((await managed(world)).other.error).toMatch(/^could not resolve tab "other"/)
    },
  },
  {
    line: '686',
    says: 'An HTTP failure of the executor is an error.',
    check: async (world) => expect((await life(world)).broken.error).toBe('executor returned 500: out of order'),
  },
  {
    line: '687',
    says: 'A failure in the browser is an error.',
    check: async (world) => expect((await life(world)).missing.error).toBe('element not found'),
  },
  {
    line: '688',
    says: 'A deadline that has passed is an error.',
    check: async (world) => expect((await life(world)).late.error).toMatch(/^deadline exceeded/),
  },
  {
    line: '690',
    says: 'Snapshots keep the final `error` text.',
    check: async (world) => {
      const { broken, missing, unknown, late } = await life(world)
      const { expired } = await limits(world)
      for (const { error } of [broken, missing, unknown, late, expired]) expect(error).toEqual(expect.any(String))
    },
  },
]
