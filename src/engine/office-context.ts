import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Offer } from '../service/turn/claim.ts'
import type { Memory } from '../service/turn/memory.ts'
import type { TurnContext, TurnResult } from '../service/turn/turn.ts'
import type { Office } from './office.ts'
import type { WorkQueueContext } from './work-queue.ts'

/** What an office needs from its node. */
export interface OfficeContext extends WorkQueueContext {
  readonly turnContext: () => TurnContext
  readonly load: (orgId: OrgId) => Promise<Memory>
  /** Takes in what others did, without the org's lock, for a memory that is far behind. Null: it has to be loaded again. */
  readonly comeNearer: (memory: Memory) => Promise<TurnResult['heard'] | null>
  /** Null when the node takes nothing at the moment. */
  readonly offer: (orgId: OrgId) => Offer | null
  /** The turn is decided and on its way: it needs no more than it has claimed. */
  readonly decided: (orgId: OrgId) => void
  readonly withdraw: (orgId: OrgId) => void
  /**
   * A turn was kept. Called before anybody hears the answers. `reloaded`: what happened since the last one is unknown.
   * Answers with what begins the runs it has claimed, which is called once and soon.
   */
  readonly settled: (office: Office, result: TurnResult, reloaded: boolean) => () => void
  /** Whether no other node takes turns in this org, so that nobody else's lock is ever waited for. */
  readonly isAlone: () => boolean
  /** `broken`: it is not the database that is away, something in the turn cannot be done. */
  readonly failed: (error: unknown, broken: boolean) => void
  /** The org does not get on although the database answers: its turns have failed so many times in a row. */
  readonly stuck: (orgId: OrgId, error: unknown, failures: number) => void
  /** Something went wrong after a turn was kept, which changes nothing about it. */
  readonly mishap: (error: unknown) => void
  readonly recovered: () => void
  /** Rings at the moment, or soon after. Answers with how to call it off. */
  readonly ringAt: (at: Instant, ring: () => void) => () => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** How long to wait after so many failures in a row. */
  readonly backoffMs: (failures: number) => number
}
