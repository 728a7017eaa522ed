import { Refusal } from '../../api/refusals.ts'
import type { OrgId, RunId } from '../../domain/ids.ts'
import { earlier, HOUR_MS, type Instant } from '../../domain/instant.ts'
import { breach } from '../../core/rails/breach.ts'
import { judgeRate } from '../../core/rails/judge-making.ts'
import { lineageBelow, type Lineage, type Railed } from '../../core/rails/railed.ts'
import { isInFlight } from '../../domain/run/run.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import type { Transaction } from '../../store/database.ts'
import {
  insertRailActs,
  loadAttemptStanding,
  loadRailActs,
  type RailAct,
} from '../../features/access/restrictions-store.ts'
import type { Caller } from '../caller.ts'
import type { Work } from '../turn-port.ts'
import type { TurnReads } from '../turn/turn-reads.ts'
import { railRefusal, refuse } from './refusals.ts'

/** Whose something is that is being made, and what it comes from. */
export interface Making {
  readonly owner: string | null
  readonly parentRunId: RunId | null
  readonly lineage: Lineage | null
}

const NOBODYS: Making = { owner: null, parentRunId: null, lineage: null }

/** Whose what somebody makes is. */
export function makingOf(railed: Railed | undefined): Making {
  if (railed === undefined) return NOBODYS
  const { owner, attempt } = railed
  if (attempt === null) return { owner, parentRunId: null, lineage: null }
  return { owner, parentRunId: attempt.runId, lineage: lineageBelow(attempt) }
}

/** Somebody with guard rails at work: who, in which org, and in which transaction. */
export interface AtWork {
  readonly tx: Transaction
  readonly orgId: OrgId
  readonly railed: Railed
  readonly now: Instant
}

/**
 * Refuses an attempt that is not the current one of its run any more. Who is asked on the way in is believed for a
 * second; whoever changes something is asked again, under the lock.
 */
export async function requireCurrent({ tx, orgId, railed: { attempt } }: AtWork): Promise<void> {
  if (attempt === null) return
  const standing = await loadAttemptStanding(tx, { orgId, runId: attempt.runId })
  if (standing?.attemptId === attempt.id && isInFlight(standing.state as RunState)) return
  throw new Refusal('UNAUTHENTICATED', 'The attempt that this key belongs to has ended')
}

/** Refuses more in this hour than the rails let through. */
export async function requireRate({ tx, orgId, railed, now }: AtWork, more: number): Promise<void> {
  const done = await loadRailActs(tx, { orgId, owner: railed.owner, since: earlier(now, HOUR_MS) })
  refuse(judgeRate(railed.rails, { done, more }, now))
}

/** What work under guard rails does besides. */
export interface RailedTerms<Answer> {
  /** Refuses before anything is looked up or decided. */
  readonly judge: (at: AtWork, reads: TurnReads) => Promise<void>
  /** What of it counts, once it is done. */
  readonly acts: (answer: Answer) => readonly RailAct[]
}

/**
 * Work of somebody with guard rails: judged under the lock, alone in its turn, so that two that come at once do not both
 * find the last place free. Anybody else's work is left as it is.
 */
export function railedWork<Answer>(
  work: Work<Answer>,
  caller: Pick<Caller, 'railed'>,
  under: RailedTerms<Answer>,
): Work<Answer> {
  const { railed: who } = caller
  if (who === undefined) return work
  const { orgId, look, prepare, conclude, ...rest } = work
  return {
    ...rest,
    orgId,
    prepare: async (tx, now, reads) => {
      const at = { tx, orgId, railed: who, now }
      await requireCurrent(at)
      await under.judge(at, reads)
      return prepare?.(tx, now, reads) ?? look?.(reads, now)
    },
    conclude: async (tx, answer, now) => {
      const acts = under.acts(answer)
      if (acts.length > 0) await insertRailActs(tx, { orgId, owner: who.owner, at: now, acts })
      await conclude?.(tx, answer, now)
    },
  }
}

/** Somebody who may not reach everything. */
type Watched = Pick<Caller, 'railed' | 'through'>

/** Programs of this machine are started by people, and by nobody's model: through MCP and under guard rails never. */
export function refuseCommand({ railed: who, through }: Watched, executorKind: string | undefined): void {
  if (executorKind !== 'command' || (who === undefined && through !== 'mcp')) return
  throw railRefusal(
    breach(
      'executor',
      who === undefined
        ? 'What ends in the command executor cannot be reached through MCP'
        : 'A key with guard rails cannot reach the command executor; name another agent',
      { executor: 'command' },
    ),
  )
}

/** Whether it has to be asked which executor something ends in. */
export const isWatched = ({ railed: who, through }: Watched): boolean => who !== undefined || through === 'mcp'
