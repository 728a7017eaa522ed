import type { OrgId } from '../domain/ids.ts'
import type { Work } from '../service/turn-port.ts'
import type { Log } from './loops/health.ts'
import type { Office } from './office-context.ts'

/**
 * Work that a loop has handed in and that is not done yet. A loop never waits for an org: it leaves out the orgs that are
 * still busy with what it handed in before, so that an org that gets no turn keeps nobody else waiting.
 */
export interface HandedIn {
  /** Orgs that are busy with work of this kind. */
  readonly busy: () => readonly OrgId[]
  readonly isBusy: (orgId: OrgId) => boolean
  /** Hands in work for an org that is not busy. `done` is called when its turn was kept. */
  readonly hand: <Answer>(work: Work<Answer>, done?: (answer: Answer) => void) => void
  /** The same in pieces, of one org and at least one, which may be kept in several turns. */
  readonly handAll: <Answer>(works: readonly Work<Answer>[], done?: (answers: readonly Answer[]) => void) => void
}

export interface HandedInContext {
  readonly officeOf: (orgId: OrgId) => Office
  readonly log: Log
  readonly counter: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly stopping: AbortSignal
}

/** How long work that could not be carried out is left alone. */
const PAUSE_MS = 5_000

/** An org that has waited so long for its turn is reported, once. */
const STUCK_AFTER_MS = 10_000

/** `kind` is named in the log. */
export function createHandedIn(ctx: HandedInContext, kind: string): HandedIn {
  const busy = new Map<OrgId, { readonly since: number; isReported: boolean }>()
  const report = (): void => {
    for (const [orgId, one] of busy) {
      const waitedMs = Math.round(ctx.counter() - one.since)
      if (one.isReported || waitedMs < STUCK_AFTER_MS) continue
      one.isReported = true
      ctx.log({ level: 'warn', message: 'An org gets no turn', facts: { org: orgId, work: kind, waited_ms: waitedMs } })
    }
  }
  const carryOut = async <Answer>(
    orgId: OrgId,
    works: readonly Work<Answer>[],
    done?: (answers: readonly Answer[]) => void,
  ): Promise<void> => {
    try {
      const answers = await Promise.all(works.map((work) => ctx.officeOf(orgId).take(work, true)))
      busy.delete(orgId)
      done?.(answers)
    } catch (error) {
      if (ctx.stopping.aborted) return
      const facts = { org: orgId, work: kind, error: error instanceof Error ? error.message : String(error) }
      ctx.log({ level: 'error', message: 'Work of the engine could not be carried out', facts })
      await ctx.sleep(PAUSE_MS, ctx.stopping)
    } finally {
      busy.delete(orgId)
    }
  }
  const handAll: HandedIn['handAll'] = (works, done) => {
    const orgId = works[0]?.orgId
    if (orgId === undefined) return
    busy.set(orgId, { since: ctx.counter(), isReported: false })
    void carryOut(orgId, works, done)
  }
  return {
    busy: () => {
      report()
      return [...busy.keys()]
    },
    isBusy: (orgId) => busy.has(orgId),
    hand: <Answer>(work: Work<Answer>, done?: (answer: Answer) => void) => {
      handAll([work], (answers) => done?.(answers[0] as Answer))
    },
    handAll,
  }
}
