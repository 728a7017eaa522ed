import { attemptId, laneName, runId } from '../../../src/domain/ids.ts'
import { DAY_MS, later } from '../../../src/domain/instant.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import type { Claim } from '../../../src/engine/transaction/claim.ts'
import type { LoadedOrg, NodeCapabilities, MemoryWindow } from '../../../src/engine/org-state/memory.ts'
import { loadOrgState } from '../../../src/engine/org-state/load.ts'
import { runTransaction } from '../../../src/engine/transaction/transaction.ts'
import { reportCommand } from '../../../src/engine/commands/engine-commands.ts'
import { insertNode } from '../../../src/features/nodes/store.ts'
import { ORG } from '../../platform/db/records.ts'
import type { ServiceWorld } from './world.ts'

/** A node of a world that remembers from turn to turn. */
export interface TestNode {
  readonly id: string
  readonly memory: LoadedOrg
  readonly facts: NodeCapabilities
  readonly started: string[]
  /** What it has started and nobody has reported. */
  readonly held: Claim[]
  readonly turn: (...works: readonly Command<unknown>[]) => Promise<readonly unknown[]>
  /** Everything it holds reports to have used so much. */
  readonly reports: (tokens: number) => readonly Command<unknown>[]
}

interface NodeWishes {
  readonly maxChanges?: number
  /** Whether a transaction has taken long enough. */
  readonly isOver?: () => boolean
  readonly lane?: string
  /** Left out: everything stays in memory. */
  readonly window?: MemoryWindow
}

/** Starts a node; its lease holds for days. */
export async function openNode(
  of: ServiceWorld,
  { maxChanges = Infinity, isOver = () => false, lane = 'task', window }: NodeWishes = {},
): Promise<TestNode> {
  const nodeId = `nod_${(made += 1)}`
  const facts = { ...factsOf(of), window: () => window ?? null }
  await insertNode(of.db, {
    ...{ id: nodeId, startedAt: of.now, leaseUntil: later(of.now, 9 * DAY_MS), draining: false, lost: false },
    ...{ executors: [], lanes: {}, program: 'test' },
  })
  const memory = await loadOrgState(of.db, facts, ORG)
  const held: Claim[] = []
  const started: string[] = []
  const limits = { maxChanges, stopwatch: () => isOver }
  const context = { database: of.db, node: facts, nodeId, limits, syncClock: () => of.now }
  return {
    id: nodeId,
    memory,
    facts,
    started,
    held,
    turn: async (...works) => {
      const lanes = new Map([[laneName(lane), { size: 9, held: 0 }]])
      const offer = { nodeId, lanes, catchup: { inFlight: 0, limit: 1 } }
      const result = await runTransaction(context, memory, {
        committing: () => undefined,
        ahead: () => [],
        commands: () => works,
        offer: () => offer,
      })
      for (const claim of result.claims) {
        held.push(claim)
        started.push((claim.payload as { readonly action: string }).action)
      }
      return result.results.map((done) => (done.ok ? done.answer : done.refusal))
    },
    reports: (tokens) =>
      held.splice(0).map(({ run: { id }, attemptId: attempt }) => {
        const said = { outcome: { kind: 'succeeded' }, usage: { inputTokens: tokens } } as const
        return reportCommand(ORG, id, { ...said, attemptId: attempt }) as Command<unknown>
      }),
  }
}

let made = 0

function factsOf({ settings }: ServiceWorld): NodeCapabilities {
  return {
    randomSource: {
      random: () => 0.5,
      newRunId: () => runId(`tsk_${String((made += 1)).padStart(6, '0')}`),
      newAttemptId: () => attemptId(`try_${(made += 1)}`),
    },
    settings: () => settings,
    canExecute: () => true,
    laneNames: () => new Set([...settings.lanes.byName.keys()]),
    estimate: null,
  }
}
