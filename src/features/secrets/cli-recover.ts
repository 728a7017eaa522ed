import { readServerEnvironment } from '../../platform/config/config.ts'
import type { RotationView } from './schema.ts'
import { openConfiguration, StartError } from '../../serve/configuration.ts'
import { recoverSecrets } from '../../serve/with-database.ts'
import type { MigrateOptions } from '../../cli/migrate.ts'
import { EXIT, write, type ExitCode, type Terminal } from '../../cli/terminal.ts'

/** The flags of `escapement secrets recover`. */
export interface RecoverOptions extends MigrateOptions {
  readonly lostKey: string
}

/** Replaces a lost encryption key. Runs without a server, because no server starts without the key. */
export async function runRecover(terminal: Terminal, options: RecoverOptions): Promise<ExitCode> {
  const { variables, secretKey } = readServerEnvironment(terminal.variables)
  try {
    const configuration = await openConfiguration({
      file: options.config ?? null,
      flags: { data: options.data, 'database.url': options.databaseUrl },
      ...{ variables, cwd: terminal.cwd ?? process.cwd() },
    })
    const rotation = await recoverSecrets(configuration, { lostKeyId: options.lostKey, secretKey })
    await write(terminal.stdout, options.json === true ? `${JSON.stringify(rotation)}\n` : textOf(rotation))
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    await write(terminal.stderr, `${error.message}\n`)
    return EXIT.refused
  }
}

function textOf({ key_id, previous_key_id, sealed_anew, failed }: RotationView): string {
  const lines = [
    `Key ${key_id} replaces ${previous_key_id ?? ''}. Encrypted again: ${sealed_anew}. You can start the server now.`,
    failed.length === 0 ? 'No secrets have to be entered again.' : `Enter these ${failed.length} again:`,
    ...failed.map(({ org_id, kind, name }) => `  org ${org_id}: ${kind} ${name}${enterAgainHint(kind, name)}`),
  ]
  return `${lines.join('\n')}\n`
}

/** The command that enters a kind of secret again. */
function enterAgainHint(kind: string, name: string): string {
  switch (kind) {
    case 'secret':
      return ` (escapement secrets set ${name})`
    case 'signing_secret':
      return ' (escapement targets signing-secret --rotate)'
    case 'target.url':
      return ` (escapement targets update ${name} --url …)`
    default:
      return ` (escapement channels update ${name})`
  }
}
