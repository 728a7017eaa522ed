import { table } from './tables.mjs'

/** The tools of src/mcp/tools as a chapter: what each is for, what it takes and what it answers. */
export const renderTools = (tools) => tools.flatMap(renderTool).join('\n')

function renderTool({ name, description, inputSchema, outputSchema, annotations }) {
  return [
    `### \`${name}\``,
    '',
    description,
    '',
    `${hintsOf(annotations)}.`,
    '',
    table(['Argument', 'Takes', 'Meaning'], argumentsOf(inputSchema)),
    '',
    `Answers \`{${Object.keys(outputSchema.properties).join(', ')}}\`.`,
    '',
  ]
}

const hintsOf = ({ readOnlyHint, destructiveHint, idempotentHint }) =>
  [
    readOnlyHint ? 'Changes nothing' : destructiveHint ? 'Changes or ends something' : 'Adds something',
    idempotentHint ? 'twice is as good as once' : 'twice is not once',
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
