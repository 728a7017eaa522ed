import { type Finding, type Subject, problemText, type DoctorProblemCode, okFinding } from './problems.ts'
import { oneLine } from '../output/text.ts'
import { durationText } from '../output/times.ts'
import type { Client } from '../../client/client.ts'
import { EscapementError } from '../../client/errors.ts'
import { largest } from '../../domain/long-lists.ts'
import type { AgentView } from '../../features/agents/schema.ts'
import type { NodeView } from '../../features/nodes/schema.ts'
import type { RunView } from '../../features/runs/schema.ts'

/** Finds lanes in which runs wait for a slot. */
async function checkLanes(client: Client): Promise<readonly Finding[]> {
  const { items } = await client.lanes.list()
  const full = items.filter(({ active, concurrency, pending }) => active >= concurrency && pending > 0)
  if (full.length === 0) return [okFinding('lanes', items.map(({ name }) => name).join(', '))]
  return full.map(({ name, active, pending }) =>
    problemText(
      'lane_full',
      `${name}: ${active} active, ${pending} waiting`,
      `Add slots: escapement lanes set ${name} SIZE`,
    ),
  )
}

/** How many of the newest runs and of the agents are checked. */
const MAX_CHECKED = 200
const ENDED_WITH_RESULT: ReadonlySet<string> = new Set(['success', 'failed', 'timeout'])

/** Finds agents whose last run failed, and agents that no node can execute. */
async function checkAgents(client: Client): Promise<readonly Finding[]> {
  const { items: runs } = await client.runs.list({ limit: MAX_CHECKED })
  const { items: agents } = await client.agents.list({ limit: MAX_CHECKED })
  const newest = new Map<string, RunView>()
  for (const run of runs)
    if (ENDED_WITH_RESULT.has(run.status) && !newest.has(run.agent_id)) newest.set(run.agent_id, run)
  const failing = [...newest.values()].filter(({ status }) => status !== 'success').map(failingAgent)
  const found = [
    ...(await findUnexecutableAgents(client, agents)),
    ...(await findAgentsWithoutWorker(client, agents)),
    ...failing,
  ]
  return found.length > 0 ? found : [okFinding('agents', agents.map(({ id }) => id).join(', '))]
}

/** The problem of the agent by error code of its run. */
const PROBLEM_BY_ERROR: Readonly<Record<string, DoctorProblemCode>> = {
  outbound_refused: 'agent_loopback',
  network: 'agent_unreachable',
  executor_offline: 'agent_unreachable',
}

function failingAgent({ id, agent_id, error_code, error_message, status }: RunView): Finding {
  const message = error_message === null ? (error_code ?? status) : oneLine(error_message)
  return problemText(PROBLEM_BY_ERROR[error_code ?? ''] ?? 'agent_failing', `${agent_id}: ${message} (${id})`)
}

/** Skipped without operator permission, which is needed to list nodes. */
async function findUnexecutableAgents(client: Client, agents: readonly AgentView[]): Promise<readonly Finding[]> {
  const nodes = await nullIfForbidden(client.nodes.list())
  if (nodes === null) return []
  const executors = new Set(nodes.items.flatMap((node) => (node.alive ? node.executors : [])))
  return agents
    .filter(({ id, executor: { kind } }) => kind !== 'worker' && !isExecutable(executors, id, kind))
    .map(({ id, executor: { kind } }) => problemText('agent_homeless', `${id}: no node executes this ${kind} agent`))
}

const isExecutable = (executors: ReadonlySet<string>, id: string, kind: string): boolean =>
  executors.has(kind === 'in-process' ? `in-process:${id}` : kind)

/** Finds agents with executor `worker` for which no worker is connected. */
async function findAgentsWithoutWorker(client: Client, agents: readonly AgentView[]): Promise<readonly Finding[]> {
  const workerAgents = agents.filter(({ executor: { kind } }) => kind === 'worker')
  const workers = workerAgents.length === 0 ? null : await nullIfForbidden(client.workers.list())
  if (workers === null) return []
  const served = new Set(workers.items.flatMap((worker) => (worker.alive ? worker.agents : [])))
  return workerAgents
    .filter(({ id }) => !served.has(id))
    .map(({ id }) => problemText('worker_missing', `${id}: no worker is connected for it`))
}

async function nullIfForbidden<T>(response: Promise<T>): Promise<T | null> {
  try {
    return await response
  } catch (error) {
    if (error instanceof EscapementError && error.code === 'FORBIDDEN') return null
    throw error
  }
}

/** Lists open alerts, without stalled engines, which are reported with the nodes. */
async function checkAlerts(client: Client): Promise<readonly Finding[]> {
  const { items } = await client.alerts.list({ status: 'open' })
  const open = items.filter(({ kind }) => kind !== 'engine_stalled')
  if (open.length === 0) return [okFinding('alerts', 'none open')]
  return open.map(({ kind, subject_id, sentence }) =>
    problemText('alert_open', `${kind} of ${subject_id}: ${sentence}`),
  )
}

