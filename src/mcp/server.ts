import { McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { toolNamed, TOOLS } from '../server/mcp/tools/tools.ts'
import { nearestWord } from '../domain/nearest-word.ts'
import { listTools } from './listed.ts'
import type { ToolResult } from './results.ts'

/** Carries out one call of a tool that exists; what is refused is a result too. */
export type CallTool = (name: string, input: unknown) => Promise<ToolResult>

const INSTRUCTIONS = [
  'Escapement runs work of agents later, again and again, or as soon as there is room.',
  'Plan with schedule_create (preview the timing with schedule_preview first), look with schedule_list,',
  'hand in work for now with task_submit, and ask run_explain why something did or did not happen.',
  'Times are RFC 3339; lengths are in seconds. A refusal says its code, what is wrong and what to do: do not try to get',
  'around one, tell the person.',
].join(' ')

/**
 * A server that knows our tools and nothing else, for one connection or one request. What tools are given is read where
 * they are carried out, in our words, so none is registered with a schema of its own.
 */
export function createToolServer(version: string, call: CallTool): McpServer {
  const tools = new McpServer(
    { name: 'escapement', title: 'Escapement', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  tools.server.setRequestHandler('tools/list', () => ({ tools: [...listTools()] }))
  tools.server.setRequestHandler('tools/call', ({ params: { name, arguments: input } }) => {
    if (toolNamed(name) === undefined) throw unknown(name)
    return call(name, input ?? {})
  })
  return tools
}

function unknown(name: string): ProtocolError {
  const near = nearestWord(name, Object.keys(TOOLS))
  const hint = near === null ? `Tools: ${Object.keys(TOOLS).join(', ')}` : `did you mean ${near}?`
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name.slice(0, 100)}; ${hint}`)
}
