import { access, constants, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { CommandEnvironment } from '../../platform/config/config.ts'
import { findServers } from '../../serve/paths.ts'

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
  /** What is missing: a server, the right to see whether there is one, a key for it, or an address that is one. */
  readonly kind: 'server' | 'sight' | 'key' | 'address'

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
 * `--url` or ESCAPEMENT_URL with ESCAPEMENT_KEY, else what the data directory knows. Whoever types `--data` means that
 * directory, whatever server the environment names. The owner's key in the directory is shown only to a server of that
 * directory: it would be given away to any other.
 */
export async function findPlace(options: PlaceOptions, surroundings: Surroundings): Promise<Place> {
  const environment = meant(options, surroundings.environment)
  const data = dataOf(options, surroundings)
  const servers = await findServers(data)
  const given = options.url ?? environment.url
  const url = given === null ? servers[0]?.url : readUrl(given)
  if (url === undefined)
    throw (await isHidden(data)) ? new NoServer('sight', hiddenIn(data)) : new NoServer('server', noServerIn(data))
  if (environment.key !== null) return { url, key: environment.key }
  const isOwn = servers.some((server) => originOf(server.url) === originOf(url))
  if (!isOwn) throw new NoServer('key', noKeyFor(url, data))
  return { url, key: await readKey(data) }
}

/** What of the environment counts: an address in it goes with its key, and both give way to a directory that is typed. */
const meant = (options: PlaceOptions, { url, key }: CommandEnvironment): Pick<CommandEnvironment, 'url' | 'key'> =>
  options.data !== undefined && options.url === undefined && url !== null ? { url: null, key: null } : { url, key }

/** Whether an address says where the server is: what is on this machine says nothing about it. */
export const isNamed = (options: PlaceOptions, environment: CommandEnvironment): boolean =>
  options.url !== undefined || meant(options, environment).url !== null

const originOf = (url: string): string => new URL(url).origin.replace('//localhost', '//127.0.0.1')

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new NoServer('address', `"${text}" is no address of a server. Allowed: http://HOST:PORT or https://HOST`)
  return text
}

async function readKey(data: string): Promise<string> {
  const file = path.join(data, 'owner.key')
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new NoServer('key', isAbsent ? noKeyIn(data) : `${unreadable(file, error)}\n${WITH_ITS_USER}`)
  }
}

/** Whether this user may not even see who runs on a directory. */
export async function isHidden(data: string, ask: typeof access = access): Promise<boolean> {
  try {
    await ask(path.join(data, 'servers'), constants.R_OK | constants.X_OK)
    return false
  } catch (error) {
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

const hiddenIn = (data: string): string =>
  [
    `This user may not see whether a server runs on ${data}.`,
    '  Ask as the user that runs it: sudo -u USER escapement …',
    '  or name it: --url with ESCAPEMENT_KEY',
  ].join('\n')

const noServerIn = (data: string): string =>
  [
    `No server runs on ${data}.`,
    '  Start one:          escapement serve',
    '  or name another:    --data DIRECTORY, or --url with ESCAPEMENT_KEY',
  ].join('\n')

const noKeyFor = (url: string, data: string): string =>
  [
    `There is no key for ${url}.`,
    '  Set ESCAPEMENT_KEY to a key of that server: escapement keys create',
    `  or name the directory it runs on: --data DIRECTORY (not ${data})`,
  ].join('\n')

/** With a PostgreSQL of one's own the deployment has one owner, and each node a directory. */
const noKeyIn = (data: string): string =>
  [
    `There is no owner.key in ${data}.`,
    '  The node that was first on this database has made it: --data ITS_DIRECTORY',
    '  or set ESCAPEMENT_KEY: to the ESCAPEMENT_OWNER_KEY of the nodes, or to a key of: escapement keys create',
  ].join('\n')

const unreadable = (file: string, error: unknown): string =>
  `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`

const WITH_ITS_USER = [
  '  Ask as the user that runs the server: sudo -u USER escapement …',
  '  or set ESCAPEMENT_KEY to a key of that server: escapement keys create',
].join('\n')
