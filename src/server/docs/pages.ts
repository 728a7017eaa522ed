import { type DescribedShape, describeFields, describeType } from '../../api/enum-words.ts'
import type { OperationSpec, OperationTable } from '../../api/operation.ts'
import { REFUSAL_CODES, REFUSAL_TITLES, type RefusalCode } from '../../api/refusals.ts'
import { ERROR_CODES } from '../../domain/run/error-codes.ts'
import { errorCodesOf, type OpenApiDocument } from '../../operations/openapi.ts'

/** Escaped markup. */
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Html | readonly Html[]

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character)

const markupOf = (part: Part): string => {
  if (part instanceof Html) return part.text
  return typeof part === 'object' ? part.map(({ text }) => text).join('') : escaped(String(part))
}

/** A template of markup; interpolated values are escaped unless they are markup already. */
const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.map((text, index) => text + (index < parts.length ? markupOf(parts[index] ?? '') : '')).join(''))

const EMPTY_HTML = html``

/** Formats text between backquotes as code. */
const formatCode = (text: string): readonly Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))

/** The parts of an OpenAPI operation that the page shows. */
interface DescribedOperation {
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: DescribedShape
    readonly description?: string
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: DescribedShape }>> }
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string
        readonly content?: Readonly<Record<string, { readonly schema?: DescribedShape }>>
      }
    >
  >
}

/** Turns names of shapes into links. */
const linkTypes = (words: string): readonly Html[] =>
  words
    .split(/\[(\w+)\]/)
    .map((part, index) => (index % 2 === 1 ? html`<a href="#shape-${part}">${part}</a>` : html`${part}`))

/** One operation, collapsed by default. */
function operationView(id: string, spec: OperationSpec, described: DescribedOperation): Html {
  const found = [id, spec.method, spec.path, spec.summary, spec.tag].join(' ').toLowerCase()
  return html`<details class="operation" id="${id}" data-found="${found}">
    <summary>
      <span class="method ${spec.method.toLowerCase()}">${spec.method}</span> <code class="path">${spec.path}</code>
      <span class="what">${spec.summary}</span>
    </summary>
    <div class="inside">
      ${spec.description === undefined ? EMPTY_HTML : html`<p>${formatCode(spec.description)}</p>`}
      <dl>
        <dt>Operation</dt>
        <dd>
          <a href="#${id}"><code>${id}</code></a>
        </dd>
        <dt>Permission</dt>
        <dd>${permissionView(spec)}</dd>
        ${bodyView(spec, described)} ${responseViews(described)}
        <dt>Errors</dt>
        <dd class="codes">
          ${[...new Set(errorCodesOf(spec))].map((code) => html`<a href="/docs/errors#${code}"><code>${code}</code></a> `)}
        </dd>
      </dl>
      ${parametersView(described)}
      <pre><code>${curlOf(spec)}</code></pre>
      ${spec.examples?.answer === undefined ? EMPTY_HTML : html`<pre><code>${JSON.stringify(spec.examples.answer, null, 2)}</code></pre>`}
    </div>
  </details>`
}

function permissionView({ permission, operatorOnly }: OperationSpec): Html {
  if (permission === 'none') return html`none, no key needed`
  if (permission === 'any') return html`none, but requires a key or a session`
  const names = (typeof permission === 'string' ? [permission] : permission).map(
    (one, index) => html`${index === 0 ? '' : ' or '}<code>${one}</code>`,
  )
  return html`${names}${operatorOnly === true ? ", as an owner or admin of the operator's org" : ''}`
}

function bodyView({ body, bodyOptional }: OperationSpec, { requestBody }: DescribedOperation): Html {
  const shape = requestBody?.content['application/json']?.schema
  if (body === undefined || shape === undefined) return EMPTY_HTML
  return html`<dt>Body</dt>
    <dd>${linkTypes(describeType(shape))}${bodyOptional === true ? ' (optional)' : ''}</dd>`
}

function responseViews({ responses }: DescribedOperation): readonly Html[] {
  return Object.entries(responses).flatMap(([status, { description, content = {} }]) => {
    const [type, media] = Object.entries(content)[0] ?? []
    if (type === 'application/problem+json') return []
    const shape = media?.schema === undefined ? EMPTY_HTML : html`${linkTypes(describeType(media.schema))}`
    const stream = type === undefined ? html`${description}` : html`<code>${type}</code> of ${shape}: ${description}`
    const what = type === 'application/json' ? shape : stream
    return [
      html`<dt>Response ${status}</dt>
        <dd>${what}</dd>`,
    ]
  })
}

