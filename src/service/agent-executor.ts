import { invalid } from '../api/refusals.ts'
import type { ExecutorSpec } from '../executors/kind.ts'
import { EXECUTORS } from '../executors/kinds.ts'
import { agentId, type OrgId, type ScheduleId } from '../domain/ids.ts'
import { loadAgents, type AgentExecutor } from '../features/agents/store.ts'
import { loadSchedules } from '../store/schedules.ts'
import { parseObject } from '../domain/input-fields.ts'
import type { Ports } from './ports.ts'

/** Whether somebody brings an executor whose address has to be judged. */
export const bringsAddress = (input: { readonly executor?: unknown } | null | undefined): boolean =>
  typeof input === 'object' && input !== null && input.executor !== undefined && input.executor !== null

/** Refuses an agent that would be called where nobody may call. What the guard lets through now is judged with every call. */
export async function judgeExecutor(
  ports: Pick<Ports, 'outbound'>,
  { executor }: { readonly executor?: unknown },
): Promise<void> {
  const given = parseObject('executor', executor)
  const options = given.ok ? given.value : {}
  const spec = EXECUTORS.find(({ kind }) => kind === String(options['kind']).toLowerCase())
  const address = spec?.address?.(options) ?? null
  // What cannot be read is told of in the turn, with everything else that is wrong.
  if (address === null) return
  const message = await ports.outbound.check(address.url, 'agent')
  const { option } = address
  if (message !== null) throw invalid([{ field: `executor.${option}`, value: options[option] ?? null, message }])
}

/** An agent as its executor needs it. */
export interface FoundAgent<Options> {
  readonly options: Options
  readonly contextWindow: number | null
}

/** How an agent performs its work; null: there is none of that kind any more. */
export async function findAgent<Options>(
  ports: Pick<Ports, 'database'>,
  spec: ExecutorSpec<string, Options>,
  { orgId, agentId: id }: { readonly orgId: OrgId; readonly agentId: string },
): Promise<FoundAgent<Options> | null> {
  const [row] = await loadAgents(ports.database, { orgId, ids: [agentId(id)] })
  return row === undefined ? null : readAgent(spec, row.executor, row.contextWindow)
}

/** How a schedule with an executor of its own performs its work; null: there is no such schedule any more. */
export async function findInlineAgent<Options>(
  ports: Pick<Ports, 'database'>,
  spec: ExecutorSpec<string, Options>,
  { orgId, scheduleId }: { readonly orgId: OrgId; readonly scheduleId: ScheduleId | null },
): Promise<FoundAgent<Options> | null> {
  const [row] = scheduleId === null ? [] : await loadSchedules(ports.database, { orgId, ids: [scheduleId] })
  return readAgent(spec, row?.input['executor'] as AgentExecutor | undefined, null)
}

function readAgent<Options>(
  { kind, parse }: ExecutorSpec<string, Options>,
  executor: AgentExecutor | undefined,
  contextWindow: number | null,
): FoundAgent<Options> | null {
  const read = executor?.kind === kind ? parse('executor', executor) : null
  return read?.ok === true ? { options: read.value, contextWindow } : null
}
