import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { runId, attemptId, type SessionKey } from './domain/ids.ts'
import { OPERATOR_ORG } from './domain/access/access.ts'
import { NO_COMMANDS, type CommandRules } from './executors/command/options.ts'
import type { Instant } from './domain/instant.ts'
import type { ContextUse } from './domain/session/session.ts'
import type { MailServer } from './domain/delivery/target-kinds.ts'
import { NO_MAIL } from './integrations/email/send.ts'
import { createSenders } from './integrations/senders.ts'
import { createChannels } from './integrations/channels.ts'
import { createChannelLoop } from './engine/loops/channels.ts'
import { createAlertPass } from './engine/loops/stall.ts'
import { createBackgroundLoop } from './engine/loops/background.ts'
import { createBackfills } from './engine/loops/backfills.ts'
import { createDeliveries } from './engine/deliveries.ts'
import { createHeartbeats } from './engine/loops/heartbeats.ts'
import { createLoops, type Loops } from './engine/loops/loops.ts'
import { openThreads, type NodeThreads } from './engine/threads/threads.ts'
import { sleep } from './engine/loops/loop.ts'
import { createNodeParts } from './engine/node.ts'
import { loadAndPublish } from './engine/loops/changes.ts'
import type { NodeParts } from './engine/node-parts.ts'
import type { MemoryWindow } from './engine/org-state/memory.ts'
import type { Log } from './engine/loops/health.ts'
import type { Meter } from './engine/tracing-port.ts'
import { unprivilegedAccount } from './executors/command/process.ts'
import type { Executor } from './executors/executor.ts'
import { createProbeRunner } from './executors/probe.ts'
import { createOutboundGuard, databaseAddresses, type OutboundSettings } from './platform/outbound/resolve.ts'
import { createOutbound, type Outbound } from './platform/outbound/send.ts'
import { createChecklistFiles } from './features/heartbeats/checklist-files.ts'
import { createDatabaseClock, type DatabaseClock } from './engine/clock.ts'
import { createIdGenerator, createRandomBytes, type IdKind } from './engine/ids.ts'
import { createLiveRuns, createLiveWork } from './engine/live.ts'
import type { LiveRuns, LiveWork } from './engine/live-port.ts'
import { declareAllLost } from './features/nodes/membership.ts'
import type { Ports } from './engine/ports.ts'
import { sendToChat } from './features/channels/credentials.ts'
import { loadLaneRules } from './features/lanes/service.ts'
import { probeBeforeRun } from './features/probes/gate.ts'
import { createInvitation } from './features/access/attempt-keys.ts'
import type { EngineSettings } from './features/config/settings.ts'
import { exposeSecrets } from './features/secrets/use.ts'
import type { KeySource } from './features/secrets/keys.ts'
import { createPrune } from './features/retention/service.ts'
import { openNodeVault, type NodeVault } from './features/secrets/vault.ts'
import { readClock } from './platform/db/clock.ts'
import { countUsers } from './platform/db/embedded/reference.ts'
import { startEmbedded } from './platform/db/embedded/embedded.ts'
import type { EmbeddedEvent } from './platform/db/embedded/running.ts'
import { migrate } from './platform/db/migrate.ts'
import { type Database, DEFAULT_SCHEMA, type PoolUse } from './platform/db/database.ts'
import { nodePools, type PostgresOptions } from './platform/db/postgres/postgres.ts'
import { createTracing, type Tracing } from './server/tracing.ts'

/** Everything the app is composed from. */
export interface AppOptions {
  readonly database:
    | { readonly data: string; readonly schema?: string; readonly pool?: number }
    | { readonly url: string; readonly schema?: string; readonly pool?: number }
  readonly settings: () => EngineSettings
  readonly executors: Map<string, Executor>
  readonly estimate: (() => ((key: SessionKey) => ContextUse | null) | null) | null
  readonly log: Log
  /** If omitted, the outbound guard has no exceptions, and this server does not listen. */
  readonly outbound?: OutboundOptions | undefined
  /** The commands that agents may start; if omitted, none. */
  readonly commands?: (() => CommandRules) | undefined
  /** If omitted, nothing is counted. */
  readonly meter?: Meter | undefined
  /** Source of the keys that encrypt secrets. If omitted, a file beside an embedded database. */
  readonly secretKeys?: Partial<KeySource> | undefined
  /** How much of an org's queue is in memory; if omitted, the default. */
  readonly window?: MemoryWindow | undefined
  /** The directory that checklists may be read from. Null or omitted: none. */
  readonly checklistDir?: (() => string | null) | undefined
}

