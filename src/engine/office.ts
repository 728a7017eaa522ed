import type { OrgId } from '../domain/ids.ts'
import type { Work } from '../service/turn-port.ts'
import { MemoryBehind, MemoryTooOld } from '../service/turn/catch-up.ts'
import { readFailure } from '../service/turn/failures.ts'
import { applyNodeFacts, type Memory } from '../service/turn/memory.ts'
import { nextMoment } from '../service/turn/passing.ts'
import { CommitUnknown, takeTurn, wasKept, type TurnResult } from '../service/turn/turn.ts'
import type { Office, OfficeContext } from './office-context.ts'
import { createWorkQueue, type Entry, type WorkQueue } from './work-queue.ts'

/** Where an office stands. */
interface Desktop {
  readonly ctx: OfficeContext
  readonly office: Office
  readonly closing: AbortController
  readonly queue: WorkQueue
  memory: Memory | null
  /** Turns of others that were taken in before the lock was, and that nobody was told of yet. */
  heard: TurnResult['heard']
  /** The node has changed since the memory was told about it. */
  stale: boolean
  /** What happened since the last turn that was kept is not known. */
  reloaded: boolean
  /** A turn is wanted although nothing may be queued. */
  wanted: boolean
  turning: Promise<void> | null
  failures: number
  /** How many of the last failures were not of the database. */
  repeats: number
  callOff: (() => void) | null
  /** Begins what the last turn has claimed. Null: it has begun. */
  begin: (() => void) | null
}

const STOPPED = 'the engine has stopped'

