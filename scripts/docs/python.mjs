// The Python client: the types of every shape and a method for every operation, from the OpenAPI document.

const HEAD = (what) => `"""${what} Written by \`npm run docs\` from the table of operations; do not edit."""

from __future__ import annotations

`
const KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
    'if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
)
const RESERVED = new Set([...KEYWORDS, 'body', 'timeout'])
const WIDTH = 100

/** clients/python/escapement/types.py: a type for every shape of the document. */
export function renderPythonTypes({ OPERATIONS, openApiOf }) {
  const { components } = openApiOf(OPERATIONS, '')
  const types = createTypes()
  for (const [name, schema] of Object.entries(components.schemas)) types.declare(name, schema)
  const imports = 'from typing import Any, Literal, NotRequired, TypedDict\n'
  return `${HEAD('The shapes of the API.')}${imports}\n\n${types.declared().join('\n\n')}\n`
}

/** clients/python/escapement/client.py: the operations by group, as methods. */
export function renderPythonClient({ OPERATIONS, openApiOf }) {
  const document = openApiOf(OPERATIONS, '')
  const groups = new Map()
  for (const [id, spec] of Object.entries(OPERATIONS)) {
    const [group, name] = id.split('.')
    const described = document.paths[spec.path.replace(/:(\w+)/g, '{$1}')][spec.method.toLowerCase()]
    if (isStream(spec)) continue
    groups.set(group, [...(groups.get(group) ?? []), renderMethod({ id, name, spec, described })])
  }
  const classes = [...groups].map(
    ([group, methods]) => `class ${pascal(group)}:
    """Operations \`${group}.*\`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

${methods.join('\n')}`,
  )
  const fields = [...groups.keys()].map((group) => `        self.${argumentOf(group)} = ${pascal(group)}(connection)\n`)
  return `${HEAD('The operations of the API.')}from collections.abc import Sequence
from typing import Any, Literal

from . import types as t
from .connection import Connection


${classes.join('\n\n')}

class Operations:
    """Every operation of the API, by group."""

    def __init__(self, connection: Connection) -> None:
${fields.join('')}`
}

const isStream = ({ answers }) =>
  Object.values(answers).some((answer) => answer !== null && typeof answer === 'object' && 'contentType' in answer)

function renderMethod({ id, name, spec, described }) {
  const inputs = inputsOf(spec, described)
  // A method named `list` hides the type of that name.
  const types = createTypes({ prefix: 't.', list: 'Sequence' })
  const typeOf = (schema) => types.typeOf(schema, 'Any', { inline: false })
  const bodyType = inputs.body === null ? null : typeOf(inputs.body)
  const given = [
    ...inputs.path.map((one) => `${one.argument}: str`),
    ...(bodyType === null ? [] : [`body: ${bodyType}${spec.bodyOptional === true ? ' | None = None' : ''}`]),
    '*',
    ...inputs.query.map((one) => queryArgument(one, typeOf)),
    ...(inputs.creates ? ['idempotency_key: str | None = None'] : []),
    ...(inputs.versioned ? ['if_match: int | None = None'] : []),
    'timeout: float | None = None',
  ]
  const type = answerType(spec, described, typeOf)
  return `    def ${argumentOf(name)}(
        self,
${given.map((one) => `        ${one},\n`).join('')}    ) -> ${type}:
        """${sentence(spec.summary)}

        Operation \`${id}\`: \`${spec.method} ${spec.path}\`.
        """
        ${type === 'None' ? '' : `answer: ${type} = `}self._connection.call(
${callArguments(spec, inputs, described)
  .map((one) => `            ${one},\n`)
  .join('')}        )
${type === 'None' ? '' : '        return answer\n'}`
}

const sentence = (text) => (text.endsWith('.') ? text : `${text}.`)

function inputsOf(spec, { parameters, requestBody }) {
  const named = parameters.map((one) => ({ ...one, argument: argumentOf(one.name) }))
  const headers = named.filter((one) => one.in === 'header').map((one) => one.name.toLowerCase())
  return {
    path: named.filter((one) => one.in === 'path'),
    query: named.filter((one) => one.in === 'query').toSorted((a, b) => Number(b.required) - Number(a.required) || 0),
    body: requestBody?.content['application/json']?.schema ?? null,
    creates: headers.includes('idempotency-key'),
    versioned: headers.includes('if-match'),
  }
}

/** A name that Python reserves, or that every method uses itself, gets an underscore. */
const argumentOf = (name) => (RESERVED.has(snake(name)) ? `${snake(name)}_` : snake(name))

/** A parameter that takes several values separated by commas also takes a list of them. */
function queryArgument({ argument, required, schema, description = '' }, typeOf) {
  const type = /separated by commas/.test(description) ? 'str | Sequence[str]' : typeOf(schema)
  return required ? `${argument}: ${type}` : `${argument}: ${type} | None = None`
}

/** Statuses from 400 on that are answers and no errors. */
const answersFrom400 = ({ path }, { responses }) =>
  Object.entries(responses)
    .filter(([status, { content = {} }]) => Number(status) >= 400 && content['application/json'] !== undefined)
    .filter(() => !/^\/(?:tasks|scheduler)\b/.test(path))
    .map(([status]) => Number(status))

