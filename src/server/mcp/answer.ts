import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { subscribedUris, watchResources } from './resources.ts'
import { createToolServer, type ServerFeatures } from './server.ts'
import type { ResourceAccess } from './tasks.ts'

/** The response to one POST: one JSON document, or a stream. Without both there is no body. */
export interface McpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | null
  readonly stream: ReadableStream<Uint8Array> | null
  /** Called when the response was sent. */
  readonly close: () => Promise<void>
}

/** One POST: the headers that the protocol uses, and the parsed body. */
export interface McpPost {
  readonly headers: Headers
  readonly body: unknown
  readonly signal: AbortSignal
  /** The version of this program. */
  readonly version: string
  readonly features: ServerFeatures
  readonly access: ResourceAccess
}

/** A placeholder URL that the protocol does not use. */
const PLACEHOLDER_URL = 'http://mcp/'

/**
 * Answers one POST with a new server, which is stateless. A response is one JSON document, except those that take as
 * long as the client listens: the result of a task, and a subscription.
 */
export async function answerPost(post: McpPost): Promise<McpAnswer> {
  const { headers, body, signal } = post
  const request = new Request(PLACEHOLDER_URL, { method: 'POST', headers, signal, body: JSON.stringify(body) })
  return (await isLegacyRequest(request, body)) ? answerWithHandshake(request, post) : answerModern(request, post)
}

async function answerModern(request: Request, { version, features, access, body }: McpPost): Promise<McpAnswer> {
  const uris = subscribedUris(body)
  const watched = uris === null ? null : await watchResources(access, uris)
  const handler = createMcpHandler((context) => createToolServer(version, features, context), {
    ...{ legacy: 'reject', maxSubscriptions: 1, keepAliveMs: 0 },
    ...(watched === null ? {} : { bus: watched.bus }),
  })
  void watched?.ended.then(() => handler.close())
  return readAnswer(await handler.fetch(request, { parsedBody: body }), () => handler.close())
}

/** Revisions before 2026-07-28 start with a handshake, which needs no state here. */
async function answerWithHandshake(request: Request, { version, features, body }: McpPost): Promise<McpAnswer> {
  const server = createToolServer(version, features, { era: 'legacy' })
  const streams = (body as { readonly method?: unknown } | null)?.method === 'tasks/result'
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streams })
  const close = (): Promise<void> => server.close()
  try {
    await server.connect(transport)
    return await readAnswer(await transport.handleRequest(request, { parsedBody: body }), close)
  } catch (error) {
    await close()
    throw error
  }
}

const RESPONSE_HEADERS = ['content-type', 'mcp-protocol-version', 'allow']

async function readAnswer(response: Response, close: () => Promise<void>): Promise<McpAnswer> {
  const headers = Object.fromEntries(
    RESPONSE_HEADERS.flatMap((name) => {
      const value = response.headers.get(name)
      return value === null ? [] : [[name, value] as const]
    }),
  )
  const { status } = response
  if (headers['content-type']?.startsWith('text/event-stream') === true)
    return { status, headers, text: null, stream: response.body, close }
  const text = await response.text()
  await close()
  return { status, headers, text: text === '' ? null : text, stream: null, close }
}
