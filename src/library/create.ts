import { invalid, Refusal } from '../api/refusals.ts'
import { type App, type AppOptions, openApp } from '../app.ts'
import { agentId, type OrgId, orgId as toOrgId } from '../domain/ids.ts'
import { type Flaw, parseWord } from '../domain/input.ts'
import { formatInstant } from '../domain/instant.ts'
import { nearestWord } from '../domain/nearest-word.ts'
import { refreshOrgs } from '../engine/loops/changes.ts'
import { resetSessions } from '../engine/node.ts'
import { applyLaneSettings } from '../engine/org-limits.ts'
import { NO_COMMANDS } from '../executors/command/options.ts'
import type { Executor } from '../executors/executor.ts'
import { type Handler, inProcess } from '../executors/in-process/execute.ts'
import { ensureAgents } from '../features/access/first-start.ts'
import type { TokenEstimateFunc } from '../features/budgets/schema.ts'
import { DEFAULT_SETTINGS, type EngineSettings, parseSettings } from '../features/config/settings.ts'
import { EVENT_KINDS, type EventKind, type EventView } from '../features/events/schema.ts'
import { loadLaneSizes } from '../features/lanes/service.ts'
import type { DatabaseChoice, Escapement, EscapementOptions, LogEntry, Settings } from './escapement.ts'
import { addExecutors } from './executors.ts'
import { createWaiters, healthOf, requireFunction, requireObject, type Running, runningOf } from './running.ts'
import { stopApp, type Stopping } from './stop.ts'
import { surfaceOf } from './surface.ts'
import { type Environment, readEnvironment } from '../platform/config/config.ts'
import { ENGINE_KEYS } from '../platform/config/engine-keys.ts'
import { GROUP_ALIASES } from '../platform/config/synonyms.ts'

/** Registers functions of this process as agents of every org. Returns the default agent. */
async function registerAgents(
  { app, orgId }: Pick<Running, 'app' | 'orgId'>,
  ids: readonly string[],
): Promise<string | null> {
  const defaultAgent = await ensureAgents(app.ports, orgId, ids.map(agentId))
  refreshOrgs(app.parts)
  return defaultAgent
}

/** The settings that can be changed while running. */
const SETTINGS = Object.keys(ENGINE_KEYS) as readonly (keyof Settings)[]

/** Every option; the type makes sure that the list is complete. */
const KNOWN_OPTIONS: Readonly<Record<Exclude<keyof EscapementOptions, keyof Settings>, true>> = {
  ...{ database: true, agents: true, estimateTokens: true, outbound: true, heartbeat: true },
  ...{ secretKey: true, org: true, log: true },
}

const DATABASE_FIELDS = { data: true, url: true, schema: true, pool: true }

/** Rejects options that would be ignored or fail later; settings are validated by their own parser. */
function requireOptions(options: EscapementOptions): void {
  requireObject('options', options, 'an object, or nothing')
  const flaws = unknownOptionFlaws('', options, [...Object.keys(KNOWN_OPTIONS), ...SETTINGS])
  if (flaws.length > 0) throw invalid(flaws)
  const { agents, database, estimateTokens, log } = options
  if (agents !== undefined) requireAgents(agents)
  if (database !== undefined) requireDatabase(database)
  if (estimateTokens !== undefined) requireFunction('estimateTokens', estimateTokens)
  if (log !== undefined) requireFunction('log', log)
}

function requireAgents(agents: NonNullable<EscapementOptions['agents']>): void {
  requireObject('agents', agents, 'an object with a function for each agent, by its id')
  for (const [id, handler] of Object.entries(agents))
    requireFunction(`agents.${id}`, handler, '(run, context) => output')
}

function requireDatabase(database: DatabaseChoice): void {
  if (typeof database === 'string') return
  requireObject('database', database, 'a URL (postgres://…), { url } or { data: a directory }')
  const flaws = unknownOptionFlaws('database.', database, Object.keys(DATABASE_FIELDS))
  if (flaws.length > 0) throw invalid(flaws)
}

function unknownOptionFlaws(prefix: string, given: object, known: readonly string[]): readonly Flaw[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name): Flaw => {
      const near = GROUP_ALIASES.get(name)?.group ?? nearestWord(name, known)
      const suggestion = near === null ? '' : `; did you mean ${near}?`
      const allowed = known.join(', ')
      return { field: `${prefix}${name}`, value: undefined, message: `is not a known option${suggestion}`, allowed }
    })
}

/** The program's estimate of how full the context of a session is; it can be replaced while running. */
interface Estimator {
  /** The current function; null if there is none. */
  readonly estimate: () => TokenEstimateFunc | null
  readonly set: (estimate: TokenEstimateFunc | null) => void
}

