import { invalid } from '../contract/refusals.ts'
import type { ExecutorSpec } from '../core/executor/kind.ts'
import { EXECUTOR_KINDS, EXECUTORS, SPEC_OF } from '../core/executor/kinds.ts'
import { unmaskedExecutor, type Reach } from '../core/executor/masked.ts'
import { agentId, type OrgId, type ScheduleId } from '../core/ids.ts'
import { parsed, parseWord, type Parsed } from '../core/input.ts'
import { loadAgents, type AgentExecutor } from '../store/agents.ts'
import { loadSchedules } from '../store/schedules.ts'
import { parseJson, parseObject } from '../core/input-fields.ts'
import type { Ports } from './ports.ts'

/**
 * Reads how an agent's work is performed. The options belong to the executor of that kind, which reads them itself;
 * values that are shown hidden are those it had before.
 */
export function parseExecutor(
  field: string,
  value: unknown,
  before: { readonly executor: unknown; readonly reach: Reach } | null = null,
): Parsed<AgentExecutor> {
  const object = parseObject(field, before === null ? value : unmaskedExecutor(value, before.executor, before.reach))
  if (!object.ok) return object
  const kind = parseWord(`${field}.kind`, object.value['kind'], EXECUTOR_KINDS)
  if (!kind.ok) return kind
  const stored = parseJson(field, { ...object.value, kind: kind.value })
  if (!stored.ok) return stored
  const read = SPEC_OF[kind.value].parse(field, stored.value as AgentExecutor)
  return read.ok ? parsed({ ...(read.value as AgentExecutor) }) : read
}

/** Whether somebody brings an executor whose address has to be judged. */
export const bringsAddress = (input: { readonly executor?: unknown } | null | undefined): boolean =>
  typeof input === 'object' && input !== null && input.executor !== undefined && input.executor !== null

/** Refuses an agent that would be called where nobody may call. What the guard lets through now is judged with every call. */
export async function judgeExecutor(ports: Pick<Ports, 'outbound'>, input: object): Promise<void> {
  const given = parseObject('agent', input)
  if (!given.ok || given.value['executor'] === undefined) return
  const executor = parseObject('executor', given.value['executor'])
  const options = executor.ok ? executor.value : {}
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
