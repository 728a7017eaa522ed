import { noteNewOrg, takeLaneSettings } from '../engine/org-limits.ts'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { openApp, type App } from '../app.ts'
import type { ConfigChange } from '../platform/config/reload.ts'
import { Refusal } from '../api/refusals.ts'
import { agentId } from '../domain/ids.ts'
import { formatInstant } from '../domain/instant.ts'
import { resetSessions } from '../engine/node.ts'
import type { Executor } from '../executors/executor.ts'
import { inProcess } from '../executors/in-process/execute.ts'
import { addExecutors } from '../library/executors.ts'
import { stopApp, type Stopping } from '../library/stop.ts'
import { createWaiters, type Waiters } from '../library/waiters.ts'
import { createTurnLog, type TurnLog } from '../platform/log/transaction-log.ts'
import { createCounting, type Counting } from '../server/metrics/metrics.ts'
import { loadStored, recordReload } from '../features/config/service.ts'
import { settingsOf, type EngineSettings } from '../features/config/settings.ts'
import { checkAddress } from './address.ts'
import type { Door, openDoor as OpenDoor } from './door.ts'
import { hostedBy } from './executors.ts'
import { prepareAgents, prepareOwner, prepareSignIn } from './first-start.ts'
import { outboundOf, type ServerOptions, type ServerOutbound } from './configuration.ts'
import { createReloading, type Reloading } from './reload.ts'
import { StartRefused } from './start-refused.ts'
import { startWatchdog } from './watchdog.ts'
import { recordServer, type RunningServer } from './paths.ts'
import { DatabaseError } from '../platform/db/database-error.ts'
import { makeDirectory } from '../platform/db/make-directory.ts'

/** A server that runs: engine, API and configuration in one process. */
export interface Server {
  /** Where it is reached. */
  readonly url: string
  /** Signs in once, within ten minutes. */
  readonly signInLink: string
  /** Reads the configuration file again. */
  readonly reload: () => Promise<void>
  /** Resets the sessions that have work active here. */
  readonly reset: () => Promise<void>
  /** Drains, or hurries what drains already. Resolves when everything is closed. */
  readonly stop: (how: 'drain' | 'now') => Promise<void>
}

/** What stands between the beginning of a start and its end. */
interface Starting {
  readonly options: ServerOptions
  readonly app: App
  readonly waiters: Waiters
  readonly turnLog: TurnLog
  readonly reloading: Reloading
  readonly counting: Counting
  readonly outbound: ServerOutbound
  /** Nobody is let in before the engine runs. */
  readonly state: { started: boolean }
}

/** Starts everything. What was begun is undone when a part of it cannot be. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const settings = currentSettings(options)
  const agents = Object.entries(options.agents ?? {})
  const executors = new Map<string, Executor>()
  for (const [id, handler] of agents) executors.set(`in-process:${id}`, inProcess(handler))
  const { config } = options.configuration.keeper.current()
  const { url, schema, pool } = config.database
  const data = path.resolve(options.configuration.places.cwd, config.data)
  await checkAddress(config.server, data)
  // An embedded server creates it together with its own files.
  if (url !== null) await createData(data)
  const counting = createCounting(() => performance.now())
  const outbound = outboundOf(options.configuration)
  const host = hostedBy(options.configuration)
  // Loaded while the database starts; together with everything else it would be waited for.
  const loading = import('./door.ts')
  const app = await openApp({
    database: url === null ? { data, schema, pool } : { url, schema, pool },
    ...{ settings: settings.get, executors, estimate: null, log: options.log.log, meter: counting.meter },
    outbound,
    secretKeys: { environment: options.secretKey ?? null, file: path.join(data, 'secret.key') },
    commands: host.commands,
    checklistDir: checklistDirOf(options),
  }).catch((error: unknown) => {
    const isTold = error instanceof DatabaseError || error instanceof Refusal
    throw isTold ? new StartRefused(withCause(error), { cause: error }) : error
  })
  try {
    addExecutors(app, { ...host, callbackUrl: outbound.callbackUrl })
    await prepareAgents(
      app.ports,
      agents.map(([id]) => agentId(id)),
    )
    await prepareOwner(app.ports, { options, data })
    const starting = { ...prepare(options, app, settings.renew), counting, outbound }
    await starting.reloading.refresh()
    return await open(starting, data, (await loading).openDoor)
  } catch (error) {
    await app.close().catch(() => undefined)
    throw error
  }
}

/** Before anything is asked of the database: what a start leaves there has to fit into a directory. */
async function createData(data: string): Promise<void> {
  await makeDirectory(data, 0o700).catch((cause: unknown) => {
    const detail = `${data} (${cause instanceof Error ? cause.message : String(cause)})`
    throw new StartRefused(new DatabaseError('directory_unusable', { detail }).message, { cause })
  })
}

/** Relative paths begin where the server was started, as those of the data directory do. */
const checklistDirOf =
  ({ configuration: { keeper, places } }: ServerOptions) =>
  (): string | null => {
    const { checklist_dir: directory } = keeper.current().config.heartbeat
    return directory === null ? null : path.resolve(places.cwd, directory)
  }

