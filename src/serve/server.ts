import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { Refusal } from '../api/refusals.ts'
import { type App, openApp } from '../app.ts'
import { agentId } from '../domain/ids.ts'
import { formatInstant } from '../domain/instant.ts'
import { resetSessions } from '../engine/node.ts'
import { handleNewOrg, applyLaneSettings } from '../engine/org-limits.ts'
import type { Executor } from '../executors/executor.ts'
import type { ExecutorHost } from '../executors/host.ts'
import { inProcess } from '../executors/in-process/execute.ts'
import { loadStoredSettings, recordReload } from '../features/config/service.ts'
import { type EngineSettings, settingsOf } from '../features/config/settings.ts'
import { addExecutors } from '../library/executors.ts'
import { createWaiters, type Waiters } from '../library/running.ts'
import { stopApp, type Stopping } from '../library/stop.ts'
import type { ConfigChange } from '../platform/config/reload.ts'
import { DatabaseError } from '../platform/db/database-error.ts'
import { makeDirectory } from '../platform/db/make-directory.ts'
import { createTransactionLog, type TransactionLog } from '../platform/log/transaction-log.ts'
import { checkAddress } from './address.ts'
import { type Configuration, outboundOf, type ServerOptions, type ServerOutbound, StartError } from './configuration.ts'
import { prepareAgents, prepareOwnerKey, prepareSignIn } from './first-start.ts'
import type { HttpEndpoint, openEndpoint as OpenDoor } from './listen.ts'
import { recordServer, type RunningServer } from './paths.ts'
import { createReloading, type Reloading } from './reload.ts'
import { startWatchdog } from './watchdog.ts'
import { type NodeMetrics, createNodeMetrics } from '../server/metrics/metrics.ts'

/** The configured commands and browser tabs of the executors. */
const executorHostOf = ({ live }: Configuration): Pick<ExecutorHost, 'commands' | 'tabs'> => ({
  commands: () => live.current().config.executors.command,
  tabs:
    live.current().config.tasks.executor.kind === 'none'
      ? null
      : () => {
          const { instances, manager_url: managerUrl, token } = live.current().config.tasks.executor
          return { instances, managerUrl, token }
        },
})

/** A running server: engine, API and configuration in one process. */
export interface Server {
  /** The URL of the server. */
  readonly url: string
  /** One-time sign-in link, valid for 10 minutes. */
  readonly signInLink: string
  /** Reads the configuration file again. */
  readonly reload: () => Promise<void>
  /** Resets the sessions with active runs on this node. */
  readonly reset: () => Promise<void>
  /** Drains; `now` cuts a drain short. Resolves when everything is closed. */
  readonly stop: (how: 'drain' | 'now') => Promise<void>
}

/** The parts of a starting server. */
interface StartingServer {
  readonly options: ServerOptions
  readonly app: App
  readonly waiters: Waiters
  readonly transactionLog: TransactionLog
  readonly reloading: Reloading
  readonly counting: NodeMetrics
  readonly outbound: ServerOutbound
  /** No requests are accepted before `started`. */
  readonly state: { started: boolean }
}

