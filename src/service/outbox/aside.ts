import type { OrgId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import type { Why } from '../../core/reasons.ts'
import { loadTried, saveTried, type TriedFacts } from '../../store/outbox.ts'
import type { Work } from '../turn-port.ts'

/** A claimed delivery that is not tried: it waits for the end of quiet hours, or is not told at all. */
export type Aside = { readonly orgId: OrgId; readonly id: string; readonly claim: string; readonly why: Why } & (
  { readonly kind: 'hold'; readonly until: Instant } | { readonly kind: 'keep' }
)

/** Puts a delivery aside, unless its claim has passed to somebody else. It counts as no try. */
export function asideWork(aside: Aside): Work<void> {
  const { orgId, id, claim, why } = aside
  const state = aside.kind === 'hold' ? 'held' : 'kept'
  return {
    orgId,
    prepare: async (tx, now): Promise<readonly TriedFacts[]> => {
      const facts = await loadTried(tx, { orgId, ids: [id], claims: [claim] })
      saveTried(
        tx,
        orgId,
        facts.map(({ tries, triesInAll }) => ({
          ...{ id, state, tries, triesInAll, why, body: null },
          nextTryAt: aside.kind === 'hold' ? aside.until : null,
          finishedAt: aside.kind === 'hold' ? null : now,
        })),
      )
      return facts
    },
    apply: (desk, prepared) => {
      for (const { runId, targetId } of prepared as readonly TriedFacts[])
        desk.changes.events.push({
          ...{ kind: 'delivery.changed', subject: id },
          data: { run_id: runId, target_id: targetId, status: state },
        })
    },
  }
}