/** The operator's settings for outbound requests, and the addresses they must not reach. */
export interface OutboundOptions {
  readonly settings: () => OutboundSettings
  /** The addresses this server listens on. */
  readonly listeners: () => readonly { readonly host: string; readonly port: number }[]
  /** The operator's mail server. Null or omitted: no mail is sent. */
  readonly mail?: () => MailServer | null
  /** Base URLs of the channel services. If omitted, the public ones. */
  readonly channels?: () => { readonly telegram: string; readonly slack: string }
  /** The public webhook URL of a channel. Null or omitted: none. */
  readonly hookUrl?: (id: string) => string | null
  /** The API URL for attempts that create objects. Null or omitted: none. */
  readonly apiUrl?: () => string | null
}

const PUBLIC_CHANNEL_URLS = { telegram: 'https://api.telegram.org', slack: 'https://slack.com/api' }

/** A database and the schema in it. */
export type DatabaseLocation = Pick<PostgresOptions, 'target'> & { readonly schema: string }

/** The composed app. */
export interface App {
  readonly ports: Ports
  readonly live: LiveRuns
  readonly work: LiveWork
  readonly parts: NodeParts
  readonly loops: Loops
  /** The outbound HTTP client; closed with the app. */
  readonly outbound: Outbound
  readonly migrated: readonly string[]
  readonly tracing: Tracing
  /** The database, for code that opens its own connections. */
  readonly databaseLocation: DatabaseLocation
  /** Connection counts by pool. */
  readonly pools: () => readonly ({ readonly pool: string } & PoolUse)[]
  readonly close: () => Promise<void>
}

export const VERSION = '0.1.0'
const PROGRAM = `escapement ${VERSION}`
const PRUNE_EVERY_MS = 30_000

