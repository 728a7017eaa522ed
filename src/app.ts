import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { runId, attemptId, type SessionKey } from './domain/ids.ts'
import { OPERATOR_ORG } from './domain/access/access.ts'
import { NO_COMMANDS, type CommandRules } from './executors/command/options.ts'
import type { Instant } from './domain/instant.ts'
import type { ContextUse } from './domain/session/session.ts'
import type { MailServer } from './core/delivery/mail-settings.ts'
import { NO_MAIL } from './integrations/email/send.ts'
import { createSenders } from './delivery/senders.ts'
import { createChannels } from './integrations/channels.ts'
import { createChannelAttendance } from './engine/channels.ts'
import { createAlertPass } from './engine/loops/stall.ts'
import { createBackfills } from './engine/loops/backfills.ts'
import { createDeliveries } from './engine/deliveries.ts'
import { createHeartbeats } from './engine/loops/heartbeats.ts'
import { createLoops, type Loops } from './engine/loops.ts'
import { openThreads, type NodeThreads } from './engine/threads/threads.ts'
import { sleep } from './engine/loops/loop.ts'
import { createNodeParts } from './engine/node.ts'
import { loadOrgMemory } from './engine/changes.ts'
import type { NodeParts } from './engine/node-parts.ts'
import type { Log } from './engine/loops/health.ts'
import type { Meter } from './engine/meter.ts'
import { strangerOf } from './executors/command/account.ts'
import type { Executor } from './executors/executor.ts'
import { createLook } from './executors/probe.ts'
import { createOutboundGuard, databasePlaces, type OutboundSettings } from './platform/outbound/resolve.ts'
import { createOutbound, type Outbound } from './outbound/send.ts'
import { createChecklistFiles } from './service/checklist-files.ts'
import { createDatabaseClock, type DatabaseClock } from './service/clock.ts'
import { createIdMaker, createRandomBytes, type IdKind } from './engine/ids.ts'
import { createLive, createLiveWork } from './engine/live.ts'
import type { Live, LiveWork } from './service/live-port.ts'
import { loseEarlierNodes } from './service/membership.ts'
import type { Ports } from './service/ports.ts'
import { speak } from './service/speak.ts'
import { readLaneRules } from './service/lanes.ts'
import { gate } from './service/probe/gate.ts'
import { invite } from './service/rails/invitation.ts'
import type { EngineSettings } from './features/config/settings.ts'
import { exposeSecrets } from './service/secret/use.ts'
import type { KeySource } from './features/secrets/keys.ts'
import { createPrune } from './features/retention/service.ts'
import { openNodeVault, type NodeVault } from './service/secret/node-vault.ts'
import { readClock } from './platform/db/clock.ts'
import { countUsers } from './platform/db/embedded/reference.ts'
import { startEmbedded } from './store/embedded/embedded.ts'
import type { EmbeddedNews } from './platform/db/embedded/running.ts'
import { migrate } from './platform/db/migrate.ts'
import type { Database, PoolUse } from './store/database.ts'
import { nodePools, type PostgresOptions } from './platform/db/postgres/postgres.ts'
import { DEFAULT_SCHEMA } from './store/identifier.ts'
import { createTracing, type Tracing } from './server/tracing.ts'

/** What the program is composed from. */
export interface AppOptions {
  readonly database:
    | { readonly data: string; readonly schema?: string; readonly pool?: number }
    | { readonly url: string; readonly schema?: string; readonly pool?: number }
  readonly settings: () => EngineSettings
  readonly executors: Map<string, Executor>
  readonly estimate: (() => ((key: SessionKey) => ContextUse | null) | null) | null
  readonly log: Log
  /** Left out: nothing is open that the guard refuses, and nobody listens. */
  readonly outbound?: OutboundChoice | undefined
  /** What the operator lets agents start; left out: nothing. */
  readonly commands?: (() => CommandRules) | undefined
  /** Left out: nobody counts. */
  readonly meter?: Meter | undefined
  /** Where the keys come from that seal what nobody may read in the tables. Left out: beside an embedded database. */
  readonly secretKeys?: Partial<KeySource> | undefined
  /** Where checklists may be read from. Null or left out: nowhere. */
  readonly checklistDir?: (() => string | null) | undefined
}

/** What the operator decides about requests to the outside, and where they must not lead. */
export interface OutboundChoice {
  readonly settings: () => OutboundSettings
  /** Where this server is reached, once it is. */
  readonly listeners: () => readonly { readonly host: string; readonly port: number }[]
  /** The operator's mail server. Left out, or null: no mail is sent. */
  readonly mail?: () => MailServer | null
  /** Where the services behind channels are. Left out: where everybody finds them. */
  readonly channels?: () => { readonly telegram: string; readonly slack: string }
  /** Where requests to a channel reach us. Left out, or null: nowhere. */
  readonly hookUrl?: (id: string) => string | null
  /** Where attempts that make things by themselves reach us. Left out, or null: nowhere. */
  readonly apiUrl?: () => string | null
}

const PUBLIC_PLACES = { telegram: 'https://api.telegram.org', slack: 'https://slack.com/api' }

/** Where a database is, and the schema in it. */
export type DatabasePlace = Pick<PostgresOptions, 'target'> & { readonly schema: string }

/** Everything that runs, put together. */
export interface App {
  readonly ports: Ports
  readonly live: Live
  readonly work: LiveWork
  readonly parts: NodeParts
  readonly loops: Loops
  /** The way to the outside; closed with the rest. */
  readonly outbound: Outbound
  readonly migrated: readonly string[]
  readonly tracing: Tracing
  /** Where the database is, for whoever opens connections of their own. */
  readonly place: DatabasePlace
  /** How many connections there are, by pool. */
  readonly pools: () => readonly ({ readonly pool: string } & PoolUse)[]
  readonly close: () => Promise<void>
}

