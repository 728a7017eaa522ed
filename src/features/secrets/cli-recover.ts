import { readServerEnvironment } from '../../platform/config/config.ts'
import type { RotationView } from './schema.ts'
import { openConfiguration } from '../../serve/configuration.ts'
import { recoverSecrets } from '../../serve/recover.ts'
import { StartRefused } from '../../serve/start-refused.ts'
import type { MigrateOptions } from '../../cli/migrate.ts'
import { EXIT, write, type ExitCode, type Terminal } from '../../cli/terminal.ts'

/** The flags of `escapement secrets recover`. */
export interface RecoverOptions extends MigrateOptions {
  readonly lostKey: string
}

/** Gives up a lost sealing key, without a server: none starts before. */
export async function runRecover(terminal: Terminal, options: RecoverOptions): Promise<ExitCode> {
  const { variables, secretKey } = readServerEnvironment(terminal.variables)
  try {
    const configuration = await openConfiguration({
      file: options.config ?? null,
      flags: { data: options.data, 'database.url': options.databaseUrl },
      ...{ variables, cwd: terminal.cwd ?? process.cwd() },
    })
    const done = await recoverSecrets(configuration, { lostKeyId: options.lostKey, secretKey })
    await write(terminal.stdout, options.json === true ? `${JSON.stringify(done)}\n` : textOf(done))
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error
    await write(terminal.stderr, `${error.message}\n`)
    return EXIT.refused
  }
}

function textOf({ key_id, previous_key_id, sealed_anew, failed }: RotationView): string {
  const lines = [
    `Key ${key_id} seals from now on, in place of ${previous_key_id ?? ''}. Sealed again: ${sealed_anew}. Start the server.`,
    failed.length === 0 ? 'Nothing has to be entered again.' : `To be entered again: ${failed.length}`,
    ...failed.map(({ org_id, kind, name }) => `  org ${org_id}: ${kind} ${name}${wayOf(kind, name)}`),
  ]
  return `${lines.join('\n')}\n`
}

/** How each kind of sealed text is entered again. */
function wayOf(kind: string, name: string): string {
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
