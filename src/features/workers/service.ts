import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { InvitationView } from '../access/restrictions-schema.ts'
import type { ClaimAnswer, ClaimInput, WorkerAttempt, WorkerCancel, WorkerView } from './schema.ts'
import { agentId, type AgentId, attemptId, type AttemptId, type OrgId, runId, type RunId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import { formatInstant, type Instant, later } from '../../domain/instant.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { listAgents, loadAgents } from '../agents/store.ts'
import { readClock } from '../../platform/db/clock.ts'
import type { Connection } from '../../platform/db/database.ts'
import {
  countHeldAttempts,
  declareWorkersLost,
  insertWorker,
  listWorkers,
  loadWorkers,
  renewWorkers,
  saveWorker,
  type WorkerClaim,
  type WorkerRow,
} from './store.ts'
import type { Caller } from '../access/caller.ts'
import type { Ports } from '../../engine/ports.ts'
import { releaseCommand } from '../../engine/commands/assign.ts'

interface AttemptRef {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
}

/** A worker that waits for attempts to start or stop. */
export interface WaitingWorker {
  readonly orgId: OrgId
  readonly workerId: string
  readonly agents: readonly AgentId[]
  readonly capacity: number
  /** It takes no more attempts and only waits for cancellations. */
  readonly draining: boolean
  /** Ids of the attempts it is working on. */
  readonly holding: readonly string[]
  readonly waitMs: number
  /** Aborted when the worker disconnects. */
  readonly signal: AbortSignal
}

/** The attempts that a worker should start, and those it should stop. */
export interface WorkerUpdates {
  readonly attempts: readonly WorkerAttempt[]
  readonly cancel: readonly WorkerCancel[]
}

/** The claims of workers that wait at this node. */
export interface WorkerPort {
  /** The API access of an attempt. Null: its agent has no `self_service`. Omitted: no agent has. */
  readonly createInvitation?: (attempt: AttemptRef & { readonly agentId: AgentId }) => Promise<InvitationView | null>
  /** Resolves as soon as there is something to start or stop, or with empty lists after the wait. */
  readonly wait: (worker: WaitingWorker) => Promise<WorkerUpdates>
  /** Publishes an event of an attempt in progress to the clients that watch the run. */
  readonly publish: (published: AttemptRef & { readonly event: unknown }) => void
  /** Publishes and stores the events of an attempt before its result. */
  readonly settle: (attempt: AttemptRef) => Promise<void> | null
}

/** Defaults of a claim. */
const DEFAULT_CAPACITY = 1
const DEFAULT_WAIT_SECONDS = 20

/** The refusal for a worker whose lease has lapsed: its attempts went to other workers, and it must register again. */
export const workerLost = (id: string): Refusal =>
  new Refusal(
    'WORKER_LOST',
    `Worker ${id} does not exist, or its lease has lapsed. Stop its attempts, and claim without a worker_id.`,
  )

/** Registers a worker or renews its lease, then waits for attempts to start or stop. */
export async function claimAttempts(
  { ports, workers }: { readonly ports: Ports; readonly workers: Pick<WorkerPort, 'wait' | 'createInvitation'> },
  caller: Caller,
  { claim, signal }: { readonly claim: ClaimInput; readonly signal: AbortSignal },
): Promise<ClaimAnswer> {
  const { orgId } = caller
  const { node } = ports.settings()
  const { agents, capacity = DEFAULT_CAPACITY, draining = false, wait_seconds: wait = DEFAULT_WAIT_SECONDS } = claim
  const now = await readClock(ports.database)
  const fields = { orgId, agents: [...new Set(agents)], capacity, draining, leaseUntil: later(now, node.leaseMs) }
  const id = await registerOrRenew(ports, caller, { claim, fields, now })
  const updates = await workers.wait({
    ...{ orgId, workerId: id, agents: fields.agents.map((name) => agentId(name)), capacity, draining, signal },
    ...{ holding: claim.holding ?? [], waitMs: wait * 1_000 },
  })
  if (signal.aborted && updates.attempts.length > 0) await returnAttempts(ports, orgId, updates.attempts)
  const leaseUntil = later(ports.clock.now(), node.leaseMs)
  return {
    worker_id: id,
    lease_until: formatInstant(leaseUntil),
    renew_seconds: Math.max(1, node.renewMs / 1_000),
    attempts: await Promise.all(updates.attempts.map((attempt) => withInvitation(workers, orgId, attempt))),
    cancel: updates.cancel,
  }
}

/** Adds the API access of the attempt, for agents with `self_service`. */
async function withInvitation(
  workers: Pick<WorkerPort, 'createInvitation'>,
  orgId: OrgId,
  attempt: WorkerAttempt,
): Promise<WorkerAttempt> {
  const { run_id: run, attempt_id: id, agent_id: agent } = attempt
  const attemptRef = { orgId, runId: runId(run), attemptId: attemptId(id), agentId: agentId(agent) }
  const escapement = (await workers.createInvitation?.(attemptRef)) ?? null
  return escapement === null ? attempt : { ...attempt, escapement }
}

/** Returns attempts whose claim was disconnected, so that other workers get them before the start timeout. */
const returnAttempts = (ports: Ports, orgId: OrgId, attempts: ClaimAnswer['attempts']): Promise<void> =>
  ports.commands.execute(
    releaseCommand(
      orgId,
      attempts.map(({ run_id: run, attempt_id: attempt }) => ({ runId: runId(run), attemptId: attemptId(attempt) })),
    ),
  )

interface ClaimContext {
  readonly claim: ClaimInput
  readonly fields: Omit<WorkerClaim, 'id'>
  readonly now: Instant
}

async function registerOrRenew(ports: Ports, { orgId, principal }: Caller, context: ClaimContext): Promise<string> {
  const { claim, fields, now } = context
  const existingId = claim.worker_id ?? null
  if (existingId !== null) {
    if (!(await saveWorker(ports.database, { ...fields, id: existingId }))) throw workerLost(existingId)
    return existingId
  }
  const flaws = await agentFlaws(ports, orgId, claim.agents)
  if (flaws.length > 0) throw invalid(flaws)
  const id = ports.newId('worker', now)
  await insertWorker(ports.database, {
    ...{ ...fields, id, name: claim.name ?? id, principal, connectedAt: now, lost: false },
  })
  return id
}

/** Maximum number of agents listed in an error message. */
const MAX_SUGGESTED_AGENTS = 20

/** Refuses agents without the worker executor on registration, because such a worker would wait forever. */
async function agentFlaws(ports: Ports, orgId: OrgId, names: readonly string[]): Promise<readonly Flaw[]> {
  const rows = await loadAgents(ports.database, { orgId, ids: names.map((name) => agentId(name)) })
  const kinds = new Map<string, string>(rows.map(({ id, executor }) => [id, executor.kind]))
  if (names.every((name) => kinds.get(name) === 'worker')) return []
  const all = await listAgents(ports.database, { orgId })
  const possible = all.filter(({ executor }) => executor.kind === 'worker').map(({ id }) => id as string)
  const isShort = possible.length > 0 && possible.length <= MAX_SUGGESTED_AGENTS
  const allowed = isShort ? possible.join(', ') : 'an agent whose executor is {"kind": "worker"}'
  return names.flatMap((name, index): readonly Flaw[] => {
    const kind = kinds.get(name)
    if (kind === 'worker') return []
    const near = nearestWord(name, possible)
    const message =
      kind === undefined
        ? `is not an agent of this org${near === null ? '' : `; did you mean ${near}?`}`
        : `is an agent with executor kind ${kind}, not worker`
    return [{ field: `agents.${index}`, value: name, message, allowed }]
  })
}

const MAX_LISTED_WORKERS = 200

/** The registered workers that are not lost. */
export async function findWorkers(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId }: Pick<Caller, 'orgId'>,
): Promise<Page<WorkerView>> {
  const rows = await listWorkers(database, { orgId, limit: MAX_LISTED_WORKERS })
  const held = rows.length === 0 ? new Map<string, number>() : await countHeldAttempts(database, orgId)
  const now = clock.now()
  const items = rows.map((row) => ({
    ...{ id: row.id, name: row.name, agents: row.agents, capacity: row.capacity, held: held.get(row.id) ?? 0 },
    ...{ connected_at: formatInstant(row.connectedAt), lease_until: formatInstant(row.leaseUntil) },
    ...{ alive: row.leaseUntil > now, draining: row.draining },
  }))
  return { items, next_cursor: null }
}

/** The fields of a worker that nodes need. */
export interface WorkerInfo {
  readonly orgId: OrgId
  readonly id: string
  readonly agents: readonly (AgentId | string)[]
  readonly capacity: number
  readonly draining: boolean
}

/** All registered workers, and the current time of the database clock. */
export async function readWorkers(
  connection: Connection,
): Promise<{ readonly now: Instant; readonly workers: readonly WorkerRow[] }> {
  const now = await readClock(connection)
  return { now, workers: await loadWorkers(connection) }
}

/** Declares workers lost whose lease is unchanged. Only the returned ids count as lost. */
export const markWorkersLost = (
  connection: Connection,
  seen: readonly Pick<WorkerRow, 'id' | 'leaseUntil'>[],
): Promise<readonly string[]> => declareWorkersLost(connection, seen)

/** Renews the leases of workers with an open claim at this node. */
export async function renewWaitingWorkers(
  connection: Connection,
  ids: readonly string[],
  leaseMs: number,
): Promise<void> {
  if (ids.length === 0) return
  const now = await readClock(connection)
  await renewWorkers(connection, { ids, leaseUntil: later(now, leaseMs) })
}
