import { attemptId, laneName, runId } from '../../../src/domain/ids.ts'
import { DAY_MS, later } from '../../../src/domain/instant.ts'
import type { Work } from '../../../src/service/turn-port.ts'
import type { Claim } from '../../../src/service/turn/claim.ts'
import type { Memory, NodeFacts } from '../../../src/service/turn/memory.ts'
import { loadMemory } from '../../../src/service/turn/recall.ts'
import { takeTurn } from '../../../src/service/turn/turn.ts'
import { reportWork } from '../../../src/service/turn/works.ts'
import { insertNode } from '../../../src/features/nodes/store.ts'
import { ORG } from '../../platform/db/records.ts'
import type { ServiceWorld } from './world.ts'

/** A node of a world that remembers from turn to turn. */
export interface TestNode {
  readonly id: string
  readonly memory: Memory
  readonly facts: NodeFacts
  readonly started: string[]
  /** What it has started and nobody has reported. */
  readonly held: Claim[]
  readonly turn: (...works: readonly Work<unknown>[]) => Promise<readonly unknown[]>
  /** Everything it holds reports to have used so much. */
  readonly reports: (tokens: number) => readonly Work<unknown>[]
}

interface NodeWishes {
  readonly maxChanges?: number
  /** Whether a transaction has taken long enough. */
  readonly isOver?: () => boolean
  readonly lane?: string
}

/** Starts a node; its lease holds for days. */
export async function openNode(
  of: ServiceWorld,
  { maxChanges = Infinity, isOver = () => false, lane = 'task' }: NodeWishes = {},
): Promise<TestNode> {
  const nodeId = `nod_${(made += 1)}`
  const facts = factsOf(of)
  await insertNode(of.db, {
    ...{ id: nodeId, startedAt: of.now, leaseUntil: later(of.now, 9 * DAY_MS), draining: false, lost: false },
    ...{ executors: [], lanes: {}, program: 'test' },
  })
  const memory = await loadMemory(of.db, facts, ORG)
  const held: Claim[] = []
  const started: string[] = []
  const limits = { maxChanges, stopwatch: () => isOver }
  const context = { database: of.db, node: facts, nodeId, limits, hearClock: () => of.now }
  return {
    id: nodeId,
    memory,
    facts,
    started,
    held,
    turn: async (...works) => {
      const lanes = new Map([[laneName(lane), { size: 9, held: 0 }]])
      const offer = { nodeId, lanes, catchup: { inFlight: 0, limit: 1 } }
      const result = await takeTurn(context, memory, {
        committing: () => undefined,
        ahead: () => [],
        works: () => works,
        offer: () => offer,
      })
      for (const claim of result.claims) {
        held.push(claim)
        started.push((claim.payload as { readonly action: string }).action)
      }
      return result.done.map((done) => (done.ok ? done.answer : done.refusal))
    },
    reports: (tokens) =>
      held.splice(0).map(({ run: { id }, attemptId: attempt }) => {
        const said = { outcome: { kind: 'succeeded' }, usage: { inputTokens: tokens } } as const
        return reportWork(ORG, id, { ...said, attemptId: attempt }) as Work<unknown>
      }),
  }
}

let made = 0

function factsOf({ settings }: ServiceWorld): NodeFacts {
  return {
    chance: {
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