function parametersView({ parameters }: DescribedOperation): Html {
  if (parameters.length === 0) return EMPTY_HTML
  return html`<div class="wide">
    <table>
      <thead>
        <tr>
          <th>Parameter</th>
          <th>In</th>
          <th>Type</th>
          <th>Description</th>
        </tr>
      </thead>
      <tbody>
        ${parameters.map(
          (one) =>
            html`<tr>
              <td><code>${one.name}</code></td>
              <td>${one.in}${one.required ? ', required' : ''}</td>
              <td>${linkTypes(describeType(one.schema))}</td>
              <td>${formatCode(one.description ?? '')}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** A curl command that calls the operation. */
function curlOf({ method, path, permission, examples, body }: OperationSpec): string {
  const address = path.replace(/:(\w+)/g, (_, name: string) => `$${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`)
  const key = permission === 'none' ? '' : ' \\\n  -H "Authorization: Bearer $ESCAPEMENT_KEY"'
  const sent = examples?.body ?? (body === undefined ? undefined : {})
  const data = sent === undefined ? '' : ` \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(sent)}'`
  const query = examples?.query === undefined ? '' : `?${examples.query}`
  return `curl${method === 'GET' ? '' : ` -X ${method}`} "$ESCAPEMENT_URL${address}${query}"${key}${data}`
}

/** A shape with its fields. */
function shapeView(name: string, shape: DescribedShape): Html {
  const fields = describeFields(shape)
  const rows = fields.map(
    (field) =>
      html`<tr>
        <td><code>${field.name}</code></td>
        <td>${linkTypes(field.type)}</td>
        <td>${field.required ? '✓' : ''}</td>
        <td>${formatCode(field.description)}</td>
      </tr>`,
  )
  return html`<details class="operation" id="shape-${name}" data-found="${name.toLowerCase()}">
    <summary><code class="path">${name}</code> <span class="what">${shape.description ?? ''}</span></summary>
    <div class="inside">
      ${
        rows.length === 0
          ? html`<p>${linkTypes(describeType(shape))}</p>`
          : html`<div class="wide">
              <table>
                <thead>
                  <tr>
                    <th>Field</th>
                    <th>Type</th>
                    <th>Always present</th>
                    <th>Description</th>
                  </tr>
                </thead>
                <tbody>
                  ${rows}
                </tbody>
              </table>
            </div>`
      }
    </div>
  </details>`
}

/**
 * Kept outside the template, where the transpiler would replace the closing script tag with a helper that is not
 * installed.
 */
const SCRIPT = new Html(`<script src="/docs/docs.js" defer></script>`)

function page(title: string, sidebar: Html, main: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/docs/docs.css" />
        ${SCRIPT}
      </head>
      <body>
        <nav aria-label="Contents">
          <p class="brand"><a href="/docs">Escapement</a></p>
          ${sidebar}
        </nav>
        <main>${main}</main>
      </body>
    </html> `.text
}

interface Tag {
  readonly name: string
  readonly description: string
}

const describedIn = ({ paths }: OpenApiDocument, path: string, method: string): DescribedOperation =>
  paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] as unknown as DescribedOperation

/** The API reference: every operation and every shape, with search. */
export function apiPage(table: OperationTable, document: OpenApiDocument, version: string): string {
  const tags = document['tags'] as readonly Tag[]
  const shapes = Object.entries(document.components.schemas) as readonly (readonly [string, DescribedShape])[]
  const sidebar = html`<input
      type="search"
      id="search"
      placeholder="Search  /"
      aria-label="Search operations and types"
      autocomplete="off"
    />
    <ul>
      ${tags.map(({ name }) => html`<li><a href="#tag-${name}">${name}</a></li>`)}
      <li><a href="#shapes">types</a></li>
    </ul>
    <p class="more"><a href="/docs/errors">Error codes</a><br /><a href="/openapi.json">openapi.json</a></p>`
  const groups = tags.map(({ name, description }) => {
    const operations = Object.entries(table).filter(([, { tag }]) => tag === name)
    const views = operations.map(([id, spec]) => operationView(id, spec, describedIn(document, spec.path, spec.method)))
    return html`<section id="tag-${name}">
      <h2>${name}</h2>
      <p>${description}.</p>
      ${views}
    </section>`
  })
  const main = html`<h1>The HTTP API <small>${version}</small></h1>
    <p>
      JSON over HTTP. Send your key as <code>Authorization: Bearer …</code>. A rejected request is answered with a
      <a href="#shape-Problem">Problem</a> with a stable <a href="/docs/errors">error code</a>, and has changed nothing.
      Operations that create something accept an <code>Idempotency-Key</code>. Objects with a version have an
      <code>ETag</code>, and updates honor <code>If-Match</code>. Lists are paged with <code>cursor</code>.
    </p>
    <p id="none" hidden>No operation or type matches.</p>
    ${groups}
    <section id="shapes">
      <h2>Types</h2>
      <p>The types of requests, responses and events.</p>
      ${shapes.map(([name, shape]) => shapeView(name, shape))}
    </section>`
  return page('Escapement API', sidebar, main)
}

function tableView(head: readonly string[], rows: readonly (readonly [string, ...(string | number)[]])[]): Html {
  const cells = (values: readonly (string | number)[]): readonly Html[] =>
    values.map((value) => html`<td>${value}</td>`)
  return html`<div class="wide">
    <table>
      <thead>
        <tr>
          ${head.map((name) => html`<th>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([code, ...rest]) =>
            html`<tr id="${code}">
              <td>
                <a href="#${code}"><code>${code}</code></a>
              </td>
              ${cells(rest)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** The page of error codes, which the `type` of every problem links to. */
export function errorsPage(): string {
  const refusals = Object.entries(REFUSAL_CODES).map(
    ([code, status]) => [code, status, REFUSAL_TITLES[code as RefusalCode]] as const,
  )
  const errors = Object.entries(ERROR_CODES).map(
    ([code, { summary, retryable }]) => [code, summary, retryable ? 'yes' : 'no'] as const,
  )
  const sidebar = html`<ul>
      <li><a href="#refusals">rejected requests</a></li>
      <li><a href="#attempts">failed attempts</a></li>
    </ul>
    <p class="more"><a href="/docs">The HTTP API</a></p>`
  const main = html`<h1>Error codes</h1>
    <section id="refusals">
      <h2>Rejected requests</h2>
      <p>A rejected request has changed nothing, except that the run in <code>run_id</code>, if any, records it.</p>
      ${tableView(['Code', 'Status', 'Meaning'], refusals)}
    </section>
    <section id="attempts">
      <h2>Failed attempts</h2>
      <p>Why an attempt failed: the <code>error_code</code> of a run.</p>
      ${tableView(['Code', 'Meaning', 'Retried'], errors)}
    </section>`
  return page('Escapement: error codes', sidebar, main)
}
