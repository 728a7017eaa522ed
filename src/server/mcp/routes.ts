import type { FastifyReply, FastifyRequest } from 'fastify'
import { INVALID_REQUEST, PARSE_ERROR } from '../rpc/schema.ts'
import { type Reader, schemaReader } from '../../api/read-input.ts'
import { Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import { callerFrom } from '../../operations/context.ts'
import type { Operation } from '../../operations/handler.ts'
import { OPERATIONS } from '../../operations/table.ts'
import type { HttpContext } from '../http/context.ts'
import { internalError, problemOf, refusalOf } from '../http/problem.ts'
import type { McpAnswer } from './answer.ts'
import { answerResourceMethod } from './resources.ts'
import { PROBLEM_META, refusalResult, successResult, type ToolResult } from './results.ts'
import type { CallTool, MethodResult, ServerFeatures } from './server.ts'
import { answerTaskMethod, type ResourceAccess, taskOf } from './tasks.ts'
import { renameSynonyms, type Tool, toolRequest, type ToolRequest } from './tools/tool.ts'
import { findTool } from './tools/tools.ts'
import { batchFullRefusal, createBatchRoom } from '../http/answer-memory.ts'
import { disconnectSignal, type Exchange, HttpOperations, streamEvents } from '../http/exchange.ts'
import { whenOver } from '../http/when-over.ts'
import { EventReceiver } from '../events/client.ts'
import type { RunView } from '../../features/runs/schema.ts'
import { readJsonBody } from '../http/json-body.ts'
import { admit, executeOperation, type OperationCall, readersFor, readKey } from '../../operations/perform.ts'
import { chargeRequest } from '../http/rate-limit.ts'
import { createAccessCheck, addMethodNotAllowed, type Routing } from '../http/routes.ts'
import { MAX_BATCH_SIZE } from '../rpc/answer.ts'

const MCP_PATH = '/mcp'

/**
 * Adds `POST /mcp`, the streamable HTTP transport of MCP without a session: each message is independent, so any node
 * can answer it, and a revoked key is rejected with the next message.
 */
export function addMcp(routing: Routing): void {
  const { app } = routing
  // In its own plugin scope, because parse errors are answered in the format of JSON-RPC.
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, parsed) => {
      parsed(null, bytes)
    })
    scope.post(
      MCP_PATH,
      { onRequest: createAccessCheck(routing, { permission: 'any', restrictedAccess: 'free' }) },
      (request, reply) => handleMcp(routing, { request, reply }),
    )
    done()
  })
  // There is no session, and streams only answer a POST, so the protocol requires 405 for GET and DELETE.
  addMethodNotAllowed(app, MCP_PATH, new Set(['POST']))
}

async function handleMcp(routing: Routing, exchange: Exchange): Promise<FastifyReply> {
  const { ctx } = routing
  const { request, reply } = exchange
  const { body, flaw } = readBatch(request)
  if (flaw !== undefined) return reply.code(400).send({ jsonrpc: '2.0', id: null, error: flaw })
  const caller = toolCallerOf(routing, exchange)
  const signal = disconnectSignal(reply)
  const access = resourceAccessOf(caller)
  const isBatch = Array.isArray(body)
  const features = featuresOf(caller, { access, isBatch })
  // Loaded with the first message, so that it does not slow down the start.
  const { answerPost } = await import('./answer.ts')
  const post = { headers: headersOf(request), body, signal, version: ctx.version, features, access }
  const answer = await answerPost(post)
  if (answer.stream !== null) return sendStream(reply, { ...answer, stream: answer.stream })
  reply.code(answer.status).headers(answer.headers)
  return reply.send(answer.text ?? undefined)
}

const KEEP_ALIVE_MS = 15_000
/** The maximum number of unsent bytes of a client that does not read. */
const MAX_UNSENT_BYTES = 2 * 1_048_576
const STREAM_HEADERS = { 'cache-control': 'no-store', 'x-accel-buffering': 'no', connection: 'close' }

async function sendStream(
  reply: FastifyReply,
  { status, headers, stream, close }: McpAnswer & { readonly stream: ReadableStream<Uint8Array> },
): Promise<FastifyReply> {
  reply.hijack()
  const { raw } = reply
  // A broken connection also emits close.
  raw.on('error', () => undefined)
  raw.writeHead(status, { ...headers, ...STREAM_HEADERS })
  raw.flushHeaders()
  const reader = stream.getReader()
  const timer = setInterval(() => raw.write(': keep-alive\n\n'), KEEP_ALIVE_MS).unref()
  whenOver(raw, () => {
    clearInterval(timer)
    reader.cancel().catch(() => undefined)
  })
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (raw.writableLength > MAX_UNSENT_BYTES) raw.destroy()
    else raw.write(part.value)
  }
  raw.end()
  await close()
  return reply
}

