import type { z } from 'zod'
import type { OperationSpec } from '../../../src/api/operation.ts'
import { OPERATIONS } from '../../../src/operations/table.ts'
import { RPC_METHODS, type RpcMethodSpec } from '../../../src/server/rpc/methods.ts'

/** A request as a document shows it. */
export interface ShownRequest {
  readonly method: string
  /** With its query; variables and ids stand in it as they are written. */
  readonly target: string
  readonly body: string | null
  /** In lower case; null: the document shows none. */
  readonly headers: readonly string[] | null
}

const all = Object.entries<OperationSpec>(OPERATIONS)

/** What is wrong with a request, or null. */
export function wrongWith(request: ShownRequest): string | null {
  const [path = '', query = ''] = request.target.split('?')
  if (path === '/rpc') return wrongCall(request)
  const [name, operation] = operationFor(request.method, path) ?? []
  if (name === undefined || operation === undefined) return `no operation answers ${request.method} ${path}`
  const wrong = wrongQuery(operation, query) ?? wrongBody(operation, request) ?? wrongHeaders(operation, request)
  return wrong === null ? null : `${name}: ${wrong}`
}

/** The operation behind a method and a path; names in the path count before what can stand for anything. */
function operationFor(method: string, path: string): readonly [string, OperationSpec] | undefined {
  const given = path.split('/')
  const fits = all.filter(([, operation]) => {
    const segments = operation.path.split('/')
    return (
      operation.method === method &&
      segments.length === given.length &&
      segments.every((segment, index) => segment.startsWith(':') || segment === given[index])
    )
  })
  return fits.sort(([, a], [, b]) => placesIn(a) - placesIn(b))[0]
}

const placesIn = ({ path }: OperationSpec): number => path.split('/:').length

function wrongQuery({ query: schema }: OperationSpec, query: string): string | null {
  const given = [...new URLSearchParams(query)]
  if (given.length === 0) return null
  if (schema === undefined) return 'takes no query'
  // What a variable will hold nobody knows: only its name is looked at.
  const read = given.map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value] as const)
  return told(schema, Object.fromEntries(read), (path) => given.some(([n, v]) => n === path[0] && /\$|…/.test(v)))
}

function wrongBody(operation: OperationSpec, { body }: ShownRequest): string | null {
  if (body === null)
    return operation.body === undefined || operation.bodyOptional === true ? null : 'is shown without its body'
  if (operation.body === undefined) return 'takes no body'
  const given = parsed(body)
  if (given === undefined) return 'its body is no JSON'
  // Of a batch each is judged on its own, and a guide may show how one of them is refused.
  return told(
    operation.body,
    given,
    ([list, index]) => operation.facade === true && list === 'tasks' && index !== undefined,
  )
}

function wrongHeaders(operation: OperationSpec, { headers, body }: ShownRequest): string | null {
  if (headers === null) return null
  if (
    body !== null &&
    operation.facade !== true &&
    !headers.some((one) => /^content-type: application\/json/.test(one))
  )
    return 'is sent without content-type: application/json'
  const open = operation.permission === 'none' || operation.openInPrivate === true
  return open || headers.some((one) => one.startsWith('authorization: bearer ')) ? null : 'is asked without a key'
}

function wrongCall({ method, body, headers }: ShownRequest): string | null {
  const call = parsed(body ?? '') as { readonly method?: string; readonly params?: unknown } | undefined
  const spec = (RPC_METHODS as Readonly<Record<string, RpcMethodSpec>>)[call?.method ?? '']
  if (method !== 'POST' || spec === undefined) return `/rpc has no method ${String(call?.method)}`
  if (headers?.some((one) => one.startsWith('authorization: bearer ')) === false) return '/rpc is asked without a key'
  return told(spec.params, call?.params ?? {}, () => false)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** What a schema says against a value, or null. */
export function told(
  schema: z.ZodType,
  value: unknown,
  borne: (path: readonly PropertyKey[]) => boolean,
): string | null {
  const read = schema.safeParse(value)
  const issues = (read.error?.issues ?? []).filter(({ path }) => !borne(path))
  return issues.length === 0 ? null : issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
}
