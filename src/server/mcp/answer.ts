import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { type CallTool, createToolServer } from './server.ts'

/** The response to one POST. `text` is null if there is no body. */
export interface McpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | null
}

/** One POST: the headers that the protocol uses, and the parsed body. */
export interface McpPost {
  readonly headers: Headers
  readonly body: unknown
  readonly signal: AbortSignal
  /** The version of this program. */
  readonly version: string
  readonly call: CallTool
}

/** A placeholder URL that the protocol does not use. */
const PLACEHOLDER_URL = 'http://mcp/'

/**
 * Answers one POST with a new server. It is stateless and does not stream: the result of a tool is one JSON document in
 * every revision of the protocol.
 */
export async function answerPost({ headers, body, signal, version, call }: McpPost): Promise<McpAnswer> {
  const create = (): McpServer => createToolServer(version, call)
  const request = new Request(PLACEHOLDER_URL, { method: 'POST', headers, signal, body: JSON.stringify(body) })
  const response = (await isLegacyRequest(request, body))
    ? await answerWithHandshake(request, body, create())
    : await createMcpHandler(create, { legacy: 'reject', maxSubscriptions: 0, keepAliveMs: 0 }).fetch(request, {
        parsedBody: body,
      })
  return readAnswer(response)
}

/** Revisions before 2026-07-28 start with a handshake, which needs no state here. */
async function answerWithHandshake(request: Request, parsedBody: unknown, server: McpServer): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  try {
    await server.connect(transport)
    return await transport.handleRequest(request, { parsedBody })
  } finally {
    await server.close()
  }
}

const RESPONSE_HEADERS = ['content-type', 'mcp-protocol-version', 'allow']

async function readAnswer(response: Response): Promise<McpAnswer> {
  const text = await response.text()
  const headers = RESPONSE_HEADERS.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return { status: response.status, headers: Object.fromEntries(headers), text: text === '' ? null : text }
}
