import { access, constants, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { CommandEnvironment } from '../../platform/config/config.ts'
import { findServers } from '../../serve/paths.ts'

/** The address of a server and the key for it. */
export interface ServerAccess {
  readonly url: string
  readonly key: string
}

export interface ServerSelection {
  readonly url?: string | undefined
  readonly data?: string | undefined
}

/** No server or no key was found. The message says what to do. */
export class NoServerError extends Error {
  /** What is missing: a server, the permission to see whether one runs, a key, or a valid address. */
  readonly kind: 'server' | 'sight' | 'key' | 'address'

  constructor(kind: NoServerError['kind'], message: string) {
    super(message)
    this.name = 'NoServer'
    this.kind = kind
  }
}

export interface CommandSurroundings {
  readonly environment: CommandEnvironment
  readonly cwd: string
}

const DEFAULT_DATA = './.escapement'

/** The data directory, in which a server stores its key and its address. */
export const dataOf = (options: ServerSelection, { environment, cwd }: CommandSurroundings): string =>
  path.resolve(cwd, options.data ?? environment.data ?? DEFAULT_DATA)

/**
 * Finds the server: `--url` or ESCAPEMENT_URL with ESCAPEMENT_KEY, otherwise the server recorded in the data directory.
 * `--data` overrides ESCAPEMENT_URL. The owner key of a directory is sent only to a server of that directory, because any
 * other server could steal it.
 */
export async function findServer(options: ServerSelection, surroundings: CommandSurroundings): Promise<ServerAccess> {
  const environment = effectiveEnvironment(options, surroundings.environment)
  const data = dataOf(options, surroundings)
  const servers = await findServers(data)
  const given = options.url ?? environment.url
  const url = given === null ? servers[0]?.url : readUrl(given)
  if (url === undefined)
    throw (await areServersHidden(data))
      ? new NoServerError('sight', serversHiddenMessage(data))
      : new NoServerError('server', noServerMessage(data))
  if (environment.key !== null) return { url, key: environment.key }
  const isOwn = servers.some((server) => originOf(server.url) === originOf(url))
  if (!isOwn) throw new NoServerError('key', noKeyForUrlMessage(url, data))
  return { url, key: await readKey(data) }
}

/** The address and key of the environment, unless `--data` overrides both. */
const effectiveEnvironment = (
  options: ServerSelection,
  { url, key }: CommandEnvironment,
): Pick<CommandEnvironment, 'url' | 'key'> =>
  options.data !== undefined && options.url === undefined && url !== null ? { url: null, key: null } : { url, key }

/** Whether the server is given by address, so that local files say nothing about it. */
export const isGivenByAddress = (options: ServerSelection, environment: CommandEnvironment): boolean =>
  options.url !== undefined || effectiveEnvironment(options, environment).url !== null

const originOf = (url: string): string => new URL(url).origin.replace('//localhost', '//127.0.0.1')

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new NoServerError('address', `Invalid server URL "${text}". Allowed: http://HOST:PORT or https://HOST`)
  return text
}

async function readKey(data: string): Promise<string> {
  const file = path.join(data, 'owner.key')
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new NoServerError(
      'key',
      isAbsent ? noOwnerKeyMessage(data) : `${unreadableKeyMessage(file, error)}\n${SERVER_USER_HINT}`,
    )
  }
}

/** Whether file permissions hide from this user which servers run on a data directory. */
export async function areServersHidden(data: string, checkAccess: typeof access = access): Promise<boolean> {
  try {
    await checkAccess(path.join(data, 'servers'), constants.R_OK | constants.X_OK)
    return false
  } catch (error) {
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

const serversHiddenMessage = (data: string): string =>
  [
    `This user cannot see whether a server runs on ${data}.`,
    '  Run the command as the user of the server: sudo -u USER escapement …',
    '  or pass its address: --url with ESCAPEMENT_KEY',
  ].join('\n')

const noServerMessage = (data: string): string =>
  [
    `No server runs on ${data}.`,
    '  Start one:            escapement serve',
    '  or select another:    --data DIRECTORY, or --url with ESCAPEMENT_KEY',
  ].join('\n')

const noKeyForUrlMessage = (url: string, data: string): string =>
  [
    `There is no key for ${url}.`,
    '  Set ESCAPEMENT_KEY to a key of that server (escapement keys create)',
    `  or pass its data directory: --data DIRECTORY (not ${data})`,
  ].join('\n')

/** Nodes that share one PostgreSQL have one owner key, stored in the data directory of the first node. */
const noOwnerKeyMessage = (data: string): string =>
  [
    `There is no owner.key in ${data}.`,
    '  The first node of this database created it: --data ITS_DIRECTORY',
    '  or set ESCAPEMENT_KEY to the ESCAPEMENT_OWNER_KEY of the nodes, or to a key from escapement keys create',
  ].join('\n')

const unreadableKeyMessage = (file: string, error: unknown): string =>
  `Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`

const SERVER_USER_HINT = [
  '  Run the command as the user of the server: sudo -u USER escapement …',
  '  or set ESCAPEMENT_KEY to a key of that server (escapement keys create)',
].join('\n')
