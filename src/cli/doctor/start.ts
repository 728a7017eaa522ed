import type { Configuration } from '../../serve/configuration.ts'
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
  /** Whether the server is there already: then it has its port. */
  readonly runs: boolean
}

/** Looks at everything that `escapement serve` needs here, and changes nothing. */
export async function lookAtStart(place: StartPlace): Promise<readonly Finding[]> {
  const { configuration, findings } = await readConfiguration(place)
  if (configuration === null) return findings
  const { database, server } = configuration.keeper.current().config
  return [
    ...findings,
    ...(place.runs ? [] : [await lookAtPort(server)]),
    ...(database.url === null ? [] : [await lookAtUrl(database.url, database.schema)]),
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

async function lookAtUrl(url: string, schema: string): Promise<Finding> {
  const { lookAtDatabase } = await import('../../serve/look-at-database.ts')
  const look = await lookAtDatabase({ url, schema })
  if (look.ok)
    return look.missing === 0
      ? well('database', 'answers, and its schema is up to date')
      : trouble('database_behind', `${look.missing} ${look.missing === 1 ? 'migration is' : 'migrations are'} missing`)
  return isTrouble(look.code) ? trouble(look.code, look.message) : trouble('database_failed', look.message, look.way)
}

const isTrouble = (code: string): code is TroubleCode => Object.hasOwn(TROUBLES, code)
