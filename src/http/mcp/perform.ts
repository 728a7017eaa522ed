import type { FastifyReply, FastifyRequest } from 'fastify'
import { toolNamed } from '../../server/mcp/tools/tools.ts'
import { inListedNames, type Tool, type ToolAsk } from '../../server/mcp/tools/tool.ts'
import { admit } from '../../operations/admit.ts'
import { callerFrom } from '../../operations/caller-from.ts'
import type { Operation } from '../../operations/handler.ts'
import { perform, readersFor, type DoorCall } from '../../operations/perform.ts'
import { OPERATIONS } from '../../operations/table.ts'
import { Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import { answeredWith, refusedWith, type ToolResult } from '../../mcp/results.ts'
import type { HttpContext } from '../context.ts'
import { goneSignal } from '../../server/http/exchange.ts'
import { problemOf } from '../problem.ts'
import { schemaReader, type Reader } from '../../api/read-input.ts'
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

/** What REST would have made of the same request. */
function carryOut(asker: ToolAsker, asked: ToolAsk, name: string): unknown {
  const { ctx, principal, request, reply, key } = asker
  const operation: Operation = OPERATIONS[asked.operation]
  if (operation.facade === true && !ctx.settings().tasksEnabled)
    throw new Refusal('NOT_FOUND', 'Tasks are switched off: tasks.enabled')
  admit(ctx, operation, principal)
  const readers = readersFor(operation)
  const params = readers.params === null ? {} : readers.params(asked.params)
  const { query } = asked
  const body = readers.body === null ? undefined : readers.body(asked.body)
  const once =
    operation.creates === true && key !== undefined
      ? { route: `mcp ${name}`, key, body: { params, query, body } }
      : undefined
  const call: DoorCall = {
    ...{ ctx, ports: ctx.ports, principal, params, query, body, ifMatch: asked.version, http: null },
    caller: { ...callerFrom(principal, once), through: 'mcp' },
    signal: () => goneSignal(reply),
  }
  return perform(operation, call, (work) => ctx.admit(`mcp ${name}`, request.headers['traceparent'], work))
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
