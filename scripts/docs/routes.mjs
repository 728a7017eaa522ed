/** The part of the operation table that the client needs at run time, as lines of an object in src/client/routes.ts. */
export function renderRoutes(operations) {
  return Object.entries(operations)
    .map(([id, spec]) => `'${id}': { ${fieldsOf(spec).join(', ')} },`)
    .join('\n')
}

function fieldsOf({ method, path, query, optionalQuery, body, creates, answers }) {
  const statuses = Object.keys(answers).map(Number)
  const also = statuses.filter((status) => status >= 400)
  const isStream = Object.values(answers).some((answer) => answer !== null && 'contentType' in answer)
  return [
    `method: '${method}'`,
    `path: '${path}'`,
    ...(query === undefined ? [] : [optionalQuery === true ? "query: 'option'" : 'query: true']),
    ...(body === undefined ? [] : ['body: true']),
    ...(creates === true ? ['creates: true'] : []),
    ...(isStream ? ['stream: true'] : []),
    ...(also.length === 0 ? [] : [`also: [${also.join(', ')}]`]),
  ]
}
