import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { OutboundChoice } from '../app.ts'
import { readVariables, type Variables } from '../platform/config/environment.ts'
import { readConfigText, type ReadFile } from '../platform/config/file.ts'
import { type ConfigKeeper, createConfigKeeper } from '../platform/config/reload.ts'
import { type Config, CONFIG_KEYS } from '../platform/config/keys.ts'
import { keyAt, type Layer } from '../platform/config/tree.ts'
import type { MailServer } from '../core/delivery/mail-settings.ts'
import { describeFlaw } from '../domain/input.ts'
import { addAll } from '../domain/long-lists.ts'
import type { Handler } from '../executors/in-process/execute.ts'
import type { ServerLog } from '../platform/log/server-log.ts'
import { StartRefused } from './start-refused.ts'

/** What was said on the command line, by path of the setting. */
export type Flags = Readonly<Record<string, string | undefined>>

/** Where a server gets its configuration from. */
export interface ConfigSources {
  /** `--config`. */
  readonly file: string | null
  readonly flags: Flags
  readonly variables: Variables
  readonly cwd: string
}

/** The configuration with which a server starts. */
export interface Configuration {
  readonly keeper: ConfigKeeper
  readonly places: FilePlaces
  readonly file: FoundFile | null
  /** Said once, when there is a log to say it in. */
  readonly warnings: readonly string[]
}

/** Reads everything there is. Refused with everything that is wrong. */
export async function openConfiguration(sources: ConfigSources): Promise<Configuration> {
  const { layer: flag, complaints } = readFlags(sources.flags)
  const early = readVariables(sources.variables)
  const data = flag.get('data') ?? early.layer.get('data') ?? CONFIG_KEYS.data.default
  const places = { named: sources.file, data: data as string, cwd: sources.cwd }
  const found = await findConfigFile(places).catch((error: unknown) => {
    throw new StartRefused(error instanceof Error ? error.message : String(error), { cause: error })
  })
  const read = found === null ? null : readFound(found)
  if (read?.ok === false) addAll(complaints, fileComplaints(found?.path ?? '', read))
  const file = (read?.ok === false ? read.values : read?.layer.values) ?? new Map<string, unknown>()
  const environment = readVariables(sources.variables, file)
  addAll(complaints, environment.flaws)
  const keeper = createConfigKeeper({ file, environment: environment.layer, flag, stored: new Map() })
  if (!keeper.ok) throw refused([...complaints, ...keeper.flaws.map(describeFlaw)])
  if (complaints.length > 0) throw refused(complaints)
  const isChosen = keeper.value.current().config.database.url !== null
  return {
    keeper: keeper.value,
    places,
    file: found,
    warnings: [...environment.warnings, ...(isChosen ? [] : hints(sources.variables))],
  }
}

/** Somebody's application may live in that database, so it is never taken by accident. */
const hints = (variables: Variables): readonly string[] =>
  (variables['DATABASE_URL'] ?? '') === ''
    ? []
    : ['DATABASE_URL is set and not used; set ESCAPEMENT_DATABASE_URL if Escapement should live in that database']

const refused = (complaints: readonly string[]): StartRefused =>
  new StartRefused(`The configuration is refused:\n${complaints.map((one) => `  ${one}`).join('\n')}`)

function readFlags(flags: Flags): { readonly layer: Layer; readonly complaints: string[] } {
  const layer = new Map<string, unknown>()
  const complaints: string[] = []
  for (const [path, text] of Object.entries(flags)) {
    const key = keyAt(CONFIG_KEYS, path)
    if (text === undefined || key === undefined) continue
    const read = key.parse(flagOf(path), key.fromText(text))
    if (read.ok) layer.set(path, read.value)
    else addAll(complaints, read.flaws.map(describeFlaw))
  }
  return { layer, complaints }
}

/** `server.port` is `--port`, `database.url` is `--database-url`. */
const flagOf = (path: string): string => `--${path.replace(/^server\./, '').replaceAll(/[._]/g, '-')}`

