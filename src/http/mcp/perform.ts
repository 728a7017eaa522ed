import type { FastifyReply, FastifyRequest } from 'fastify'
import { toolNamed } from '../../mcp/tools/tools.ts'
import { inListedNames, type Tool, type ToolAsk } from '../../mcp/tools/tool.ts'
import type { OperationSpec } from '../../contract/operation.ts'
import { OPERATIONS, type OperationId } from '../../operations/table.ts'
import { ErrGatewayDraining, Refusal } from '../../contract/refusals.ts'
import type { Principal } from '../../core/access.ts'
import { answeredWith, refusedWith, type ToolResult } from '../../mcp/results.ts'
import type { Call } from '../call.ts'
import { callerFrom } from '../caller-from.ts'
import type { HttpContext } from '../context.ts'
import { admit, admitTo } from '../gate.ts'
import { problemOf } from '../problem.ts'
import { readersOf, schemaReader, type Reader, type Readers } from '../../contract/read-input.ts'
import { internal, refusalOf } from '../unexpected.ts'

/** Somebody who calls tools, and how they are reined in. */
export interface ToolAsker {
  readonly ctx: HttpContext
  readonly principal: Principal
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Takes one call from what they may make a second, or refuses. */
  readonly charge: () => void
  /** What was brought along so that it is done at most once. */
  readonly key: string | undefined
  readonly handlers: Readonly<Record<string, (call: never) => unknown>>
}

/** Carries out a tool: one operation, through the gate and the handler that REST has for it. */
export async function performTool(asker: ToolAsker, name: string, given: unknown): Promise<ToolResult> {
  const tool = toolNamed(name)
  if (tool === undefined) throw new Error(`${name} is no tool`)
  try {
    asker.charge()
    const input = readerOf(name, tool)(inListedNames(tool, given))
    const asked = tool.ask(input)
    const answer = await carryOut(asker, asked, name)
    return answeredWith(tool.tell(answer, input))
  } catch (error) {
    return refusedTool(asker, refusalOf(error) ?? unexpected(asker, name, error), given)
  }
}

/** What a refusal looks like as the result of a tool. */
export function refusedTool({ ctx, request }: ToolAsker, refusal: Refusal, given?: unknown): ToolResult {
  ctx.metrics.refused(refusal.code)
  const { title: _title, type: _type, status: _status, ...facts } = problemOf(refusal, request.id, given)
  const { retryAfterMs } = refusal
  return refusedWith({ ...facts, ...(retryAfterMs === null ? {} : { retry_after_ms: Math.ceil(retryAfterMs) }) })
}

async function carryOut(asker: ToolAsker, asked: ToolAsk, name: string): Promise<unknown> {
  const { ctx, principal, request, handlers } = asker
  const { operation } = asked
  const spec: OperationSpec = OPERATIONS[operation]
  if (spec.facade === true && !ctx.settings().tasksEnabled)
    throw new Refusal('NOT_FOUND', 'Tasks are switched off: tasks.enabled')
  admit(ctx, spec, principal)
  const handler = handlers[operation] as ((call: Call<OperationSpec>) => unknown) | undefined
  if (handler === undefined) throw new Error(`nobody carries out ${operation}`)
  const call = callOf(asker, spec, { asked, name })
  if (principal.railed !== undefined) await admitTo(ctx, spec, { principal, id: idIn(call.params) })
  if (spec.newWork === true && ctx.isDraining()) throw new ErrGatewayDraining()
  if (spec.admits !== true) return handler(call)
  return ctx.admit(`mcp ${name}`, request.headers['traceparent'], (trace) =>
    handler(trace === null ? call : { ...call, caller: { ...call.caller, trace } }),
  )
}

/** What an operation is about is the one parameter of its path. */
const idIn = (params: unknown): unknown => Object.values(params as Readonly<Record<string, unknown>>)[0]

/** What REST would have made of the same request. */
function callOf(
  { ctx, principal, request, reply, key }: ToolAsker,
  spec: OperationSpec,
  { asked, name }: { readonly asked: ToolAsk; readonly name: string },
): Call<OperationSpec> {
  const readers = operationReaders(asked.operation, spec)
  const params = readers.params === null ? {} : readers.params(asked.params)
  const query = asked.query
  const body = readers.body === null ? undefined : readers.body(asked.body)
  const once =
    spec.creates === true && key !== undefined
      ? { route: `mcp ${name}`, key, body: { params, query, body } }
      : undefined
  return {
    ...{ ctx, ports: ctx.ports, principal, params, query, body, ifMatch: asked.version, request, reply },
    caller: { ...callerFrom(principal, once), through: 'mcp' },
  } as Call<OperationSpec>
}

const READERS = new Map<OperationId, Readers>()

function operationReaders(id: OperationId, spec: OperationSpec): Readers {
  const known = READERS.get(id) ?? readersOf(spec)
  READERS.set(id, known)
  return known
}

const INPUTS = new Map<string, Reader>()

function readerOf(name: string, { input }: Tool): Reader {
  const known = INPUTS.get(name) ?? schemaReader(input)
  INPUTS.set(name, known)
  return known
}

function unexpected({ ctx, request }: ToolAsker, tool: string, error: unknown): Refusal {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  ctx.log({ level: 'error', message: 'A tool failed', facts: { request_id: request.id, tool, error: text } })
  return internal(request.id)
}