/** Starts a server; on an error, closes what was already started. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const settings = currentSettings(options)
  const agents = Object.entries(options.agents ?? {})
  const executors = new Map<string, Executor>()
  for (const [id, handler] of agents) executors.set(`in-process:${id}`, inProcess(handler))
  const { config } = options.configuration.live.current()
  const { url, schema, pool } = config.database
  const data = path.resolve(options.configuration.places.cwd, config.data)
  await checkAddress(config.server, data)
  // The embedded server creates the directory with its own files.
  if (url !== null) await createData(data)
  const counting = createNodeMetrics(() => performance.now())
  const outbound = outboundOf(options.configuration)
  const host = executorHostOf(options.configuration)
  // Loaded in parallel with the start of the database.
  const loading = import('./listen.ts')
  const app = await openApp({
    database: url === null ? { data, schema, pool } : { url, schema, pool },
    ...{ settings: settings.get, executors, estimate: null, log: options.log.log, meter: counting.meter },
    outbound,
    secretKeys: { environment: options.secretKey ?? null, file: path.join(data, 'secret.key') },
    commands: host.commands,
    checklistDir: checklistDirOf(options),
  }).catch((error: unknown) => {
    const isExpected = error instanceof DatabaseError || error instanceof Refusal
    throw isExpected ? new StartError(withCause(error), { cause: error }) : error
  })
  const traceExport = await startConfiguredTraceExport(options, app.parts.id())
  try {
    addExecutors(app, { ...host, callbackUrl: outbound.callbackUrl })
    await prepareAgents(
      app.ports,
      agents.map(([id]) => agentId(id)),
    )
    await prepareOwnerKey(app.ports, { options, data })
    const starting = { ...prepareStart(options, app, settings.renew), counting, outbound }
    await starting.reloading.refresh()
    const server = await openServer(starting, data, (await loading).openEndpoint)
    const stop: Server['stop'] = async (how) => {
      await server.stop(how)
      await traceExport?.stop()
    }
    return { ...server, stop }
  } catch (error) {
    await traceExport?.stop()
    await app.close().catch(() => undefined)
    throw error
  }
}

/** Exports spans if an endpoint is configured. The packages for it are loaded only then. */
async function startConfiguredTraceExport(
  { configuration, log, version }: ServerOptions,
  nodeId: string,
): Promise<{ readonly stop: () => Promise<void> } | null> {
  const {
    otlp_endpoint: endpoint,
    otlp_headers: headers,
    sample_ratio: sampleRatio,
  } = configuration.live.current().config.tracing
  if (endpoint === null) return null
  const { startTraceExport } = await import('../server/trace-export.ts')
  const failed = (error: string): void =>
    log.log({ level: 'warn', message: 'Traces cannot be exported', facts: { endpoint, error } })
  return startTraceExport({ endpoint, headers, sampleRatio, version, nodeId, failed })
}

/** Creates the data directory before the database is opened. */
async function createData(data: string): Promise<void> {
  await makeDirectory(data, 0o700).catch((cause: unknown) => {
    const detail = `${data} (${cause instanceof Error ? cause.message : String(cause)})`
    throw new StartError(new DatabaseError('directory_unusable', { detail }).message, { cause })
  })
}

/** Resolves a relative path against the working directory, as for the data directory. */
const checklistDirOf =
  ({ configuration: { live, places } }: ServerOptions) =>
  (): string | null => {
    const { checklist_dir: directory } = live.current().config.heartbeat
    return directory === null ? null : path.resolve(places.cwd, directory)
  }

/** Adds the message of the cause, which has the details. */
const withCause = ({ message, cause }: Error): string =>
  cause instanceof Error && !message.includes(cause.message) ? `${message}\n  ${cause.message}` : message

/** The settings of the engine, cached until the configuration changes. */
function currentSettings({ configuration }: ServerOptions): {
  readonly get: () => EngineSettings
  readonly renew: () => void
} {
  const read = (): EngineSettings => settingsOf(configuration.live.current().config)
  let settings = read()
  return {
    get: () => settings,
    renew: () => {
      settings = read()
    },
  }
}

function prepareStart(
  options: ServerOptions,
  app: App,
  renew: () => void,
): Omit<StartingServer, 'counting' | 'outbound'> {
  const { configuration, log } = options
  const { parts, ports } = app
  const transactionLog = createTransactionLog(log, parts.id)
  const state = { started: false }
  const applied = (source: 'file' | 'stored', change: ConfigChange): void => {
    renew()
    log.setLevel(configuration.live.current().config.log.level)
    applyLaneSettings(parts)
    if (source === 'file' && state.started)
      recordReload(ports, { nodeId: parts.id(), ...change }).catch((error: unknown) => {
        log.log({ level: 'error', message: 'Recording a configuration reload failed', facts: { error: String(error) } })
      })
  }
  const { config } = configuration.live.current()
  const reloading = createReloading({
    ...{ live: configuration.live, places: configuration.places, text: configuration.file?.text ?? null },
    ...{
      log: log.log,
      applied,
      loadStored: () => loadStoredSettings(ports.database),
      pollMs: config.schedules.poll_ms,
    },
  })
  parts.listeners.add((orgId, transaction) => {
    transactionLog.hear(orgId, transaction)
    for (const [kind, , data] of transaction.events) {
      if (kind === 'config.reloaded' || kind === 'lane.changed') reloading.wake()
      else if (kind === 'org.changed' && data['change'] === 'created') handleNewOrg(parts)
    }
  })
  return { options, app, waiters: createWaiters(parts), transactionLog, reloading, state }
}

