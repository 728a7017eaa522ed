import { decideNextTry, type NextTry } from '../../domain/delivery/delivery-retry.ts'
import { jsonOf, type OutBody, type TryOutcome } from '../../domain/delivery/message.ts'
import type { OrgId, TargetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import type { Transaction } from '../../store/database.ts'
import { endDigested } from '../../store/digests.ts'
import { insertTries, loadTried, saveTried, type AfterTry, type TriedFacts, type TryRow } from './outbox-store.ts'
import { holdDeliveries, loadTargets, saveTargetHealth, type TargetRow } from '../../store/targets.ts'
import { raiseAlert } from '../../service/desk/alerts.ts'
import type { Desk } from '../../service/desk/desk.ts'
import type { Ports } from '../../service/ports.ts'
import { cutText } from '../../service/stored-output.ts'
import type { Work } from '../../service/turn-port.ts'

/** A try that is over, and has to be put on record. */
export interface Tried {
  readonly orgId: OrgId
  readonly id: string
  readonly claim: string
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly outcome: TryOutcome
  /** What was sent; null when there was nothing to send. */
  readonly body: OutBody | null
}

/** Where a delivery stands after a try that was put on record. */
export interface Recorded {
  readonly id: string
  readonly runId: string | null
  readonly targetId: string | null
  readonly isDigest: boolean
  readonly number: number
  readonly outcome: 'delivered' | 'retry' | 'given_up' | 'held'
  readonly after: AfterTry
}

type Recording = Pick<Ports, 'newId'> & { readonly random: () => number; readonly nodeId: string }

/** What is written of a receiver's words. */
const MOST_MESSAGE = 2_000

/**
 * Puts tries of an org on record: what follows each, how its target fares, and the alert when that is switched off. A
 * try whose claim has passed to somebody else changes nothing.
 */
export function recordWork(ctx: Recording, orgId: OrgId, tried: readonly Tried[]): Work<readonly Recorded[]> {
  return {
    orgId,
    prepare: async (tx, now): Promise<Decided> => {
      const ids = tried.map(({ id }) => id)
      const facts = await loadTried(tx, { orgId, ids, claims: tried.map(({ claim }) => claim) })
      const names = [...new Set(facts.flatMap(({ targetId }) => targetId ?? []))]
      const targets = names.length === 0 ? [] : await loadTargets(tx, { orgId, ids: names })
      const decided = decideAll({ tried, facts, targets, now, ctx })
      write(tx, orgId, decided)
      return decided
    },
    apply: (desk, prepared) => {
      const { recorded, targets, disabled } = prepared as Decided
      for (const one of recorded) tell(desk, one)
      for (const target of targets)
        if (disabled.includes(target.id) && target.disabledWhy !== null)
          raiseAlert(desk, {
            ...{ id: ctx.newId('alert', desk.now), kind: 'delivery_disabled', subjectKind: 'target' },
            ...{ subjectId: target.id, about: target.name, why: target.disabledWhy },
          })
      return recorded
    },
  }
}

function tell(desk: Desk, { id, runId, targetId, number, outcome, after }: Recorded): void {
  const told = outcome === 'delivered' ? 'delivered' : 'failed'
  const data = { run_id: runId, target_id: targetId, status: after.state, try: number, outcome: told }
  desk.changes.events.push({ kind: 'delivery.changed', subject: id, data })
}

interface Decided {
  readonly recorded: readonly Recorded[]
  readonly tries: readonly TryRow[]
  /** Targets whose health has changed. */
  readonly targets: readonly TargetRow[]
  readonly disabled: readonly TargetId[]
}

interface Deciding {
  readonly tried: readonly Tried[]
  readonly facts: readonly TriedFacts[]
  readonly targets: readonly TargetRow[]
  readonly now: Instant
  readonly ctx: Recording
}

/** One after the other, in the order in which they ended: each sees the failures before it. */
function decideAll({ tried, facts, targets, now, ctx }: Deciding): Decided {
  const known = new Map(facts.map((fact) => [fact.id, fact]))
  const health = new Map(targets.map((target) => [target.id, target]))
  const recorded: Recorded[] = []
  const tries: TryRow[] = []
  const disabled: TargetId[] = []
  for (const one of [...tried].sort((a, b) => a.finishedAt - b.finishedAt)) {
    const fact = known.get(one.id)
    if (fact === undefined) continue
    const target = fact.targetId === null ? null : (health.get(fact.targetId) ?? null)
    const done = decideOne(one, fact, { target, now, random: ctx.random() })
    if (done.target !== null) health.set(done.target.id, done.target)
    if (done.target !== null && done.disables) disabled.push(done.target.id)
    recorded.push(done.recorded)
    tries.push(tryOf(one, { number: done.recorded.number, nodeId: ctx.nodeId }))
  }
  return { recorded, tries, targets: [...health.values()], disabled }
}

interface DecidedOne {
  readonly recorded: Recorded
  readonly target: TargetRow | null
  readonly disables: boolean
}

interface OneContext {
  readonly target: TargetRow | null
  readonly now: Instant
  readonly random: number
}

function decideOne({ outcome, body }: Tried, fact: TriedFacts, { target, now, random }: OneContext): DecidedOne {
  const counted = { id: fact.id, tries: fact.tries + 1, triesInAll: fact.triesInAll + 1 }
  const name = target?.name ?? fact.url ?? fact.targetId ?? ''
  const record = (word: Recorded['outcome'], rest: Omit<AfterTry, 'id' | 'tries' | 'triesInAll'>): Recorded => ({
    ...{ id: fact.id, runId: fact.runId, targetId: fact.targetId, isDigest: fact.isDigest, number: counted.triesInAll },
    ...{ outcome: word, after: { ...counted, ...rest } },
  })
  if (outcome.ok) {
    const why = because('delivered', 'delivery.try', { target: name, tries: counted.tries })
    const ended = { state: 'delivered', nextTryAt: null, why, body: null, finishedAt: now } as const
    const healthy = target === null ? null : { ...target, failuresInARow: 0, deliveredAt: now }
    return { recorded: record('delivered', ended), target: healthy, disables: false }
  }
  const failing = target === null ? null : { ...target, failuresInARow: target.failuresInARow + 1, failedAt: now }
  const next = nextOf(outcome, { fact: { ...fact, tries: counted.tries }, target: failing, name, now, random })
  if (next.kind === 'give_up') {
    const kept = body === null ? null : jsonOf(body)
    const ended = { state: 'failed', nextTryAt: null, why: next.why, body: kept, finishedAt: now } as const
    return { recorded: record('given_up', ended), target: failing, disables: false }
  }
  if (next.kind === 'retry') {
    const waits = { state: 'pending', nextTryAt: next.retryAt, why: next.why, body: null, finishedAt: null } as const
    return { recorded: record('retry', waits), target: failing, disables: false }
  }
  const held = { state: 'held', nextTryAt: null, why: next.why, body: null, finishedAt: null } as const
  const disables = failing !== null && failing.disabledAt === null
  const off = disables ? { ...failing, disabledAt: now, disabledWhy: next.why } : failing
  return { recorded: record('held', held), target: off, disables }
}

interface Failing {
  readonly fact: TriedFacts
  readonly target: TargetRow | null
  readonly name: string
  readonly now: Instant
  readonly random: number
}

function nextOf(
  outcome: Extract<TryOutcome, { readonly ok: false }>,
  { fact, target, name, now, random }: Failing,
): NextTry {
  if (outcome.error === 'target_gone' || outcome.error === 'run_gone')
    return {
      kind: 'give_up',
      // Of what belongs to no run the delivery itself is named.
      why: because(outcome.error, 'delivery.try', { target: name, run: fact.runId ?? fact.id }),
    }
  // Somebody has switched it off meanwhile: its messages wait, whoever was at them.
  if (target !== null && target.disabledAt !== null)
    return {
      kind: 'disable_target',
      why: target.disabledWhy ?? because('target_off', 'target.enabled', { target: name }),
    }
  const { retryAfterMs } = outcome
  return decideNextTry({
    ...{ kind: fact.kind === 'saved' ? 'target' : 'adhoc', target: name, tries: fact.tries, now, random },
    failuresInARow: target?.failuresInARow ?? 0,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

function tryOf(
  { id, startedAt, finishedAt, outcome }: Tried,
  { number, nodeId }: { readonly number: number; readonly nodeId: string },
): TryRow {
  return {
    ...{ deliveryId: id, number, nodeId, startedAt, finishedAt, ok: outcome.ok, statusCode: outcome.statusCode },
    errorCode: outcome.ok ? null : outcome.error,
    message: outcome.ok ? null : cutText(outcome.message, MOST_MESSAGE),
  }
}

function write(tx: Transaction, orgId: OrgId, decided: Decided): void {
  const { recorded, tries, targets, disabled } = decided
  if (recorded.length === 0) return
  saveTried(
    tx,
    orgId,
    recorded.map(({ after }) => after),
  )
  insertTries(tx, orgId, tries)
  if (targets.length > 0) saveTargetHealth(tx, orgId, targets)
  if (disabled.length > 0) holdDeliveries(tx, { orgId, ids: disabled })
  for (const { id, isDigest, after } of recorded)
    if (isDigest && (after.state === 'delivered' || after.state === 'failed') && after.finishedAt !== null)
      endDigested(tx, { orgId, digestIds: [id], state: after.state, now: after.finishedAt, why: after.why })
}
