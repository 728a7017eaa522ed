import { RUN_TOOLS } from './run-tools.ts'
import { SCHEDULE_TOOLS } from './schedule-tools.ts'
import type { Tool } from './tool.ts'

/** Every tool of the MCP server, over stdio and at /mcp, in listing order. */
export const TOOLS = { ...SCHEDULE_TOOLS, ...RUN_TOOLS } satisfies Readonly<Record<string, Tool>>

export type ToolName = keyof typeof TOOLS

/** The tool of that name; undefined if there is none. */
export const findTool = (name: string): Tool | undefined =>
  Object.hasOwn(TOOLS, name) ? (TOOLS as Readonly<Record<string, Tool>>)[name] : undefined
