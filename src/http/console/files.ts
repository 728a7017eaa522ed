import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { PACKAGE_ROOT } from '../../platform/package-root.ts'

const BUILT = fileURLToPath(new URL('dist/ui', PACKAGE_ROOT))

/** How a file may be packed, best first. */
export type Encoding = 'br' | 'gzip'

const PACKED: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz' }

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** A file of the console as it is served. */
export interface ConsoleFile {
  readonly type: string
  readonly tag: string
  /** Whether its name follows from what is in it. */
  readonly isHashed: boolean
  readonly encodings: readonly Encoding[]
  /** Read when it is first wanted, and kept: all of it together is a few megabytes. */
  readonly read: (encoding: Encoding | null) => Buffer
}

/** Every file of the built console by its address; none where it is not built. No other file can be asked for. */
export function readConsoleFiles(directory = BUILT): ReadonlyMap<string, ConsoleFile> {
  if (!existsSync(directory)) return new Map()
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) =>
    name.split(path.sep).join('/'),
  )
  const all = new Set(names)
  return new Map(
    names.flatMap((name): readonly (readonly [string, ConsoleFile])[] => {
      const type = TYPES[path.extname(name)]
      return type === undefined ? [] : [[`/${name}`, fileOf(path.join(directory, name), { name, type, all })]]
    }),
  )
}

interface Named {
  readonly name: string
  readonly type: string
  readonly all: ReadonlySet<string>
}

function fileOf(file: string, { name, type, all }: Named): ConsoleFile {
  const kept = new Map<Encoding | null, Buffer>()
  const tag = `"${createHash('sha256').update(readFileSync(file)).digest('base64url').slice(0, 22)}"`
  return {
    ...{ type, tag, isHashed: name.startsWith('assets/') },
    encodings: (Object.keys(PACKED) as readonly Encoding[]).filter((encoding) => all.has(name + PACKED[encoding])),
    read: (encoding) => {
      const known = kept.get(encoding)
      if (known !== undefined) return known
      const bytes = readFileSync(encoding === null ? file : file + PACKED[encoding])
      kept.set(encoding, bytes)
      return bytes
    },
  }
}
