import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LaneView } from '../../src/features/lanes/schema.ts'
import type { RunExplanation } from '../../src/features/explain/schema.ts'
import type { RunView } from '../../src/features/runs/schema.ts'
import type { ClaimAnswer } from '../../src/features/workers/schema.ts'
import { attemptId, runId } from '../../src/domain/ids.ts'
import { DAY_MS, later } from '../../src/domain/instant.ts'
import { createLiveRuns, createLiveWork } from '../../src/engine/live.ts'
import { firePass } from '../../src/engine/loops/loops.ts'
import { createNodeParts } from '../../src/engine/node.ts'
import type { NodeParts } from '../../src/engine/node-parts.ts'
import { loadOrgState } from '../../src/engine/org-state/load.ts'
import { insertNode } from '../../src/features/nodes/store.ts'
import { createHttpWorld, type HttpWorld } from '../server/support.ts'

// A minute passes by hand: the node, its turns, the database and the API are the real ones, only their clock is not.

let world: HttpWorld
let parts: NodeParts
let made = 0
const count = (word: string): string => `${word}_${String((made += 1)).padStart(6, '0')}`

beforeAll(async () => {
  world = await createHttpWorld()
  const { services } = world
  parts = createNodeParts({
    database: services.db,
    clock: { now: () => services.now, counter: () => services.now, sync: () => undefined },
    randomSource: {
      random: () => 0.5,
      newRunId: () => runId(count('run')),
      newAttemptId: () => attemptId(count('att')),
    },
    ...{ newNodeId: () => 'nod_1', newToken: () => count('token'), settings: () => services.settings },
    ...{ executors: new Map(), estimate: null, channels: { turn: 'turn', plan: 'plan' }, program: 'test' },
    ...{ log: () => undefined, sleep: () => Promise.resolve(), random: () => 0.5 },
    load: (orgId) => loadOrgState(services.db, parts.capabilities, orgId),
    ...{ syncClock: () => services.now, callAt: () => () => undefined },
  })
  await insertNode(services.db, {
    ...{ id: 'nod_1', startedAt: services.now, leaseUntil: later(services.now, DAY_MS), draining: false, lost: false },
    ...{ executors: [], lanes: {}, program: 'test' },
  })
  world.change({
    ...{
      ports: { ...services.ports, commands: parts.commands },
      live: createLiveRuns(parts),
      work: createLiveWork(parts),
    },
    workers: { wait: parts.workers.wait, publish: () => undefined, settle: () => null },
  })
}, 60_000)

afterAll(async () => {
  for (const office of parts.actors.values()) await office.close()
  await world.close()
})

async function ask<T>(method: 'GET' | 'POST', url: string, body?: unknown): Promise<T> {
  const answer = await world.ask(method, url, body === undefined ? {} : { body })
  if (answer.statusCode >= 300) throw new Error(`${url}: ${answer.statusCode} ${answer.body}`)
  return answer.json<T>()
}

async function schedule(name: string, policies: object): Promise<string> {
  const body = { name, agent_id: 'far', every_seconds: 1, payload: { prompt: name }, ...policies }
  return (await ask<{ readonly id: string }>('POST', '/api/v1/schedules', body)).id
}

/** The runs of a schedule, the oldest occurrence first, each with why it is where it is. */
async function explained(id: string): Promise<readonly (RunView & { readonly why: RunExplanation })[]> {
  const { items } = await ask<{ readonly items: readonly RunView[] }>('GET', `/api/v1/schedules/${id}/runs?limit=200`)
  const inOrder = items.toSorted((a, b) => String(a.nominal_time).localeCompare(String(b.nominal_time)))
  return Promise.all(
    inOrder.map(async (run) => ({ ...run, why: await ask<RunExplanation>('GET', `/api/v1/runs/${run.id}/explain`) })),
  )
}

const brief = (runs: readonly (RunView & { readonly why: RunExplanation })[]): readonly string[] =>
  runs.map(({ status, why }) => `${status}/${why.reason}`)

const times = (n: number, text: string): readonly string[] => Array.from({ length: n }, () => text)

/** Moves the next moment of a schedule, behind the back of a node that then has to read everything again. */
async function putOff(id: string, ms: number): Promise<void> {
  const at = new Date(world.services.now + ms).toISOString()
  await world.services.db.query('update schedule set next_run_at = $2::timestamptz where id = $1', [id, at])
  for (const office of parts.actors.values()) await office.close()
  parts.actors.clear()
}

