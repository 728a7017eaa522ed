import { decideIndicators } from '../../domain/channel/reply.ts'
import type { OpenChannel } from '../../domain/channel/services.ts'
import type { ChannelId, RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import {
  openWithIdentity,
  clearIndicator,
  findIndicators,
  releaseChannelLeases,
  acquireChannelLeases,
  recordHealth,
  sendPlaceholder,
  processUpdates,
  type ChannelRow,
  type IndicatorWithRun,
} from '../../features/channels/updates.ts'
import type { Ports } from '../ports.ts'
import { createLoop } from './loop.ts'
import type { NodeParts } from '../node-parts.ts'

const CHANNEL_CHECK_MS = 1_000
const MAX_CHANNEL_WAIT_MS = 60_000

/** Receives updates of channels and shows progress in their chats. */
export interface ChannelLoop {
  readonly start: () => void
  readonly stop: () => Promise<void>
}

export interface ChannelLoopContext {
  readonly parts: NodeParts
  readonly ports: Ports
  /** The public URL for webhooks of a channel; null: not known yet. */
  readonly hookUrl: (id: string) => string | null
}

/** A channel this node holds the lease of. */
interface ServedChannel {
  readonly row: ChannelRow
  readonly closing: AbortController
  /** Null until its secrets are opened and its service has been asked for its identity. */
  open: OpenChannel | null
  /** The last update that was taken. */
  lastUpdate: number | null
  done: Promise<void>
}

interface ChannelLoopState extends ChannelLoopContext {
  readonly held: Map<ChannelId, ServedChannel>
  readonly typed: Map<RunId, Instant>
  /** Runs whose progress indicator is being updated. */
  readonly busy: Set<RunId>
}

/** Serves the channels whose lease this node gets; a lease in the database assigns each channel to one node. */
export function createChannelLoop(ctx: ChannelLoopContext): ChannelLoop {
  const { parts, ports } = ctx
  const serving: ChannelLoopState = { ...ctx, held: new Map(), typed: new Map(), busy: new Set() }
  const loop = createLoop(
    async () => {
      await checkChannels(serving)
      return undefined
    },
    {
      everyMs: CHANNEL_CHECK_MS,
      sleep: parts.ctx.sleep,
      onError: (error, failures) => {
        parts.health.failed(error)
        return Math.min(5_000, 100 * 2 ** Math.min(failures, 6))
      },
    },
  )
  // A run that is stopped should clear its indicator at once, not at the next pass.
  parts.listeners.add((_, transaction) => {
    if (serving.held.size > 0 && transaction.events.some(([kind]) => kind === 'outbound')) loop.wake()
  })
  return {
    start: loop.start,
    stop: async () => {
      await loop.stop()
      await leaveChannels(serving, [...serving.held.values()])
      await releaseChannelLeases(ports, parts.id()).catch(() => undefined)
    },
  }
}

async function checkChannels(serving: ChannelLoopState): Promise<void> {
  const { parts, ports, held } = serving
  // A node that is draining gives its channels back, so that others take over at once.
  if (parts.state.draining) {
    if (held.size === 0) return
    await leaveChannels(serving, [...held.values()])
    await releaseChannelLeases(ports, parts.id())
    return
  }
  const rows = new Map((await acquireChannelLeases(ports, parts.id())).map((row) => [row.id, row]))
  parts.health.answered()
  const isSame = ({ row, closing }: ServedChannel): boolean =>
    !closing.signal.aborted && rows.get(row.id)?.updatedAt === row.updatedAt
  await leaveChannels(
    serving,
    [...held.values()].filter((one) => !isSame(one)),
  )
  for (const row of rows.values()) if (!held.has(row.id)) startServing(serving, row)
  if (held.size > 0) await updateIndicators(serving)
}

async function leaveChannels({ held }: ChannelLoopState, gone: readonly ServedChannel[]): Promise<void> {
  for (const { row, closing } of gone) {
    closing.abort()
    held.delete(row.id)
  }
  await Promise.all(gone.map(({ done }) => done))
}

function startServing(serving: ChannelLoopState, row: ChannelRow): void {
  const channel: ServedChannel = {
    row,
    closing: new AbortController(),
    open: null,
    lastUpdate: row.lastUpdate,
    done: Promise.resolve(),
  }
  serving.held.set(row.id, channel)
  channel.done = serveUntilLeft(serving, channel)
}

/** Serves a channel until it is left. Failures are recorded on the channel, and it is tried again. */
async function serveUntilLeft(serving: ChannelLoopState, channel: ServedChannel): Promise<void> {
  const { parts, ports } = serving
  const { signal } = channel.closing
  const isLeft = (): boolean => signal.aborted
  let failures = 0
  while (!isLeft()) {
    const failure = await serveRound(serving, channel).catch((error: unknown) => asFailure(error))
    if (isLeft()) return
    if (failure === null) {
      failures = 0
      continue
    }
    failures += 1
    const facts = { channel: channel.row.id, error: failure.message }
    parts.ctx.log({ level: 'warn', message: 'A channel failed; it is retried', facts })
    await recordHealth(ports, channel.row, failure.message).catch(() => undefined)
    await parts.ctx.sleep(failure.waitMs ?? Math.min(MAX_CHANNEL_WAIT_MS, 1_000 * 2 ** Math.min(failures, 6)), signal)
  }
}

interface Failure {
  readonly message: string
  readonly waitMs: number | null
}

const asFailure = (error: unknown): Failure => ({
  message: error instanceof Error ? error.message : String(error),
  waitMs: null,
})

/** One round: open the channel, set its webhook or poll for updates. Null: no failure. */
async function serveRound(serving: ChannelLoopState, channel: ServedChannel): Promise<Failure | null> {
  const { parts, ports, hookUrl } = serving
  const { row, closing } = channel
  if (channel.open === null) {
    const { open, failure } = await openWithIdentity(ports, row, closing.signal)
    if (failure !== null) return { message: failure, waitMs: null }
    const url = row.settings.mode === 'webhook' ? hookUrl(row.id) : null
    const set = await ports.channels.setWebhook(open, url, closing.signal)
    if (set === null) return null
    if (!set.ok) return { message: set.message, waitMs: set.retryAfterMs ?? null }
    channel.open = open
    if (row.failure !== null) await recordHealth(ports, row, null)
  }
  if (row.settings.mode === 'webhook') {
    await parts.ctx.sleep(MAX_CHANNEL_WAIT_MS, closing.signal)
    return null
  }
  return poll(serving, channel, channel.open)
}

async function poll(
  { parts, ports }: ChannelLoopState,
  channel: ServedChannel,
  open: OpenChannel,
): Promise<Failure | null> {
  const { row, closing } = channel
  while (!closing.signal.aborted) {
    const got = await ports.channels.pollUpdates(open, channel.lastUpdate, closing.signal)
    if (got === null) return null
    if (!got.ok) return { message: got.message, waitMs: got.retryAfterMs }
    if (got.updates.length === 0) continue
    const taken = await processUpdates(ports, { row, open, holder: parts.id() }, got.updates)
    if (taken === null) {
      closing.abort()
      return null
    }
    await recordHealth(ports, row, taken.failure)
    channel.lastUpdate = Math.max(channel.lastUpdate ?? -1, taken.last)
  }
  return null
}

/** Shows the progress of runs in chats, and clears indicators that no answer will replace. */
async function updateIndicators(serving: ChannelLoopState): Promise<void> {
  const { ports, held, busy, typed } = serving
  const indicators = await findIndicators(ports, [...held.keys()])
  for (const id of [...typed.keys()]) if (!indicators.some(({ runId }) => runId === id)) typed.delete(id)
  for (const indicator of indicators) {
    const channel = held.get(indicator.channelId)
    const open = channel?.open ?? null
    if (channel === undefined || open === null || busy.has(indicator.runId)) continue
    busy.add(indicator.runId)
    void updateIndicator(serving, { attended: channel, open, mark: indicator })
      .catch(() => undefined)
      .finally(() => busy.delete(indicator.runId))
  }
}

async function updateIndicator(
  { parts, ports, typed }: ChannelLoopState,
  {
    attended: channel,
    open,
    mark: indicator,
  }: { readonly attended: ServedChannel; readonly open: OpenChannel; readonly mark: IndicatorWithRun },
): Promise<void> {
  const now = parts.ctx.clock.now()
  const { state, startedAt, answer } = indicator
  const shown = { hasPlaceholder: indicator.placeholder !== null, typedAt: typed.get(indicator.runId) ?? null }
  const decision = decideIndicators({ state, startedAt, answer, ...shown, now })
  if (decision.kind === 'clear') {
    const { removesPlaceholder } = decision
    await clearIndicator(ports, open, { mark: indicator, removesPlaceholder, signal: channel.closing.signal })
  }
  if (decision.kind !== 'show') return
  if (decision.typing) {
    typed.set(indicator.runId, now)
    await ports.channels.showTyping(open, indicator.peer)
  }
  if (decision.placeholder) await sendPlaceholder(ports, open, indicator)
}
