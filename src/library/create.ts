import { refreshOrgs } from '../engine/idle-orgs.ts'
import { takeLaneSettings } from '../engine/org-limits.ts'
import { openApp, type App, type AppOptions } from '../app.ts'
import { readEnvironment, type Environment } from '../platform/config/config.ts'
import { EVENT_KINDS, type EventKind } from '../contract/event-kinds.ts'
import type { EventView } from '../contract/event.ts'
import { invalid, Refusal } from '../api/refusals.ts'
import { NO_COMMANDS } from '../executors/command/options.ts'
import { agentId, orgId as toOrgId, type OrgId } from '../domain/ids.ts'
import { parseWord } from '../domain/input.ts'
import { formatInstant } from '../domain/instant.ts'
import { resetSessions } from '../engine/node.ts'
import type { Executor } from '../executors/executor.ts'
import { inProcess, type Handler } from '../executors/in-process/execute.ts'
import type { DatabaseChoice, Escapement, EscapementOptions, LogEntry, Settings } from './escapement.ts'
import { readLaneSizes } from '../service/lanes.ts'
import { DEFAULT_SETTINGS, parseSettings, type EngineSettings } from '../features/config/settings.ts'
import { registerAgents } from './agents.ts'
import { requireFunction } from './given.ts'
import { healthOf } from './health.ts'
import { addExecutors } from './executors.ts'
import { createEstimator } from './estimator.ts'
import { requireOptions, SETTINGS } from './options.ts'
import { runningOf, type Running } from './running.ts'
import { surfaceOf } from './surface.ts'
import { stopApp, type Stopping } from './stop.ts'
import { createWaiters } from './waiters.ts'

/** Escapement inside this program. Nothing happens before `start`. Refuses options that there are not. */
export function createEscapement(options: EscapementOptions = {}): Escapement {
  const environment = readEnvironment(DEFAULT_SETTINGS.lanes.byName)
  let settings = readSettings(pickSettings(options), usualSettings(environment))
  let current: Running | null = null
  let starting: Promise<void> | null = null
  let stopping: Stopping | null = null
  const executors = new Map<string, Executor>()
  const listeners: Listeners = new Map()
  const handlers = new Map(Object.entries(options.agents ?? {}))
  const log = safely(options.log ?? logToStderr)
  const refresh = (): unknown => current !== null && refreshOrgs(current.app.parts)
  const { estimate, set: setTokenEstimateFunc } = createEstimator(options.estimateTokens, refresh)
  const running = (): Running => {
    if (current === null) throw new Refusal('NOT_STARTED', 'Call start() first, and not after stop()')
    return current
  }
  const reload = (change: Settings): void => {
    settings = readSettings(change, settings)
    if (current !== null) takeLaneSettings(current.app.parts)
  }
  const register = async (id: string, handler: Handler): Promise<void> => {
    handlers.set(id, handler)
    executors.set(`in-process:${id}`, inProcess(handler))
    if (current !== null) await registerAgents(current, [id])
  }
  const start = async (): Promise<void> => {
    if (current !== null || starting !== null) throw new Refusal('CONFLICT', 'It has been started already')
    starting = open()
    await starting.finally(() => (starting = null))
  }
  const open = async (): Promise<void> => {
    for (const [id, handler] of handlers) executors.set(`in-process:${id}`, inProcess(handler))
    for (const message of environment.lanes.warnings) log({ level: 'warn', message, facts: {} })
    const database = options.database ?? environment.databaseUrl ?? {}
    const secretKeys = { environment: options.secretKey ?? environment.secretKey }
    const given = { ...appOptionsOf({ ...options, database }), estimate, executors, log, secretKeys }
    const app = await openHere({ ...given, settings: () => settings })
    // Sizes that were set for every node are kept as settings of this one.
    const refresh = async (): Promise<void> => reload({ lanes: Object.fromEntries(await readLaneSizes(app.ports)) })
    const org = toOrgId(options.org ?? 'default')
    current = await begin(app, { org, listeners, handlers: [...handlers.keys()], refresh })
  }
  return {
    ...surfaceOf(running, register),
    on: (kind, hear) => addListener(listeners, kind, hear),
    ...{ reload, setTokenEstimateFunc },
    watchConfig: (load, everyMs) => watch(load, everyMs, { reload, log }),
    health: () => healthOf(current?.app.parts ?? null),
    reset: () => (current === null ? Promise.resolve() : resetNode(current)),
    start,
    stop: async (how = 'drain') => {
      // A start that is under way would go on after the stop, and nobody would stop it any more.
      await starting?.catch(() => undefined)
      if (current === null) return
      stopping ??= stopApp(current)
      if (how === 'now') stopping.hurry()
      await stopping.done.finally(() => (current = stopping = null))
    },
  }
}

