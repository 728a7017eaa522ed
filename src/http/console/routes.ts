import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasTag } from '../../server/http/entity-tag.ts'
import { refuseOthers } from '../../server/http/routes.ts'
import { readConsoleFiles, type ConsoleFile, type Encoding } from './files.ts'

/**
 * Addresses of pages. The same document answers all of them, and what it loads finds out which page was asked for. They
 * are named, so that a mistyped address of the API is still told that there is nothing.
 */
const PAGES = ['/', '/sign-in', '/automation', '/chat', '/agents', '/operations', '/settings']
const DOCUMENT = '/index.html'

/** Only what comes from here, and no script or frame written into a page; components put their sizes into attributes. */
const POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self' 'unsafe-inline'", "font-src 'self'", "img-src 'self' data:"],
  ...["connect-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"],
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

/**
 * Serves the console: its files by their exact names, and its document at the addresses of its pages. What it returns
 * answers a browser at any other address with the page that says so and leads back; null: no person asks for a page.
 */
export function addConsole(
  app: FastifyInstance,
  directory?: string,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null {
  const files = readConsoleFiles(directory)
  for (const [url, file] of files) if (url !== DOCUMENT) add(app, url, serving(file))
  const document = files.get(DOCUMENT)
  const page = document === undefined ? notBuilt : serving(document)
  for (const url of PAGES) {
    add(app, url, page)
    if (url !== '/') add(app, `${url}/*`, page)
  }
  return (request, reply) => (document !== undefined && isOpened(request) ? page(request, reply.code(404)) : null)
}

/** Browsers ask for HTML where a person opens an address; programs, and whoever means the API, do not. */
const isOpened = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && !url.startsWith('/api/') && headers.accept?.includes('text/html') === true

type Serve = (request: FastifyRequest, reply: FastifyReply) => FastifyReply

function add(app: FastifyInstance, url: string, serve: Serve): void {
  app.get(url, serve)
  refuseOthers(app, url, new Set(['GET', 'HEAD']))
}

/** Names with a hash in them never change what they name; everything else is asked for again. */
const cacheOf = ({ isHashed }: ConsoleFile): string => (isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')

function serving(file: ConsoleFile): Serve {
  return (request, reply) => {
    reply.headers({ ...HEADERS, etag: file.tag, vary: 'accept-encoding', 'cache-control': cacheOf(file) })
    if (hasTag(request.headers['if-none-match'], file.tag)) return reply.code(304).send()
    const encoding = encodingFor(file, request.headers['accept-encoding'])
    if (encoding !== null) reply.header('content-encoding', encoding)
    return reply.type(file.type).send(file.read(encoding))
  }
}

/** The best way of packing that both know. */
function encodingFor({ encodings }: ConsoleFile, accepted: string | string[] | undefined): Encoding | null {
  const known = String(accepted ?? '')
    .split(',')
    .map((part) => part.trim().split(';'))
    .filter(([, quality]) => quality?.trim() !== 'q=0')
    .map(([name]) => name)
  return encodings.find((encoding) => known.includes(encoding)) ?? null
}

const HINT = `<!doctype html><html lang="en"><title>Escapement</title>
<p>The console is not built here. The API is at <a href="/docs">/docs</a>; build the console with: npm run build</p>
`

function notBuilt(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply
    .headers({ ...HEADERS, 'cache-control': 'no-cache' })
    .type('text/html; charset=utf-8')
    .send(HINT)
}
