import { invalid } from '../contract/refusals.ts'
import { completionsUrl, parseChatOptions } from '../core/chat/chat-options.ts'
import { parseCommandOptions } from '../core/executor/command-options.ts'
import { parseHttpOptions, sampleUrl, type HttpOptions } from '../core/executor/http-options.ts'
import { unmaskedExecutor, type Reach } from '../core/executor/masked.ts'
import { agentId, type OrgId, type ScheduleId } from '../core/ids.ts'
import { flawed, parsed, parseWord, type Parsed } from '../core/input.ts'
import { EXECUTOR_KINDS, type ExecutorKind } from '../core/run/timeouts.ts'
import { loadAgents, type AgentExecutor } from '../store/agents.ts'
import { loadSchedules } from '../store/schedules.ts'
import { parseJson, parseObject, unknownFields, type Given } from './input-fields.ts'
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
  const read = OPTIONS[kind.value](field, stored.value as AgentExecutor)
  return read.ok ? parsed({ ...read.value }) : read
}

type ReadOptions = (field: string, given: AgentExecutor) => Parsed<{ readonly kind: string }>

/** What is said about them is kept as it was said. */
const anything: ReadOptions = (_, given) => parsed(given)

/** Where browsers are is the operator's word alone, and workers say by themselves what they do. */
const nothing: ReadOptions = (field, given) => {
  const flaws = unknownFields(field, given, ['kind'])
  return flaws.length > 0 ? flawed(flaws) : parsed(given)
}

/** Who reads the options of a kind. */
const OPTIONS: Readonly<Record<ExecutorKind, ReadOptions>> = {
  ...{ http: parseHttpOptions, chat: parseChatOptions, command: parseCommandOptions },
  ...{ 'tab-action': nothing, worker: nothing, echo: anything, 'in-process': anything },
}

/** Whether somebody brings an executor whose address has to be judged. */
export const bringsAddress = (input: { readonly executor?: unknown } | null | undefined): boolean =>
  typeof input === 'object' && input !== null && input.executor !== undefined && input.executor !== null

/** Refuses an agent that would be called where nobody may call. What the guard lets through now is judged with every call. */
export async function judgeExecutor(ports: Pick<Ports, 'outbound'>, input: object): Promise<void> {
  const given = parseObject('agent', input)
  if (!given.ok || given.value['executor'] === undefined) return
  const executor = parseObject('executor', given.value['executor'])
  const address = addressOf(executor.ok ? executor.value : {})
  // What cannot be read is told of in the turn, with everything else that is wrong.
  if (address === null) return
  const message = await ports.outbound.check(address.url, 'agent')
  if (message !== null) throw invalid([{ ...address.given, message }])
}

interface Address {
  readonly url: string
  readonly given: { readonly field: string; readonly value: unknown }
}

/** Where an executor would be called; null: nowhere, or nobody can tell. */
function addressOf({ kind, url = null, base_url = null, model = 'any' }: Given): Address | null {
  const word = String(kind).toLowerCase()
  if (word === 'chat') {
    const chat = parseChatOptions('executor', { kind: 'chat', base_url, model })
    return chat.ok ? { url: completionsUrl(chat.value), given: { field: 'executor.base_url', value: base_url } } : null
  }
  const http = word === 'http' ? parseHttpOptions('executor', { kind: 'http', url }) : null
  return http?.ok === true ? { url: sampleUrl(http.value), given: { field: 'executor.url', value: url } } : null
}

/** How an agent is called over HTTP; null: there is none of that kind any more. */
export async function findHttpOptions(
  ports: Pick<Ports, 'database'>,
  { orgId, agentId: id }: { readonly orgId: OrgId; readonly agentId: string },
): Promise<HttpOptions | null> {
  const [row] = await loadAgents(ports.database, { orgId, ids: [agentId(id)] })
  return httpOptionsIn(row?.executor)
}

/** How a schedule with an executor of its own calls it; null: there is no such schedule any more. */
export async function findInlineOptions(
  ports: Pick<Ports, 'database'>,
  { orgId, scheduleId }: { readonly orgId: OrgId; readonly scheduleId: ScheduleId },
): Promise<HttpOptions | null> {
  const [row] = await loadSchedules(ports.database, { orgId, ids: [scheduleId] })
  return httpOptionsIn(row?.input['executor'] as AgentExecutor | undefined)
}

function httpOptionsIn(executor: AgentExecutor | undefined): HttpOptions | null {
  const read = executor?.kind === 'http' ? parseHttpOptions('executor', executor) : null
  return read?.ok === true ? read.value : null
}
