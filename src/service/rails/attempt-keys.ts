import type { Principal } from '../../domain/access/access.ts'
import { principalId, type AttemptId, type OrgId, type RunId } from '../../domain/ids.ts'
import { readAttemptKey } from '../../core/rails/attempt-key.ts'
import { RAIL_DEFAULTS } from '../../core/rails/guard-rails.ts'
import { ownerOfAgent, type Lineage, type Railed } from '../../core/rails/railed.ts'
import { isInFlight } from '../../domain/run/run.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { type AttemptHolder, loadAttemptHolder } from '../../store/attempts.ts'
import { loadRunsAbove } from '../../features/access/restrictions-store.ts'
import type { Ports } from '../ports.ts'
import { RAILED_SCOPES } from './scopes.ts'

/** An attempt, by name. */
export interface NamedAttempt {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
}

/**
 * The text of the key of an attempt. Nothing is stored: it says which attempt it belongs to, and that we have said so is
 * proven with the key that lies outside the database. Refused with `SECRET_KEY` where there is none.
 */
export async function attemptKeyText({ vault }: Pick<Ports, 'vault'>, of: NamedAttempt): Promise<string> {
  const said = Buffer.from(JSON.stringify([of.orgId, of.runId, of.attemptId])).toString('base64url')
  return `esa_${said}.${await vault.sign(said, 'attempt')}`
}

type Reading = Pick<Ports, 'database' | 'clock' | 'vault'>

/**
 * Who speaks with the key of an attempt: it, for as long as it is the current one of its run and in flight. One that has
 * ended is told so. Null: nobody of ours has made this text.
 */
export async function findAttemptPrincipal(ports: Reading, text: string): Promise<Principal | null> {
  const named = await provenIn(ports, text)
  if (named === null) return null
  const holder = await loadAttemptHolder(ports.database, named)
  if (holder === undefined) return null
  const isCurrent =
    holder.attemptId === named.attemptId && holder.state !== null && isInFlight(holder.state as RunState)
  const works = isCurrent && holder.selfService !== null
  return {
    ...{ id: principalId(`attempt:${named.attemptId}`), orgId: named.orgId },
    ...{ role: 'admin', scopes: RAILED_SCOPES, revokedAt: null },
    expiresAt: works ? null : ports.clock.now(),
    railed: await railedOf(ports, named, holder),
  }
}

async function provenIn({ vault }: Reading, text: string): Promise<NamedAttempt | null> {
  const read = readAttemptKey(text)
  if (read === null || !(await vault.isSigned(read.said, read.proof, 'attempt'))) return null
  // We have written it ourselves.
  const [orgId, runId, attemptId] = JSON.parse(Buffer.from(read.said, 'base64url').toString('utf8')) as [
    ...[OrgId, RunId, AttemptId],
  ]
  return { orgId, runId, attemptId }
}

async function railedOf(
  ports: Reading,
  { runId, attemptId: id, orgId }: NamedAttempt,
  of: AttemptHolder,
): Promise<Railed> {
  const { agentId, sessionKey, scheduleId } = of
  const lineage = of.lineage ?? (of.parentRunId === null ? null : await walked(ports, orgId, runId))
  return {
    rails: of.selfService ?? RAIL_DEFAULTS,
    owner: ownerOfAgent(agentId),
    attempt: { id, runId, agentId, sessionKey, scheduleId, lineage },
  }
}

/** More are not walked: what is so deep may make nothing anyway. */
const MOST_WALKED = 8

/** Who sends a message may name the run it comes from; such chains are known by their rows alone. */
async function walked({ database }: Reading, orgId: OrgId, id: RunId): Promise<Lineage> {
  const [, ...above] = await loadRunsAbove(database, { orgId, id, most: MOST_WALKED })
  return {
    root: (above.at(-1)?.id ?? id) as RunId,
    depth: Math.max(1, above.length),
    schedules: above.flatMap(({ scheduleId }) =>
      scheduleId === null ? [] : [scheduleId as Lineage['schedules'][number]],
    ),
  }
}
