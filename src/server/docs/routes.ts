import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { openApiOf } from '../../operations/openapi.ts'
import type { OperationTable } from '../../api/operation.ts'
import { PACKAGE_ROOT } from '../../platform/package-root.ts'
import { hasTag } from '../http/entity-tag.ts'
import { refuseOthers } from '../http/routes.ts'
import { apiPage, errorsPage } from '../../http/docs/pages.ts'

const ASSETS = new URL('assets/docs/', PACKAGE_ROOT)

/** The page may load what is beside it and nothing else, from nowhere else. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

/** Something that is served as it is, to everybody. Made when it is first wanted. */
interface Asset {
  readonly type: string
  readonly make: () => string
}

/** Serves the documentation: pages made from the table of operations, without a key and without anything from elsewhere. */
export function addDocs(app: FastifyInstance, table: OperationTable, version: string): void {
  const fileOf = (name: string): string => readFileSync(fileURLToPath(new URL(name, ASSETS)), 'utf8')
  const page = 'text/html; charset=utf-8'
  const assets: Readonly<Record<string, Asset>> = {
    '/docs': { type: page, make: () => apiPage(table, openApiOf(table, version), version) },
    '/docs/errors': { type: page, make: () => errorsPage() },
    '/docs/docs.css': { type: 'text/css; charset=utf-8', make: () => fileOf('docs.css') },
    '/docs/docs.js': { type: 'text/javascript; charset=utf-8', make: () => fileOf('docs.js') },
  }
  for (const [url, asset] of Object.entries(assets)) {
    app.get(url, serving(asset))
    refuseOthers(app, url, new Set(['GET', 'HEAD']))
  }
}

function serving({ type, make }: Asset) {
  let made: { readonly text: string; readonly tag: string } | null = null
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    made ??= tagged(make())
    reply.headers({ ...HEADERS, etag: made.tag })
    if (hasTag(request.headers['if-none-match'], made.tag)) return reply.code(304).send()
    return reply.type(type).send(made.text)
  }
}

const tagged = (text: string): { readonly text: string; readonly tag: string } => ({
  ...{ text, tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` },
})
