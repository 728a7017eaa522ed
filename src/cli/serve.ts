import { setTimeout as sleep } from 'node:timers/promises'
import { readServerEnvironment } from '../platform/config/config.ts'
import { createStopRequests } from '../domain/session/stop.ts'
import { openConfiguration, StartError } from '../serve/configuration.ts'
import { openLog } from '../serve/paths.ts'
import { startServer, type Server } from '../serve/server.ts'
import { EXIT, isTerminal, write, type ExitCode, type Terminal } from './terminal.ts'

/** The flags of `escapement serve`. */
export interface ServeOptions {
  readonly port?: string
  readonly host?: string
  readonly data?: string
  readonly databaseUrl?: string
  readonly config?: string
}

type Log = ReturnType<typeof openLog>

/** The version of this build and its in-process agents; the published package has none. */
export type Build = Pick<Parameters<typeof startServer>[0], 'version' | 'agents'>

/** How long the process may take to end after the second signal. */
const FORCED_STOP_MS = 2_000

/** Runs a server until a signal stops it. */
export async function runServe(terminal: Terminal, options: ServeOptions, build: Build): Promise<ExitCode> {
  const { ownerKey, secretKey, variables } = readServerEnvironment(terminal.variables)
  let log: Log | null = null
  try {
    const configuration = await openConfiguration({
      file: options.config ?? null,
      flags: flagsOf(options),
      ...{ variables, cwd: terminal.cwd ?? process.cwd() },
    })
    log = openLog(configuration, logOutput(terminal))
    const starting = startServer({ configuration, log, ownerKey, secretKey, ...build })
    return await runUntilStopped(terminal, starting, log)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    await write(terminal.stderr, `${error.message}\n`)
    return EXIT.refused
  } finally {
    await log?.end()
  }
}

const flagsOf = ({ port, host, data, databaseUrl }: ServeOptions): Readonly<Record<string, string | undefined>> => ({
  'server.port': port,
  'server.host': host,
  data,
  'database.url': databaseUrl,
})

/** The log goes to stderr, so that stdout stays readable for programs. */
function logOutput({ stderr }: Terminal): { readonly pretty: boolean; readonly to: number | ((text: string) => void) } {
  const pretty = isTerminal(stderr)
  return { pretty, to: stderr === process.stderr ? process.stderr.fd : (text) => void stderr.write(text) }
}

/**
 * The first SIGTERM or SIGINT drains, the second one stops at once, also during startup; a repetition of the same signal
 * within a second is ignored. SIGHUP reloads the configuration file, SIGUSR1 resets the active sessions of this node.
 */
async function runUntilStopped(terminal: Terminal, starting: Promise<Server>, log: Log): Promise<ExitCode> {
  const nextStop = createStopRequests()
  let end: (code: ExitCode) => void = () => undefined
  const ended = new Promise<ExitCode>((resolve) => (end = resolve))
  const failed = (what: string) => (error: unknown) => {
    log.log({ level: 'error', message: what, facts: { error: error instanceof Error ? error.message : String(error) } })
  }
  const stop = (how: 'drain' | 'now'): void => {
    if (how === 'now')
      void sleep(FORCED_STOP_MS, undefined, { ref: false }).then(() => {
        end(EXIT.refused)
      })
    starting
      .then((server) => server.stop(how))
      .then(
        () => {
          end(EXIT.ok)
        },
        (error: unknown) => {
          failed('Stopping failed')(error)
          end(EXIT.refused)
        },
      )
  }
  terminal.signals?.listen((signal) => {
    if (signal === 'SIGHUP')
      starting.then((server) => server.reload()).catch(failed('Reloading the configuration failed'))
    else if (signal === 'SIGUSR1')
      starting.then((server) => server.reset()).catch(failed('Resetting the sessions failed'))
    else {
      const how = nextStop(signal, performance.now())
      if (how !== null) stop(how)
    }
  })
  const server = await Promise.race([starting, ended])
  if (typeof server === 'object') await printAddress(terminal, server)
  return ended
}

/** Prints the address, and the sign-in link only on a terminal, because it is a secret. */
async function printAddress({ stdout }: Terminal, { url, signInLink }: Server): Promise<void> {
  await write(stdout, `Escapement listens on ${url}\n`)
  if (isTerminal(stdout)) await write(stdout, `Sign in (one-time link, valid for 10 minutes): ${signInLink}\n`)
}
