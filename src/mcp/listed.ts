import { z } from 'zod'
import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { TOOLS } from '../server/mcp/tools/tools.ts'
import type { Tool } from '../server/mcp/tools/tool.ts'

type JsonObject = ListedTool['inputSchema']

/** The shape of a schema as clients read it. What says a format needs no pattern beside it: nobody reads that. */
function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const described = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      // Zod's own bounds of a whole number say nothing that anybody would have done otherwise.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  const { $schema: _dialect, ...rest } = described
  return rest as JsonObject
}

const listedOf = ([name, { title, description, input, output, hints }]: readonly [string, Tool]): ListedTool => ({
  ...{ name, title, description },
  inputSchema: jsonSchemaOf(input),
  outputSchema: jsonSchemaOf(output),
  annotations: { title, ...hints },
})

let listed: readonly ListedTool[] | null = null

/** Every tool as `tools/list` tells it, made when it is first asked for. */
export const listTools = (): readonly ListedTool[] => (listed ??= Object.entries(TOOLS).map(listedOf))
