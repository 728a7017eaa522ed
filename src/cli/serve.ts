import { setTimeout as sleep } from 'node:timers/promises'
import { readServerEnvironment } from '../platform/config/config.ts'
import { createStopRequests } from '../core/stop-requests.ts'
import { openConfiguration } from '../serve/configuration.ts'
import { openLog } from '../serve/open-log.ts'
import { startServer, type Server } from '../serve/server.ts'
import { StartRefused } from '../serve/start-refused.ts'
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

/** What this build is: its version, and the agents that are functions of it. The one that is shipped has none. */
export type Build = Pick<Parameters<typeof startServer>[0], 'version' | 'agents'>

/** After the second signal nothing is waited for longer than this. */
const AT_ONCE_MS = 2_000

/** Runs a server until it is told to end. */
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
    return await untilTold(terminal, starting, log)
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error
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

/** The log goes where errors go, so that what is printed can be read by a program without it. */
function logOutput({ stderr }: Terminal): { readonly pretty: boolean; readonly to: number | ((text: string) => void) } {
  const pretty = isTerminal(stderr)
  return { pretty, to: stderr === process.stderr ? process.stderr.fd : (text) => void stderr.write(text) }
}

/**
 * The first SIGTERM or SIGINT drains, the second ends at once, also while everything is still starting; the same one again
 * within a second is the first. SIGHUP reads the configuration file again, SIGUSR1 resets the sessions at work here.
 */
async function untilTold(terminal: Terminal, starting: Promise<Server>, log: Log): Promise<ExitCode> {
  const requested = createStopRequests()
  let end: (code: ExitCode) => void = () => undefined
  const ended = new Promise<ExitCode>((resolve) => (end = resolve))
  const failed = (what: string) => (error: unknown) => {
    log.log({ level: 'error', message: what, facts: { error: error instanceof Error ? error.message : String(error) } })
  }
  const stop = (how: 'drain' | 'now'): void => {
    if (how === 'now')
      void sleep(AT_ONCE_MS, undefined, { ref: false }).then(() => {
        end(EXIT.refused)
      })
    starting
      .then((server) => server.stop(how))
      .then(
        () => {
          end(EXIT.ok)
        },
        (error: unknown) => {
          failed('It could not be stopped in order')(error)
          end(EXIT.refused)
        },
      )
  }
  terminal.signals?.listen((signal) => {
    if (signal === 'SIGHUP')
      starting.then((server) => server.reload()).catch(failed('The configuration could not be read again'))
    else if (signal === 'SIGUSR1')
      starting.then((server) => server.reset()).catch(failed('The sessions could not be reset'))
    else {
      const how = requested(signal, performance.now())
      if (how !== null) stop(how)
    }
  })
  const server = await Promise.race([starting, ended])
  if (typeof server === 'object') await announce(terminal, server)
  return ended
}

/** The address is for everybody; the link that signs in is for whoever sits at the terminal. */
async function announce({ stdout }: Terminal, { url, signInLink }: Server): Promise<void> {
  await write(stdout, `Escapement listens on ${url}\n`)
  if (isTerminal(stdout)) await write(stdout, `Sign in, once and within ten minutes: ${signInLink}\n`)
}
