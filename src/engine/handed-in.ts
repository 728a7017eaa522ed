import type { OrgId } from '../domain/ids.ts'
import type { Command } from './commands-port.ts'
import type { Log } from './loops/health.ts'
import type { OrgActor } from './org-actor.ts'

/**
 * Commands that a loop has submitted and that are not done yet. A loop never waits for an org: it skips orgs whose
 * earlier command is still pending, so that an org whose transactions fail delays no other org.
 */
export interface LoopCommands {
  /** Orgs with a pending command of this kind. */
  readonly busy: () => readonly OrgId[]
  readonly isBusy: (orgId: OrgId) => boolean
  /** Submits a command of an org without a pending one. `done` is called once its transaction is committed. */
  readonly submit: <Answer>(command: Command<Answer>, done?: (answer: Answer) => void) => void
  /** The same in pieces: at least one, all of one org, which may be committed in several transactions. */
  readonly submitAll: <Answer>(
    commands: readonly Command<Answer>[],
    done?: (answers: readonly Answer[]) => void,
  ) => void
}

export interface LoopCommandsContext {
  readonly actorOf: (orgId: OrgId) => OrgActor
  readonly log: Log
  readonly counter: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly stopping: AbortSignal
}

/** Pause after a command that failed. */
const PAUSE_MS = 5_000

/** An org whose command has waited for this long is logged, once. */
const STUCK_AFTER_MS = 10_000

/** `kind` is named in the log. */
export function createLoopCommands(ctx: LoopCommandsContext, kind: string): LoopCommands {
  const busy = new Map<OrgId, { readonly since: number; isReported: boolean }>()
  const report = (): void => {
    for (const [orgId, one] of busy) {
      const waitedMs = Math.round(ctx.counter() - one.since)
      if (one.isReported || waitedMs < STUCK_AFTER_MS) continue
      one.isReported = true
      ctx.log({
        level: 'warn',
        message: 'An org gets no transaction',
        facts: { org: orgId, work: kind, waited_ms: waitedMs },
      })
    }
  }
  const execute = async <Answer>(
    orgId: OrgId,
    commands: readonly Command<Answer>[],
    done?: (answers: readonly Answer[]) => void,
  ): Promise<void> => {
    try {
      const answers = await Promise.all(commands.map((command) => ctx.actorOf(orgId).execute(command, true)))
      busy.delete(orgId)
      done?.(answers)
    } catch (error) {
      if (ctx.stopping.aborted) return
      const facts = { org: orgId, work: kind, error: error instanceof Error ? error.message : String(error) }
      ctx.log({ level: 'error', message: 'A command of the engine failed', facts })
      await ctx.sleep(PAUSE_MS, ctx.stopping)
    } finally {
      busy.delete(orgId)
    }
  }
  const submitAll: LoopCommands['submitAll'] = (commands, done) => {
    const orgId = commands[0]?.orgId
    if (orgId === undefined) return
    busy.set(orgId, { since: ctx.counter(), isReported: false })
    void execute(orgId, commands, done)
  }
  return {
    busy: () => {
      report()
      return [...busy.keys()]
    },
    isBusy: (orgId) => busy.has(orgId),
    submit: <Answer>(command: Command<Answer>, done?: (answer: Answer) => void) => {
      submitAll([command], (answers) => done?.(answers[0] as Answer))
    },
    submitAll,
  }
}