/** Nobody listens inside a program: whoever reports later has the token alone. */
async function openHere(options: AppOptions): Promise<App> {
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

function addListener(listeners: Listeners, kind: EventKind, hear: (event: EventView) => void): () => void {
  // Whoever listens to what never happens would wait for ever.
  const kinds = parseWord('kind', kind, EVENT_KINDS)
  if (!kinds.ok) throw invalid(kinds.flaws)
  requireFunction('hear', hear)
  const known = listeners.get(kind) ?? new Set()
  listeners.set(kind, known.add(hear))
  return () => known.delete(hear)
}

/** Makes the org and its agents known, and lets the loops go. */
async function begin(
  app: App,
  with_: {
    readonly org: OrgId
    readonly listeners: ReadonlyMap<EventKind, ReadonlySet<(event: EventView) => void>>
    readonly handlers: readonly string[]
    readonly refresh: () => Promise<void>
  },
): Promise<Running> {
  const { parts } = app
  let defaultAgent: string | null = null
  const running = runningOf(app, {
    ...{ orgId: with_.org, waiters: createWaiters(parts), refresh: with_.refresh },
    defaultAgent: () => (defaultAgent === null ? null : agentId(defaultAgent)),
  })
  try {
    defaultAgent = await registerAgents(running, with_.handlers)
    parts.hearers.add((orgId, turn) => {
      if (orgId === with_.org) tellListeners(with_.listeners, { orgId, turn, log: parts.ctx.log })
    })
    await app.loops.start()
    return running
  } catch (error) {
    await app.close().catch(() => undefined)
    throw error
  }
}

type Turn = Parameters<Parameters<App['parts']['hearers']['add']>[0]>[1]

function tellListeners(
  listeners: ReadonlyMap<EventKind, ReadonlySet<(event: EventView) => void>>,
  { orgId, turn, log }: { readonly orgId: OrgId; readonly turn: Turn; readonly log: (entry: LogEntry) => void },
): void {
  // Nearly nobody listens here, and a busy turn has hundreds of events.
  if (listeners.size === 0) return
  for (const [index, [kind, subject, data]] of turn.events.entries()) {
    const known = EVENT_KINDS.find((one) => one === kind)
    const hearers = known === undefined ? undefined : listeners.get(known)
    if (known === undefined || hearers === undefined) continue
    const event = { id: `${turn.no}-${index}`, kind: known, org_id: orgId, at: formatInstant(turn.at), subject, data }
    for (const hear of [...hearers])
      try {
        hear(event)
      } catch (error) {
        // What a listener does wrong must not undo what was kept.
        log({ level: 'error', message: 'A listener failed', facts: { kind, error: messageOf(error) } })
      }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A program that cannot say something must go on all the same. */
const safely =
  (log: (entry: LogEntry) => void) =>
  (entry: LogEntry): void => {
    try {
      log(entry)
    } catch {
      // There is nowhere left to say it.
    }
  }

/** Resets what works on this node or is waited for in it: what SIGUSR1 does. */
const resetNode = ({ app, waiters }: Running): Promise<void> => resetSessions(app.parts, waiters.sessions())

function pickSettings(options: EscapementOptions): Settings {
  requireOptions(options)
  return Object.fromEntries(SETTINGS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])))
}

/** The defaults, with lanes of the sizes that the environment names. */
const usualSettings = ({ lanes: { sizes } }: Environment): EngineSettings => ({
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

function watch(
  load: () => Settings | Promise<Settings>,
  everyMs: number,
  with_: { readonly reload: (change: Settings) => void; readonly log: (entry: LogEntry) => void },
): () => void {
  let last = ''
  let busy = false
  const look = async (): Promise<void> => {
    if (busy) return
    busy = true
    try {
      const loaded = await load()
      const text = JSON.stringify(loaded)
      if (text !== last) with_.reload(loaded)
      last = text
    } catch (error) {
      const facts = { error: error instanceof Error ? error.message : String(error) }
      with_.log({ level: 'warn', message: 'Settings were refused; the ones in force stay', facts })
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => void look(), everyMs)
  timer.unref()
  void look()
  return () => {
    clearInterval(timer)
  }
}