export function createOffice(ctx: OfficeContext, orgId: OrgId): Office {
  const office: Office = {
    orgId,
    take: <Answer>(work: Work<Answer>, patient = false) => {
      if (top.closing.signal.aborted) return Promise.reject(new Error(STOPPED))
      const answer = top.queue.add(work, patient)
      top.turning ??= run(top)
      return answer
    },
    wake: () => {
      wake(top)
    },
    memory: () => top.memory,
    refresh: () => {
      top.stale = true
      wake(top)
    },
    isIdle: () => top.turning === null && top.queue.isEmpty() && top.callOff === null,
    idle: async () => {
      while (top.turning !== null) await top.turning
    },
    close: async () => {
      top.closing.abort()
      top.callOff?.()
      while (top.turning !== null) await top.turning
      top.queue.close(new Error(STOPPED))
    },
  }
  const top: Desktop = {
    ctx,
    office,
    closing: new AbortController(),
    queue: createWorkQueue(ctx),
    memory: null,
    heard: [],
    stale: false,
    reloaded: true,
    wanted: false,
    turning: null,
    failures: 0,
    repeats: 0,
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
  const hasWork = (): boolean => (!top.queue.isEmpty() || top.wanted) && !top.closing.signal.aborted
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

/** What a turn has taken from the queue. */
interface Batch {
  entries: readonly Entry[]
}

async function takeOne(top: Desktop): Promise<void> {
  top.wanted = false
  const batch: Batch = { entries: [] }
  let result: TurnResult
  try {
    result = await tryTurn(top, batch)
  } catch (error) {
    beginClaims(top)
    // Before anything was decided nothing in the memory can be wrong.
    if (top.memory?.isUnsettled === true || error instanceof MemoryTooOld) forget(top)
    // While it is not known whether the turn was kept, nobody else may be offered what it may have taken.
    if (!(error instanceof CommitUnknown)) top.ctx.withdraw(top.office.orgId)
    await recover(top, batch.entries, error)
    return
  }
  beginClaims(top)
  keep(top, batch.entries, result)
  top.ctx.withdraw(top.office.orgId)
}

async function tryTurn(top: Desktop, batch: Batch): Promise<TurnResult> {
  const { ctx, office, queue } = top
  top.memory ??= await ctx.load(office.orgId)
  const turnContext = ctx.turnContext()
  takeInFacts(top)
  return takeTurn(turnContext, top.memory, {
    ahead: () => queue.next().map(({ work }) => work),
    works: () => {
      // Whoever has changed a lane and then hands in work for it means the lane as it is now, also in a turn under way.
      takeInFacts(top)
      batch.entries = queue.takeNext()
      return batch.entries.map(({ work }) => work)
    },
    offer: () => ctx.offer(office.orgId),
    committing: () => {
      ctx.decided(office.orgId)
      beginClaims(top)
    },
  })
}

/** Nothing that is remembered can be relied on any more. */
function forget(top: Desktop): void {
  top.memory = null
  top.heard = []
  top.reloaded = true
}

function takeInFacts(top: Desktop): void {
  if (top.stale && top.memory !== null) applyNodeFacts(top.memory, top.ctx.turnContext().node)
  top.stale = false
}

/** The turn is on record: whatever goes wrong from here on must not make anything of it happen twice. */
function keep(top: Desktop, entries: readonly Entry[], kept: TurnResult): void {
  const { ctx, queue } = top
  const result = top.heard.length === 0 ? kept : { ...kept, heard: [...top.heard, ...kept.heard] }
  top.heard = []
  try {
    if (top.failures > 0) ctx.recovered()
    top.begin = ctx.settled(top.office, result, top.reloaded)
    // With more to do, the claims begin while the server writes the next turn, so that node and server work at once.
    if (!ctx.isAlone()) beginClaims(top)
  } catch (error) {
    ctx.mishap(error)
  }
  top.failures = 0
  top.repeats = 0
  queue.setFailure(null)
  top.reloaded = top.memory === null
  result.done.forEach((done, index) => {
    if (done.ok) entries[index]?.resolve(done.answer)
    else entries[index]?.reject(done.refusal)
  })
  // The turn had no time for the rest.
  if (result.done.length < entries.length) queue.putBack(entries.slice(result.done.length))
}

function beginClaims(top: Desktop): void {
  const { begin } = top
  top.begin = null
  begin?.()
}

async function recover(top: Desktop, entries: readonly Entry[], error: unknown): Promise<void> {
  const { ctx, queue } = top
  if (error instanceof MemoryBehind) {
    await comeNearer(top, entries)
    return
  }
  top.failures += 1
  queue.setFailure(error)
  const failure = readFailure(error)
  if (failure !== 'repeat') ctx.failed(error, failure === 'broken')
  top.repeats = failure === 'repeat' ? top.repeats + 1 : 0
  if (isWorthSaying(top.repeats)) ctx.stuck(top.office.orgId, error, top.repeats)
  if (error instanceof CommitUnknown) {
    const kept = await askUntilKnown(top, error)
    if (kept) keep(top, entries, error.result)
    ctx.withdraw(top.office.orgId)
    if (kept) return
  }
  // Work that is not in a turn yet cannot be what is wrong; it waits.
  if (failure === 'broken') {
    if (entries.length === 1) {
      entries[0]?.reject(error)
      top.failures = 0
      return
    }
    for (const entry of entries) entry.alone = true
  }
  queue.putBack(entries)
  top.wanted = true
  const waitMs = failure === 'repeat' && top.failures < 3 ? 0 : ctx.backoffMs(top.failures)
  await ctx.sleep(waitMs, top.closing.signal)
}

/** The third failure in a row is worth a word, and from then on each whose number has doubled. */
const isWorthSaying = (failures: number): boolean => failures >= 3 && Number.isInteger(Math.log2(failures / 3))

/** Nothing has failed: what others did is taken in without the lock, and the turn begins again. */
async function comeNearer(top: Desktop, entries: readonly Entry[]): Promise<void> {
  top.queue.putBack(entries)
  top.wanted = true
  const { memory } = top
  if (memory === null) return
  try {
    const heard = await top.ctx.comeNearer(memory)
    if (heard === null) forget(top)
    else top.heard = [...top.heard, ...heard]
  } catch (error) {
    if (memory.isUnsettled) forget(top)
    await recover(top, [], error)
  }
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
