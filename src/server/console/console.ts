import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PACKAGE_ROOT } from '../../platform/package-root.ts'
import { hasTag } from '../http/entity-tag.ts'
import { addMethodNotAllowed } from '../http/routes.ts'

const BUILT = fileURLToPath(new URL('dist/ui', PACKAGE_ROOT))

/** Compressed variants of a file, best first. */
type Encoding = 'br' | 'gzip'

const ENCODING_SUFFIXES: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz' }

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** A file of the console. */
interface ConsoleFile {
  readonly type: string
  readonly tag: string
  /** Whether its name contains a hash of its content. */
  readonly isHashed: boolean
  readonly encodings: readonly Encoding[]
  /** Read on first request and cached; all files together are a few megabytes. */
  readonly read: (encoding: Encoding | null) => Buffer
}

/** Every file of the built console by its URL path; empty if it is not built. Other files cannot be requested. */
function readConsoleFiles(directory = BUILT): ReadonlyMap<string, ConsoleFile> {
  if (!existsSync(directory)) return new Map()
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) =>
    name.split(path.sep).join('/'),
  )
  const all = new Set(names)
  return new Map(
    names.flatMap((name): readonly (readonly [string, ConsoleFile])[] => {
      const type = MEDIA_TYPES[path.extname(name)]
      return type === undefined ? [] : [[`/${name}`, fileOf(path.join(directory, name), { name, type, all })]]
    }),
  )
}

interface FileContext {
  readonly name: string
  readonly type: string
  readonly all: ReadonlySet<string>
}

function fileOf(file: string, { name, type, all }: FileContext): ConsoleFile {
  const kept = new Map<Encoding | null, Buffer>()
  const tag = `"${createHash('sha256').update(readFileSync(file)).digest('base64url').slice(0, 22)}"`
  return {
    ...{ type, tag, isHashed: name.startsWith('assets/') },
    encodings: (Object.keys(ENCODING_SUFFIXES) as readonly Encoding[]).filter((encoding) =>
      all.has(name + ENCODING_SUFFIXES[encoding]),
    ),
    read: (encoding) => {
      const known = kept.get(encoding)
      if (known !== undefined) return known
      const bytes = readFileSync(encoding === null ? file : file + ENCODING_SUFFIXES[encoding])
      kept.set(encoding, bytes)
      return bytes
    },
  }
}

/**
 * URL paths of pages. They all serve the same document, which loads the page. They are listed so that a mistyped API
 * path is still answered with 404.
 */
const PAGES = ['/', '/sign-in', '/automation', '/chat', '/agents', '/operations', '/settings']
const DOCUMENT = '/index.html'

/** Only resources of this origin, and no inline scripts or frames; components set sizes in style attributes. */
const POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self' 'unsafe-inline'", "font-src 'self'", "img-src 'self' data:"],
  ...["connect-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"],
].join('; ')

const CONSOLE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

/**
 * Serves the console: its files by their exact names, and its document at the paths of its pages. The returned function
 * answers a browser at any other path with the console's 404 page; null if the request is not from a browser.
 */
export function addConsole(
  app: FastifyInstance,
  directory?: string,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null {
  const files = readConsoleFiles(directory)
  for (const [url, file] of files) if (url !== DOCUMENT) addPath(app, url, serveFile(file))
  const document = files.get(DOCUMENT)
  const page = document === undefined ? notBuilt : serveFile(document)
  for (const url of PAGES) {
    addPath(app, url, page)
    if (url !== '/') addPath(app, `${url}/*`, page)
  }
  return (request, reply) =>
    document !== undefined && isBrowserRequest(request) ? page(request, reply.code(404)) : null
}

/** Browsers accept HTML when a person opens a URL; API clients do not. */
const isBrowserRequest = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && !url.startsWith('/api/') && headers.accept?.includes('text/html') === true

type Serve = (request: FastifyRequest, reply: FastifyReply) => FastifyReply

function addPath(app: FastifyInstance, url: string, serve: Serve): void {
  app.get(url, serve)
  addMethodNotAllowed(app, url, new Set(['GET', 'HEAD']))
}

/** A file with a hash in its name never changes; everything else is revalidated. */
const cacheOf = ({ isHashed }: ConsoleFile): string => (isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')

function serveFile(file: ConsoleFile): Serve {
  return (request, reply) => {
    reply.headers({ ...CONSOLE_HEADERS, etag: file.tag, vary: 'accept-encoding', 'cache-control': cacheOf(file) })
    if (hasTag(request.headers['if-none-match'], file.tag)) return reply.code(304).send()
    const encoding = encodingFor(file, request.headers['accept-encoding'])
    if (encoding !== null) reply.header('content-encoding', encoding)
    return reply.type(file.type).send(file.read(encoding))
  }
}

/** The best encoding that both sides support. */
function encodingFor({ encodings }: ConsoleFile, accepted: string | string[] | undefined): Encoding | null {
  const known = String(accepted ?? '')
    .split(',')
    .map((part) => part.trim().split(';'))
    .filter(([, quality]) => quality?.trim() !== 'q=0')
    .map(([name]) => name)
  return encodings.find((encoding) => known.includes(encoding)) ?? null
}

const NOT_BUILT_PAGE = `<!doctype html><html lang="en"><title>Escapement</title>
<p>The console is not built. Build it with: npm run build. The API documentation is at <a href="/docs">/docs</a>.</p>
`

function notBuilt(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply
    .headers({ ...CONSOLE_HEADERS, 'cache-control': 'no-cache' })
    .type('text/html; charset=utf-8')
    .send(NOT_BUILT_PAGE)
}
