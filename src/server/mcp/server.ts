import {
  type CallToolResult,
  type McpRequestContext,
  McpServer,
  type Notification,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type ServerContext,
  type Tool as ListedTool,
} from '@modelcontextprotocol/server'
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

const describeTool = ([name, { title, description, input, output, hints, runOf }]: readonly [
  string,
  Tool,
]): ListedTool => ({
  ...{ name, title, description },
  inputSchema: jsonSchemaOf(input),
  outputSchema: jsonSchemaOf(output),
  annotations: { title, ...hints },
  ...(runOf === undefined ? {} : { execution: { taskSupport: 'optional' as const } }),
})

let toolList: readonly ListedTool[] | null = null

/** Every tool in the format of `tools/list`, built on first use. */
export const listTools = (): readonly ListedTool[] => (toolList ??= Object.entries(TOOLS).map(describeTool))

/** Executes one call of a known tool; errors are returned as results. */
export type CallTool = (name: string, input: unknown) => Promise<ToolResult>

/** The result of a method other than tools/list. */
export type MethodResult = Result

/** The request of a method. */
export interface MethodScope {
  /** Sends a notification that belongs to the request. */
  readonly notify: (notification: Notification) => Promise<void>
  readonly progressToken: string | number | undefined
  readonly signal: AbortSignal
}

/** What a server offers. */
export interface ServerFeatures {
  readonly call: CallTool
  /** Executes one call of a known tool as a task; errors are thrown. */
  readonly callAsTask: (name: string, input: unknown, task: unknown) => Promise<MethodResult>
  /** Answers a method of `METHOD_PARAMS`. */
  readonly answer: (method: string, params: MethodParams, scope: MethodScope) => Promise<MethodResult>
  /** Whether clients of revision 2026-07-28 can subscribe to resources. */
  readonly subscribe: boolean
}

export type MethodParams = Readonly<Record<string, unknown>>

const pageParams = z.looseObject({ cursor: z.string().min(1).max(4_096).optional() })
const taskParams = z.looseObject({ taskId: z.string().min(1).max(512) })

/** The methods about tasks and resources, and their params. */
const METHOD_PARAMS: Readonly<Record<string, z.ZodType<MethodParams>>> = {
  'tasks/get': taskParams,
  'tasks/result': taskParams,
  'tasks/cancel': taskParams,
  'tasks/list': pageParams,
  'resources/list': pageParams,
  'resources/templates/list': pageParams,
  'resources/read': z.looseObject({ uri: z.string().min(1).max(2_048) }),
}

const INSTRUCTIONS = [
  'Escapement runs the work of agents at a later time, repeatedly, or as soon as a slot is free.',
  'Create schedules with schedule_create (check the timing with schedule_preview first), list them with schedule_list,',
  'submit work to do now with task_submit, and use run_explain to find out why something did or did not run.',
  'Called as tasks, run_now and task_submit return the result of the run; schedules and runs are resources.',
  'Times are RFC 3339; durations are in seconds. An error has a code, says what is wrong and what to do: do not try to',
  'work around it, tell the user.',
].join(' ')

/** Revision 2026-07-28 has no tasks, and earlier ones need a session for subscriptions. */
const capabilitiesOf = (era: McpRequestContext['era'], { subscribe }: ServerFeatures) => ({
  tools: {},
  resources: { listChanged: false, ...(era === 'modern' && subscribe ? { subscribe } : {}) },
  ...(era === 'modern' ? {} : { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
})

/**
 * Creates a server with the tools, for one connection or one request. Arguments are validated where tools are executed,
 * with our error messages, so no tool is registered with a schema.
 */
export function createToolServer(
  version: string,
  features: ServerFeatures,
  { era }: Pick<McpRequestContext, 'era'>,
): McpServer {
  const tools = new McpServer(
    { name: 'escapement', title: 'Escapement', version },
    { capabilities: capabilitiesOf(era, features), instructions: INSTRUCTIONS },
  )
  const { server } = tools
  server.setRequestHandler('tools/list', () => ({ tools: [...listTools()] }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { name, arguments: input = {} } = params
    const tool = findTool(name)
    if (tool === undefined) throw unknownTool(name)
    const { task } = params as { readonly task?: unknown }
    if (era === 'modern' || task === undefined) return features.call(name, input)
    if (tool.runOf === undefined)
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `The tool ${name} cannot be called as a task`)
    return (await features.callAsTask(name, input, task)) as CallToolResult
  })
  for (const [method, params] of Object.entries(METHOD_PARAMS))
    server.setRequestHandler(method, { params }, (given: MethodParams, context: ServerContext) =>
      features.answer(method, given, scopeOf(context)),
    )
  return tools
}

const scopeOf = ({ mcpReq: { notify, _meta: meta, signal } }: ServerContext): MethodScope => ({
  ...{ notify: (notification) => notify(notification), progressToken: meta?.progressToken, signal },
})

function unknownTool(name: string): ProtocolError {
  const near = nearestWord(name, Object.keys(TOOLS))
  const hint = near === null ? `Tools: ${Object.keys(TOOLS).join(', ')}` : `did you mean ${near}?`
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${name.slice(0, 100)}; ${hint}`)
}
