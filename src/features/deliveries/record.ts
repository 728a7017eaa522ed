import { decideNextTry, type NextTry } from '../../domain/delivery/delivery-retry.ts'
import { bodyJson, type MessageBody, type TryOutcome } from '../../domain/delivery/message.ts'
import type { OrgId, TargetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import type { Transaction } from '../../platform/db/database.ts'
import { endDigested } from './store.ts'
import { insertTries, loadTried, saveTried, type AfterTry, type TriedDelivery, type TryRow } from './outbox-store.ts'
import { holdDeliveries, loadTargets, saveTargetHealth, type TargetRow } from '../targets/store.ts'
import { raiseAlert } from '../../engine/commands/alerts.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import type { Ports } from '../../engine/ports.ts'
import { cutText } from '../runs/view.ts'
import type { Command } from '../../engine/commands-port.ts'

/** A finished try that has to be recorded. */
export interface FinishedTry {
  readonly orgId: OrgId
  readonly id: string
  readonly claim: string
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly outcome: TryOutcome
  /** The body that was sent; null if there was nothing to send. */
  readonly body: MessageBody | null
}

/** A delivery after a recorded try. */
export interface RecordedTry {
  readonly id: string
  readonly runId: string | null
  readonly targetId: string | null
  readonly isDigest: boolean
  readonly number: number
  readonly outcome: 'delivered' | 'retry' | 'given_up' | 'held'
  readonly after: AfterTry
}

type RecordContext = Pick<Ports, 'newId'> & { readonly random: () => number; readonly nodeId: string }

/** The maximum length of a stored error message. */
const MAX_ERROR_MESSAGE = 2_000

/**
 * The command that records the tries of an org: the next step of each delivery, the health of its target, and an alert
 * if the target is disabled. A try whose delivery was claimed by another node since changes nothing.
 */
export function recordTriesCommand(
  ctx: RecordContext,
  orgId: OrgId,
  tried: readonly FinishedTry[],
): Command<readonly RecordedTry[]> {
  return {
    orgId,
    prepare: async (tx, now): Promise<DecidedTries> => {
      const ids = tried.map(({ id }) => id)
      const deliveries = await loadTried(tx, { orgId, ids, claims: tried.map(({ claim }) => claim) })
      const names = [...new Set(deliveries.flatMap(({ targetId }) => targetId ?? []))]
      const targets = names.length === 0 ? [] : await loadTargets(tx, { orgId, ids: names })
      const decided = decideAll({ tried, deliveries, targets, now, ctx })
      saveDecidedTries(tx, orgId, decided)
      return decided
    },
    apply: (state, prepared) => {
      const { recorded, targets, disabled } = prepared as DecidedTries
      for (const one of recorded) emitDeliveryChange(state, one)
      for (const target of targets)
        if (disabled.includes(target.id) && target.disabledWhy !== null)
          raiseAlert(state, {
            ...{ id: ctx.newId('alert', state.now), kind: 'delivery_disabled', subjectKind: 'target' },
            ...{ subjectId: target.id, about: target.name, why: target.disabledWhy },
          })
      return recorded
    },
  }
}

function emitDeliveryChange(state: OrgState, { id, runId, targetId, number, outcome, after }: RecordedTry): void {
  const eventOutcome = outcome === 'delivered' ? 'delivered' : 'failed'
  const data = { run_id: runId, target_id: targetId, status: after.state, try: number, outcome: eventOutcome }
  state.changes.events.push({ kind: 'delivery.changed', subject: id, data })
}

interface DecidedTries {
  readonly recorded: readonly RecordedTry[]
  readonly tries: readonly TryRow[]
  /** Targets whose health changed. */
  readonly targets: readonly TargetRow[]
  readonly disabled: readonly TargetId[]
}

interface TryDecisionInput {
  readonly tried: readonly FinishedTry[]
  readonly deliveries: readonly TriedDelivery[]
  readonly targets: readonly TargetRow[]
  readonly now: Instant
  readonly ctx: RecordContext
}

/** Decides tries in the order in which they ended, so that each sees the failures before it. */
function decideAll({ tried, deliveries, targets, now, ctx }: TryDecisionInput): DecidedTries {
  const deliveriesById = new Map(deliveries.map((delivery) => [delivery.id, delivery]))
  const health = new Map(targets.map((target) => [target.id, target]))
  const recorded: RecordedTry[] = []
  const tries: TryRow[] = []
  const disabled: TargetId[] = []
  for (const one of [...tried].sort((a, b) => a.finishedAt - b.finishedAt)) {
    const delivery = deliveriesById.get(one.id)
    if (delivery === undefined) continue
    const target = delivery.targetId === null ? null : (health.get(delivery.targetId) ?? null)
    const done = decideOne(one, delivery, { target, now, random: ctx.random() })
    if (done.target !== null) health.set(done.target.id, done.target)
    if (done.target !== null && done.disables) disabled.push(done.target.id)
    recorded.push(done.recorded)
    tries.push(tryOf(one, { number: done.recorded.number, nodeId: ctx.nodeId }))
  }
  return { recorded, tries, targets: [...health.values()], disabled }
}

interface DecidedTry {
  readonly recorded: RecordedTry
  readonly target: TargetRow | null
  readonly disables: boolean
}

interface TryContext {
  readonly target: TargetRow | null
  readonly now: Instant
  readonly random: number
}

function decideOne(
  { outcome, body }: FinishedTry,
  delivery: TriedDelivery,
  { target, now, random }: TryContext,
): DecidedTry {
  const counted = { id: delivery.id, tries: delivery.tries + 1, triesInAll: delivery.triesInAll + 1 }
  const name = target?.name ?? delivery.url ?? delivery.targetId ?? ''
  const record = (word: RecordedTry['outcome'], rest: Omit<AfterTry, 'id' | 'tries' | 'triesInAll'>): RecordedTry => ({
    ...{
      id: delivery.id,
      runId: delivery.runId,
      targetId: delivery.targetId,
      isDigest: delivery.isDigest,
      number: counted.triesInAll,
    },
    ...{ outcome: word, after: { ...counted, ...rest } },
  })
  if (outcome.ok) {
    const why = because('delivered', 'delivery.try', { target: name, tries: counted.tries })
    const ended = { state: 'delivered', nextTryAt: null, why, body: null, finishedAt: now } as const
    const healthy = target === null ? null : { ...target, failuresInARow: 0, deliveredAt: now }
    return { recorded: record('delivered', ended), target: healthy, disables: false }
  }
  const failing = target === null ? null : { ...target, failuresInARow: target.failuresInARow + 1, failedAt: now }
  const next = nextTryOf(outcome, {
    delivery: { ...delivery, tries: counted.tries },
    target: failing,
    name,
    now,
    random,
  })
  if (next.kind === 'give_up') {
    const kept = body === null ? null : bodyJson(body)
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

interface FailedTryContext {
  readonly delivery: TriedDelivery
  readonly target: TargetRow | null
  readonly name: string
  readonly now: Instant
  readonly random: number
}

function nextTryOf(
  outcome: Extract<TryOutcome, { readonly ok: false }>,
  { delivery, target, name, now, random }: FailedTryContext,
): NextTry {
  if (outcome.error === 'target_gone' || outcome.error === 'run_gone')
    return {
      kind: 'give_up',
      // A delivery without a run is named itself.
      why: because(outcome.error, 'delivery.try', { target: name, run: delivery.runId ?? delivery.id }),
    }
  // The target was disabled in the meantime, so its deliveries are held.
  if (target !== null && target.disabledAt !== null)
    return {
      kind: 'disable_target',
      why: target.disabledWhy ?? because('target_off', 'target.enabled', { target: name }),
    }
  const { retryAfterMs } = outcome
  return decideNextTry({
    ...{ kind: delivery.kind === 'saved' ? 'target' : 'adhoc', target: name, tries: delivery.tries, now, random },
    failuresInARow: target?.failuresInARow ?? 0,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

function tryOf(
  { id, startedAt, finishedAt, outcome }: FinishedTry,
  { number, nodeId }: { readonly number: number; readonly nodeId: string },
): TryRow {
  return {
    ...{ deliveryId: id, number, nodeId, startedAt, finishedAt, ok: outcome.ok, statusCode: outcome.statusCode },
    errorCode: outcome.ok ? null : outcome.error,
    message: outcome.ok ? null : cutText(outcome.message, MAX_ERROR_MESSAGE),
  }
}

function saveDecidedTries(tx: Transaction, orgId: OrgId, decided: DecidedTries): void {
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
