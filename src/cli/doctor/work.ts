import type { Client } from '../../client/client.ts'
import type { AgentView } from '../../features/agents/schema.ts'
import type { RunView } from '../../features/runs/schema.ts'
import { EscapementError } from '../../client/errors.ts'
import { oneLine } from '../output/text.ts'
import { trouble, well, type Finding, type TroubleCode } from './troubles.ts'

/** Lanes in which work waits for a slot. */
export async function lookAtLanes(client: Client): Promise<readonly Finding[]> {
  const { items } = await client.lanes.list()
  const full = items.filter(({ active, concurrency, pending }) => active >= concurrency && pending > 0)
  if (full.length === 0) return [well('lanes', items.map(({ name }) => name).join(', '))]
  return full.map(({ name, active, pending }) =>
    trouble('lane_full', `${name}: ${active} run, ${pending} wait`, `More slots: escapement lanes set ${name} SIZE`),
  )
}

/** So many of the newest runs are looked at. */
const RUNS_SEEN = 200
const ENDED: ReadonlySet<string> = new Set(['success', 'failed', 'timeout'])

/** Agents whose last run failed, and those that no node can execute. */
export async function lookAtAgents(client: Client): Promise<readonly Finding[]> {
  const { items: runs } = await client.runs.list({ limit: RUNS_SEEN })
  const { items: agents } = await client.agents.list({ limit: RUNS_SEEN })
  const newest = new Map<string, RunView>()
  for (const run of runs) if (ENDED.has(run.status) && !newest.has(run.agent_id)) newest.set(run.agent_id, run)
  const failing = [...newest.values()].filter(({ status }) => status !== 'success').map(failureOf)
  const found = [...(await findHomeless(client, agents)), ...(await findWorkerless(client, agents)), ...failing]
  return found.length > 0 ? found : [well('agents', agents.map(({ id }) => id).join(', '))]
}

/** What the error code of a run says about its agent. */
const CAUSES: Readonly<Record<string, TroubleCode>> = {
  outbound_refused: 'agent_loopback',
  network: 'agent_unreachable',
  executor_offline: 'agent_unreachable',
}

function failureOf({ id, agent_id, error_code, error_message, status }: RunView): Finding {
  const said = error_message === null ? (error_code ?? status) : oneLine(error_message)
  return trouble(CAUSES[error_code ?? ''] ?? 'agent_failing', `${agent_id}: ${said} (${id})`)
}

/** Only the operator sees nodes; for others it is left out. */
async function findHomeless(client: Client, agents: readonly AgentView[]): Promise<readonly Finding[]> {
  const nodes = await unlessForbidden(client.nodes.list())
  if (nodes === null) return []
  const executors = new Set(nodes.items.flatMap((node) => (node.alive ? node.executors : [])))
  return agents
    .filter(({ id, executor: { kind } }) => kind !== 'worker' && !isExecutable(executors, id, kind))
    .map(({ id, executor: { kind } }) => trouble('agent_homeless', `${id}: no node executes ${kind} agents for it`))
}

const isExecutable = (executors: ReadonlySet<string>, id: string, kind: string): boolean =>
  executors.has(kind === 'in-process' ? `in-process:${id}` : kind)

/** Workers come to fetch their work: no node has to know it. */
async function findWorkerless(client: Client, agents: readonly AgentView[]): Promise<readonly Finding[]> {
  const fetched = agents.filter(({ executor: { kind } }) => kind === 'worker')
  const workers = fetched.length === 0 ? null : await unlessForbidden(client.workers.list())
  if (workers === null) return []
  const served = new Set(workers.items.flatMap((worker) => (worker.alive ? worker.agents : [])))
  return fetched
    .filter(({ id }) => !served.has(id))
    .map(({ id }) => trouble('worker_missing', `${id}: no worker is connected that does its work`))
}

async function unlessForbidden<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof EscapementError && error.code === 'FORBIDDEN') return null
    throw error
  }
}

/** What was noticed. Standing still is told with the nodes. */
export async function lookAtAlerts(client: Client): Promise<readonly Finding[]> {
  const { items } = await client.alerts.list({ status: 'open' })
  const open = items.filter(({ kind }) => kind !== 'engine_stalled')
  if (open.length === 0) return [well('alerts', 'none is open')]
  return open.map(({ kind, subject_id, sentence }) => trouble('alert_open', `${kind} of ${subject_id}: ${sentence}`))
}