/** One second of the engine: what is due is decided. */
async function second(): Promise<void> {
  world.services.pass(1_000)
  await fire()
}

async function fire(): Promise<void> {
  await firePass(parts)
  for (const office of parts.actors.values()) await office.idle()
}

/** A worker does whatever there is, until a few seconds have brought nothing more. */
async function workOff(): Promise<void> {
  let worker: string | undefined
  for (let idle = 0; idle < 3;) {
    const claim: object = { agents: ['far'], capacity: 100, wait_seconds: 0, worker_id: worker }
    const { worker_id: id, attempts } = await ask<ClaimAnswer>('POST', '/api/v1/worker/claim', claim)
    worker = id
    for (const { attempt_id: attempt } of attempts)
      await ask('POST', `/api/v1/worker/attempts/${attempt}/complete`, { status: 'success', output: 'done' })
    idle = attempts.length === 0 ? idle + 1 : 0
    world.services.pass(1_000)
  }
}

describe('an agent that is offline for a minute', () => {
  it('leaves 300 occurrences, each of which says what was decided about it and why', async () => {
    await ask('POST', '/api/v1/agents', { id: 'far', name: 'Far', executor: { kind: 'worker' } })
    const queueing = await schedule('queueing', {})
    const skipping = await schedule('skipping', { overlap_action: 'SKIP' })
    const buffering = await schedule('buffering', { overlap_action: 'BUFFER_ONE' })
    const parallel = await schedule('parallel', { concurrency_policy: 'PARALLEL' })
    const missed = await schedule('missed', { misfire_policy: 'CATCH_UP_LIMITED', catchup_limit: 3 })
    // The engine does not get to the fifth for the same minute, and then sees all of it at once.
    await putOff(missed, 3_600_000)
    for (let at = 0; at < 60; at += 1) await second()
    await putOff(missed, -59_000)
    await fire()

    // While nobody is there: what waits says for whom, what was skipped says because of what.
    const [head, ...rest] = await explained(queueing)
    expect(head?.why).toMatchObject({ reason: 'executor_offline', evidence: { agent: 'far' } })
    expect(head?.why.sentence).toBe('No connected node or worker can execute agent far.')
    expect(brief(rest)).toEqual([...times(10, 'queued/schedule_limit'), ...times(49, 'skipped/queue_full')])
    const skipped = await explained(skipping)
    expect(brief(skipped)).toEqual(['queued/executor_offline', ...times(59, 'skipped/overlap')])
    expect(skipped.slice(1).every(({ why }) => why.evidence['previous_run'] === skipped[0]?.id)).toBe(true)
    expect(brief(await explained(buffering))).toEqual([
      ...['queued/executor_offline', 'queued/schedule_limit', ...times(58, 'skipped/overlap')],
    ])
    expect(brief(await explained(parallel))).toEqual(times(60, 'queued/executor_offline'))
    const late = await explained(missed)
    expect(brief(late).slice(0, 57)).toEqual(times(57, 'skipped/misfire'))
    expect(late.slice(57).map(({ trigger }) => trigger)).toEqual(['catchup', 'catchup', 'schedule'])
    const { items: lanes } = await ask<{ readonly items: readonly LaneView[] }>('GET', '/api/v1/lanes')
    expect(lanes.every(({ active, pending }) => active + pending === 0)).toBe(true)

    // Somebody comes: everything that was kept is done, once, and everything says how it went.
    await workOff()
    const ids = [queueing, skipping, buffering, parallel, missed]
    const all = (await Promise.all(ids.map(explained))).map(brief)
    const kept = all.map((one) => one.filter((text) => text === 'success/completed').length)
    expect(kept).toEqual([11, 1, 2, 60, 3])
    const left = all.flat().filter((text) => text !== 'success/completed')
    expect(new Set(left)).toEqual(new Set(['skipped/queue_full', 'skipped/overlap', 'skipped/misfire']))
    expect(all.flat()).toHaveLength(300)
    const [{ attempts } = { attempts: 0 }] = await world.services.rows(
      `select count(*)::int as attempts from worker_attempt`,
    )
    expect(attempts).toBe(77)
  }, 60_000)
})