/** What every check of a server needs. */
interface ServerCheck {
  readonly client: Client
  /** The version of this command. */
  readonly version: string
  readonly now: number
}

/** Time limit of a request to a server that may hang. */
export const CHECK_TIMEOUT = { timeoutMs: 5_000 } as const

/** Checks a server that answers. */
export async function checkApi(check: ServerCheck): Promise<readonly Finding[]> {
  const { client } = check
  const own = [
    ...(await runCheck('version', () => checkVersion(check))),
    ...(await runCheck('ready', () => checkReady(client))),
  ]
  // Without its database it cannot authenticate the key.
  if (own.some(({ code }) => code === 'database_away')) return own
  const key = await runCheck('key', () => checkKey(client))
  if (key.some(({ state }) => state === 'bad')) return [...own, ...key]
  return [
    ...own,
    ...key,
    ...(await runCheck('nodes', () => checkNodes(check))),
    ...(await runCheck('lanes', () => checkLanes(client))),
    ...(await runCheck('agents', () => checkAgents(client))),
    ...(await runCheck('alerts', () => checkAlerts(client))),
  ]
}

async function runCheck(what: Subject, readFindings: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await readFindings()
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    // A missing permission is not a problem of the server.
    if (error.code === 'FORBIDDEN') return [okFinding(what, 'this key has no permission to read it')]
    if (error.code === 'UNAUTHENTICATED') return [problemText('key_refused', error.message)]
    if (error.code === 'DATABASE_AWAY') return [problemText('database_away', error.message)]
    return [problemText('server_silent', `${what}: ${error.message}`)]
  }
}

async function checkVersion({ client, version: own }: ServerCheck): Promise<readonly Finding[]> {
  const { version } = await client.probes.version(CHECK_TIMEOUT)
  return version === own
    ? [okFinding('version', version)]
    : [problemText('version_differs', `the server is ${version}, this command is ${own}`)]
}

async function checkReady(client: Client): Promise<readonly Finding[]> {
  const { ready, database, away_since, engine, draining, node_id } = await client.probes.ready(CHECK_TIMEOUT)
  if (database === 'away')
    return [problemText('database_away', `node ${node_id} has no database since ${away_since ?? '?'}`)]
  if (draining) return [problemText('node_draining', `node ${node_id} is draining`)]
  if (engine === 'stalled') return [problemText('node_stalled', `node ${node_id} does not look for due work`)]
  if (!ready) return [problemText('node_draining', `node ${node_id} is starting or draining`)]
  return [okFinding('ready', `database ${database}`)]
}

async function checkKey(client: Client): Promise<readonly Finding[]> {
  const { role, org, permissions } = await client.auth.me(CHECK_TIMEOUT)
  return [okFinding('key', `${role} of ${org.id}, ${permissions.length} permissions`)]
}

/** With a larger difference, leases and schedules look late here although they are not. */
const CLOCK_SLACK_MS = 60_000

/** Checks that nodes are alive, look for due work, and agree with the clock of this machine. */
async function checkNodes({ client, now }: ServerCheck): Promise<readonly Finding[]> {
  const { items } = await client.nodes.list(CHECK_TIMEOUT)
  const alive = items.filter((node) => node.alive)
  if (alive.length === 0) return [problemText('node_none', 'no node is alive')]
  const stalled = await client.alerts.list({ status: 'open', kind: 'engine_stalled' }, CHECK_TIMEOUT)
  return [
    ...(stalled.items.length > 0
      ? stalled.items.map(({ sentence, subject_id }) => problemText('node_stalled', `node ${subject_id}: ${sentence}`))
      : [countNodes(items)]),
    ...checkClock(
      alive.flatMap(({ scanned_at }) => (scanned_at === null ? [] : [Date.parse(scanned_at)])),
      now,
    ),
  ]
}

/** A node that stops in order is removed from the list at once; a crashed one after an hour. */
function countNodes(items: readonly NodeView[]): Finding {
  const alive = items.filter((node) => node.alive)
  const gone = items.filter((node) => !node.alive)
  const drains = alive.some(({ draining }) => draining) ? ', some of them draining' : ''
  const counted = `${alive.length} alive${drains}`
  return gone.length === 0
    ? okFinding('nodes', counted)
    : problemText('node_gone', `${counted}, ${gone.length} gone: ${gone.map(({ id }) => id).join(', ')}`)
}

/** Compares this clock with the newest scan time of a node, which comes from the database clock. */
function checkClock(scans: readonly number[], now: number): readonly Finding[] {
  if (scans.length === 0) return []
  const ahead = now - largest(scans)
  if (Math.abs(ahead) <= CLOCK_SLACK_MS) return [okFinding('clock', 'agrees with the database clock')]
  const how = `${durationText(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'}`
  return [problemText('clock_differs', `the clock of this machine is ${how} the database clock`)]
}
