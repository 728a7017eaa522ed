import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { ClaimAnswer, ClaimInput, WorkerAttempt, WorkerView } from './schema.ts'
import { agentId, type AgentId, attemptId, type OrgId, runId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import { formatInstant, type Instant, later } from '../../domain/instant.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { listAgents, loadAgents } from '../agents/store.ts'
import { readClock } from '../../platform/db/clock.ts'
import type { Connection } from '../../store/database.ts'
import {
  countHeld,
  declareWorkersLost,
  insertWorker,
  listWorkers,
  loadWorkers,
  renewWorkers,
  saveWorker,
  type WorkerCard,
  type WorkerRow,
} from '../../store/workers.ts'
import type { Caller } from '../../service/caller.ts'
import type { Ports } from '../../service/ports.ts'
import { releaseWork } from '../../service/turn/assign.ts'
import type { WorkerPort } from './port.ts'

/** What a claim has that says nothing. */
const DEFAULT_CAPACITY = 1
const DEFAULT_WAIT_SECONDS = 20

/** A worker was silent for too long: others have been given what it held, and it must begin anew. */
export const workerLost = (id: string): Refusal =>
  new Refusal(
    'WORKER_LOST',
    `Worker ${id} is not known any more. Stop what it still works on, and claim without a worker_id.`,
  )

/** Makes a worker known or renews its lease, then waits with it for something to do. */
export async function claimAttempts(
  { ports, workers }: { readonly ports: Ports; readonly workers: Pick<WorkerPort, 'wait' | 'invite'> },
  caller: Caller,
  { claim, signal }: { readonly claim: ClaimInput; readonly signal: AbortSignal },
): Promise<ClaimAnswer> {
  const { orgId } = caller
  const { node } = ports.settings()
  const { agents, capacity = DEFAULT_CAPACITY, draining = false, wait_seconds: wait = DEFAULT_WAIT_SECONDS } = claim
  const now = await readClock(ports.database)
  const card = { orgId, agents: [...new Set(agents)], capacity, draining, leaseUntil: later(now, node.leaseMs) }
  const id = await present(ports, caller, { claim, card, now })
  const news = await workers.wait({
    ...{ orgId, workerId: id, agents: card.agents.map((name) => agentId(name)), capacity, draining, signal },
    ...{ holding: claim.holding ?? [], waitMs: wait * 1_000 },
  })
  if (signal.aborted && news.attempts.length > 0) await giveBack(ports, orgId, news.attempts)
  const leaseUntil = later(ports.clock.now(), node.leaseMs)
  return {
    worker_id: id,
    lease_until: formatInstant(leaseUntil),
    renew_seconds: Math.max(1, node.renewMs / 1_000),
    attempts: await Promise.all(news.attempts.map((attempt) => invited(workers, orgId, attempt))),
    cancel: news.cancel,
  }
}

/** An attempt of an agent that makes things by itself brings the key of its own along. */
async function invited(
  workers: Pick<WorkerPort, 'invite'>,
  orgId: OrgId,
  attempt: WorkerAttempt,
): Promise<WorkerAttempt> {
  const { run_id: run, attempt_id: id, agent_id: agent } = attempt
  const named = { orgId, runId: runId(run), attemptId: attemptId(id), agentId: agentId(agent) }
  const escapement = (await workers.invite?.(named)) ?? null
  return escapement === null ? attempt : { ...attempt, escapement }
}

/** Nobody is there any more to be told: others need not wait until it has not begun in time. */
const giveBack = (ports: Ports, orgId: OrgId, attempts: ClaimAnswer['attempts']): Promise<void> =>
  ports.turns.take(
    releaseWork(
      orgId,
      attempts.map(({ run_id: run, attempt_id: attempt }) => ({ runId: runId(run), attemptId: attemptId(attempt) })),
    ),
  )

interface Presenting {
  readonly claim: ClaimInput
  readonly card: Omit<WorkerCard, 'id'>
  readonly now: Instant
}

async function present(ports: Ports, { orgId, principal }: Caller, of: Presenting): Promise<string> {
  const { claim, card, now } = of
  const known = claim.worker_id ?? null
  if (known !== null) {
    if (!(await saveWorker(ports.database, { ...card, id: known }))) throw workerLost(known)
    return known
  }
  const flaws = await agentFlaws(ports, orgId, claim.agents)
  if (flaws.length > 0) throw invalid(flaws)
  const id = ports.newId('worker', now)
  await insertWorker(ports.database, {
    ...{ ...card, id, name: claim.name ?? id, principal, connectedAt: now, lost: false },
  })
  return id
}

/** A longer list of agents says less than what they have in common. */
const MOST_NAMED = 20

/** A worker for an agent that nobody has would wait for ever without a word. Later agents may come and go. */
async function agentFlaws(ports: Ports, orgId: OrgId, names: readonly string[]): Promise<readonly Flaw[]> {
  const rows = await loadAgents(ports.database, { orgId, ids: names.map((name) => agentId(name)) })
  const kinds = new Map<string, string>(rows.map(({ id, executor }) => [id, executor.kind]))
  if (names.every((name) => kinds.get(name) === 'worker')) return []
  const all = await listAgents(ports.database, { orgId })
  const possible = all.filter(({ executor }) => executor.kind === 'worker').map(({ id }) => id as string)
  const isShort = possible.length > 0 && possible.length <= MOST_NAMED
  const allowed = isShort ? possible.join(', ') : 'an agent whose executor is {"kind": "worker"}'
  return names.flatMap((name, index): readonly Flaw[] => {
    const kind = kinds.get(name)
    if (kind === 'worker') return []
    const near = nearestWord(name, possible)
    const message =
      kind === undefined
        ? `is no agent of this org${near === null ? '' : `; did you mean ${near}?`}`
        : `is an agent that is performed by ${kind}, not by workers`
    return [{ field: `agents.${index}`, value: name, message, allowed }]
  })
}

const MOST_LISTED = 200

/** The workers that are connected. */
export async function findWorkers(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId }: Pick<Caller, 'orgId'>,
): Promise<Page<WorkerView>> {
  const rows = await listWorkers(database, { orgId, limit: MOST_LISTED })
  const held = rows.length === 0 ? new Map<string, number>() : await countHeld(database, orgId)
  const now = clock.now()
  const items = rows.map((row) => ({
    ...{ id: row.id, name: row.name, agents: row.agents, capacity: row.capacity, held: held.get(row.id) ?? 0 },
    ...{ connected_at: formatInstant(row.connectedAt), lease_until: formatInstant(row.leaseUntil) },
    ...{ alive: row.leaseUntil > now, draining: row.draining },
  }))
  return { items, next_cursor: null }
}

/** A worker, as far as nodes have to know it. */
export interface SeenWorker {
  readonly orgId: OrgId
  readonly id: string
  readonly agents: readonly (AgentId | string)[]
  readonly capacity: number
  readonly draining: boolean
}

/** Every worker on record, and the present by the same clock. */
export async function lookAtWorkers(
  connection: Connection,
): Promise<{ readonly now: Instant; readonly workers: readonly WorkerRow[] }> {
  const now = await readClock(connection)
  return { now, workers: await loadWorkers(connection) }
}

/** Declares workers lost whose lease nobody renews. Only those it answers with may be taken for dead. */
export const loseWorkers = (
  connection: Connection,
  seen: readonly Pick<WorkerRow, 'id' | 'leaseUntil'>[],
): Promise<readonly string[]> => declareWorkersLost(connection, seen)

/** Renews the leases of workers that are known to be there: they wait at this node. */
export async function renewWaiting(connection: Connection, ids: readonly string[], leaseMs: number): Promise<void> {
  if (ids.length === 0) return
  const now = await readClock(connection)
  await renewWorkers(connection, { ids, leaseUntil: later(now, leaseMs) })
}
