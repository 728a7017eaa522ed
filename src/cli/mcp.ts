import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { EscapementError } from '../client/errors.ts'
import { pause, responseBody, sendRequest, type Outgoing } from '../client/request.ts'
import { refusalResult, type ToolResult } from '../server/mcp/results.ts'
import type { MethodParams, MethodResult, MethodScope } from '../server/mcp/server.ts'
import { remote, type CliContext, type CliCall } from './remote/call.ts'
import { EXIT, write, type ExitCode } from './terminal.ts'

/** The MCP endpoint of the server. */
const TARGET = '/mcp'
const TIMEOUT_MS = 60_000
/** The pause between questions about a task, if the server states none. */
const POLL_MS = 1_000

/** `escapement mcp`: offers the tools of a server to an MCP client over stdin and stdout. */
export function addMcp(command: Command, cli: CliContext): void {
  remote(cli, command, { work: (call) => serve(call, cli.version) })
}

async function serve(call: CliCall, version: string): Promise<ExitCode> {
  const { stdin, stdout } = call.terminal
  // Loaded here, so that other commands start without it.
  const { serveTools } = await import('../server/mcp/stdio.ts')
  await printNotice(call, `Serving the tools of ${call.url} on stdin and stdout.`)
  await serveTools({
    ...{ stdin, stdout, version },
    features: {
      subscribe: false,
      call: (name, input) => callTool(call, name, input),
      callAsTask: (name, input, task) => forward(call, 'tools/call', { name, arguments: input, task }),
      answer: (method, params, scope) => answer(call, method, { params, scope }),
    },
    failed: (error) => void printNotice(call, error.message),
  })
  return EXIT.ok
}

/** Messages for people go to stderr, because stdout carries the protocol. */
const printNotice = ({ terminal, json }: CliCall, message: string): Promise<void> =>
  write(terminal.stderr, json ? `${JSON.stringify({ message })}\n` : `${message}\n`)

interface RpcResponse {
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/**
 * Sends a message to the server, which checks the permissions of the key. The idempotency key makes repeating a call
 * safe whose response was lost.
 */
async function sendMessage({ url, key }: CliCall, method: string, params: unknown): Promise<RpcResponse> {
  const idempotencyKey = randomBytes(24).toString('hex')
  const outgoing: Outgoing = {
    ...{ method: 'POST', target: TARGET, timeoutMs: TIMEOUT_MS, repeatable: true, idempotencyKey },
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  }
  const response = await sendRequest({ url, key }, outgoing)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (!isStream) return (await responseBody(response, outgoing, [400])) as RpcResponse
  const frames = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  return JSON.parse(frames.at(-1)?.slice('data: '.length) ?? '{}') as RpcResponse
}

async function callTool(call: CliCall, name: string, input: unknown): Promise<ToolResult> {
  try {
    const { result, error } = await sendMessage(call, 'tools/call', { name, arguments: input })
    if (result !== undefined) return result as ToolResult
    return refusalResult({ code: 'MALFORMED', detail: error?.message ?? 'The server gave no result' })
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    return refusalResult(problemIn(error))
  }
}

/** Forwards a method; an error of the server is thrown as it is. */
async function forward(call: CliCall, method: string, params: unknown): Promise<Readonly<Record<string, unknown>>> {
  const { result, error } = await sendMessage(call, method, params).catch((failure: unknown): RpcResponse => {
    if (!(failure instanceof EscapementError)) throw failure
    return { error: { code: -32_603, message: `${failure.code}: ${failure.message}` } }
  })
  if (result !== undefined) return result
  const { code = -32_603, message = 'The server gave no result', data } = error ?? {}
  const { protocolError } = await import('../server/mcp/stdio.ts')
  throw protocolError(code, message, data)
}

/** Answers a method. The result of a task is asked for when the task has ended, so that no request takes long. */
async function answer(
  call: CliCall,
  method: string,
  { params, scope }: { readonly params: MethodParams; readonly scope: MethodScope },
): Promise<MethodResult> {
  for (let progress = 1, told = ''; method === 'tasks/result';) {
    const task = await forward(call, 'tasks/get', { taskId: params['taskId'] })
    if (task['status'] !== 'working') break
    const message = String(task['statusMessage'])
    if (message !== told) {
      told = message
      await scope.notify({ method: 'notifications/tasks/status', params: task })
      const { progressToken } = scope
      if (progressToken !== undefined)
        await scope.notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
      progress += 1
    }
    await pause(Number(task['pollInterval'] ?? POLL_MS), scope.signal)
  }
  return forward(call, method, params)
}

const problemIn = (error: EscapementError): Parameters<typeof refusalResult>[0] => ({
  ...{ code: error.code, detail: error.message, details: error.details, errors: error.errors },
  ...(error.requestId === null ? {} : { request_id: error.requestId }),
  ...(error.runId === null ? {} : { run_id: error.runId }),
  ...(error.retryAfterMs === null ? {} : { retry_after_ms: error.retryAfterMs }),
})