export const VERSION = '0.1.0'
const PROGRAM = `escapement ${VERSION}`
const PRUNE_EVERY_MS = 30_000

/** Opens the database, brings its schema up to date and puts the parts together. Nothing works before `loops.start`. */
export async function openApp(options: AppOptions): Promise<App> {
  const { log } = options
  const server =
    'data' in options.database ? await startEmbedded({ data: options.database.data, tell: tellTo(log) }) : null
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
      for (const node of await loseEarlierNodes(reads))
        log({
          level: 'info',
          message: 'A node of an earlier process is gone; what it held is settled',
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

/** What a person should know who did not ask for it: another user, other files, a server that went away. */
const WARNINGS: ReadonlySet<EmbeddedNews['kind']> = new Set([
  'account_assumed',
  'files_elsewhere',
  'lost',
  'still_away',
])

const tellTo =
  (log: Log) =>
  ({ kind, message }: EmbeddedNews): void => {
    log({ level: WARNINGS.has(kind) ? 'warn' : 'info', message, facts: { kind } })
  }

const NOTHING_OPEN: OutboundSettings = { allowHosts: [], allowLoopback: false }

function openOutbound(choice: OutboundChoice | undefined, databaseUrl: string): Outbound {
  const ours = databasePlaces(databaseUrl)
  return createOutbound(
    createOutboundGuard({
      settings: () => choice?.settings() ?? NOTHING_OPEN,
      closed: () => [...(choice?.listeners() ?? []).map((place) => ({ what: 'this server', ...place })), ...ours],
    }),
  )
}

interface Opened {
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

function compose(opened: Opened): App {
  const { options, reads, database, control, outbound, target, schema, clock, keys, migrated, close } = opened
  const { vault, self } = keys
  const chance = createRandomBytes()
  const tracing = createTracing(VERSION)
  const makeId: (kind: IdKind, now: Instant) => string = createIdMaker(chance)
  const parts: NodeParts = createNodeParts({
    database,
    control,
    clock,
    chance: {
      random: Math.random,
      newRunId: (kind, now) => runId(makeId(kind, now)),
      newAttemptId: (now) => attemptId(makeId('attempt', now)),
      newTrace: tracing.begin,
    },
    newNodeId: () => makeId('node', clock.now()),
    newToken: () => randomBytes(32).toString('base64url'),
    settings: options.settings,
    executors: options.executors,
    estimate: options.estimate,
    channels: { turn: `${schema.slice(0, 58)}_turn`, plan: `${schema.slice(0, 58)}_plan` },
    program: PROGRAM,
    log: options.log,
    sleep,
    random: Math.random,
    load: (orgId) => loadOrgMemory(parts, reads, orgId),
    meter: options.meter,
    tracing,
    ...{ keyIds: vault.keyIds, expose: (orgId, asked) => exposeSecrets({ database: reads, vault }, orgId, asked) },
    gate: (about, signal) => gate(ports, about, signal),
    invite: (about) => invite({ vault }, about, options.outbound?.apiUrl?.() ?? null),
  })
  self.id = parts.id
  const ports = composePorts(opened, parts, makeId)
  const deliveries = createDeliveries({ parts, ports })
  parts.outbox.wake = deliveries.wake
  const heartbeats = createHeartbeats({ parts, ports })
  const attendance = createChannelAttendance({ parts, ports, hookUrl: (id) => options.outbound?.hookUrl?.(id) ?? null })
  const prune = createPrune(ports)
  const alertPass = createAlertPass({ parts, database: reads, newId: makeId, orgId: OPERATOR_ORG })
  const loops = createLoops({
    ...{ parts, prune, pruneEveryMs: PRUNE_EVERY_MS, laneRules: () => readLaneRules(ports) },
    ...{ deliveries, heartbeats, backfills: createBackfills({ parts, ports }), attendance, alertPass },
  })
  const pools = (): ReturnType<App['pools']> => [
    { pool: 'engine', ...(database.use?.() ?? NO_POOL) },
    { pool: 'control', ...(control.use?.() ?? NO_POOL) },
    { pool: 'reads', ...(reads.use?.() ?? NO_POOL) },
  ]
  const [live, work] = [createLive(parts), createLiveWork(parts)]
  return { ports, live, work, parts, loops, outbound, tracing, migrated, place: { target, schema }, pools, close }
}

/** What services have instead of globals. */
function composePorts(
  { options, reads, outbound, clock, keys, threads }: Opened,
  parts: NodeParts,
  newId: Ports['newId'],
): Ports {
  const mail = (): MailServer | null => options.outbound?.mail?.() ?? null
  const channels = createChannels({
    send: outbound.send,
    places: () => options.outbound?.channels?.() ?? PUBLIC_PLACES,
  })
  const post = createSenders({
    ...{ send: outbound.send, now: clock.now, program: PROGRAM, mail },
    speak: (speech, signal) => speak(ports, speech, signal),
  })
  const ports: Ports = {
    ...{ database: reads, turns: parts.turns, clock, newId, settings: options.settings },
    outbound: { check: outbound.guard.check, post, mailFlaw: () => (mail() === null ? NO_MAIL : null) },
    vault: keys.vault,
    channels,
    commands: options.commands,
    look: createLook({ send: outbound.send, rules: () => options.commands?.() ?? NO_COMMANDS, account: strangerOf() }),
    ...threads.ports,
    checklists: createChecklistFiles(options.checklistDir ?? (() => null)),
  }
  return ports
}

const NO_POOL: PoolUse = { open: 0, idle: 0, waiting: 0 }
