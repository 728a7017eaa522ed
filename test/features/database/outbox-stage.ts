import { bodyJson, type OutgoingMessage, type TryOutcome } from '../../../src/domain/delivery/message.ts'
import { agentId, attemptId, runId, type RunId } from '../../../src/domain/ids.ts'
import type { Instant } from '../../../src/domain/instant.ts'
import type { AttemptOutcome } from '../../../src/domain/run/outcome.ts'
import { submit } from '../../../src/engine/commands/submit.ts'
import { applyReport } from '../../../src/engine/commands/settle.ts'
import { claimDue, type ClaimedDelivery } from '../../../src/features/deliveries/outbox.ts'
import { renderMessage, type RenderedMessage } from '../../../src/features/deliveries/message.ts'
import { recordTriesCommand, type RecordedTry, type FinishedTry } from '../../../src/features/deliveries/record.ts'
import { ensureTaskAgent } from '../../../src/engine/transaction/transaction.ts'
import { ORG } from '../../platform/db/records.ts'
import type { ServiceWorld } from './world.ts'

/** Hands in a task that wants to be called back. */
export const aTask = (
  world: ServiceWorld,
  callback: string | null,
  { deadline = null, ...payload }: { readonly deadline?: Instant | null } = {},
): Promise<RunId> =>
  world.take({
    orgId: ORG,
    needs: { agents: [agentId('writer')] },
    apply: (desk) => {
      ensureTaskAgent({ state: desk }, agentId('writer'))
      const content = {
        agentId: 'writer',
        action: 'click',
        ...payload,
        ...(callback === null ? {} : { callbackUrl: callback }),
      }
      return submit(desk, {
        ...{ trigger: 'task', agentId: agentId('writer'), sessionKey: null, content, sender: null, sentAt: null },
        ...{
          lane: null,
          priority: 0,
          notBefore: null,
          deadline,
          retryPolicy: null,
          parentRunId: null,
          rules: {},
        },
        delivery: callback === null ? null : { callback },
      }).runId
    },
  })

let attempts = 0

/** Lets a run end as an executor would. */
export const end = (
  world: ServiceWorld,
  id: string,
  said: { readonly outcome?: AttemptOutcome; readonly output?: unknown; readonly uncut?: unknown } = {},
): Promise<void> =>
  world.take({
    orgId: ORG,
    apply: (desk) => {
      const run = desk.runs.get(runId(id))
      if (run === undefined) throw new Error(`${id} is not pending`)
      run.state = 'running'
      run.attemptId = attemptId(`att_end_${(attempts += 1)}`)
      run.nodeId = 'nod_1'
      run.startedAt = desk.now
      desk.changes.changed.add(run)
      const { outcome = { kind: 'succeeded' }, output = null, uncut = output } = said
      applyReport(desk, run, { attemptId: run.attemptId, outcome, output, fullOutput: uncut })
    },
  })

let claims = 0

/** Claims what is due, as a node would. */
export async function claim(
  world: ServiceWorld,
  limit = 100,
): Promise<readonly (ClaimedDelivery & { claim: string })[]> {
  const name = `nod_1/${(claims += 1)}`
  const found = await claimDue(world.ports, { now: world.now, claim: name, limit })
  return found.map((delivery) => ({ ...delivery, claim: name }))
}

/** What would be sent. */
export async function messageOf(
  world: ServiceWorld,
  delivery: ClaimedDelivery,
): Promise<OutgoingMessage & { readonly body: string }> {
  const written: RenderedMessage = await renderMessage(world.ports, delivery, world.now)
  if (written.kind !== 'send') throw new Error(written.kind)
  return { ...written.message, body: bodyJson(written.message.body) }
}

export const FAILED: TryOutcome = { ok: false, statusCode: 500, error: 'http', message: 'answered 500' }
export const ARRIVED: TryOutcome = { ok: true, statusCode: 200 }

/** Puts tries on record, as a node would. */
export const record = (
  world: ServiceWorld,
  tried: readonly {
    readonly id: string
    readonly claim: string
    readonly outcome: TryOutcome
    readonly body?: string | null
  }[],
): Promise<readonly RecordedTry[]> => {
  const rows = tried.map(({ body = null, ...one }): FinishedTry => ({
    ...one,
    body,
    orgId: ORG,
    startedAt: world.now,
    finishedAt: world.now,
  }))
  return world.take(recordTriesCommand({ newId: world.ports.newId, random: () => 0.5, nodeId: 'nod_1' }, ORG, rows))
}