/** What a server is started with. */
export interface ServerOptions {
  readonly configuration: Configuration
  readonly log: ServerLog
  /** `ESCAPEMENT_OWNER_KEY`. */
  readonly ownerKey: string | null
  /** `ESCAPEMENT_SECRET_KEY`; left out or null: the key is in `<data>/secret.key`. */
  readonly secretKey?: string | null | undefined
  readonly version: string
  /** Agents that are functions of this process, beside the one that answers with what it was given. */
  readonly agents?: Readonly<Record<string, Handler>> | undefined
}

/** Where a configuration file is looked for. */
export interface FilePlaces {
  /** The one that was named: it has to be there. */
  readonly named: string | null
  /** Where the data directory is, as far as flags, environment and default say. */
  readonly data: string
  readonly cwd: string
}

/** The text of a configuration file; null when nobody has written one. */
interface FoundFile {
  readonly path: string
  readonly text: string
}

const candidates = ({ named, data, cwd }: FilePlaces): readonly string[] =>
  (named === null ? [path.join(data, 'config.yaml'), 'escapement.yaml'] : [named]).map((one) => path.resolve(cwd, one))

/** Reads the file that was named, else the first that is there. Throws when it is there and cannot be read. */
export async function findConfigFile(places: FilePlaces): Promise<FoundFile | null> {
  for (const file of candidates(places))
    try {
      return { path: file, text: await readFile(file, 'utf8') }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOTDIR' && places.named === null) throw noDirectory(path.dirname(file))
      if (code !== 'ENOENT' || places.named !== null) throw unreadable(file, error as NodeJS.ErrnoException)
    }
  return null
}

/** The directories in which a configuration file may appear or change, and the names it may have there. */
export function watchedDirectories(places: FilePlaces): ReadonlyMap<string, ReadonlySet<string>> {
  const watched = new Map<string, Set<string>>()
  for (const file of candidates(places)) {
    const names = watched.get(path.dirname(file)) ?? new Set()
    watched.set(path.dirname(file), names.add(path.basename(file)))
  }
  return watched
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
}

const unreadable = (file: string, { code = '', message }: NodeJS.ErrnoException): Error =>
  new Error(`${file} cannot be read: ${REASONS[code] ?? message}`)

/** Somebody who has named no configuration file has not asked for one: it is the data directory that is wrong. */
const noDirectory = (data: string): Error =>
  new Error(`${data} is no directory. Name one for the data that is there or can be made: --data DIRECTORY`)

/** Everything that is wrong with a file, one line each, as compilers say it. */
export const fileComplaints = (file: string, read: Extract<ReadFile, { readonly ok: false }>): readonly string[] =>
  read.flaws.map(({ line, message }) => `${file}:${line}: ${message}`)

/** What a file says. */
export const readFound = ({ text }: FoundFile): ReadFile => readConfigText(text)

/** Where a server listens, once it does; and what its operator has opened. */
export interface ServerOutbound extends OutboundChoice {
  readonly listensAt: (place: { readonly host: string; readonly port: number; readonly url: string }) => void
  /** Where the result of a deferred attempt is reported; null: the server does not listen yet. */
  readonly callbackUrl: (token: string) => string | null
}

/** The mail server, when there is enough to use one. */
function mailServerOf({ host, port, secure, user, password, from }: Config['smtp']): MailServer | null {
  return host === null || from === null ? null : { host, port, secure, user, password, from }
}

/** What the configuration says about requests to the outside. */
export function outboundOf({ keeper }: Configuration): ServerOutbound {
  let listening: { readonly host: string; readonly port: number; readonly url: string } | null = null
  return {
    settings: () => {
      const { allow_hosts: allowHosts, allow_loopback: allowLoopback } = keeper.current().config.outbound
      return { allowHosts, allowLoopback }
    },
    mail: () => mailServerOf(keeper.current().config.smtp),
    channels: () => {
      const { telegram_api: telegram, slack_api: slack } = keeper.current().config.channels
      return { telegram, slack }
    },
    apiUrl: () => listening?.url ?? null,
    hookUrl: (id) => (listening === null ? null : new URL(`/api/v1/hooks/${id}`, listening.url).href),
    // Not where others reach us: what they reach there anybody may call, and other servers may share the address.
    listeners: () => (listening === null ? [] : [listening]),
    listensAt: (place) => {
      listening = place
    },
    callbackUrl: (token) => (listening === null ? null : new URL(`/api/v1/callbacks/${token}`, listening.url).href),
  }
}