function createEstimator(first: TokenEstimateFunc | undefined, changed: () => void): Estimator {
  let current = first === undefined ? null : safeEstimate(first)
  return {
    estimate: () => current,
    set: (estimate) => {
      if (estimate !== null) requireFunction('estimate', estimate, '(session) => ({ tokens, contextWindow }), or null')
      current = estimate === null ? null : safeEstimate(estimate)
      changed()
    },
  }
}

/** A failing estimate counts as none, and without one nothing is throttled. */
const safeEstimate =
  (estimate: TokenEstimateFunc): TokenEstimateFunc =>
  (session) => {
    try {
      return estimate(session)
    } catch {
      return null
    }
  }

/** Creates an engine inside this program. Nothing runs before `start`. Throws for unknown or invalid options. */
export function createEscapement(options: EscapementOptions = {}): Escapement {
  const environment = readEnvironment(DEFAULT_SETTINGS.lanes.byName)
  let settings = readSettings(pickSettings(options), defaultSettings(environment))
  let current: Running | null = null
  let starting: Promise<void> | null = null
  let stopping: Stopping | null = null
  const executors = new Map<string, Executor>()
  const listeners: Listeners = new Map()
  const handlers = new Map(Object.entries(options.agents ?? {}))
  const log = safeLog(options.log ?? logToStderr)
  const refresh = (): unknown => current !== null && refreshOrgs(current.app.parts)
  const { estimate, set: setTokenEstimateFunc } = createEstimator(options.estimateTokens, refresh)
  const running = (): Running => {
    if (current === null) throw new Refusal('NOT_STARTED', 'Escapement is not running: call start() first')
    return current
  }
  const reload = (change: Settings): void => {
    settings = readSettings(change, settings)
    if (current !== null) applyLaneSettings(current.app.parts)
  }
  const register = async (id: string, handler: Handler): Promise<void> => {
    handlers.set(id, handler)
    executors.set(`in-process:${id}`, inProcess(handler))
    if (current !== null) await registerAgents(current, [id])
  }
  const start = async (): Promise<void> => {
    if (current !== null || starting !== null) throw new Refusal('CONFLICT', 'Escapement has already been started')
    starting = open()
    await starting.finally(() => (starting = null))
  }
  const open = async (): Promise<void> => {
    for (const [id, handler] of handlers) executors.set(`in-process:${id}`, inProcess(handler))
    for (const message of environment.lanes.warnings) log({ level: 'warn', message, facts: {} })
    const database = options.database ?? environment.databaseUrl ?? {}
    const secretKeys = { environment: options.secretKey ?? environment.secretKey }
    const given = { ...appOptionsOf({ ...options, database }), estimate, executors, log, secretKeys }
    const app = await openInProcess({ ...given, settings: () => settings })
    // Lane sizes that were stored for every node are applied as settings of this one.
    const refresh = async (): Promise<void> => reload({ lanes: Object.fromEntries(await loadLaneSizes(app.ports)) })
    const org = toOrgId(options.org ?? 'default')
    current = await startRunning(app, { org, listeners, handlers: [...handlers.keys()], refresh })
  }
  return {
    ...surfaceOf(running, register),
    on: (kind, listener) => addListener(listeners, kind, listener),
    ...{ reload, setTokenEstimateFunc },
    watchConfig: (load, everyMs) => watchSettings(load, everyMs, { reload, log }),
    health: () => healthOf(current?.app.parts ?? null),
    reset: () => (current === null ? Promise.resolve() : resetNode(current)),
    start,
    stop: async (how = 'drain') => {
      // A start in progress would continue after the stop, and nothing would stop it again.
      await starting?.catch(() => undefined)
      if (current === null) return
      stopping ??= stopApp(current)
      if (how === 'now') stopping.hurry()
      await stopping.done.finally(() => (current = stopping = null))
    },
  }
}

/** Without an HTTP server there is no callback URL: a deferred result is reported with its token. */
async function openInProcess(options: AppOptions): Promise<App> {
  const app = await openApp(options)
  addExecutors(app, { callbackUrl: () => null, commands: () => NO_COMMANDS, tabs: null })
  return app
}

function appOptionsOf({
  database = {},
  outbound = {},
  heartbeat = {},
}: EscapementOptions): Pick<AppOptions, 'database' | 'outbound' | 'checklistDir'> {
  const { allow_hosts: allowHosts = [], allow_loopback: allowLoopback = false } = outbound
  return {
    database: databaseOf(database),
    checklistDir: () => heartbeat.checklist_dir ?? null,
    outbound: { settings: () => ({ allowHosts, allowLoopback }), listeners: () => [] },
  }
}

type Listeners = Map<EventKind, Set<(event: EventView) => void>>

