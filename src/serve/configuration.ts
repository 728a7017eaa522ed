import { readVariables, type Variables } from '../config/environment.ts'
import { createConfigKeeper, type ConfigKeeper } from '../config/keeper.ts'
import { CONFIG_KEYS } from '../contract/config/keys.ts'
import { keyAt, type Layer } from '../contract/config/tree.ts'
import { addAll } from '../core/long-lists.ts'
import { describeFlaw } from '../core/input.ts'
import { fileComplaints, findConfigFile, readFound, type FilePlaces, type FoundFile } from './config-file.ts'
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
