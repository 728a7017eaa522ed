import { Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import {
  type Lineage,
  ownerOfAgent,
  DEFAULT_RESTRICTIONS,
  type RestrictedKey,
  readAttemptKey,
} from '../../domain/access/restrictions.ts'
import { type AttemptId, type OrgId, principalId, type RunId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { isInFlight } from '../../domain/run/run.ts'
import type { Ports } from '../../engine/ports.ts'
import type { InvitationView } from './restrictions-schema.ts'
import { loadRunWithAncestors } from './restrictions-store.ts'
import { RESTRICTED_SCOPES } from './restrictions.ts'
import { type AttemptRun, loadAttemptRun } from '../runs/attempts-store.ts'

/** Identifies an attempt. */
interface AttemptRef {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
}

/**
 * The text of the key of an attempt. Keys of attempts are not stored: the text names the attempt and is signed with the
 * encryption key, which lies outside the database. Throws `SECRET_KEY` if there is no encryption key.
 */
export async function attemptKeyText({ vault }: Pick<Ports, 'vault'>, of: AttemptRef): Promise<string> {
  const payload = Buffer.from(JSON.stringify([of.orgId, of.runId, of.attemptId])).toString('base64url')
  return `esa_${payload}.${await vault.sign(payload, 'attempt')}`
}

type AttemptKeyPorts = Pick<Ports, 'database' | 'clock' | 'vault'>

/**
 * The principal of an attempt's key. The key works while the attempt is in flight and the current one of its run; later
 * the principal is expired. Null: the text is not a key signed by this deployment.
 */
export async function findAttemptPrincipal(ports: AttemptKeyPorts, text: string): Promise<Principal | null> {
  const named = await verifyAttemptKey(ports, text)
  if (named === null) return null
  const holder = await loadAttemptRun(ports.database, named)
  if (holder === undefined) return null
  const isCurrent =
    holder.attemptId === named.attemptId && holder.state !== null && isInFlight(holder.state as RunState)
  const isValid = isCurrent && holder.selfService !== null
  return {
    ...{ id: principalId(`attempt:${named.attemptId}`), orgId: named.orgId },
    ...{ role: 'admin', scopes: RESTRICTED_SCOPES, revokedAt: null },
    expiresAt: isValid ? null : ports.clock.now(),
    restricted: await restrictedKeyOf(ports, named, holder),
  }
}

async function verifyAttemptKey({ vault }: AttemptKeyPorts, text: string): Promise<AttemptRef | null> {
  const read = readAttemptKey(text)
  if (read === null || !(await vault.isSigned(read.said, read.proof, 'attempt'))) return null
  // The signature was checked, so the content has this shape.
  const [orgId, runId, attemptId] = JSON.parse(Buffer.from(read.said, 'base64url').toString('utf8')) as [
    ...[OrgId, RunId, AttemptId],
  ]
  return { orgId, runId, attemptId }
}

async function restrictedKeyOf(
  ports: AttemptKeyPorts,
  { runId, attemptId: id, orgId }: AttemptRef,
  of: AttemptRun,
): Promise<RestrictedKey> {
  const { agentId, sessionKey, scheduleId } = of
  const lineage = of.lineage ?? (of.parentRunId === null ? null : await lineageFromRows(ports, orgId, runId))
  return {
    restrictions: of.selfService ?? DEFAULT_RESTRICTIONS,
    owner: ownerOfAgent(agentId),
    attempt: { id, runId, agentId, sessionKey, scheduleId, lineage },
  }
}

/** Longer chains are not read: a run this deep may create nothing anyway. */
const MAX_LINEAGE_RUNS = 8

/** The sender of a message may name its parent run; such a chain is known only from the rows. */
async function lineageFromRows({ database }: AttemptKeyPorts, orgId: OrgId, id: RunId): Promise<Lineage> {
  const [, ...above] = await loadRunWithAncestors(database, { orgId, id, most: MAX_LINEAGE_RUNS })
  return {
    root: (above.at(-1)?.id ?? id) as RunId,
    depth: Math.max(1, above.length),
    schedules: above.flatMap(({ scheduleId }) =>
      scheduleId === null ? [] : [scheduleId as Lineage['schedules'][number]],
    ),
  }
}

/** An attempt of an agent with self-service, and when it must end. */
interface AttemptInvitee extends AttemptRef {
  readonly endsBy: Instant | null
}

/**
 * What an attempt needs to call the API: the addresses and a key of its own. Null if the encryption key is missing; the
 * attempt then runs without.
 */
export async function createInvitation(
  ports: Pick<Ports, 'vault'>,
  attempt: AttemptInvitee,
  apiUrl: string | null,
): Promise<InvitationView | null> {
  try {
    return {
      api_url: apiUrl,
      mcp_url: apiUrl === null ? null : new URL('/mcp', apiUrl).href,
      key: await attemptKeyText(ports, attempt),
      expires_at: attempt.endsBy === null ? null : formatInstant(attempt.endsBy),
    }
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}
