import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import { PROBLEM_META, type ToolProblem } from '../../../src/server/mcp/results.ts'
import { findTool } from '../../../src/server/mcp/tools/tools.ts'
import type { HttpWorld, Method } from '../support.ts'

/** The revisions a client of the protocol may speak: with a handshake, and without one. */
export const HANDSHAKE = 'handshake'
export const MODERN = '2026-07-28'
export type Revision = typeof HANDSHAKE | typeof MODERN

/** What a client has been told of one call. */
export interface Called {
  readonly text: string
  readonly structured: Readonly<Record<string, unknown>>
  readonly problem: ToolProblem | null
}

/** The official client, connected to the server of a world. */
export interface McpGuest {
  readonly client: Client
  readonly call: (tool: string, input?: Record<string, unknown>) => Promise<Called>
  /** The same, when it has to be refused; answers with what was refused. */
  readonly refused: (tool: string, input?: Record<string, unknown>) => Promise<ToolProblem>
}

/** A `fetch` that asks a server in this process. */
const fetchOf =
  (world: Pick<HttpWorld, 'app'>): typeof fetch =>
  async (place, init = {}) => {
    const { pathname } = new URL(place instanceof Request ? place.url : place)
    const response = await world.app.inject({
      method: (init.method ?? 'GET') as Method,
      url: pathname,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' ? { payload: init.body } : {}),
    })
    const isEmpty = response.statusCode === 202 || response.statusCode === 204
    const headers = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)])
    return new Response(isEmpty ? null : response.body, { status: response.statusCode, headers })
  }

/** Connects a client that shows a key with every request. */
export async function connect(
  world: Pick<HttpWorld, 'app'>,
  key: string,
  revision: Revision = HANDSHAKE,
): Promise<McpGuest> {
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    fetch: fetchOf(world),
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  })
  const mode = revision === HANDSHAKE ? ('legacy' as const) : { pin: revision }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  return guestOf(client)
}

/** Calls tools, and holds what is answered to what the tool says of itself. */
export function guestOf(client: Client): McpGuest {
  const call: McpGuest['call'] = async (tool, input = {}) => {
    const result = await client.callTool({ name: tool, arguments: input })
    const [first] = result.content
    const text = first?.type === 'text' ? first.text : ''
    expect(text).not.toBe('')
    const problem = (result._meta?.[PROBLEM_META] as ToolProblem | undefined) ?? null
    expect(result.isError === true).toBe(problem !== null)
    if (problem === null) findTool(tool)?.output.parse(result.structuredContent)
    else expect(text).toContain(`${problem.code}: `)
    return { text, structured: (result.structuredContent ?? {}) as Called['structured'], problem }
  }
  return {
    client,
    call,
    refused: async (tool, input) => {
      const { problem, text } = await call(tool, input)
      if (problem === null) throw new Error(`${tool} was not refused: ${text}`)
      return problem
    },
  }
}
