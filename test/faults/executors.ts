import type { AgentId, OrgId } from '../../src/domain/ids.ts'
import { instant, later, type Instant } from '../../src/domain/instant.ts'
import type { Attempt, AttemptContext, AttemptReport, Executor } from '../../src/executors/executor.ts'
import { settleByToken } from '../../src/features/runs/service.ts'
import type { Performance } from './journal.ts'
import { aliveNodes, hasBudget, type SimulatedNode, type World } from './shapes.ts'

/** How an attempt goes. */
interface Plan {
  readonly kind: 'succeed' | 'fail' | 'refuse' | 'defer' | 'silent'
  readonly takesMs: number
  /** How long it takes to stop when it is told to; null when it does not listen. */
  readonly stopsInMs: number | null
  /** After so many milliseconds the callback comes; null: never. */
  readonly callbackInMs: number | null
  readonly callsTwice: boolean
  /** How full it says the context is. */
  readonly tokens: number | null
}

const QUICK: Plan = {
  kind: 'succeed',
  takesMs: 20,
  stopsInMs: 0,
  callbackInMs: null,
  callsTwice: false,
  tokens: null,
}

function drawPlan({ seed, random, isHarsh }: World): Plan {
  const kind = random.one([
    ...(['succeed', 'succeed', 'succeed', 'succeed', 'succeed', 'succeed', 'succeed'] as const),
    ...(['fail', 'fail', 'refuse', 'defer', 'defer', 'silent'] as const),
  ])
  return {
    kind,
    takesMs: random.chance(0.1) ? 0 : random.int(1, random.chance(0.2) ? 25_000 : 3_000),
    stopsInMs: random.chance(isHarsh ? 0.8 : 0.35) ? null : random.int(0, 800),
    callbackInMs: random.chance(0.2) ? null : random.int(0, random.chance(0.3) ? 25_000 : 2_000),
    callsTwice: random.chance(0.2),
    tokens: random.chance(hasBudget(seed) ? 0.5 : 0.1) ? random.int(0, 100) : null,
  }
}

/** The executors of a node, one per agent and one for tasks that name nobody. */
export function executorsFor(
  world: World,
  node: () => SimulatedNode,
  agents: readonly AgentId[],
): Map<string, Executor> {
  const executor: Executor = (attempt, context) => perform(world, node(), { attempt, context })
  return new Map([...agents.map((id) => `in-process:${id}`), 'tab-action'].map((key) => [key, executor]))
}

interface Given {
  readonly attempt: Attempt
  readonly context: AttemptContext
}

function perform(world: World, node: SimulatedNode, { attempt, context }: Given): Promise<AttemptReport> {
  const plan = world.calmSince !== null ? QUICK : drawPlan(world)
  const end = begin(world, node, attempt)
  world.tell(`${node.name} performs ${attempt.attemptId} of ${attempt.runId}: ${plan.kind}`)
  return new Promise((resolve) => {
    const report = (said: AttemptReport): void => {
      end(said.usage?.inputTokens ?? 0)
      resolve(said)
    }
    const inMs = (ms: number, happen: () => void): (() => void) =>
      world.clock.at(onTheBeat(later(world.clock.now(), ms)), node, happen)
    const speak = async (): Promise<void> => {
      if (plan.kind === 'defer') report(await defer(world, plan, { attempt, context }))
      else report(reportOf(plan, attempt))
    }
    const callOff = plan.kind === 'silent' ? waitForEver(world, node, speak) : inMs(plan.takesMs, () => void speak())
    context.signal.addEventListener('abort', () => {
      if (plan.stopsInMs !== null) {
        callOff()
        inMs(plan.stopsInMs, () => {
          report({ outcome: { kind: 'stopped' }, output: { by: attempt.attemptId } })
        })
      }
      // Whoever neither answers nor listens comes up with something in the end, when nobody waits for it any more.
      else if (plan.kind === 'silent') inMs(world.random.int(500, 20_000), () => void speak())
    })
  })
}

/** Executors end on the beat of a slow drum, so that often several of a node end together. */
const onTheBeat = (at: Instant): Instant => instant(Math.ceil(at / BEAT_MS) * BEAT_MS)
const BEAT_MS = 1_000

/** Nobody hears of it while there is traffic; afterwards nothing may be left, so it ends, too. */
function waitForEver(world: World, node: SimulatedNode, speak: () => Promise<void>): () => void {
  const end = (): void => {
    if (node.state !== 'gone') void speak()
  }
  world.whenCalm.add(end)
  return () => world.whenCalm.delete(end)
}

function begin(world: World, node: SimulatedNode, attempt: Attempt): (tokens: number) => void {
  const { journal, clock } = world
  const { orgId, runId, attemptId } = attempt
  if (journal.performances.has(attemptId)) journal.mishaps.push(`${attemptId} of ${runId} was performed twice`)
  const lane = laneOf(world, node, attempt)
  const performance: Performance = {
    orgId,
    runId,
    attemptId,
    node: node.name,
    lane,
    startedAt: clock.now(),
    endedAt: null,
    tokens: 0,
  }
  journal.performances.set(attemptId, performance)
  const working = (node.working.get(lane) ?? 0) + 1
  node.working.set(lane, working)
  const size = node.largestLanes.get(lane) ?? 0
  if (working > size) journal.mishaps.push(`${node.name} works on ${working} in lane ${lane} of ${size}`)
  const leave = workForOrg(world, node, { lane, size, orgId, free: size - claimedBefore(world, node, performance) })
  return (tokens) => {
    const known = journal.performances.get(attemptId)
    // It may have been told to stop while it was saying something else.
    if (known === undefined || known.endedAt !== null) return
    known.endedAt = clock.now()
    known.tokens = tokens
    node.working.set(lane, (node.working.get(lane) ?? 1) - 1)
    leave()
  }
}

