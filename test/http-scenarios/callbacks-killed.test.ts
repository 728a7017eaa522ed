import { describe, expect } from 'vitest'
import type { Dispatch } from '../../src/executors/dispatch.ts'
import { json, startPeer } from '../platform/outbound/peer.ts'
import { chat, eventually } from '../scenarios/support.ts'
import { scenario, type Remote } from './world.ts'

// A real process, killed while it owes nobody anything but the truth: a thousand agents were asked and will report later.

const MANY = 1_000
const VARIABLES = {
  ...{ ESCAPEMENT_NODE_LEASE_MS: '3000', ESCAPEMENT_NODE_RENEW_MS: '800', ESCAPEMENT_DATABASE_POOL: '6' },
  ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true',
}

/** Does a thing for each, a few at a time. */
async function forEach<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all]
  const worker = async (): Promise<void> => {
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) await act(next)
  }
  await Promise.all(Array.from({ length: 25 }, worker))
}

const report = async (node: Remote, told: Dispatch): Promise<unknown> => {
  const { attempt_id, job_run_id, run_id } = told
  const answer = await node.raw('POST', `/api/v1/callbacks/${told.callback_token ?? ''}`, {
    ...{ body: { attempt_id, job_run_id, status: 'success', output: `of ${run_id}` }, key: '' },
  })
  return { http: answer.status, ...answer.body }
}

describe('28: a thousand runs that await their callback', () => {
  scenario(
    'while the server is killed and started again: each callback is honoured once',
    async (world) => {
      const told = new Map<string, Dispatch>()
      const peer = await startPeer(({ body }, response) => {
        const dispatch = JSON.parse(body) as Dispatch
        told.set(dispatch.run_id, dispatch)
        json(response, 202, { async: true })
      })
      try {
        const served = world.spawn([], VARIABLES, { entry: 'test/http-scenarios/program.ts' })
        const before = await world.join(served)
        await before.agents.create({ id: 'later', name: 'Later', executor: { kind: 'http', url: peer.url } })
        const numbers = Array.from({ length: MANY }, (_, n) => n)
        await forEach(numbers, async (n) => {
          const target = `/api/v1/sessions/${encodeURIComponent(chat(`p${n}`, 'later'))}/messages`
          expect((await before.raw('POST', target, { body: { text: `message ${n}` } })).status).toBe(202)
        })
        const counts = (): Promise<unknown> =>
          world.database.outside(
            `select coalesce(p.state, r.state) as state, count(*)::int as runs, count(distinct r.output)::int as outputs,
                    max(coalesce(p.attempt, r.attempt)) as attempts
               from escapement.run r left join escapement.pending p on p.org_id = r.org_id and p.id = r.id
              group by 1 order by 1`,
            [],
          )
        await eventually(
          async () =>
            expect(await counts()).toEqual([{ state: 'awaiting_callback', runs: MANY, outputs: 0, attempts: 1 }]),
          60_000,
        )
        served.child.kill('SIGKILL')
        await served.ended

        const after = await world.join(world.spawn([], VARIABLES, { entry: 'test/http-scenarios/program.ts' }))
        const answers = new Map<string, number>()
        const count = (answer: unknown): void => {
          const key = JSON.stringify(answer)
          answers.set(key, (answers.get(key) ?? 0) + 1)
        }
        await forEach([...told.values()], async (dispatch) => {
          // The second comes while the first is under way.
          const both = await Promise.all([report(after, dispatch), report(after, dispatch)])
          for (const answer of both) count(answer)
        })
        expect(Object.fromEntries(answers)).toEqual({
          '{"http":200,"status":"success","ignored":false}': MANY,
          '{"http":200,"status":"success","ignored":true}': MANY,
        })
        expect(await counts()).toEqual([{ state: 'success', runs: MANY, outputs: MANY, attempts: 1 }])
        expect(peer.heard).toHaveLength(MANY)
      } finally {
        await peer.close()
      }
    },
    150_000,
  )
})
