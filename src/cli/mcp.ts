import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { EscapementError } from '../client/errors.ts'
import { bodyOf, send, type Outgoing } from '../client/request.ts'
import { refusedWith, type ToolResult } from '../mcp/results.ts'
import { remote, type Desk, type Talk } from './remote/talk.ts'
import { EXIT, write, type ExitCode } from './terminal.ts'

/** Where the server answers MCP itself. */
const TARGET = '/mcp'
const TIMEOUT_MS = 60_000

/** `escapement mcp`: the tools of a server for a client that speaks MCP over pipes. */
export function addMcp(command: Command, desk: Desk): void {
  remote(desk, command, { work: (talk) => serve(talk, desk.version) })
}

async function serve(talk: Talk, version: string): Promise<ExitCode> {
  const { stdin, stdout } = talk.terminal
  // Loaded by whoever needs it: every other command would wait for it.
  const { serveTools } = await import('../server/mcp/stdio.ts')
  await complain(talk, `Serving the tools of ${talk.url} on stdin and stdout.`)
  await serveTools({
    ...{ stdin, stdout, version },
    call: (name, input) => forward(talk, name, input),
    failed: (error) => void complain(talk, error.message),
  })
  return EXIT.ok
}

/** What people should know goes to stderr: stdout belongs to the protocol. */
const complain = ({ terminal, json }: Talk, message: string): Promise<void> =>
  write(terminal.stderr, json ? `${JSON.stringify({ message })}\n` : `${message}\n`)

interface RpcAnswer {
  readonly result?: ToolResult
  readonly error?: { readonly message: string }
}

/**
 * Has the server carry the tool out. It decides there what the key may do, as it does for everybody who comes to /mcp; a
 * call whose answer was lost is repeated under its key, and done once.
 */
async function forward({ url, key }: Talk, name: string, input: unknown): Promise<ToolResult> {
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
    const { result, error } = (await bodyOf(await send({ url, key }, outgoing), outgoing, [400])) as RpcAnswer
    return result ?? refusedWith({ code: 'MALFORMED', detail: error?.message ?? 'The server gave no result' })
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    return refusedWith(problemIn(error))
  }
}

const problemIn = (error: EscapementError): Parameters<typeof refusedWith>[0] => ({
  ...{ code: error.code, detail: error.message, details: error.details, errors: error.errors },
  ...(error.requestId === null ? {} : { request_id: error.requestId }),
  ...(error.runId === null ? {} : { run_id: error.runId }),
  ...(error.retryAfterMs === null ? {} : { retry_after_ms: error.retryAfterMs }),
})