/** The database's own words say what to do; what it was that went wrong is in the cause. */
const withCause = ({ message, cause }: Error): string =>
  cause instanceof Error && !message.includes(cause.message) ? `${message}\n  ${cause.message}` : message

/** The settings of the engine, made again only when the configuration is another one. */
function currentSettings({ configuration }: ServerOptions): {
  readonly get: () => EngineSettings
  readonly renew: () => void
} {
  const read = (): EngineSettings => settingsOf(configuration.keeper.current().config)
  let settings = read()
  return {
    get: () => settings,
    renew: () => {
      settings = read()
    },
  }
}

function prepare(options: ServerOptions, app: App, renew: () => void): Omit<Starting, 'counting' | 'outbound'> {
  const { configuration, log } = options
  const { parts, ports } = app
  const turnLog = createTurnLog(log, parts.id)
  const state = { started: false }
  const applied = (source: 'file' | 'stored', change: ConfigChange): void => {
    renew()
    log.setLevel(configuration.keeper.current().config.log.level)
    takeLaneSettings(parts)
    if (source === 'file' && state.started)
      recordReload(ports, { nodeId: parts.id(), ...change }).catch((error: unknown) => {
        log.log({ level: 'error', message: 'A reload could not be put on record', facts: { error: String(error) } })
      })
  }
  const { config } = configuration.keeper.current()
  const reloading = createReloading({
    ...{ keeper: configuration.keeper, places: configuration.places, text: configuration.file?.text ?? null },
    ...{ log: log.log, applied, loadStored: () => loadStored(ports.database), pollMs: config.schedules.poll_ms },
  })
  parts.hearers.add((orgId, turn) => {
    turnLog.hear(orgId, turn)
    for (const [kind, , data] of turn.events) {
      if (kind === 'config.reloaded' || kind === 'lane.changed') reloading.wake()
      else if (kind === 'org.changed' && data['change'] === 'created') noteNewOrg(parts)
    }
  })
  return { options, app, waiters: createWaiters(parts), turnLog, reloading, state }
}

async function open(starting: Starting, data: string, openDoor: typeof OpenDoor): Promise<Server> {
  const { options, app, waiters, reloading, turnLog, state } = starting
  const { log, configuration, version } = options
  const door = await openDoor({
    ...{ app, configuration, version, log: log.log, isOpen: () => state.started, refresh: reloading.refresh },
    ...{ waiters, counter: () => performance.now(), counting: starting.counting },
  })
  const { host } = configuration.keeper.current().config.server
  starting.outbound.listensAt({ host, port: Number(new URL(door.localUrl).port), url: door.url })
  try {
    await app.loops.start()
    state.started = true
    const watchdog = startWatchdog({ app, log: log.log })
    const signInLink = await prepareSignIn(app.ports, { url: door.url, data })
    const withdraw = await recordServer(data, whereabouts(app, door))
    reloading.start()
    for (const message of configuration.warnings) log.log({ level: 'warn', message, facts: {} })
    log.log({ level: 'info', message: 'Escapement has started', facts: factsOf(starting, door, data) })
    return {
      url: door.url,
      signInLink,
      reload: reloading.reload,
      reset: async () => {
        log.log({ level: 'info', message: 'The sessions at work here are reset', facts: {} })
        await resetSessions(app.parts, waiters.sessions())
      },
      stop: createStop(starting, {
        ...door,
        close: async () => {
          try {
            await watchdog.stop()
            await withdraw()
          } finally {
            await door.close()
          }
        },
      }),
    }
  } catch (error) {
    await door.close()
    await reloading.stop()
    await stopApp({ app, waiters }).done.catch(() => undefined)
    turnLog.flush()
    throw error
  }
}

const whereabouts = ({ ports }: App, { localUrl }: Door): RunningServer => ({
  url: localUrl,
  pid: process.pid,
  started_at: formatInstant(ports.clock.now()),
})

const factsOf = ({ app, options }: Starting, door: Door, data: string): Readonly<Record<string, unknown>> => ({
  url: door.url,
  node: app.parts.id(),
  version: options.version,
  data,
  database: options.configuration.keeper.current().config.database.url === null ? 'embedded' : 'by address',
  config: options.configuration.file?.path ?? null,
  migrations: app.migrated,
})

/** Goes down once, however often it is asked. */
function createStop({ app, waiters, reloading, turnLog, options }: Starting, door: Door): Server['stop'] {
  let stopping: Stopping | null = null
  let told = false
  const { log } = options.log
  return async (how) => {
    if (stopping === null) {
      const { drain_grace_seconds: grace } = options.configuration.keeper.current().config.server
      const facts = { running: [...app.parts.executions.all()].length, grace_seconds: grace }
      log({ level: 'info', message: 'Draining: no new work, what runs may end', facts })
      stopping = stopApp({ app, waiters, lastly: door.close })
      void reloading.stop()
    }
    if (how === 'now') stopping.hurry()
    await stopping.done
    turnLog.flush()
    if (!told) log({ level: 'info', message: 'Escapement has stopped', facts: {} })
    told = true
  }
}
