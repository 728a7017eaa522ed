import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
  type McpServer,
} from '@modelcontextprotocol/server'
import { createToolServer, type CallTool } from '../../mcp/server.ts'

/** What is answered to one POST. Null as text: nothing but the status. */
export interface McpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | null
}

/** One POST: the headers that the protocol looks at, and the body as it was read. */
export interface McpPost {
  readonly headers: Headers
  readonly body: unknown
  readonly signal: AbortSignal
  /** The version of this program. */
  readonly version: string
  readonly call: CallTool
}

/** Nobody reads the path of it. */
const PLACE = 'http://mcp/'

/**
 * Answers one POST with a server made for it. Nothing is kept between two of them, and nothing is streamed: what a tool
 * answers is one JSON document, whichever revision of the protocol the client speaks.
 */
export async function answerPost({ headers, body, signal, version, call }: McpPost): Promise<McpAnswer> {
  const create = (): McpServer => createToolServer(version, call)
  const request = new Request(PLACE, { method: 'POST', headers, signal, body: JSON.stringify(body) })
  const response = (await isLegacyRequest(request, body))
    ? await answerWithHandshake(request, body, create())
    : await createMcpHandler(create, { legacy: 'reject', maxSubscriptions: 0, keepAliveMs: 0 }).fetch(request, {
        parsedBody: body,
      })
  return readAnswer(response)
}

/** Revisions before 2026-07-28 begin with a handshake, which needs no memory of ours. */
async function answerWithHandshake(request: Request, parsedBody: unknown, server: McpServer): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  try {
    await server.connect(transport)
    return await transport.handleRequest(request, { parsedBody })
  } finally {
    await server.close()
  }
}

const KEPT = ['content-type', 'mcp-protocol-version', 'allow']

async function readAnswer(response: Response): Promise<McpAnswer> {
  const text = await response.text()
  const headers = KEPT.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return { status: response.status, headers: Object.fromEntries(headers), text: text === '' ? null : text }
}
