import type { RunView } from '../../../src/features/runs/schema.ts'
import type { AgentWork } from '../../../src/features/stats/schema.ts'

/**
 * The order in which queued runs are likely to start: turn by turn the agent with the least in flight, and of its runs the
 * one with the lower priority number, then the older one. Whom the engine served longest ago it alone knows, so among
 * equals this says the one whose run is older.
 */
export function likelyNext(queued: readonly RunView[], work: readonly AgentWork[], most: number): readonly RunView[] {
  const inFlight = new Map(work.map(({ agent_id: id, active }) => [id, active]))
  const lines = new Map<string, RunView[]>()
  for (const run of [...queued].sort(byTurn)) lines.set(run.agent_id, [...(lines.get(run.agent_id) ?? []), run])
  const picked: RunView[] = []
  while (picked.length < most) {
    const turns = [...lines].flatMap(([id, [first]]) =>
      first === undefined ? [] : [{ id, first, active: inFlight.get(id) ?? 0 }],
    )
    const turn = turns.sort((a, b) => a.active - b.active || byTurn(a.first, b.first))[0]
    if (turn === undefined) return picked
    picked.push(turn.first)
    lines.get(turn.id)?.shift()
    inFlight.set(turn.id, turn.active + 1)
  }
  return picked
}

const byTurn = (a: RunView, b: RunView): number =>
  a.priority - b.priority || Date.parse(a.created_at) - Date.parse(b.created_at)