/** Slots of the lane that were taken when the attempt was claimed, as far as they still are. */
function claimedBefore({ journal }: World, node: SimulatedNode, { lane, runId }: Performance): number {
  const claim = (id: string): number => node.claims.get(id) ?? 0
  const others = [...journal.performances.values()].filter(
    (other) => other.node === node.name && other.lane === lane && other.endedAt === null && other.runId !== runId,
  )
  return others.filter((other) => claim(other.runId) < claim(runId)).length
}

interface OrgsSlot {
  readonly lane: string
  readonly size: number
  readonly orgId: OrgId
  /** Slots that were free when it was claimed. */
  readonly free: number
}

/** One of several orgs holds at most four fifths of a lane here, and of the last tenth one slot. */
function workForOrg(world: World, node: SimulatedNode, { lane, size, orgId, free }: OrgsSlot): () => void {
  const key = `${lane} ${orgId}`
  const before = node.workingFor.get(key) ?? 0
  node.workingFor.set(key, before + 1)
  const [most, kept] = [Math.max(1, Math.floor((size * 4) / 5)), size < 2 ? 0 : Math.max(1, Math.floor(size / 10))]
  const isWithin = before < most && (before === 0 || free > kept)
  if (world.orgs.length > 1 && world.settings.lanes.maxOrgShare < 1 && !isWithin)
    world.journal.broken.push({
      invariant: 'org_shares',
      message: `${node.name} starts one of ${orgId}, which has ${before}, in lane ${lane} of ${size} with ${free} free`,
    })
  return () => {
    node.workingFor.set(key, (node.workingFor.get(key) ?? 1) - 1)
  }
}

/** The payload says for which lane the work was meant; a lane that the node does not have is served by `main`. */
function laneOf(world: World, node: SimulatedNode, attempt: Attempt): string {
  const meant = laneIn(attempt.payload)
  if (meant === null) {
    world.journal.mishaps.push(`${attempt.attemptId} was given nothing to do`)
    return 'main'
  }
  return node.largestLanes.has(meant) ? meant : 'main'
}

/** Everything that is sent names its lane. A merged message goes where its first part went. */
function laneIn(payload: unknown): string | null {
  const found = /lane=([a-z]+)/.exec(JSON.stringify(payload ?? null))
  return found?.[1] ?? null
}

function reportOf(plan: Plan, { attemptId }: Attempt): AttemptReport {
  const usage = plan.tokens === null ? {} : { usage: { inputTokens: plan.tokens, contextWindow: 100 } }
  const failed = { kind: 'failed', retryable: null, retryAfterMs: null } as const
  if (plan.kind === 'fail')
    return { outcome: { ...failed, errorCode: 'agent_error' }, errorMessage: `by ${attemptId}`, ...usage }
  if (plan.kind === 'refuse')
    return { outcome: { ...failed, errorCode: 'executor_http_4xx' }, errorMessage: `by ${attemptId}`, ...usage }
  return { outcome: { kind: 'succeeded' }, output: { by: attemptId }, ...usage }
}

async function defer(world: World, plan: Plan, { attempt, context }: Given): Promise<AttemptReport> {
  const { attemptId } = attempt
  let token: string
  try {
    token = await context.defer()
  } catch (error) {
    const errorMessage = `by ${attemptId}: ${String(error)}`
    if (context.signal.aborted) return { outcome: { kind: 'stopped' }, errorMessage }
    return { outcome: { kind: 'failed', errorCode: 'agent_error', retryable: null, retryAfterMs: null }, errorMessage }
  }
  const times = plan.callbackInMs === null ? 0 : plan.callsTwice ? 2 : 1
  if (times === 0) world.whenCalm.add(() => callBack(world, token, attempt))
  for (let time = 0; time < times; time += 1) {
    const at = later(world.clock.now(), (plan.callbackInMs ?? 0) + time * world.random.int(0, 3_000))
    world.clock.at(at, world.outside, () => {
      callBack(world, token, attempt)
    })
  }
  return { outcome: { kind: 'accepted' } }
}

/** Whoever has the token reports through any node. */
function callBack(world: World, token: string, { attemptId, orgId }: Attempt): void {
  const chosen = world.random.one(aliveNodes(world))
  const isGood = world.random.chance(0.8)
  const result = isGood
    ? ({ status: 'success', output: { by: attemptId } } as const)
    : ({ status: 'failed', error_message: `by ${attemptId}` } as const)
  world.ask({ kind: 'callback', orgId, node: chosen, mark: null }, async () => {
    await settleByToken(chosen.ports, token, result)
    return null
  })
}
