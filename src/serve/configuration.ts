import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { OutboundOptions } from '../app.ts'
import type { MailServer } from '../domain/delivery/target-kinds.ts'
import { describeFlaw } from '../domain/input.ts'
import { addAll } from '../domain/long-lists.ts'
import type { Handler } from '../executors/in-process/execute.ts'
import { readVariables, type Variables } from '../platform/config/environment.ts'
import { readConfigText, type ReadFile } from '../platform/config/file.ts'
import { type Config, CONFIG_KEYS } from '../platform/config/keys.ts'
import { type ConfigReloader, createConfigReloader } from '../platform/config/reload.ts'
import { keyAt, type Layer } from '../platform/config/tree.ts'
import type { ServerLog } from '../platform/log/server-log.ts'

/** The server cannot start. The message says how to fix it. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartRefused'
  }
}

/** Command-line flags by path of the setting. */
export type Flags = Readonly<Record<string, string | undefined>>

/** The sources of the configuration of a server. */
export interface ConfigSources {
  /** `--config`. */
  readonly file: string | null
  readonly flags: Flags
  readonly variables: Variables
  readonly cwd: string
}

/** The configuration of a starting server. */
export interface Configuration {
  readonly live: ConfigReloader
  readonly places: FilePositions
  readonly file: FoundFile | null
  /** Logged once the server has started. */
  readonly warnings: readonly string[]
}

/** Reads all sources. Fails with all errors. */
export async function openConfiguration(sources: ConfigSources): Promise<Configuration> {
  const { layer: flag, complaints: errors } = readFlags(sources.flags)
  const environmentData = readVariables(sources.variables)
  const data = flag.get('data') ?? environmentData.layer.get('data') ?? CONFIG_KEYS.data.default
  const places = { named: sources.file, data: data as string, cwd: sources.cwd }
  const found = await findConfigFile(places).catch((error: unknown) => {
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error })
  })
  const read = found === null ? null : readFound(found)
  if (read?.ok === false) addAll(errors, fileComplaints(found?.path ?? '', read))
  const file = (read?.ok === false ? read.values : read?.layer.values) ?? new Map<string, unknown>()
  const environment = readVariables(sources.variables, file)
  addAll(errors, environment.flaws)
  const live = createConfigReloader({ file, environment: environment.layer, flag, stored: new Map() })
  if (!live.ok) throw configurationError([...errors, ...live.flaws.map(describeFlaw)])
  if (errors.length > 0) throw configurationError(errors)
  const isChosen = live.value.current().config.database.url !== null
  return {
    live: live.value,
    places,
    file: found,
    warnings: [...environment.warnings, ...(isChosen ? [] : unusedUrlWarnings(sources.variables))],
  }
}

/** Warns about `DATABASE_URL`, which is not used because it may be the database of an application. */
const unusedUrlWarnings = (variables: Variables): readonly string[] =>
  (variables['DATABASE_URL'] ?? '') === ''
    ? []
    : ['DATABASE_URL is set but ignored; set ESCAPEMENT_DATABASE_URL if Escapement should use that database']

const configurationError = (errors: readonly string[]): StartError =>
  new StartError(`Invalid configuration:\n${errors.map((one) => `  ${one}`).join('\n')}`)

function readFlags(flags: Flags): { readonly layer: Layer; readonly complaints: string[] } {
  const layer = new Map<string, unknown>()
  const errors: string[] = []
  for (const [path, text] of Object.entries(flags)) {
    const key = keyAt(CONFIG_KEYS, path)
    if (text === undefined || key === undefined) continue
    const read = key.parse(flagOf(path), key.fromText(text))
    if (read.ok) layer.set(path, read.value)
    else addAll(errors, read.flaws.map(describeFlaw))
  }
  return { layer, complaints: errors }
}

/** `server.port` is `--port`, `database.url` is `--database-url`. */
const flagOf = (path: string): string => `--${path.replace(/^server\./, '').replaceAll(/[._]/g, '-')}`

