import path from 'node:path'
import type { Configuration } from '../../serve/configuration.ts'
import type { lookAtDatabase as LookAtDatabase } from '../../serve/inspect-database.ts'
import { StartRefused } from '../../serve/start-refused.ts'
import { trouble, TROUBLES, well, type Finding, type TroubleCode } from './troubles.ts'

/** The flags of `escapement serve` that decide whether it can start. */
export interface StartOptions {
  readonly data?: string | undefined
  readonly config?: string | undefined
  readonly databaseUrl?: string | undefined
  readonly port?: string | undefined
  readonly host?: string | undefined
}

/** Where a server would be started. */
export interface StartPlace {
  readonly options: StartOptions
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** `ESCAPEMENT_SECRET_KEY`; null: the key would be in the data directory. */
  readonly secretKey: string | null
  /** Whether the server is there already: then it has its port, and its key. */
  readonly runs: boolean
}

/** Looks at everything that `escapement serve` needs here, and changes nothing. */
export async function lookAtStart(place: StartPlace): Promise<readonly Finding[]> {
  const { configuration, findings } = await readConfiguration(place)
  if (configuration === null) return findings
  const { database, server, data } = configuration.keeper.current().config
  const file = path.join(path.resolve(place.cwd, data), 'secret.key')
  const keys = place.runs ? undefined : { environment: place.secretKey, file }
  return [
    ...findings,
    ...(place.runs ? [] : [await lookAtPort(server)]),
    ...(database.url === null
      ? await lookAtEmbedded(configuration, keys)
      : await lookAtUrl({ url: database.url, schema: database.schema, keys })),
  ]
}

async function readConfiguration({ options, variables, cwd }: StartPlace): Promise<{
  readonly configuration: Configuration | null
  readonly findings: readonly Finding[]
}> {
  const { openConfiguration } = await import('../../serve/configuration.ts')
  const { config, databaseUrl, port, host, data } = options
  const flags = { 'server.port': port, 'server.host': host, data, 'database.url': databaseUrl }
  try {
    const configuration = await openConfiguration({ file: config ?? null, flags, variables, cwd })
    const { file, warnings } = configuration
    const findings =
      warnings.length === 0
        ? [well('config', file === null ? 'defaults, environment and flags' : file.path)]
        : warnings.map((warning) => trouble('config_doubtful', warning))
    return { configuration, findings }
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error
    const lines = error.message.split('\n').map((line) => line.trim())
    return { configuration: null, findings: [trouble('config_refused', lines.join(' '))] }
  }
}

async function lookAtPort({ host, port }: { readonly host: string; readonly port: number }): Promise<Finding> {
  const { tryListening } = await import('../../serve/try-listening.ts')
  const problem = await tryListening({ host, port })
  const where = `port ${port} of ${host}`
  if (problem === null) return well('port', port === 0 ? 'a free one' : `${where} is free`)
  return problem.code === 'EADDRINUSE'
    ? trouble('port_taken', `Another program listens on ${where}`)
    : trouble('port_refused', problem.message)
}

/** The embedded database is started for the look, where there is one and no server runs on it. */
async function lookAtEmbedded(
  configuration: Configuration,
  keys: Parameters<typeof LookAtDatabase>[0]['keys'],
): Promise<readonly Finding[]> {
  if (keys === undefined) return []
  const { lookIntoEmbedded } = await import('../../serve/inspect-database.ts')
  const locked = await lookIntoEmbedded(configuration, keys)
  return locked === null ? [] : [trouble('secrets_locked', locked)]
}

async function lookAtUrl(where: Parameters<typeof LookAtDatabase>[0]): Promise<readonly Finding[]> {
  const { lookAtDatabase } = await import('../../serve/inspect-database.ts')
  const look = await lookAtDatabase(where)
  if (!look.ok)
    return [
      isTrouble(look.code) ? trouble(look.code, look.message) : trouble('database_failed', look.message, look.way),
    ]
  const { missing, locked } = look
  if (missing > 0)
    return [trouble('database_behind', `${missing} ${missing === 1 ? 'migration is' : 'migrations are'} missing`)]
  const answers = well('database', 'answers, and its schema is up to date')
  return locked === null ? [answers] : [answers, trouble('secrets_locked', locked)]
}

const isTrouble = (code: string): code is TroubleCode => Object.hasOwn(TROUBLES, code)