async function openServer(starting: StartingServer, data: string, openDoor: typeof OpenDoor): Promise<Server> {
  const { options, app, waiters, reloading, transactionLog, state } = starting
  const { log, configuration, version } = options
  const endpoint = await openDoor({
    ...{ app, configuration, version, log: log.log, isOpen: () => state.started, refresh: reloading.refresh },
    ...{ waiters, counter: () => performance.now(), counting: starting.counting },
  })
  const { host } = configuration.live.current().config.server
  starting.outbound.listensAt({ host, port: Number(new URL(endpoint.localUrl).port), url: endpoint.url })
  try {
    await app.loops.start()
    state.started = true
    const watchdog = startWatchdog({ app, log: log.log })
    const signInLink = await prepareSignIn(app.ports, { url: endpoint.url, data })
    const removeRecord = await recordServer(data, runningServerOf(app, endpoint))
    reloading.start()
    for (const message of configuration.warnings) log.log({ level: 'warn', message, facts: {} })
    log.log({ level: 'info', message: 'Escapement has started', facts: startFacts(starting, endpoint, data) })
    return {
      url: endpoint.url,
      signInLink,
      reload: reloading.reload,
      reset: async () => {
        log.log({ level: 'info', message: 'Resetting the active sessions of this node', facts: {} })
        await resetSessions(app.parts, waiters.sessions())
      },
      stop: createStop(starting, {
        ...endpoint,
        close: async () => {
          try {
            await watchdog.stop()
            await removeRecord()
          } finally {
            await endpoint.close()
          }
        },
      }),
    }
  } catch (error) {
    await endpoint.close()
    await reloading.stop()
    await stopApp({ app, waiters }).done.catch(() => undefined)
    transactionLog.flush()
    throw error
  }
}

const runningServerOf = ({ ports }: App, { localUrl }: HttpEndpoint): RunningServer => ({
  url: localUrl,
  pid: process.pid,
  started_at: formatInstant(ports.clock.now()),
})

const startFacts = (
  { app, options }: StartingServer,
  endpoint: HttpEndpoint,
  data: string,
): Readonly<Record<string, unknown>> => ({
  url: endpoint.url,
  node: app.parts.id(),
  version: options.version,
  data,
  database: options.configuration.live.current().config.database.url === null ? 'embedded' : 'by address',
  config: options.configuration.file?.path ?? null,
  migrations: app.migrated,
})

/** Stops once, however often it is called. */
function createStop(
  { app, waiters, reloading, transactionLog, options }: StartingServer,
  endpoint: HttpEndpoint,
): Server['stop'] {
  let stopping: Stopping | null = null
  let isStopLogged = false
  const { log } = options.log
  return async (how) => {
    if (stopping === null) {
      const { drain_grace_seconds: grace } = options.configuration.live.current().config.server
      const facts = { running: [...app.parts.executions.all()].length, grace_seconds: grace }
      log({ level: 'info', message: 'Draining: no new work, active runs may finish', facts })
      stopping = stopApp({ app, waiters, beforeClose: endpoint.close })
      void reloading.stop()
    }
    if (how === 'now') stopping.hurry()
    await stopping.done
    transactionLog.flush()
    if (!isStopLogged) log({ level: 'info', message: 'Escapement has stopped', facts: {} })
    isStopLogged = true
  }
}