/** The operations and live events that the caller of a request may use. */
function resourceAccessOf(caller: ToolCaller): ResourceAccess {
  const { ctx, principal, request, reply } = caller
  return {
    perform: (toolRequest) => executeTool(caller, toolRequest, toolRequest.operation),
    watch: async (filter, changed) => {
      const receiver = new EventReceiver(reply.raw, changed)
      const ended = new Promise<void>((resolve) => {
        for (const event of ['finish', 'close']) receiver.once(event, resolve)
      })
      const close = (): void => void receiver.destroy()
      const cancel = whenOver(reply.raw, close)
      receiver.once('close', cancel)
      const http = new HttpOperations(ctx, { request, reply })
      const exchange = { method: 'GET', headers: http.headers, cookie: () => http.cookie(), takeOver: () => receiver }
      await streamEvents(ctx, exchange, { principal, query: filter })
      return { ended, close }
    },
  }
}

function featuresOf(
  caller: ToolCaller,
  { access, isBatch }: { readonly access: ResourceAccess; readonly isBatch: boolean },
): ServerFeatures {
  return {
    subscribe: true,
    call: toolCalls(caller, isBatch),
    callAsTask: (name, input) => asProtocolErrors(caller, () => startTask(caller, { access, name, given: input })),
    answer: (method, params, scope) =>
      asProtocolErrors(caller, async () => {
        caller.charge()
        if (isBatch) throw new Refusal('MALFORMED', `${method} cannot be used in a batch`)
        return method.startsWith('tasks/')
          ? answerTaskMethod(access, method, { params, scope })
          : answerResourceMethod(access, method, params)
      }),
  }
}

/** Executes a tool, and returns the run that it has created as a task. */
async function startTask(
  caller: ToolCaller,
  { access, name, given }: { readonly access: ResourceAccess; readonly name: string; readonly given: unknown },
): Promise<MethodResult> {
  caller.charge()
  const tool = findTool(name)
  const input = tool === undefined ? undefined : toolInputReader(name, tool)(renameSynonyms(tool, given))
  const answer = tool === undefined ? undefined : await executeTool(caller, tool.toRequest(input), name)
  const id = tool?.runOf?.(answer) ?? null
  if (id === null) throw new Refusal('CONFLICT', tool?.toOutput(answer, input).text ?? `Unknown tool ${name}`)
  const task = taskOf((await access.perform(toolRequest('runs.get', { params: { id } }))) as RunView)
  // The SDK requires content in every result of this method.
  return { task, content: [{ type: 'text', text: `Started task ${id}.` }] }
}

/** Codes whose cause is in the params of the message. */
const PARAM_ERRORS: ReadonlySet<string> = new Set(['VALIDATION', 'NOT_FOUND', 'ALREADY_ENDED'])

/** Reports API errors in the format of the protocol, with the problem for programs. */
async function asProtocolErrors(caller: ToolCaller, work: () => Promise<MethodResult>): Promise<MethodResult> {
  try {
    return await work()
  } catch (error) {
    const { ProtocolError, ProtocolErrorCode } = await import('@modelcontextprotocol/server')
    if (error instanceof ProtocolError) throw error
    const refusal = refusalOf(error) ?? unexpectedToolError(caller, 'a method', error)
    const problem = toolRefusal(caller, refusal)._meta?.[PROBLEM_META]
    const code = PARAM_ERRORS.has(refusal.code) ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
    throw new ProtocolError(code, `${refusal.code}: ${refusal.message}`, { [PROBLEM_META]: problem })
  }
}

function toolCallerOf(routing: Routing, { request, reply }: Exchange): ToolCaller {
  const { principal } = request
  if (principal === null) throw new Error('the request is not authenticated')
  const header = request.headers['idempotency-key']
  const key = header === undefined ? undefined : readKey('Idempotency-Key', header)
  // Authentication has charged one call for the request; a batch is charged for each call.
  let isFirst = true
  const charge = (): void => {
    if (!isFirst) chargeRequest(routing, principal)
    isFirst = false
  }
  return { ctx: routing.contextOf(principal), principal, request, reply, charge, key }
}

function toolCalls(caller: ToolCaller, isBatch: boolean): CallTool {
  const scope = createBatchRoom()
  let before: Promise<unknown> = Promise.resolve()
  return async (name, input) => {
    const perform = async () => {
      if (scope.isFull()) return toolRefusal(caller, batchFullRefusal())
      const result = await performTool(caller, name, input)
      if (isBatch) scope.add(result)
      return result
    }
    // One after the other, because concurrent calls would all find room for their responses.
    const result = before.then(perform)
    before = result.catch(() => undefined)
    return result
  }
}

interface JsonRpcFlaw {
  readonly code: number
  readonly message: string
}

