import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ProbeInput } from '../../../src/features/probes/schema.ts'
import { scheduleId } from '../../../src/domain/ids.ts'
import { DAY_MS, later, MINUTE_MS } from '../../../src/domain/instant.ts'
import type { ProbeRunner, ProbeResult } from '../../../src/domain/probe/verdict.ts'
import type { AttemptOutcome } from '../../../src/domain/run/outcome.ts'
import { updateAgent } from '../../../src/features/agents/service.ts'
import type { Ports } from '../../../src/engine/ports.ts'
import { withProbeRecord, probeBeforeRun, isApplied, type ProbeEnding } from '../../../src/features/probes/gate.ts'
import { tryProbe } from '../../../src/features/probes/service.ts'
import { createProvider, getProvider } from '../../../src/features/providers/service.ts'
import { getRunDetail, runScheduleNow } from '../../../src/features/runs/service.ts'
import { updateSchedule, createSchedule, getSchedule } from '../../../src/features/schedules/service.ts'
import { createTarget } from '../../../src/features/targets/service.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import type { Claim } from '../../../src/engine/transaction/claim.ts'
import { fireCommand, recoverCommand, reportCommand } from '../../../src/engine/commands/engine-commands.ts'
import { ORG } from '../../platform/db/records.ts'
import { NOW } from '../../support/builders.ts'
import { openNode, type TestNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld
let ports: Ports
/** What the outside shows at the moment, and how often it was looked at. */
const outside = { sight: { kind: 'nothing', how: 'it answered 204' } as ProbeResult, looks: 0 }
const seeing = (value: unknown): ProbeResult => ({ kind: 'seen', value, how: 'it answered 200', mark: null })

beforeAll(async () => {
  world = await createServiceWorld()
  const look: ProbeRunner = () => {
    outside.looks += 1
    return Promise.resolve(outside.sight)
  }
  ports = { ...world.ports, runProbe: look }
})
beforeEach(async () => {
  outside.looks = 0
  await world.db.query('update agent set provider = null')
  await world.startOver('run', 'pending', 'node', 'schedule', 'probe', 'probe_answer', 'provider')
})
afterAll(() => world.drop())

const HTTP: ProbeInput = { kind: 'http', url: 'https://a.example/open' }

/** A schedule that fires every minute, in the lane that the nodes of this test serve. */
async function schedule(probe: ProbeInput, more: object = {}): Promise<string> {
  const { id } = await createSchedule(ports, world.caller, {
    ...{ every_seconds: 60, anchor: new Date(NOW).toISOString(), lane: 'task', payload: { action: 'wake' }, probe },
    ...{ retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 1_000, jitter: 0 }, ...more },
  })
  return id
}

/** The next moment of the schedule comes, and the node claims its run. */
async function fireOn(node: TestNode, id: string): Promise<Claim> {
  world.now = later(world.now, MINUTE_MS)
  await node.turn(fireCommand(ORG, [scheduleId(id)]) as Command<unknown>)
  return taken(node)
}

function taken(node: TestNode): Claim {
  const claim = node.held.pop()
  if (claim === undefined) throw new Error('nothing was claimed')
  return claim
}

/** What whoever performs a claim does first. */
function ask({ run, attemptId, probe }: Claim): Promise<ProbeEnding | null> {
  if (probe === null) throw new Error('the claim carries no probe')
  const about = { orgId: ORG, runId: run.id, attemptId, scheduleId: run.scheduleId, session: run.sessionKey }
  return probeBeforeRun(ports, { ...probe, ...about }, new AbortController().signal)
}

async function report(
  node: TestNode,
  { run, attemptId }: Claim,
  ended: ProbeEnding | null,
  outcome?: AttemptOutcome,
): Promise<void> {
  const said = { attemptId, outcome: ended?.outcome ?? outcome ?? ({ kind: 'succeeded' } as const) }
  const work = reportCommand(ORG, run.id, said)
  const kept = ended === null ? work : withProbeRecord(work, { runId: run.id, probe: ended.probe }, isApplied)
  await node.turn(kept as Command<unknown>)
}

