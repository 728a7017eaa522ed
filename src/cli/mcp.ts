import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { EscapementError } from '../client/errors.ts'
import { responseBody, sendRequest, type Outgoing } from '../client/request.ts'
import { refusalResult, type ToolResult } from '../server/mcp/results.ts'
import { remote, type CliContext, type CliCall } from './remote/call.ts'
import { EXIT, write, type ExitCode } from './terminal.ts'

/** The MCP endpoint of the server. */
const TARGET = '/mcp'
const TIMEOUT_MS = 60_000

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
    call: (name, input) => callTool(call, name, input),
    failed: (error) => void printNotice(call, error.message),
  })
  return EXIT.ok
}

/** Messages for people go to stderr, because stdout carries the protocol. */
const printNotice = ({ terminal, json }: CliCall, message: string): Promise<void> =>
  write(terminal.stderr, json ? `${JSON.stringify({ message })}\n` : `${message}\n`)

interface RpcResponse {
  readonly result?: ToolResult
  readonly error?: { readonly message: string }
}

/**
 * Calls the tool on the server, which checks the permissions of the key. The idempotency key makes repeating a call safe
 * whose response was lost.
 */
async function callTool({ url, key }: CliCall, name: string, input: unknown): Promise<ToolResult> {
  const idempotencyKey = randomBytes(24).toString('hex')
  const outgoing: Outgoing = {
    ...{ method: 'POST', target: TARGET, timeoutMs: TIMEOUT_MS, repeatable: true, idempotencyKey },
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }),
  }
  try {
    const { result, error } = (await responseBody(
      await sendRequest({ url, key }, outgoing),
      outgoing,
      [400],
    )) as RpcResponse
    return result ?? refusalResult({ code: 'MALFORMED', detail: error?.message ?? 'The server gave no result' })
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    return refusalResult(problemIn(error))
  }
}

const problemIn = (error: EscapementError): Parameters<typeof refusalResult>[0] => ({
  ...{ code: error.code, detail: error.message, details: error.details, errors: error.errors },
  ...(error.requestId === null ? {} : { request_id: error.requestId }),
  ...(error.runId === null ? {} : { run_id: error.runId }),
  ...(error.retryAfterMs === null ? {} : { retry_after_ms: error.retryAfterMs }),
})
