import { table } from './tables.mjs'

/** The tools of src/server/mcp/tools as a chapter: purpose, arguments and result of each. */
export const renderTools = (tools) => tools.flatMap(renderTool).join('\n')

function renderTool({ name, description, inputSchema, outputSchema, annotations }) {
  return [
    `### \`${name}\``,
    '',
    description,
    '',
    `${hintsOf(annotations)}.`,
    '',
    table(['Argument', 'Type', 'Description'], argumentsOf(inputSchema)),
    '',
    `Returns \`{${Object.keys(outputSchema.properties).join(', ')}}\`.`,
    '',
  ]
}

const hintsOf = ({ readOnlyHint, destructiveHint, idempotentHint }) =>
  [
    readOnlyHint ? 'Read-only' : destructiveHint ? 'May change or end existing objects' : 'Only adds objects',
    idempotentHint ? 'idempotent' : 'not idempotent',
  ].join('; ')

const argumentsOf = ({ properties, required = [] }) =>
  Object.entries(properties).map(([name, schema]) => [
    `\`${name}\`${required.includes(name) ? '' : '?'}`,
    kindOf(schema),
    schema.description ?? '',
  ])

function kindOf(schema) {
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(kindOf))].join(' or ')
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${word}\``).join(', ')
  const { type, format, minimum, maximum, maxLength } = schema
  const range = minimum === undefined && maximum === undefined ? '' : ` ${minimum ?? ''}…${maximum ?? ''}`
  const kind = Array.isArray(type) ? type.join(' or ') : type
  return `${format ?? kind ?? 'anything'}${maxLength === undefined ? range : ` of up to ${maxLength}`}`
}
