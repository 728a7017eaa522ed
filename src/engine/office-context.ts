import type { OrgId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Work } from '../service/turn-port.ts'
import type { Offer } from '../service/turn/claim.ts'
import type { Memory } from '../service/turn/memory.ts'
import type { TurnContext, TurnResult } from '../service/turn/turn.ts'
import type { WorkQueueContext } from './work-queue.ts'

/**
 * Where the work of one org is done, one turn at a time. Whatever arrives while a turn is under way goes together in the
 * next one: a caller alone waits for nobody, a thousand callers share one transaction.
 */
export interface Office {
  readonly orgId: OrgId
  /** `patient` work is repeated for as long as it takes; other work is refused when it has waited too long. */
  readonly take: <Answer>(work: Work<Answer>, patient?: boolean) => Promise<Answer>
  /** Asks for a turn: something has changed outside, or a moment has come. */
  readonly wake: () => void
  /** What is known of the org; null while nothing is. Between turns it may be behind other nodes. */
  readonly memory: () => Memory | null
  /** The node's lanes, executors or settings have changed. */
  readonly refresh: () => void
  /** Nothing is under way, handed in or expected by itself. */
  readonly isIdle: () => boolean
  /** Waits for the turn that is under way and all that was handed in before. */
  readonly idle: () => Promise<void>
  readonly close: () => Promise<void>
}

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
