import { codesOf } from '../../operations/openapi.ts'
import type { OperationSpec } from '../../api/operation.ts'
import { fieldWords, typeWords, type DescribedShape } from '../../api/enum-words.ts'
import { html, NOTHING, prose, type Html } from '../../server/docs/html.ts'

/** As much of an operation of the OpenAPI document as the page shows. */
export interface DescribedOperation {
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

/** Names of shapes become links to them. */
const linked = (words: string): readonly Html[] =>
  words
    .split(/\[(\w+)\]/)
    .map((part, index) => (index % 2 === 1 ? html`<a href="#shape-${part}">${part}</a>` : html`${part}`))

/** An operation, closed until somebody wants to know. */
export function operationView(id: string, spec: OperationSpec, described: DescribedOperation): Html {
  const found = [id, spec.method, spec.path, spec.summary, spec.tag].join(' ').toLowerCase()
  return html`<details class="operation" id="${id}" data-found="${found}">
    <summary>
      <span class="method ${spec.method.toLowerCase()}">${spec.method}</span> <code class="path">${spec.path}</code>
      <span class="what">${spec.summary}</span>
    </summary>
    <div class="inside">
      ${spec.description === undefined ? NOTHING : html`<p>${prose(spec.description)}</p>`}
      <dl>
        <dt>Operation</dt>
        <dd>
          <a href="#${id}"><code>${id}</code></a>
        </dd>
        <dt>Permission</dt>
        <dd>${permissionView(spec)}</dd>
        ${bodyView(spec, described)} ${answerViews(described)}
        <dt>Refused with</dt>
        <dd class="codes">
          ${[...new Set(codesOf(spec))].map((code) => html`<a href="/docs/errors#${code}"><code>${code}</code></a> `)}
        </dd>
      </dl>
      ${inputView(described)}
      <pre><code>${curlOf(spec)}</code></pre>
      ${spec.examples?.answer === undefined ? NOTHING : html`<pre><code>${JSON.stringify(spec.examples.answer, null, 2)}</code></pre>`}
    </div>
  </details>`
}

function permissionView({ permission, operatorOnly }: OperationSpec): Html {
  if (permission === 'none') return html`none, and no key`
  if (permission === 'any') return html`none, but a key or a session`
  const names = (typeof permission === 'string' ? [permission] : permission).map(
    (one, index) => html`${index === 0 ? '' : ' or '}<code>${one}</code>`,
  )
  return html`${names}${operatorOnly === true ? ", of the operator's owner or admin" : ''}`
}

function bodyView({ body, bodyOptional }: OperationSpec, { requestBody }: DescribedOperation): Html {
  const shape = requestBody?.content['application/json']?.schema
  if (body === undefined || shape === undefined) return NOTHING
  return html`<dt>Body</dt>
    <dd>${linked(typeWords(shape))}${bodyOptional === true ? ', or none' : ''}</dd>`
}

function answerViews({ responses }: DescribedOperation): readonly Html[] {
  return Object.entries(responses).flatMap(([status, { description, content = {} }]) => {
    const [type, media] = Object.entries(content)[0] ?? []
    if (type === 'application/problem+json') return []
    const shape = media?.schema === undefined ? NOTHING : html`${linked(typeWords(media.schema))}`
    const stream = type === undefined ? html`${description}` : html`<code>${type}</code> of ${shape}: ${description}`
    const what = type === 'application/json' ? shape : stream
    return [
      html`<dt>Answer ${status}</dt>
        <dd>${what}</dd>`,
    ]
  })
}

function inputView({ parameters }: DescribedOperation): Html {
  if (parameters.length === 0) return NOTHING
  return html`<div class="wide">
    <table>
      <thead>
        <tr>
          <th>Input</th>
          <th>Where</th>
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
              <td>${linked(typeWords(one.schema))}</td>
              <td>${prose(one.description ?? '')}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** How it is called from a terminal. */
function curlOf({ method, path, permission, examples, body }: OperationSpec): string {
  const address = path.replace(/:(\w+)/g, (_, name: string) => `$${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`)
  const key = permission === 'none' ? '' : ' \\\n  -H "Authorization: Bearer $ESCAPEMENT_KEY"'
  const sent = examples?.body ?? (body === undefined ? undefined : {})
  const data = sent === undefined ? '' : ` \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(sent)}'`
  const query = examples?.query === undefined ? '' : `?${examples.query}`
  return `curl${method === 'GET' ? '' : ` -X ${method}`} "$ESCAPEMENT_URL${address}${query}"${key}${data}`
}

/** A shape with its fields. */
export function shapeView(name: string, shape: DescribedShape): Html {
  const fields = fieldWords(shape)
  const rows = fields.map(
    (field) =>
      html`<tr>
        <td><code>${field.name}</code></td>
        <td>${linked(field.type)}</td>
        <td>${field.required ? '✓' : ''}</td>
        <td>${prose(field.description)}</td>
      </tr>`,
  )
  return html`<details class="operation" id="shape-${name}" data-found="${name.toLowerCase()}">
    <summary><code class="path">${name}</code> <span class="what">${shape.description ?? ''}</span></summary>
    <div class="inside">
      ${
        rows.length === 0
          ? html`<p>${linked(typeWords(shape))}</p>`
          : html`<div class="wide">
              <table>
                <thead>
                  <tr>
                    <th>Field</th>
                    <th>Type</th>
                    <th>Always there</th>
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
