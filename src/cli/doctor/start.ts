import path from 'node:path'
import { type Configuration, StartError } from '../../serve/configuration.ts'
import type { inspectDatabase as LookAtDatabase } from '../../serve/inspect-database.ts'
import { problemText, DOCTOR_PROBLEMS, okFinding, type Finding, type DoctorProblemCode } from './problems.ts'

/** The flags of `escapement serve` that affect whether it can start. */
export interface StartOptions {
  readonly data?: string | undefined
  readonly config?: string | undefined
  readonly databaseUrl?: string | undefined
  readonly port?: string | undefined
  readonly host?: string | undefined
}

/** Where a server would start. */
export interface StartPaths {
  readonly options: StartOptions
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** `ESCAPEMENT_SECRET_KEY`; null: the key is in the data directory. */
  readonly secretKey: string | null
  /** Whether a server runs there already: then it holds its port and its key. */
  readonly runs: boolean
}

/** Checks everything that `escapement serve` needs here, without changing anything. */
export async function checkBeforeStart(context: StartPaths): Promise<readonly Finding[]> {
  const { configuration, findings } = await readConfiguration(context)
  if (configuration === null) return findings
  const { database, server, data } = configuration.live.current().config
  const file = path.join(path.resolve(context.cwd, data), 'secret.key')
  const keys = context.runs ? undefined : { environment: context.secretKey, file }
  return [
    ...findings,
    ...(context.runs ? [] : [await checkPort(server)]),
    ...(database.url === null
      ? await checkEmbedded(configuration, keys)
      : await checkDatabaseUrl({ url: database.url, schema: database.schema, keys })),
  ]
}

async function readConfiguration({ options, variables, cwd }: StartPaths): Promise<{
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
        ? [okFinding('config', file === null ? 'defaults, environment and flags' : file.path)]
        : warnings.map((warning) => problemText('config_doubtful', warning))
    return { configuration, findings }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const lines = error.message.split('\n').map((line) => line.trim())
    return { configuration: null, findings: [problemText('config_refused', lines.join(' '))] }
  }
}

async function checkPort({ host, port }: { readonly host: string; readonly port: number }): Promise<Finding> {
  const { tryListening } = await import('../../serve/address.ts')
  const problem = await tryListening({ host, port })
  const where = `port ${port} of ${host}`
  if (problem === null) return okFinding('port', port === 0 ? 'any free port' : `${where} is free`)
  return problem.code === 'EADDRINUSE'
    ? problemText('port_taken', `Another program listens on ${where}`)
    : problemText('port_refused', problem.message)
}

/** Starts the embedded database for the check, if it exists and no server runs on it. */
async function checkEmbedded(
  configuration: Configuration,
  keys: Parameters<typeof LookAtDatabase>[0]['keys'],
): Promise<readonly Finding[]> {
  if (keys === undefined) return []
  const { inspectEmbedded } = await import('../../serve/inspect-database.ts')
  const locked = await inspectEmbedded(configuration, keys)
  return locked === null ? [] : [problemText('secrets_locked', locked)]
}

async function checkDatabaseUrl(where: Parameters<typeof LookAtDatabase>[0]): Promise<readonly Finding[]> {
  const { inspectDatabase } = await import('../../serve/inspect-database.ts')
  const inspection = await inspectDatabase(where)
  if (!inspection.ok)
    return [
      isProblem(inspection.code)
        ? problemText(inspection.code, inspection.message)
        : problemText('database_failed', inspection.message, inspection.way),
    ]
  const { missing, locked } = inspection
  if (missing > 0)
    return [problemText('database_behind', `${missing} ${missing === 1 ? 'migration is' : 'migrations are'} missing`)]
  const reachable = okFinding('database', 'reachable, schema up to date')
  return locked === null ? [reachable] : [reachable, problemText('secrets_locked', locked)]
}

const isProblem = (code: string): code is DoctorProblemCode => Object.hasOwn(DOCTOR_PROBLEMS, code)