function addListener(listeners: Listeners, kind: EventKind, listener: (event: EventView) => void): () => void {
  // A listener of an unknown event kind would never be called.
  const kinds = parseWord('kind', kind, EVENT_KINDS)
  if (!kinds.ok) throw invalid(kinds.flaws)
  requireFunction('hear', listener)
  const known = listeners.get(kind) ?? new Set()
  listeners.set(kind, known.add(listener))
  return () => known.delete(listener)
}

/** Registers the agents and starts the loops. */
async function startRunning(
  app: App,
  context: {
    readonly org: OrgId
    readonly listeners: ReadonlyMap<EventKind, ReadonlySet<(event: EventView) => void>>
    readonly handlers: readonly string[]
    readonly refresh: () => Promise<void>
  },
): Promise<Running> {
  const { parts } = app
  let defaultAgent: string | null = null
  const running = runningOf(app, {
    ...{ orgId: context.org, waiters: createWaiters(parts), refresh: context.refresh },
    defaultAgent: () => (defaultAgent === null ? null : agentId(defaultAgent)),
  })
  try {
    defaultAgent = await registerAgents(running, context.handlers)
    parts.listeners.add((orgId, transaction) => {
      if (orgId === context.org) notifyListeners(context.listeners, { orgId, turn: transaction, log: parts.ctx.log })
    })
    await app.loops.start()
    return running
  } catch (error) {
    await app.close().catch(() => undefined)
    throw error
  }
}

type PublishedTransaction = Parameters<Parameters<App['parts']['listeners']['add']>[0]>[1]

function notifyListeners(
  listeners: ReadonlyMap<EventKind, ReadonlySet<(event: EventView) => void>>,
  {
    orgId,
    turn: transaction,
    log,
  }: { readonly orgId: OrgId; readonly turn: PublishedTransaction; readonly log: (entry: LogEntry) => void },
): void {
  // Most programs have no listeners, and a busy transaction has hundreds of events.
  if (listeners.size === 0) return
  for (const [index, [kind, subject, data]] of transaction.events.entries()) {
    const known = EVENT_KINDS.find((one) => one === kind)
    const kindListeners = known === undefined ? undefined : listeners.get(known)
    if (known === undefined || kindListeners === undefined) continue
    const event = {
      id: `${transaction.no}-${index}`,
      kind: known,
      org_id: orgId,
      at: formatInstant(transaction.at),
      subject,
      data,
    }
    for (const listener of [...kindListeners])
      try {
        listener(event)
      } catch (error) {
        // A failing listener must not affect the committed transaction.
        log({ level: 'error', message: 'A listener failed', facts: { kind, error: messageOf(error) } })
      }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A failing log function must not stop the engine. */
const safeLog =
  (log: (entry: LogEntry) => void) =>
  (entry: LogEntry): void => {
    try {
      log(entry)
    } catch {
      // There is nowhere left to log it.
    }
  }

/** Resets the sessions that are active on this node or that a caller waits for; this is what SIGUSR1 does. */
const resetNode = ({ app, waiters }: Running): Promise<void> => resetSessions(app.parts, waiters.sessions())

function pickSettings(options: EscapementOptions): Settings {
  requireOptions(options)
  return Object.fromEntries(SETTINGS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])))
}

/** The defaults, with lane sizes from the environment. */
const defaultSettings = ({ lanes: { sizes } }: Environment): EngineSettings => ({
  ...DEFAULT_SETTINGS,
  lanes: { ...DEFAULT_SETTINGS.lanes, byName: sizes },
})

function readSettings(change: Settings, current: EngineSettings): EngineSettings {
  const read = parseSettings(change, current)
  if (!read.ok) throw invalid(read.flaws)
  return read.value
}

function databaseOf(
  choice: DatabaseChoice,
): { readonly data: string } | { readonly url: string; readonly schema?: string; readonly pool?: number } {
  if (typeof choice === 'string') return { url: choice }
  return 'url' in choice ? choice : { data: choice.data ?? './.escapement' }
}

function logToStderr({ level, message, facts }: LogEntry): void {
  if (level === 'warn' || level === 'error')
    process.stderr.write(`escapement ${level}: ${message} ${JSON.stringify(facts)}\n`)
}

function watchSettings(
  load: () => Settings | Promise<Settings>,
  everyMs: number,
  context: { readonly reload: (change: Settings) => void; readonly log: (entry: LogEntry) => void },
): () => void {
  let last = ''
  let busy = false
  const check = async (): Promise<void> => {
    if (busy) return
    busy = true
    try {
      const loaded = await load()
      const text = JSON.stringify(loaded)
      if (text !== last) context.reload(loaded)
      last = text
    } catch (error) {
      const facts = { error: error instanceof Error ? error.message : String(error) }
      context.log({ level: 'warn', message: 'The loaded settings are invalid; the current ones stay in effect', facts })
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => void check(), everyMs)
  timer.unref()
  void check()
  return () => {
    clearInterval(timer)
  }
}
