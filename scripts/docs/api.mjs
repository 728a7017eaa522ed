// docs/reference/api.md: every operation of the table, and every shape that goes in or comes out.

/** The operations by tag, with everything there is to say about each. */
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

/** The permissions, and what each of them opens. */
export function renderPermissionOperations(permissions, operations) {
  const rows = Object.keys(permissions).map((permission) => {
    const opened = Object.entries(operations).filter(([, spec]) => [spec.permission].flat().includes(permission))
    return `| \`${permission}\` | ${opened.map(([id]) => `\`${id}\``).join(', ') || 'nothing yet'} |`
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
    `| any key or session | ${without('any')} |`,
    `| no key at all | ${without('none')} |`,
  ].join('\n')
}

/** The refusals of the API, and which operations name them as their own. */
export function renderRefusals({ REFUSAL_CODES, REFUSAL_TITLES, OPERATIONS }) {
  const rows = Object.entries(REFUSAL_CODES).map(([code, status]) => {
    const own = Object.entries(OPERATIONS).filter(([, { refusals = [] }]) => refusals.includes(code))
    return `| \`${code}\` | ${status} | ${REFUSAL_TITLES[code]} | ${own.map(([id]) => `\`${id}\``).join(', ')} |`
  })
  return [
    '| Code | Status | Means | Beside what everything may be refused with |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

const describedIn = (document, { path, method }) =>
  document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()]

/** Names of shapes become links to them. */
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
      `- Refused with: ${codes.join(', ')}`,
    ].join('\n'),
    ...inputTable(described, words),
    ['```sh', curlOf(spec), '```'].join('\n'),
  ].join('\n\n')
}

function permissionOf({ permission, operatorOnly }) {
  if (permission === 'none') return 'none, and no key'
  if (permission === 'any') return 'none, but a key or a session'
  const names = [permission].flat().map((one) => `\`${one}\``)
  return `${names.join(' or ')}${operatorOnly === true ? ", of the operator's owner or admin" : ''}`
}

function bodyLine({ bodyOptional }, { requestBody }, { typeWords }) {
  const { schema } = requestBody.content['application/json']
  return `- Body: ${linked(typeWords(schema))}${bodyOptional === true ? ', or none' : ''}`
}

function answerLines({ responses }, { typeWords }) {
  return Object.entries(responses)
    .filter(([, response]) => response.content?.['application/problem+json'] === undefined)
    .map(([status, { description, content = {} }]) => {
      const [[type, { schema } = {}] = []] = Object.entries(content)
      if (type === undefined) return `- Answer ${status}: ${description}`
      if (type === 'application/json') return `- Answer ${status}: ${linked(typeWords(schema))}`
      const each = schema === undefined ? '' : ` of ${linked(typeWords(schema))}`
      return `- Answer ${status}: \`${type}\`${each}: ${description}`
    })
}

function inputTable({ parameters }, { typeWords }) {
  if (parameters.length === 0) return []
  const rows = parameters.map(
    ({ name, in: place, required, schema, description }) =>
      `| \`${name}\` | ${place}${required ? ', required' : ''} | ${linked(typeWords(schema))} | ${cellOf(description)} |`,
  )
  return [['| Input | Where | Type | Description |', '| --- | --- | --- | --- |', ...rows].join('\n')]
}

/** A sentence in a table. */
const cellOf = (description = '') => description.replaceAll('|', String.raw`\|`)

/** How it is called from a terminal. */
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

function renderShapes(document, { fieldWords, typeWords }) {
  return Object.entries(document.components.schemas).map(([name, schema]) => {
    const fields = fieldWords(schema)
    const table =
      fields.length === 0
        ? [linked(typeWords(schema))]
        : [
            '| Field | Type | Always there | Description |',
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