/** The options of a server. */
export interface ServerOptions {
  readonly configuration: Configuration
  readonly log: ServerLog
  /** `ESCAPEMENT_OWNER_KEY`. */
  readonly ownerKey: string | null
  /** `ESCAPEMENT_SECRET_KEY`; left out or null: the key is in `<data>/secret.key`. */
  readonly secretKey?: string | null | undefined
  readonly version: string
  /** In-process agents, in addition to the echo agent. */
  readonly agents?: Readonly<Record<string, Handler>> | undefined
}

/** Where to search for a configuration file. */
export interface FilePositions {
  /** The file given with `--config`, which must exist. */
  readonly named: string | null
  /** The data directory according to flags, environment and default. */
  readonly data: string
  readonly cwd: string
}

/** A configuration file with its text. */
interface FoundFile {
  readonly path: string
  readonly text: string
}

const candidates = ({ named, data, cwd }: FilePositions): readonly string[] =>
  (named === null ? [path.join(data, 'config.yaml'), 'escapement.yaml'] : [named]).map((one) => path.resolve(cwd, one))

/** Reads the given file, otherwise the first one that exists. Throws if it cannot be read. */
export async function findConfigFile(places: FilePositions): Promise<FoundFile | null> {
  for (const file of candidates(places))
    try {
      return { path: file, text: await readFile(file, 'utf8') }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOTDIR' && places.named === null) throw notADirectory(path.dirname(file))
      if (code !== 'ENOENT' || places.named !== null) throw unreadableFile(file, error as NodeJS.ErrnoException)
    }
  return null
}

/** The directories to watch for the configuration file, with its possible names in each. */
export function watchedDirectories(places: FilePositions): ReadonlyMap<string, ReadonlySet<string>> {
  const watched = new Map<string, Set<string>>()
  for (const file of candidates(places)) {
    const names = watched.get(path.dirname(file)) ?? new Set()
    watched.set(path.dirname(file), names.add(path.basename(file)))
  }
  return watched
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
}

const unreadableFile = (file: string, { code = '', message }: NodeJS.ErrnoException): Error =>
  new Error(`Cannot read ${file}: ${FILE_ERRORS[code] ?? message}`)

/** Without `--config`, the error is in the data directory rather than in the file. */
const notADirectory = (data: string): Error =>
  new Error(`${data} is not a directory. Pass an existing or new directory: --data DIRECTORY`)

/** The errors of a file, one line each, in the format of compilers. */
export const fileComplaints = (file: string, read: Extract<ReadFile, { readonly ok: false }>): readonly string[] =>
  read.flaws.map(({ line, message }) => `${file}:${line}: ${message}`)

/** Parses a configuration file. */
export const readFound = ({ text }: FoundFile): ReadFile => readConfigText(text)

/** The outbound settings of a server, and its own address once it listens. */
export interface ServerOutbound extends OutboundOptions {
  readonly listensAt: (address: { readonly host: string; readonly port: number; readonly url: string }) => void
  /** The URL that receives the result of a deferred attempt; null: the server does not listen yet. */
  readonly callbackUrl: (token: string) => string | null
}

/** The mail server; null: host or sender is not set. */
function mailServerOf({ host, port, secure, user, password, from }: Config['smtp']): MailServer | null {
  return host === null || from === null ? null : { host, port, secure, user, password, from }
}

/** The outbound settings of a configuration. */
export function outboundOf({ live }: Configuration): ServerOutbound {
  let listening: { readonly host: string; readonly port: number; readonly url: string } | null = null
  return {
    settings: () => {
      const { allow_hosts: allowHosts, allow_loopback: allowLoopback } = live.current().config.outbound
      return { allowHosts, allowLoopback }
    },
    mail: () => mailServerOf(live.current().config.smtp),
    channels: () => {
      const { telegram_api: telegram, slack_api: slack } = live.current().config.channels
      return { telegram, slack }
    },
    apiUrl: () => listening?.url ?? null,
    hookUrl: (id) => (listening === null ? null : new URL(`/api/v1/hooks/${id}`, listening.url).href),
    // Without the public URL: it is open to anyone anyway, and other servers may share its address.
    listeners: () => (listening === null ? [] : [listening]),
    listensAt: (address) => {
      listening = address
    },
    callbackUrl: (token) => (listening === null ? null : new URL(`/api/v1/callbacks/${token}`, listening.url).href),
  }
}
