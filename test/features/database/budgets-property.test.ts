import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BudgetInput } from '../../../src/features/budgets/schema.ts'
import { agentId, type RunId } from '../../../src/domain/ids.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { DEFAULT_RETRY_POLICY } from '../../../src/domain/run/retry-policy.ts'
import { isTerminal } from '../../../src/domain/run/run-machine.ts'
import { createBudget } from '../../../src/features/budgets/service.ts'
import { budgetLoads } from '../../../src/engine/commands/budgets.ts'
import { settleDue } from '../../../src/engine/commands/settle.ts'
import { submit } from '../../../src/engine/commands/submit.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import type { Claim } from '../../../src/engine/transaction/claim.ts'
import { reportCommand } from '../../../src/engine/commands/engine-commands.ts'
import { loadBudgets } from '../../../src/features/budgets/store.ts'
import { createRandom, type Random } from '../../simulation/random.ts'
import { ORG } from '../../platform/db/records.ts'
import { aTask } from '../../engine/commands/cabinet.ts'
import { createWitness, type Witness } from '../../engine/commands/budget-witness.ts'
import { openNode, type TestNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

/** More with BUDGET_SEEDS: each is one org under random traffic on three nodes and one PostgreSQL. */
const SEEDS = Number(process.env['BUDGET_SEEDS'] ?? 8)
const STEPS = 45

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
afterAll(() => world.drop())

async function empty(): Promise<void> {
  await world.startOver('budget', 'usage', 'run', 'pending', 'node', 'attempt', 'alert')
}

function drawBudgets(random: Random): readonly BudgetInput[] {
  const drawn: BudgetInput[] = [{ unit: 'tokens', amount: random.int(40, 160), ...rest(random) }]
  if (random.chance(0.6))
    drawn.push({ unit: 'tokens', agent_id: 'writer', amount: random.int(20, 120), ...rest(random) })
  if (random.chance(0.3)) drawn.push({ unit: 'tokens', amount: random.int(100, 300), ...rest(random), period: 'month' })
  return drawn
}

const rest = (random: Random): Pick<BudgetInput, 'on_exceed' | 'default_reserve'> => ({
  on_exceed: random.one(['queue', 'queue', 'skip', 'pause']),
  default_reserve: random.int(0, 20),
})

const taskWork = (agent: string, stated: number | null): Command<unknown> => ({
  orgId: ORG,
  needs: { agents: [agentId(agent)] },
  apply: (desk) => {
    const params = stated === null ? {} : { max_tokens: stated }
    const content = { action: agent, params }
    return submit(desk, aTask({ agentId: agentId(agent), content, retryPolicy: DEFAULT_RETRY_POLICY }))
  },
})

/** What a lost node held is settled by whoever comes: the lease of the attempt has lapsed. */
const loseWork = (id: RunId): Command<unknown> => ({
  orgId: ORG,
  apply: (desk) => {
    const run = desk.runs.get(id)
    if (run !== undefined) settleDue(desk, run, desk.now)
  },
})

interface Scene {
  readonly random: Random
  readonly nodes: readonly TestNode[]
  readonly witness: Witness
}

/** One node takes a turn; whatever ended by itself in it and whatever it has started is seen, in this order. */
async function turn(scene: Scene, node: TestNode, ...works: readonly Command<unknown>[]): Promise<void> {
  const before = new Set(node.held)
  await node.turn(...works)
  await see(scene, { node, before })
}

async function see(
  { witness, nodes }: Scene,
  { node, before }: { readonly node: TestNode; readonly before: ReadonlySet<Claim> },
): Promise<void> {
  const rows = await world.rows(
    `select attempt_id from pending where state in ('running', 'awaiting_callback', 'stopping')`,
  )
  const current = new Set(rows.map((row) => row['attempt_id']))
  for (const { held } of nodes)
    for (const claim of held.filter(({ attemptId: attempt }) => !current.has(attempt))) {
      witness.lost(claim.attemptId)
      held.splice(held.indexOf(claim), 1)
    }
  for (const claim of node.held) if (!before.has(claim)) witness.claimed(starterOf(claim), world.now)
}

function starterOf({ run, attemptId: attempt, payload }: Claim): Parameters<Witness['claimed']>[0] {
  const { params } = payload as { readonly params: { readonly max_tokens?: number } }
  return { attempt, run: run.id, agent: run.agentId, stated: params.max_tokens ?? null }
}

/** The attempt of any node reports, through any node, and often more than it has set aside. */
async function report(scene: Scene): Promise<void> {
  const { random, nodes, witness } = scene
  const holder = random.one(nodes.filter(({ held }) => held.length > 0))
  const [claim] = holder.held.splice(random.int(0, holder.held.length - 1), 1)
  if (claim === undefined) return
  const used = random.int(0, 60)
  const fails = random.chance(0.2)
  const failed = { kind: 'failed', errorCode: 'agent_error', retryable: null, retryAfterMs: null } as const
  const outcome = fails ? failed : ({ kind: 'succeeded' } as const)
  const said = { outcome, usage: { inputTokens: used }, attemptId: claim.attemptId }
  const through = random.one(nodes)
  const before = new Set(through.held)
  await through.turn(reportCommand(ORG, claim.run.id, said) as Command<unknown>)
  const [row] = await world.rows(`select state from pending where id = '${claim.run.id}'`)
  witness.reported(claim.attemptId, used, {
    at: world.now,
    ended: row === undefined || isTerminal(row['state'] as never),
  })
  await see(scene, { node: through, before })
}

async function step(scene: Scene): Promise<void> {
  const { random, nodes, witness } = scene
  const node = random.one(nodes)
  const busy = nodes.filter(({ held }) => held.length > 0)
  const what = random.int(0, 12)
  if (what < 6) {
    const stated = random.chance(0.4) ? random.int(0, 40) : null
    await turn(scene, node, taskWork(random.one(['writer', 'reader']), stated))
  } else if (what < 10 && busy.length > 0) await report(scene)
  else if (what === 10 && busy.length > 0) {
    const [claim] = random.one(busy).held.splice(0, 1)
    if (claim === undefined) return
    witness.lost(claim.attemptId)
    await turn(scene, node, loseWork(claim.run.id))
  } else {
    world.pass(random.chance(0.7) ? random.int(1, 90) * MINUTE_MS : random.int(6, 20) * HOUR_MS)
    await turn(scene, node)
  }
}

/** Every node that has heard of everything knows what the witness knows. */
async function compare(scene: Scene): Promise<void> {
  const { nodes, witness } = scene
  for (const node of nodes) {
    await turn(scene, node)
    for (const [id, { remaining }] of budgetLoads(node.memory.state)) {
      const isPaused = node.memory.state.budgets?.budgets.get(id)?.budget.pausedAt !== null
      expect(remaining).toBe(isPaused ? 0 : witness.left(id, world.now))
    }
  }
}

async function play(seed: number): Promise<number> {
  await empty()
  const random = createRandom(seed)
  for (const input of drawBudgets(random)) await createBudget(world.ports, world.caller, input)
  const witness = createWitness(await loadBudgets(world.db, { orgId: ORG }))
  const nodes = [await openNode(world), await openNode(world), await openNode(world)]
  const scene = { random, nodes, witness }
  for (let n = 0; n < STEPS; n += 1) await step(scene)
  await compare(scene)
  return witness.hits()
}

describe('budgets on several nodes', () => {
  it('are never exceeded by more than the runs in flight when they were hit', async () => {
    let hits = 0
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      try {
        hits += await play(seed)
      } catch (error) {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error })
      }
    }
    expect(hits).toBeGreaterThan(SEEDS)
  }, 600_000)
})
