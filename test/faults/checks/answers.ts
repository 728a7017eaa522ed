import type { World } from '../shapes.ts'
import { demand } from './invariants.ts'

/** As long as work waits for a database that is away, an answer to COMMIT that is late, and a lock and a pause more. */
const MAX_WAIT_MS = 30_000 + 20_000 + 10_000

/** Whatever is asked of a node that is there is answered in time, if only with a refusal. */
export function expectAnswers({ journal, clock, nodes }: World): void {
  for (const { kind, node, at, outcome, mark } of journal.requests) {
    if (outcome !== 'open' || clock.now() - Math.max(at, clock.jumpedAt()) <= MAX_WAIT_MS) continue
    const asked = nodes.find(({ name }) => name === node)
    const isThere = asked !== undefined && (asked.state === 'alive' || asked.state === 'cut_off')
    demand(
      !isThere || asked.wasFrozenAt >= at,
      'answered_in_time',
      () => `${kind} ${mark ?? ''} to ${node} has waited for ${clock.now() - at} ms`,
    )
  }
}
