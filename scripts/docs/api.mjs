// docs/reference/api.md: every operation of the table, and every input and output shape.

/** The operations by tag, with all details. */
export function renderApi({ OPERATIONS, openApiOf, codesOf, words }) {
  const document = openApiOf(OPERATIONS, '')
  const parts = document.tags.flatMap(({ name, description }) => [
    `## Operations: ${name}`,
    `${description}.`,
    ...Object.entries(OPERATIONS)
      .filter(([, spec]) => spec.tag === name)
      .map(([id, spec]) => renderOperation({ id, spec, described: describedIn(document, spec), codesOf, words })),
  ])
  return [...parts, '## Shapes', ...renderShapes(document, words)].join('\n\n')
}

/** The permissions, and the operations that each allows. */
export function renderPermissionOperations(permissions, operations) {
  const rows = Object.keys(permissions).map((permission) => {
    const opened = Object.entries(operations).filter(([, spec]) => [spec.permission].flat().includes(permission))
    return `| \`${permission}\` | ${opened.map(([id]) => `\`${id}\``).join(', ') || 'none'} |`
  })
  const without = (word) =>
    Object.entries(operations)
      .filter(([, { permission }]) => permission === word)
      .map(([id]) => `\`${id}\``)
      .join(', ')
  return [
    '| Permission | Operations |',
    '| --- | --- |',
    ...rows,
    `| none, but any key or session | ${without('any')} |`,
    `| none, without a key | ${without('none')} |`,
  ].join('\n')
}

/** The error codes of the API, and the operations that declare them. */
export function renderRefusals({ REFUSAL_CODES, REFUSAL_TITLES, OPERATIONS }) {
  const rows = Object.entries(REFUSAL_CODES).map(([code, status]) => {
    const own = Object.entries(OPERATIONS).filter(([, { refusals = [] }]) => refusals.includes(code))
    return `| \`${code}\` | ${status} | ${REFUSAL_TITLES[code]} | ${own.map(([id]) => `\`${id}\``).join(', ')} |`
  })
  return ['| Code | Status | Meaning | Declared by |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

const describedIn = (document, { path, method }) =>
  document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()]

/** Turns names of shapes into links. */
const linked = (text) =>
  text.replace(/\[(\w+)\]/g, (_, name) => `[${name}](#${name.toLowerCase()})`).replaceAll('|', '\\|')

function renderOperation({ id, spec, described, codesOf, words }) {
  const codes = [...new Set(codesOf(spec))].map((code) => `\`${code}\``)
  return [
    `### \`${id}\``,
    `\`${spec.method} ${spec.path}\``,
    `${spec.summary}. ${spec.description ?? ''}`.trim(),
    [
      `- Permission: ${permissionOf(spec)}`,
      ...(spec.body === undefined ? [] : [bodyLine(spec, described, words)]),
      ...answerLines(described, words),
      `- Errors: ${codes.join(', ')}`,
    ].join('\n'),
    ...inputTable(described, words),
    ['```sh', curlOf(spec), '```'].join('\n'),
  ].join('\n\n')
}

function permissionOf({ permission, operatorOnly }) {
  if (permission === 'none') return 'none, without a key'
  if (permission === 'any') return 'none, but any key or session'
  const names = [permission].flat().map((one) => `\`${one}\``)
  return `${names.join(' or ')}${operatorOnly === true ? ", as owner or admin of the operator's org" : ''}`
}

function bodyLine({ bodyOptional }, { requestBody }, { describeType }) {
  const { schema } = requestBody.content['application/json']
  return `- Body: ${linked(describeType(schema))}${bodyOptional === true ? ' (optional)' : ''}`
}

function answerLines({ responses }, { describeType }) {
  return Object.entries(responses)
    .filter(([, response]) => response.content?.['application/problem+json'] === undefined)
    .map(([status, { description, content = {} }]) => {
      const [[type, { schema } = {}] = []] = Object.entries(content)
      if (type === undefined) return `- Response ${status}: ${description}`
      if (type === 'application/json') return `- Response ${status}: ${linked(describeType(schema))}`
      const each = schema === undefined ? '' : ` of ${linked(describeType(schema))}`
      return `- Response ${status}: \`${type}\`${each}: ${description}`
    })
}

function inputTable({ parameters }, { describeType }) {
  if (parameters.length === 0) return []
  const rows = parameters.map(
    ({ name, in: place, required, schema, description }) =>
      `| \`${name}\` | ${place}${required ? ', required' : ''} | ${linked(describeType(schema))} | ${cellOf(description)} |`,
  )
  return [['| Parameter | In | Type | Description |', '| --- | --- | --- | --- |', ...rows].join('\n')]
}

/** Escapes text for a table cell. */
const cellOf = (description = '') => description.replaceAll('|', String.raw`\|`)

/** The curl command of an operation. */
function curlOf({ method, path, permission, examples, body }) {
  const address = path.replace(
    /:(\w+)/g,
    (_, name) => `$${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
  )
  const key = permission === 'none' ? '' : ' -H "Authorization: Bearer $ESCAPEMENT_KEY"'
  const verb = method === 'GET' ? '' : ` -X ${method}`
  const sent = examples?.body ?? (body === undefined ? undefined : {})
  const data =
    sent === undefined
      ? ''
      : ` \\\n  -H 'Content-Type: application/json' -d '${JSON.stringify(sent).replaceAll("'", String.raw`'\''`)}'`
  const query = examples?.query === undefined ? '' : `?${examples.query}`
  return `curl${verb} "$ESCAPEMENT_URL${address}${query}"${key}${data}`
}

function renderShapes(document, { describeFields, describeType }) {
  return Object.entries(document.components.schemas).map(([name, schema]) => {
    const fields = describeFields(schema)
    const table =
      fields.length === 0
        ? [linked(describeType(schema))]
        : [
            '| Field | Type | Always present | Description |',
            '| --- | --- | --- | --- |',
            ...fields.map(
              ({ name: field, type, required, description }) =>
                `| \`${field}\` | ${linked(type)} | ${required ? '✓' : ''} | ${cellOf(description)} |`,
            ),
          ]
    return [`### ${name}`, ...(schema.description === undefined ? [] : [schema.description]), table.join('\n')].join(
      '\n\n',
    )
  })
}