/** Opens the database, migrates its schema and composes the app. Nothing runs before `loops.start`. */
export async function openApp(options: AppOptions): Promise<App> {
  const { log } = options
  const server =
    'data' in options.database
      ? await startEmbedded({ data: options.database.data, onEvent: logEmbeddedEvent(log) })
      : null
  const target = server?.target ?? ('url' in options.database ? options.database.url : '')
  const { schema = DEFAULT_SCHEMA, pool = 10 } = options.database
  const opened: Database[] = []
  const outbound = openOutbound(options.outbound, 'url' in options.database ? options.database.url : '')
  const threads = openThreads(log)
  const close = async (): Promise<void> => {
    await threads.close()
    await outbound.close()
    for (const database of opened) await database.close()
    await server?.leave()
  }
  const pools = nodePools({ target, schema, pool, leaseMs: options.settings().node.leaseMs })
  try {
    const reads = await pools.openReads()
    opened.push(reads)
    const report = await migrate(reads, { schema })
    const database = await pools.openEngine()
    opened.push(database)
    const control = await pools.openControl()
    opened.push(control)
    if (server !== null && (await countUsers(reads)) <= 1)
      for (const node of await declareAllLost(reads))
        log({
          level: 'info',
          message: 'A node of an earlier process is gone; its runs were recovered',
          facts: { node },
        })
    const clock = createDatabaseClock(() => performance.now(), await readClock(reads), Date.now)
    const data = 'data' in options.database ? options.database.data : null
    const keys = await openNodeVault({ database: reads, now: clock.now, data, keys: options.secretKeys ?? {} })
    return compose({
      options,
      reads,
      database,
      control,
      outbound,
      threads,
      close,
      target,
      schema,
      clock,
      keys,
      migrated: report.applied.map(String),
    })
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}

/** Events that are logged as warnings: another user, other files, a server that went away. */
const WARNINGS: ReadonlySet<EmbeddedEvent['kind']> = new Set([
  'account_assumed',
  'files_elsewhere',
  'lost',
  'still_away',
])

const logEmbeddedEvent =
  (log: Log) =>
  ({ kind, message }: EmbeddedEvent): void => {
    log({ level: WARNINGS.has(kind) ? 'warn' : 'info', message, facts: { kind } })
  }

const NO_EXCEPTIONS: OutboundSettings = { allowHosts: [], allowLoopback: false }

function openOutbound(choice: OutboundOptions | undefined, databaseUrl: string): Outbound {
  const database = databaseAddresses(databaseUrl)
  return createOutbound(
    createOutboundGuard({
      settings: () => choice?.settings() ?? NO_EXCEPTIONS,
      closed: () => [
        ...(choice?.listeners() ?? []).map((address) => ({ description: 'this server', ...address })),
        ...database,
      ],
    }),
  )
}

interface OpenedParts {
  readonly options: AppOptions
  readonly reads: Database
  readonly database: Database
  readonly control: Database
  readonly outbound: Outbound
  readonly target: PostgresOptions['target']
  readonly schema: string
  readonly clock: DatabaseClock
  readonly keys: NodeVault
  readonly migrated: readonly string[]
  readonly threads: NodeThreads
  readonly close: () => Promise<void>
}

function compose(opened: OpenedParts): App {
  const { options, reads, database, control, outbound, target, schema, clock, keys, migrated, close } = opened
  const { vault, self } = keys
  const randomSource = createRandomBytes()
  const tracing = createTracing(VERSION)
  const createId: (kind: IdKind, now: Instant) => string = createIdGenerator(randomSource)
  const parts: NodeParts = createNodeParts({
    database,
    control,
    clock,
    randomSource: {
      random: Math.random,
      newRunId: (kind, now) => runId(createId(kind, now)),
      newAttemptId: (now) => attemptId(createId('attempt', now)),
      newTrace: tracing.begin,
    },
    newNodeId: () => createId('node', clock.now()),
    newToken: () => randomBytes(32).toString('base64url'),
    settings: options.settings,
    executors: options.executors,
    estimate: options.estimate,
    channels: { turn: `${schema.slice(0, 58)}_turn`, plan: `${schema.slice(0, 58)}_plan` },
    program: PROGRAM,
    log: options.log,
    sleep,
    random: Math.random,
    load: (orgId) => loadAndPublish(parts, reads, orgId),
    ...(options.window === undefined ? {} : { window: options.window }),
    meter: options.meter,
    tracing,
    ...{ keyIds: vault.keyIds, expose: (orgId, request) => exposeSecrets({ database: reads, vault }, orgId, request) },
    gate: (about, signal) => probeBeforeRun(ports, about, signal),
    createAttemptKey: (about) => createInvitation({ vault }, about, options.outbound?.apiUrl?.() ?? null),
  })
  self.id = parts.id
  const ports = composePorts(opened, parts, createId)
  const deliveries = createDeliveries({ parts, ports })
  parts.outbox.wake = deliveries.wake
  const heartbeats = createHeartbeats({ parts, ports })
  const attendance = createChannelLoop({ parts, ports, hookUrl: (id) => options.outbound?.hookUrl?.(id) ?? null })
  const prune = createPrune(ports)
  const alertPass = createAlertPass({ parts, database: reads, newId: createId, orgId: OPERATOR_ORG })
  const loops = createLoops({
    ...{ parts, prune, pruneEveryMs: PRUNE_EVERY_MS, laneRules: () => loadLaneRules(ports) },
    ...{ deliveries, heartbeats, backfills: createBackfills({ parts, ports }), channels: attendance, alertPass },
    background: createBackgroundLoop({ parts, ports }),
  })
  const [live, work] = [createLiveRuns(parts), createLiveWork(parts)]
  return {
    ...{ ports, live, work, parts, loops, outbound, tracing, migrated },
    databaseLocation: { target, schema },
    pools: () => poolsOf(opened),
    close,
  }
}

const poolsOf = ({ database, control, reads }: OpenedParts): ReturnType<App['pools']> => [
  { pool: 'engine', ...(database.use?.() ?? NO_POOL) },
  { pool: 'control', ...(control.use?.() ?? NO_POOL) },
  { pool: 'reads', ...(reads.use?.() ?? NO_POOL) },
]

/** The dependencies of the services. */
function composePorts(
  { options, reads, outbound, clock, keys, threads }: OpenedParts,
  parts: NodeParts,
  newId: Ports['newId'],
): Ports {
  const mail = (): MailServer | null => options.outbound?.mail?.() ?? null
  const channels = createChannels({
    send: outbound.send,
    baseUrls: () => options.outbound?.channels?.() ?? PUBLIC_CHANNEL_URLS,
  })
  const post = createSenders({
    ...{ send: outbound.send, now: clock.now, program: PROGRAM, mail },
    sendToChat: (speech, signal) => sendToChat(ports, speech, signal),
  })
  const ports: Ports = {
    ...{ database: reads, commands: parts.commands, clock, newId, settings: options.settings },
    outbound: { check: outbound.guard.checkAddresses, post, mailFlaw: () => (mail() === null ? NO_MAIL : null) },
    vault: keys.vault,
    channels,
    commandRules: options.commands,
    runProbe: createProbeRunner({
      send: outbound.send,
      rules: () => options.commands?.() ?? NO_COMMANDS,
      account: unprivilegedAccount(),
    }),
    ...threads.ports,
    checklists: createChecklistFiles(options.checklistDir ?? (() => null)),
  }
  return ports
}

const NO_POOL: PoolUse = { open: 0, idle: 0, waiting: 0 }