const countsOf = async (id: string) => (await getSchedule(ports, world.caller, id)).probe_counts

describe('a probe', () => {
  it('that says no ends the run as a success of which nothing is said, and is counted', async () => {
    const { id: target } = await createTarget(ports, world.caller, {
      ...{ name: 'Room', kind: 'webhook', url: 'https://a.example/hook' },
    })
    const id = await schedule(HTTP, { delivery: { target_id: target } })
    const node = await openNode(world)
    outside.sight = { kind: 'nothing', how: 'it answered 204' }
    const claim = await fireOn(node, id)
    const ended = await ask(claim)
    expect(ended?.outcome.kind).toBe('not_needed')
    await report(node, claim, ended)
    expect(await getRunDetail(ports, { orgId: ORG, id: claim.run.id })).toMatchObject({
      ...{ status: 'success', reason: 'probe_no', usage: null, output: null },
      probe: { answer: 'no', asked: 'GET https://a.example/open', sentence: 'it answered 204' },
    })
    expect(await countsOf(id)).toMatchObject({ asked: 1, saved: 1, errors: 0, last_answer: 'no', saved_tokens: null })
    const delivered = () => world.rows('select run_id from delivery')
    expect(await delivered()).toEqual([])
    outside.sight = seeing('news')
    const woken = await fireOn(node, id)
    await report(node, woken, await ask(woken))
    expect(await delivered()).toEqual([{ run_id: woken.run.id }])
  })

  it('that says yes is not asked again for the same run, on whatever node that is tried again', async () => {
    const id = await schedule(HTTP)
    const [one, other] = [await openNode(world), await openNode(world)]
    outside.sight = seeing('news')
    const claim = await fireOn(one, id)
    expect(await ask(claim)).toBeNull()
    await report(one, claim, null, { kind: 'failed', errorCode: 'agent_error', retryable: null, retryAfterMs: null })
    world.now = later(world.now, 2_000)
    await other.turn()
    outside.sight = { kind: 'nothing', how: 'it answered 204' }
    expect(await ask(taken(other))).toBeNull()
    expect(outside.looks).toBe(1)
    expect(await countsOf(id)).toMatchObject({ asked: 1, saved: 0, last_answer: 'yes' })
  })

  it('whose node dies before its answer is on record is asked again, and says no for good', async () => {
    const id = await schedule(HTTP)
    const [one, other] = [await openNode(world), await openNode(world)]
    outside.sight = { kind: 'nothing', how: 'it answered 204' }
    const lost = await fireOn(one, id)
    const late = await ask(lost)
    const dead = new Map([[lost.run.nodeId ?? '', world.now]])
    await other.turn()
    await other.turn(recoverCommand(ORG, dead, () => other.memory) as Command<unknown>)
    world.now = later(world.now, 2_000)
    await other.turn()
    const again = taken(other)
    expect(again.run.id).toBe(lost.run.id)
    const ended = await ask(again)
    expect(ended?.outcome.kind).toBe('not_needed')
    await report(one, lost, late)
    await report(other, again, ended)
    expect(await countsOf(id)).toMatchObject({ asked: 1, saved: 1 })
    expect((await getRunDetail(ports, { orgId: ORG, id: again.run.id })).reason).toBe('probe_no')
  })

  it('that cannot be asked wakes the agent, or fails and is asked again, as it says', async () => {
    const node = await openNode(world)
    outside.sight = { kind: 'failed', message: 'it answered 500' }
    const run = await fireOn(node, await schedule(HTTP))
    expect(await ask(run)).toBeNull()
    const id = await schedule({ ...HTTP, on_error: 'fail' })
    const claim = await fireOn(node, id)
    const ended = await ask(claim)
    expect(ended).toMatchObject({
      outcome: { kind: 'failed', errorCode: 'probe_failed' },
      errorMessage: 'Probe failed (GET https://a.example/open): it answered 500',
    })
    await report(node, claim, ended)
    world.now = later(world.now, 2_000)
    await node.turn()
    outside.sight = seeing('news')
    expect(await ask(taken(node))).toBeNull()
    expect(await countsOf(id)).toMatchObject({ asked: 2, errors: 1, last_answer: 'yes' })
  })

  it('that looks for changes forgets nothing until the run that it woke has succeeded', async () => {
    const id = await schedule({ ...HTTP, changed: '/v' }, { retry_policy: { max_retries: 0 } })
    const node = await openNode(world)
    const once = async (v: number, ends: AttemptOutcome['kind'] = 'succeeded'): Promise<string> => {
      outside.sight = seeing({ v, at: world.now })
      const claim = await fireOn(node, id)
      const ended = await ask(claim)
      const failed = { kind: 'failed', errorCode: 'agent_error', retryable: false, retryAfterMs: null } as const
      await report(node, claim, ended, ends === 'failed' ? failed : { kind: 'succeeded' })
      return ended === null ? 'yes' : 'no'
    }
    expect([await once(1), await once(1)]).toEqual(['yes', 'no'])
    expect([await once(2, 'failed'), await once(2), await once(2)]).toEqual(['yes', 'yes', 'no'])
    expect(await tryProbe(ports, world.caller, { schedule_id: id })).toMatchObject({ answer: 'no', wakes: false })
    expect(await countsOf(id)).toMatchObject({ asked: 5, saved: 2 })
  })

  it('of what is stored looks at the last run that was executed', async () => {
    const when = { path: '/last_run/reason', op: '!=', value: 'not_retryable' }
    const id = await schedule({ kind: 'state', when }, { retry_policy: { max_retries: 0 } })
    const node = await openNode(world)
    const once = async (outcome: AttemptOutcome): Promise<string> => {
      const claim = await fireOn(node, id)
      const ended = await ask(claim)
      await report(node, claim, ended, outcome)
      return ended === null ? 'yes' : 'no'
    }
    const failed = { kind: 'failed', errorCode: 'agent_error', retryable: false, retryAfterMs: null } as const
    expect([await once({ kind: 'succeeded' }), await once(failed)]).toEqual(['yes', 'yes'])
    // What a probe has saved says nothing: the run before it is still the last one.
    expect([await once(failed), await once(failed)]).toEqual(['no', 'no'])
    expect(outside.looks).toBe(0)
  })

  it('takes nothing from the quota of a provider when it says no', async () => {
    await createProvider({ ...ports, work: { workOf: () => null } }, world.caller, {
      ...{ name: 'model', requests_per_minute: 5 },
    })
    await updateAgent(ports, world.caller, { id: 'writer', change: { provider: 'model' } })
    const left = async () =>
      (await getProvider({ ...ports, work: { workOf: () => null } }, world.caller, 'model')).requests_left
    const id = await schedule(HTTP)
    const node = await openNode(world)
    outside.sight = { kind: 'nothing', how: 'it answered 204' }
    const claim = await fireOn(node, id)
    expect(await left()).toBe(4)
    await report(node, claim, await ask(claim))
    expect(await left()).toBe(5)
  })

  it('is not asked when a person wants a run, is asked by run-now of what is due, and goes with null', async () => {
    const id = await schedule(HTTP)
    const node = await openNode(world)
    await runScheduleNow(ports, world.caller, { id, mode: 'force' })
    await node.turn()
    const forced = taken(node)
    expect(forced.probe).toBeNull()
    await report(node, forced, null)
    world.now = later(world.now, DAY_MS)
    await runScheduleNow(ports, world.caller, { id, mode: 'due' })
    await node.turn()
    expect(taken(node).probe).toEqual({ given: HTTP, subject: id })
    await updateSchedule(ports, world.caller, { id, change: { name: 'other' } })
    expect((await getSchedule(ports, world.caller, id)).probe).toEqual(HTTP)
    expect((await updateSchedule(ports, world.caller, { id, change: { probe: null } })).probe).toBeNull()
  })
})