const parseFlaw = (detail: string): { readonly flaw: JsonRpcFlaw } => ({
  flaw: { code: PARSE_ERROR, message: `Parse error: ${detail}` },
})
const invalidFlaw = (detail: string): { readonly flaw: JsonRpcFlaw } => ({
  flaw: { code: INVALID_REQUEST, message: `Invalid request: ${detail}` },
})

function readBatch({ body: bytes, headers }: FastifyRequest): { readonly body?: unknown; readonly flaw?: JsonRpcFlaw } {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return parseFlaw('the body is empty')
  try {
    const body = readJsonBody(bytes)
    if (!Array.isArray(body)) return { body }
    if (body.length === 0 || body.length > MAX_BATCH_SIZE)
      return invalidFlaw(`a batch must have 1 to ${MAX_BATCH_SIZE} messages`)
    if (headers['idempotency-key'] !== undefined)
      return invalidFlaw('an Idempotency-Key cannot be used with a batch, only with a single call')
    return { body }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.flaws.length > 0 ? invalidFlaw(error.message) : parseFlaw(error.message)
  }
}

/** The headers that the protocol uses; credentials are not passed on. */
const FORWARDED_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

function headersOf({ headers }: FastifyRequest): Headers {
  const kept = new Headers()
  for (const name of FORWARDED_HEADERS) {
    const value = headers[name]
    if (typeof value === 'string') kept.set(name, value)
  }
  return kept
}

/** The caller of a tool, with its limits. */
interface ToolCaller {
  readonly ctx: HttpContext
  readonly principal: Principal
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Charges one call to the rate limit, or rejects it. */
  readonly charge: () => void
  /** The idempotency key. */
  readonly key: string | undefined
}

/** Executes a tool: one operation, with the access checks and the handler of REST. */
async function performTool(caller: ToolCaller, name: string, given: unknown): Promise<ToolResult> {
  const tool = findTool(name)
  if (tool === undefined) throw new Error(`unknown tool ${name}`)
  try {
    caller.charge()
    const input = toolInputReader(name, tool)(renameSynonyms(tool, given))
    const toolRequest = tool.toRequest(input)
    const answer = await executeTool(caller, toolRequest, name)
    return successResult(tool.toOutput(answer, input))
  } catch (error) {
    return toolRefusal(caller, refusalOf(error) ?? unexpectedToolError(caller, name, error), given)
  }
}

/** An API error as the result of a tool. */
function toolRefusal({ ctx, request }: ToolCaller, refusal: Refusal, given?: unknown): ToolResult {
  ctx.metrics.countRefusal(refusal.code)
  const { title: _title, type: _type, status: _status, ...facts } = problemOf(refusal, request.id, given)
  const { retryAfterMs } = refusal
  return refusalResult({ ...facts, ...(retryAfterMs === null ? {} : { retry_after_ms: Math.ceil(retryAfterMs) }) })
}

/** Executes the operation as REST would. */
async function executeTool(caller: ToolCaller, toolRequest: ToolRequest, name: string): Promise<unknown> {
  const { ctx, principal, request, reply, key } = caller
  const operation: Operation = OPERATIONS[toolRequest.operation]
  if (operation.facade === true && !ctx.settings().tasksEnabled)
    throw new Refusal('NOT_FOUND', 'Tasks are disabled; set tasks.enabled to true')
  admit(ctx, operation, principal)
  const readers = readersFor(operation)
  const params = readers.params === null ? {} : readers.params(toolRequest.params)
  const { query } = toolRequest
  const body = readers.body === null ? undefined : readers.body(toolRequest.body)
  const once =
    operation.creates === true && key !== undefined
      ? { route: `mcp ${name}`, key, body: { params, query, body } }
      : undefined
  const call: OperationCall = {
    ...{ ctx, ports: ctx.ports, principal, params, query, body, ifMatch: toolRequest.version, http: null },
    caller: { ...callerFrom(principal, once), through: 'mcp' },
    signal: () => disconnectSignal(reply),
  }
  const answer = await executeOperation(operation, call, (work) =>
    ctx.traceSubmission(`mcp ${name}`, request.headers['traceparent'], work),
  )
  // An operation with several statuses says which one it answers with.
  return Object.keys(operation.answers).length > 1 ? (answer as { readonly body: unknown }).body : answer
}

const INPUT_READERS = new Map<string, Reader>()

function toolInputReader(name: string, { input }: Tool): Reader {
  const known = INPUT_READERS.get(name) ?? schemaReader(input)
  INPUT_READERS.set(name, known)
  return known
}

function unexpectedToolError({ ctx, request }: ToolCaller, tool: string, error: unknown): Refusal {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  ctx.log({ level: 'error', message: 'A tool failed', facts: { request_id: request.id, tool, error: text } })
  return internalError(request.id)
}
