import type { OpenApiDocument } from '../../operations/openapi.ts'
import type { OperationTable } from '../../api/operation.ts'
import { REFUSAL_CODES, REFUSAL_TITLES, type RefusalCode } from '../../api/refusals.ts'
import type { DescribedShape } from '../../api/enum-words.ts'
import { ERROR_CODES } from '../../domain/run/error-codes.ts'
import { html, Html } from '../../server/docs/html.ts'
import { operationView, shapeView, type DescribedOperation } from './operation.ts'

/** Written apart: inside a template the transpiler replaces the end of a script by a helper that is not installed. */
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

/** The page of the API: every operation and every shape, to read and to search. */
export function apiPage(table: OperationTable, document: OpenApiDocument, version: string): string {
  const tags = document['tags'] as readonly Tag[]
  const shapes = Object.entries(document.components.schemas) as readonly (readonly [string, DescribedShape])[]
  const sidebar = html`<input
      type="search"
      id="search"
      placeholder="Search  /"
      aria-label="Search operations and shapes"
      autocomplete="off"
    />
    <ul>
      ${tags.map(({ name }) => html`<li><a href="#tag-${name}">${name}</a></li>`)}
      <li><a href="#shapes">shapes</a></li>
    </ul>
    <p class="more"><a href="/docs/errors">Refusals and errors</a><br /><a href="/openapi.json">openapi.json</a></p>`
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
      JSON over HTTP. Send your key as <code>Authorization: Bearer …</code>. What is refused is answered as a
      <a href="#shape-Problem">Problem</a> with a stable <a href="/docs/errors">code</a>, and has changed nothing. What
      creates something takes an <code>Idempotency-Key</code>; what has a version has an <code>ETag</code> and honours
      <code>If-Match</code>. Lists go on with <code>cursor</code>.
    </p>
    <p id="none" hidden>Nothing here is called that.</p>
    ${groups}
    <section id="shapes">
      <h2>Shapes</h2>
      <p>What goes in and what comes out.</p>
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

/** The page of everything that can go wrong. The `type` of every problem leads here. */
export function errorsPage(): string {
  const refusals = Object.entries(REFUSAL_CODES).map(
    ([code, status]) => [code, status, REFUSAL_TITLES[code as RefusalCode]] as const,
  )
  const errors = Object.entries(ERROR_CODES).map(
    ([code, { summary, retryable }]) => [code, summary, retryable ? 'yes' : 'no'] as const,
  )
  const sidebar = html`<ul>
      <li><a href="#refusals">refused requests</a></li>
      <li><a href="#attempts">failed attempts</a></li>
    </ul>
    <p class="more"><a href="/docs">The HTTP API</a></p>`
  const main = html`<h1>Refusals and errors</h1>
    <section id="refusals">
      <h2>Refused requests</h2>
      <p>
        What is refused has changed nothing; only a run that is named as <code>run_id</code> keeps the record of it.
      </p>
      ${tableView(['Code', 'Status', 'Means'], refusals)}
    </section>
    <section id="attempts">
      <h2>Failed attempts</h2>
      <p>Why an attempt failed, as <code>error_code</code> of a run.</p>
      ${tableView(['Code', 'Means', 'Retried'], errors)}
    </section>`
  return page('Escapement: refusals and errors', sidebar, main)
}
