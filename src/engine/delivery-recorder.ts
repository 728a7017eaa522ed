import type { OrgId } from '../core/ids.ts'
import { explainWhy } from '../core/reasons.ts'
import { recordWork, type Recorded, type Tried } from '../service/outbox/record.ts'
import type { Ports } from '../service/ports.ts'
import type { NodeParts } from './node-parts.ts'

/** Puts tries on record, those of one org that end together in one turn. */
export interface DeliveryRecorder {
  /** Resolves when the try is on record, or somebody else has taken the delivery over. */
  readonly record: (tried: Tried) => Promise<void>
}

interface Entry {
  readonly tried: Tried
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export function createDeliveryRecorder(parts: NodeParts, newId: Ports['newId']): DeliveryRecorder {
  const waiting = new Map<OrgId, Entry[]>()
  const busy = new Set<OrgId>()
  /** What ends while a turn is under way goes together into the next one. */
  const flush = async (orgId: OrgId): Promise<void> => {
    if (busy.has(orgId)) return
    busy.add(orgId)
    for (let entries = waiting.get(orgId); entries !== undefined; entries = waiting.get(orgId)) {
      waiting.delete(orgId)
      await recordAll(parts, newId, { orgId, entries })
    }
    busy.delete(orgId)
  }
  return {
    record: (tried) =>
      new Promise((resolve, reject) => {
        const entry = { tried, resolve, reject }
        const known = waiting.get(tried.orgId)
        if (known === undefined) waiting.set(tried.orgId, [entry])
        else known.push(entry)
        void flush(tried.orgId)
      }),
  }
}

async function recordAll(
  parts: NodeParts,
  newId: Ports['newId'],
  { orgId, entries }: { readonly orgId: OrgId; readonly entries: readonly Entry[] },
): Promise<void> {
  const tried = entries.map((entry) => entry.tried)
  const { random } = parts.ctx
  try {
    const recorded = await parts
      .officeOf(orgId)
      .take(recordWork({ newId, random, nodeId: parts.id() }, orgId, tried), true)
    for (const one of recorded) say(parts, one, tried)
    for (const { resolve } of entries) resolve()
  } catch (error) {
    for (const { reject } of entries) reject(error)
  }
}

/** Outcomes are said as they are on record, with everything by which they are found again. */
function say({ ctx }: NodeParts, recorded: Recorded, tried: readonly Tried[]): void {
  const { id, runId, targetId, number, outcome, after } = recorded
  ctx.meter?.delivered(outcome)
  const one = tried.find((candidate) => candidate.id === id)
  if (one === undefined) return
  const facts = {
    ...{ delivery: id, run: runId, target: targetId, try: number, status: one.outcome.statusCode },
    ms: Math.max(0, one.finishedAt - one.startedAt),
    ...(one.outcome.ok ? {} : { error: one.outcome.message, next: explainWhy(after.why) }),
  }
  const message = one.outcome.ok ? 'A message was delivered' : 'A message was not delivered'
  ctx.log({ level: 'info', message, facts })
  if (outcome === 'held' && after.why.reason === 'target_disabled')
    ctx.log({ level: 'warn', message: 'A target is disabled; its messages are held', facts: { target: targetId } })
}
