import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { openApiOf } from '../../operations/openapi.ts'
import type { OperationTable } from '../../api/operation.ts'
import { PACKAGE_ROOT } from '../../platform/package-root.ts'
import { hasTag } from '../http/entity-tag.ts'
import { addMethodNotAllowed } from '../http/routes.ts'
import { apiPage, errorsPage } from './pages.ts'

const ASSETS = new URL('assets/docs/', PACKAGE_ROOT)

/** The page may only load its own assets. */
const DOCS_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

/** A public asset, created on first request. */
interface Asset {
  readonly type: string
  readonly create: () => string
}

/**
 * Serves the documentation: pages generated from the operation table, without authentication and without external
 * resources.
 */
export function addDocs(app: FastifyInstance, table: OperationTable, version: string): void {
  const fileOf = (name: string): string => readFileSync(fileURLToPath(new URL(name, ASSETS)), 'utf8')
  const page = 'text/html; charset=utf-8'
  const assets: Readonly<Record<string, Asset>> = {
    '/docs': { type: page, create: () => apiPage(table, openApiOf(table, version), version) },
    '/docs/errors': { type: page, create: () => errorsPage() },
    '/docs/docs.css': { type: 'text/css; charset=utf-8', create: () => fileOf('docs.css') },
    '/docs/docs.js': { type: 'text/javascript; charset=utf-8', create: () => fileOf('docs.js') },
  }
  for (const [url, asset] of Object.entries(assets)) {
    app.get(url, serveAsset(asset))
    addMethodNotAllowed(app, url, new Set(['GET', 'HEAD']))
  }
}

function serveAsset({ type, create }: Asset) {
  let cached: { readonly text: string; readonly tag: string } | null = null
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    cached ??= withTag(create())
    reply.headers({ ...DOCS_HEADERS, etag: cached.tag })
    if (hasTag(request.headers['if-none-match'], cached.tag)) return reply.code(304).send()
    return reply.type(type).send(cached.text)
  }
}

const withTag = (text: string): { readonly text: string; readonly tag: string } => ({
  ...{ text, tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` },
})
