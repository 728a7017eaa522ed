import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Work } from '../service/turn-port.ts'
import type { Offer } from '../service/turn/claim.ts'
import { readFailure } from '../service/turn/failures.ts'
import { applyNodeFacts, type Memory } from '../service/turn/memory.ts'
import { nextMoment } from '../service/turn/passing.ts'
import { CommitUnknown, takeTurn, wasKept, type TurnContext, type TurnResult } from '../service/turn/turn.ts'

/**
 * Where the work of one org is done, one turn at a time. Whatever arrives while a turn is under way goes together in the
 * next one: a caller alone waits for nobody, a thousand callers share one transaction.
 */
export interface Office {
  readonly orgId: OrgId
  /** `patient` work is repeated for as long as it takes; other work is given up when the database stays away. */
  readonly take: <Answer>(work: Work<Answer>, patient?: boolean) => Promise<Answer>
  /** Asks for a turn: something has changed outside, or a moment has come. */
  readonly wake: () => void
  /** What is known of the org; null while nothing is. Between turns it may be behind other nodes. */
  readonly memory: () => Memory | null
  /** The node's lanes, executors or settings have changed. */
  readonly refresh: () => void
  /** Waits for the turn that is under way and all that was handed in before. */
  readonly idle: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface OfficeContext {
  readonly turnContext: () => TurnContext
  readonly load: (orgId: OrgId) => Promise<Memory>
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
  readonly recovered: () => void
  /** Rings at the moment, or soon after. Answers with how to call it off. */
  readonly ringAt: (at: Instant, ring: () => void) => () => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** How long to wait after so many failures in a row. */
  readonly backoffMs: (failures: number) => number
  /** How long work that is not patient waits for a database that is away. */
  readonly patienceMs: number
  readonly counter: () => number
}

interface Entry {
  readonly work: Work<unknown>
  readonly patient: boolean
  readonly since: number
  /** It failed together with others: it is tried by itself. */
  alone: boolean
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Where an office stands. */
interface Desktop {
  readonly ctx: OfficeContext
  readonly office: Office
  readonly closing: AbortController
  queue: Entry[]
  memory: Memory | null
  /** The node has changed since the memory was told about it. */
  stale: boolean
  /** What happened since the last turn that was kept is not known. */
  reloaded: boolean
  /** A turn is wanted although nothing may be queued. */
  wanted: boolean
  turning: Promise<void> | null
  failures: number
  callOff: (() => void) | null
  /** Begins what the last turn has claimed. Null: it has begun. */
  begin: (() => void) | null
}

/** More work than this is not put in one turn, so that no turn takes for ever. */
const MOST_PER_TURN = 2_000

const STOPPED = 'the engine has stopped'

export function createOffice(ctx: OfficeContext, orgId: OrgId): Office {
  const office: Office = {
    orgId,
    take: <Answer>(work: Work<Answer>, patient = false) =>
      new Promise<Answer>((resolve, reject) => {
        if (top.closing.signal.aborted) {
          reject(new Error(STOPPED))
          return
        }
        top.queue.push({
          work: work as Work<unknown>,
          patient,
          since: ctx.counter(),
          alone: false,
          resolve: resolve as (answer: unknown) => void,
          reject,
        })
        top.turning ??= run(top)
      }),
    wake: () => {
      wake(top)
    },
    memory: () => top.memory,
    refresh: () => {
      top.stale = true
      wake(top)
    },
    idle: async () => {
      while (top.turning !== null) await top.turning
    },
    close: async () => {
      top.closing.abort()
      top.callOff?.()
      while (top.turning !== null) await top.turning
      for (const entry of top.queue) entry.reject(new Error(STOPPED))
      top.queue = []
    },
  }
  const top: Desktop = {
    ctx,
    office,
    closing: new AbortController(),
    queue: [],
    memory: null,
    stale: false,
    reloaded: true,
    wanted: false,
    turning: null,
    failures: 0,
    callOff: null,
    begin: null,
  }
  return office
}

function wake(top: Desktop): void {
  top.wanted = true
  top.turning ??= run(top)
}

async function run(top: Desktop): Promise<void> {
  // Everything that is handed in in the same breath goes in the same turn.
  await Promise.resolve()
  const hasWork = (): boolean => (top.queue.length > 0 || top.wanted) && !top.closing.signal.aborted
  while (hasWork()) {
    await takeOne(top)
    // What begins may hand in more at once, so the end is only here when nothing is left to begin.
    if (!hasWork()) beginClaims(top)
  }
  top.turning = null
  top.callOff?.()
  const next = top.memory === null ? null : nextMoment(top.memory)
  const over = next === null || top.closing.signal.aborted
  top.callOff = over
    ? null
    : top.ctx.ringAt(next, () => {
        wake(top)
      })
}

/** What writes by itself, or has failed in company, goes alone: nobody else suffers if it cannot be done. */
const goesAlone = (entry: Entry): boolean => entry.alone || entry.work.prepare !== undefined

function nextBatch(top: Desktop): readonly Entry[] {
  const [first] = top.queue
  let size = 0
  if (first !== undefined && goesAlone(first)) size = 1
  else
    for (const entry of top.queue) {
      if (goesAlone(entry) || size >= MOST_PER_TURN) break
      size += 1
    }
  return top.queue.slice(0, size)
}

async function takeOne(top: Desktop): Promise<void> {
  const { ctx, office } = top
  top.wanted = false
  let batch: readonly Entry[] = []
  const works = (): readonly Work<unknown>[] => {
    // Whoever has changed a lane and then hands in work for it means the lane as it is now, also in a turn under way.
    takeInFacts(top)
    batch = nextBatch(top)
    top.queue = top.queue.slice(batch.length)
    return batch.map(({ work }) => work)
  }
  try {
    top.memory ??= await ctx.load(office.orgId)
    const turnContext = ctx.turnContext()
    takeInFacts(top)
    const ahead = (): readonly Work<unknown>[] => nextBatch(top).map(({ work }) => work)
    const offer = (): Offer | null => ctx.offer(office.orgId)
    const committing = (): void => {
      ctx.decided(office.orgId)
      beginClaims(top)
    }
    const result = await takeTurn(turnContext, top.memory, { ahead, works, offer, committing })
    beginClaims(top)
    keep(top, batch, result)
    ctx.withdraw(office.orgId)
  } catch (error) {
    beginClaims(top)
    top.memory = null
    top.reloaded = true
    // While it is not known whether the turn was kept, nobody else may be offered what it may have taken.
    if (!(error instanceof CommitUnknown)) ctx.withdraw(office.orgId)
    await recover(top, batch, error)
  }
}

function takeInFacts(top: Desktop): void {
  if (top.stale && top.memory !== null) applyNodeFacts(top.memory, top.ctx.turnContext().node)
  top.stale = false
}

function keep(top: Desktop, batch: readonly Entry[], result: TurnResult): void {
  if (top.failures > 0) top.ctx.recovered()
  top.failures = 0
  top.begin = top.ctx.settled(top.office, result, top.reloaded)
  // With more to do, the claims begin while the server writes the next turn, so that node and server work at once.
  if (!top.ctx.isAlone()) beginClaims(top)
  top.reloaded = top.memory === null
  batch.forEach((entry, index) => {
    const done = result.done[index]
    if (done?.ok === true) entry.resolve(done.answer)
    else entry.reject(done?.refusal ?? new Error('a turn answered nothing'))
  })
}

function beginClaims(top: Desktop): void {
  const { begin } = top
  top.begin = null
  begin?.()
}

async function recover(top: Desktop, batch: readonly Entry[], error: unknown): Promise<void> {
  const { ctx } = top
  top.failures += 1
  const failure = readFailure(error)
  if (failure !== 'repeat') ctx.failed(error, failure === 'broken')
  if (error instanceof CommitUnknown) {
    const kept = await askUntilKnown(top, error)
    if (kept) keep(top, batch, error.result)
    ctx.withdraw(top.office.orgId)
    if (kept) return
  }
  // Work that is not in a turn yet cannot be what is wrong; it waits.
  if (failure === 'broken') {
    if (batch.length === 1) {
      batch[0]?.reject(error)
      top.failures = 0
      return
    }
    for (const entry of batch) entry.alone = true
  }
  requeue(top, batch, error)
  const waitMs = failure === 'repeat' && top.failures < 3 ? 0 : ctx.backoffMs(top.failures)
  await ctx.sleep(waitMs, top.closing.signal)
}

/** What has waited too long is told so; the rest comes first when it goes on. */
function requeue(top: Desktop, batch: readonly Entry[], error: unknown): void {
  const late = top.ctx.counter() - top.ctx.patienceMs
  const kept = batch.filter((entry) => entry.patient || entry.since > late)
  for (const entry of batch) if (!kept.includes(entry)) entry.reject(error)
  top.queue = [...kept, ...top.queue]
  top.wanted = true
}

async function askUntilKnown(top: Desktop, unknown: CommitUnknown): Promise<boolean> {
  const { ctx, closing, office } = top
  for (let asked = 1; !closing.signal.aborted; asked += 1)
    try {
      return await wasKept(ctx.turnContext(), office.orgId, unknown.written)
    } catch (error) {
      ctx.failed(error, false)
      await ctx.sleep(ctx.backoffMs(asked), closing.signal)
    }
  return false
}