function answerType(spec, described, typeOf) {
  const types = new Set()
  const also = answersFrom400(spec, described)
  for (const [status, { content = {} }] of Object.entries(described.responses)) {
    if (Number(status) >= 400 && !also.includes(Number(status))) continue
    const schema = content['application/json']?.schema
    if (schema !== undefined) types.add(typeOf(schema))
    else types.add('None')
  }
  return types.size === 0 ? 'None' : [...types].join(' | ')
}

function callArguments(spec, { path, query, body, creates, versioned }, described) {
  const parts = path.map(({ name, argument }) => `"${name}": ${argument}`)
  const values = query.map(({ name, argument }) => `"${name}": ${argument}`)
  const also = answersFrom400(spec, described)
  return [
    `"${spec.method}"`,
    `"${spec.path}"`,
    ...(parts.length === 0 ? [] : [`path_values={${parts.join(', ')}}`]),
    ...(values.length === 0
      ? []
      : [`query={\n${values.map((one) => `                ${one},\n`).join('')}            }`]),
    ...(body === null ? [] : ['body=body']),
    ...(creates ? ['creates=True', 'idempotency_key=idempotency_key'] : []),
    ...(versioned ? ['if_match=if_match'] : []),
    ...(also.length === 0 ? [] : [`also=(${also.join(', ')},)`]),
    'timeout=timeout',
  ]
}

/** Collects declarations, and names the objects that stand inside others after the place where they stand. */
function createTypes({ prefix = '', list = 'list' } = {}) {
  const declarations = new Map()
  const aliases = new Map()
  const refer = (name) => `${prefix}${name}`
  const union = (types) => {
    const unique = [...new Set(types)]
    return unique.includes('Any')
      ? 'Any'
      : [...unique.filter((one) => one !== 'None'), ...unique.filter((one) => one === 'None')].join(' | ')
  }
  const typeOf = (schema, name, options = { inline: true }) => {
    if (schema.$ref !== undefined) return refer(schema.$ref.split('/').at(-1))
    const parts = schema.anyOf ?? schema.oneOf
    if (parts !== undefined)
      return union(parts.map((part, index) => typeOf(part, index === 0 ? name : `${name}${index + 1}`, options)))
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`
    if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(', ')}]`
    if (schema.type === 'array')
      return `${list}[${schema.items === undefined ? 'Any' : typeOf(schema.items, `${name}Item`, options)}]`
    if (schema.type === 'object') return objectType(schema, name, options)
    return { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[schema.type] ?? 'Any'
  }
  const objectType = (schema, name, options) => {
    if (schema.properties === undefined || !options.inline) {
      const { additionalProperties: rest } = schema
      return `dict[str, ${typeof rest === 'object' ? typeOf(rest, name, options) : 'Any'}]`
    }
    declare(name, schema)
    return refer(name)
  }
  const declare = (name, schema) => {
    const isObject = schema.type === 'object' && schema.properties !== undefined
    if (declarations.has(name) || aliases.has(name)) throw new Error(`two Python types are named ${name}`)
    declarations.set(name, '')
    if (isObject) declarations.set(name, objectText(name, schema))
    else {
      declarations.delete(name)
      aliases.set(name, typeOf(schema, `${name}Option`))
    }
  }
  const objectText = (name, { properties, required = [], description }) => {
    const fields = Object.entries(properties).map(([field, schema]) => {
      const type = typeOf(schema, `${name}${pascal(field)}`)
      return { field, text: required.includes(field) ? type : `NotRequired[${type}]`, description: schema.description }
    })
    const about = description === undefined ? '' : `    """${docText(description, 4)}"""\n\n`
    if (fields.some(({ field }) => !/^[a-z_]\w*$/i.test(field) || KEYWORDS.has(field)))
      return `${name} = TypedDict(\n    "${name}",\n    {\n${fields.map(({ field, text }) => `        "${field}": ${quoted(text)},\n`).join('')}    },\n)\n`
    const lines = fields.map(
      ({ field, text, description: what }) =>
        `    ${field}: ${text}\n${what === undefined ? '' : `    """${docText(what, 4)}"""\n`}`,
    )
    return `class ${name}(TypedDict):\n${about}${lines.join('') || '    pass\n'}`
  }
  return { typeOf, declare, declared: () => [...declarations.values(), ...aliasTexts(aliases)] }
}

/** Unlike the fields of classes, aliases are evaluated where they stand: each comes behind those that it uses. */
function aliasTexts(aliases) {
  const left = new Map(aliases)
  const texts = []
  while (left.size > 0) {
    const next = [...left].find(([, type]) => !type.split(/\W+/).some((word) => left.has(word)))
    if (next === undefined) throw new Error(`aliases that use each other: ${[...left.keys()].join(', ')}`)
    const [name, type] = next
    left.delete(name)
    texts.push(`${name} = ${type}\n`)
  }
  return texts
}

/** Outside a class, a type that is declared further down must be quoted. */
const quoted = (type) => JSON.stringify(type.replaceAll('"', "'"))

const literal = (value) =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : value === null ? 'None' : JSON.stringify(value)

/** A documentation text, wrapped. */
function docText(text, indent) {
  const lines = ['']
  for (const word of text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, '" ').split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== '' && indent + last.length + word.length + 8 > WIDTH) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}

const pascal = (name) =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('')

const snake = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
