import { unpackEvents } from '../../../src/engine/transaction/history-store.ts'
import { isTerminal } from '../../../src/domain/run/run-machine.ts'
import type { Request } from '../journal.ts'
import type { World } from '../shapes.ts'
import { groupBy, isEnded, type StoredRun, type Tables } from './tables.ts'
import { demand } from './invariants.ts'

/** Every run has ended once, for a reason, and was told once; everything that was acknowledged is there. */
export function checkEndings(world: World, tables: Tables): void {
  checkHistory(world, tables)
  for (const run of tables.runs) {
    checkEnded(run)
    // An attempt that was told to stop in a transaction that is lost says so to a record that knows nothing of it.
    if (world.journal.tails.length === 0) checkReason(run)
  }
  checkBounds(world, tables)
  demand(tables.pending.length === 0, 'nothing_stuck', () => `${tables.pending.length} rows are pending at the end`)
  checkRequests(world, tables)
}

function checkHistory({ serverFault }: World, { turns }: Tables): void {
  for (const [org, rows] of groupBy(turns, (row) => row['org_id'] as string))
    rows.forEach((row, index) => {
      demand(
        row['no'] === index + 1,
        'history_without_gaps',
        () => `turn ${index + 1} of ${org} is ${String(row['no'])}`,
      )
      demand(
        // Org time follows the server's clock, also when that is set back.
        serverFault === 'clock_step' || index === 0 || (row['at'] as number) >= (rows[index - 1]?.['at'] as number),
        'time_never_goes_back',
        () => `turn ${index + 1} of ${org} is before the one before it`,
      )
    })
}

/** What expires with the passing of time does so a piece at a time. Requests may add what has expired when it arrives. */
function checkBounds({ turnLimits, serverFault }: World, { turns }: Tables): void {
  if (serverFault !== 'many_due') return
  for (const turn of turns) {
    const expired = unpackEvents(turn['events']).filter(([, , data]) => data['status'] === 'expired').length
    demand(
      expired <= 2 * turnLimits.maxChanges + MAX_ASKED,
      'transactions_are_bounded',
      () => `${expired} runs expired in turn ${String(turn['no'])} of ${String(turn['org_id'])}`,
    )
  }
}

/** Requests in one breath, and what they expire by themselves. */
const MAX_ASKED = 20

function checkEnded(run: StoredRun): void {
  demand(isEnded(run), 'settles_once', () => `${run.id} has not ended`)
  const endings = run.told.filter(({ status }) => isTerminal(status))
  const about = (): string =>
    `${run.id} ended ${run.state ?? 'not'}, told as ${endings.map(({ status }) => status).join()}`
  demand(endings.length === 1 && endings[0]?.status === run.state, 'settles_once', about)
  demand(run.told.at(-1) === endings[0], 'settles_once', () => `something was told about ${run.id} after its end`)
}

/** Who may say that a run is cancelled: a person, a session, a schedule. No executor of ours stops of its own accord. */
const ASKED = new Set([
  ...['stopped', 'stopped_all', 'interrupted', 'superseded', 'lane_cleared', 'cancelled', 'stale'],
  'schedule_disabled',
])

function checkReason(run: StoredRun): void {
  if (run.state !== 'cancelled') return
  demand(
    ASKED.has(run.reason) && run.rule !== 'outcome',
    'ended_for_a_reason',
    () => `${run.id} was cancelled by nobody: ${run.reason}, ${run.rule}`,
  )
}

/** Compares what people were told with what is on record. Under the same key the same may have been asked several times. */
function checkRequests(world: World, { runs }: Tables): void {
  const { journal } = world
  const byId = new Map(runs.map((run) => [run.id, run]))
  const byMark = marksIn(runs)
  for (const request of journal.requests)
    if (request.runId !== null && !mayBeLost(world, request))
      demand(
        byId.has(request.runId),
        'nothing_lost',
        () => `${said(request)}, and ${request.runId ?? ''} is not on record`,
      )
  for (const [mark, requests] of groupBy(journal.requests, (request) => request.mark)) {
    if (mark === null || requests.some((request) => mayBeLost(world, request))) continue
    const found = byMark.get(mark) ?? []
    const told = (): string => requests.map(said).join(', ')
    const accepted = requests.filter(({ outcome }) => outcome === 'acknowledged')
    const isAccepted = accepted.length > 0
    if (isAccepted) demand(found.length > 0, 'nothing_lost', () => `${told()}, and no run answers for it`)
    if (requests.every(({ outcome, error }) => outcome === 'failed' || error === BUSY))
      demand(found.length === 0, 'nothing_doubled', () => `${told()}, and ${found.join()} came of it`)
    // A refusal binds no key: each may have left its own record.
    const entered = found.filter((id) => byId.get(id)?.state !== 'rejected')
    demand(entered.length <= 1, 'nothing_doubled', () => `${told()}, and is in ${entered.join()}`)
    demand(new Set(accepted.map(({ runId }) => runId)).size <= 1, 'nothing_doubled', () => `${told()}: two answers`)
  }
}

/** It was done in a transaction that the server has lost. */
const mayBeLost = ({ journal }: World, { at, answeredAt }: Request): boolean =>
  journal.tails.some(({ from, to }) => at <= to && (answeredAt === null || answeredAt >= from))

/** Nothing that was refused because it had waited too long is done later. */
const BUSY = 'BUSY'

const said = ({ kind, mark, node, outcome, error }: Request): string =>
  `${kind} ${mark ?? ''} to ${node} was ${outcome}${error === null ? '' : ` (${error})`}`

/** In which runs a message or task is. A retry repeats its payload and answers for nothing new. */
function marksIn(runs: readonly StoredRun[]): ReadonlyMap<string, readonly string[]> {
  const marks = new Map<string, Set<string>>()
  for (const run of runs)
    for (const [mark] of run.retryOf === null && run.scheduleId === null ? run.payload.matchAll(/<[^>]+>/g) : [])
      marks.set(mark, (marks.get(mark) ?? new Set()).add(run.id))
  return new Map([...marks].map(([mark, ids]) => [mark, [...ids]]))
}

/** What belongs to one org names nothing of another. */
export function checkApart(world: World, { runs, turns, occurrences, callbacks }: Tables): void {
  const orgOf = new Map(runs.map((run) => [run.id, run.orgId]))
  for (const run of runs)
    for (const [, org] of run.payload.matchAll(/<([a-z]+_\d+)-/g))
      demand(org === run.orgId, 'orgs_are_apart', () => `${run.id} of ${run.orgId} carries something of ${org ?? ''}`)
  for (const { runId, orgId } of occurrences)
    demand(orgOf.get(runId) === orgId, 'orgs_are_apart', () => `the ledger of ${orgId} names ${runId}`)
  for (const row of callbacks)
    demand(orgOf.get(row['run_id'] as string) === row['org_id'], 'orgs_are_apart', () => JSON.stringify(row['run_id']))
  for (const turn of turns)
    for (const [kind, subject] of unpackEvents(turn['events']))
      if (kind.startsWith('run.'))
        demand(
          orgOf.get(subject) === turn['org_id'],
          'orgs_are_apart',
          () => `${String(turn['org_id'])} tells of ${subject}`,
        )
  for (const { orgId, runId } of world.journal.performances.values())
    demand(
      (orgOf.get(runId) ?? (world.journal.tails.length > 0 ? orgId : undefined)) === orgId,
      'orgs_are_apart',
      () => `${runId} was performed for ${orgId}`,
    )
}
