import { type Tool as ListedTool, McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { nearestWord } from '../../domain/nearest-word.ts'
import type { ToolResult } from './results.ts'
import type { Tool } from './tools/tool.ts'
import { findTool, TOOLS } from './tools/tools.ts'

type JsonObject = ListedTool['inputSchema']

/** A zod schema as JSON Schema for clients, without patterns that repeat a format. */
function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const described = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      // The bounds that zod adds to every integer are left out.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  const { $schema: _dialect, ...rest } = described
  return rest as JsonObject
}

const describeTool = ([name, { title, description, input, output, hints }]: readonly [string, Tool]): ListedTool => ({
  ...{ name, title, description },
  inputSchema: jsonSchemaOf(input),
  outputSchema: jsonSchemaOf(output),
  annotations: { title, ...hints },
})

let toolList: readonly ListedTool[] | null = null

/** Every tool in the format of `tools/list`, built on first use. */
export const listTools = (): readonly ListedTool[] => (toolList ??= Object.entries(TOOLS).map(describeTool))

/** Executes one call of a known tool; errors are returned as results. */
export type CallTool = (name: string, input: unknown) => Promise<ToolResult>

const INSTRUCTIONS = [
  'Escapement runs the work of agents at a later time, repeatedly, or as soon as a slot is free.',
  'Create schedules with schedule_create (check the timing with schedule_preview first), list them with schedule_list,',
  'submit work to do now with task_submit, and use run_explain to find out why something did or did not run.',
  'Times are RFC 3339; durations are in seconds. An error has a code, says what is wrong and what to do: do not try to',
  'work around it, tell the user.',
].join(' ')

/**
 * Creates a server with the tools, for one connection or one request. Arguments are validated where tools are executed,
 * with our error messages, so no tool is registered with a schema.
 */
export function createToolServer(version: string, call: CallTool): McpServer {
  const tools = new McpServer(
    { name: 'escapement', title: 'Escapement', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  tools.server.setRequestHandler('tools/list', () => ({ tools: [...listTools()] }))
  tools.server.setRequestHandler('tools/call', ({ params: { name, arguments: input } }) => {
    if (findTool(name) === undefined) throw unknownTool(name)
    return call(name, input ?? {})
  })
  return tools
}

function unknownTool(name: string): ProtocolError {
  const near = nearestWord(name, Object.keys(TOOLS))
  const hint = near === null ? `Tools: ${Object.keys(TOOLS).join(', ')}` : `did you mean ${near}?`
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${name.slice(0, 100)}; ${hint}`)
}
