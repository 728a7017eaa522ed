import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { CommandEnvironment } from '../../config.ts'
import { findServers } from '../../serve/whereabouts.ts'

/** Where a command finds its server, and what it shows there. */
export interface Place {
  readonly url: string
  readonly key: string
}

export interface PlaceOptions {
  readonly url?: string | undefined
  readonly data?: string | undefined
}

/** There is nobody to talk to, or nothing to talk with. The message says what to do. */
export class NoServer extends Error {
  /** What is missing: a server, a key for it, or an address that is one. */
  readonly kind: 'server' | 'key' | 'address'

  constructor(kind: NoServer['kind'], message: string) {
    super(message)
    this.name = 'NoServer'
    this.kind = kind
  }
}

export interface Surroundings {
  readonly environment: CommandEnvironment
  readonly cwd: string
}

const USUAL_DATA = './.escapement'

/** The directory in which a server has left its key and its address. */
export const dataOf = (options: PlaceOptions, { environment, cwd }: Surroundings): string =>
  path.resolve(cwd, options.data ?? environment.data ?? USUAL_DATA)

/**
 * `--url` or ESCAPEMENT_URL with ESCAPEMENT_KEY, else what the data directory knows. The owner's key in the directory is
 * shown only to a server of that directory: it would be given away to any other.
 */
export async function findPlace(options: PlaceOptions, surroundings: Surroundings): Promise<Place> {
  const { environment } = surroundings
  const data = dataOf(options, surroundings)
  const servers = await findServers(data)
  const given = options.url ?? environment.url
  const url = given === null ? servers[0]?.url : readUrl(given)
  if (url === undefined) throw new NoServer('server', noServerIn(data))
  if (environment.key !== null) return { url, key: environment.key }
  const isOwn = servers.some((server) => originOf(server.url) === originOf(url))
  const key = isOwn ? await readKey(path.join(data, 'owner.key')) : null
  if (key === null) throw new NoServer('key', noKeyFor(url, data, isOwn))
  return { url, key }
}

const originOf = (url: string): string => new URL(url).origin.replace('//localhost', '//127.0.0.1')

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new NoServer('address', `"${text}" is no address of a server. Allowed: http://HOST:PORT or https://HOST`)
  return text
}

async function readKey(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch {
    return null
  }
}

const noServerIn = (data: string): string =>
  [
    `No server runs on ${data}.`,
    '  Start one:          escapement serve',
    '  or name another:    --data DIRECTORY, or --url with ESCAPEMENT_KEY',
  ].join('\n')

const noKeyFor = (url: string, data: string, isOwn: boolean): string =>
  [
    isOwn ? `The key in ${data} cannot be read.` : `There is no key for ${url}.`,
    '  Set ESCAPEMENT_KEY to a key of that server: escapement keys create',
    ...(isOwn ? [] : [`  or name the directory it runs on: --data DIRECTORY (not ${data})`]),
  ].join('\n')
