import type { HookReceipt } from './schema.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { ReceivedChannelMessage } from '../../domain/channel/channel.ts'
import { readHookBody } from '../../domain/channel/hook-body.ts'
import type { ChannelRequestResult, ChannelRequest, OpenChannel } from '../../domain/channel/services.ts'
import { loadChannelAnywhere, saveChannelHealth, type ChannelRow } from './store.ts'
import { openChannel } from './credentials.ts'
import { receiveChatMessage, receiveMessage } from './inbound.ts'
import type { Ports } from '../../engine/ports.ts'

/** A request to a channel's webhook, with a parser for its body. */
export interface HookCall {
  readonly id: string
  readonly headers: ChannelRequest['headers']
  readonly body: Uint8Array
  readonly parse: (bytes: Uint8Array) => unknown
  readonly trace: string | null
}

/** The response to a request: a challenge response of the service, or a receipt. */
export type HookAnswer =
  | { readonly kind: 'challenge'; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly kind: 'done'; readonly receipt: HookReceipt }
  | { readonly kind: 'accepted'; readonly receipt: HookReceipt }

const IGNORED: HookAnswer = { kind: 'done', receipt: { run_id: null, outcome: 'ignored' } }

/**
 * Handles a request to a channel's webhook. Without a valid signature it is refused before anything about the channel
 * is revealed.
 */
export async function receiveHook(ports: Ports, call: HookCall): Promise<HookAnswer> {
  const row = call.id.includes('\u0000') ? undefined : await loadChannelAnywhere(ports.database, call.id)
  if (row === undefined) throw new Refusal('NOT_FOUND', `There is no channel ${call.id}`)
  const open = await openChannel(ports, row)
  const now = ports.clock.now()
  const content = ports.channels.receive(open, { headers: call.headers, body: call.body, now }, call.parse)
  if (content.kind === 'unsigned') throw new Refusal('BAD_SIGNATURE', content.message)
  if (content.kind === 'challenge') return content
  if (!row.enabled) throw new Refusal('CONFLICT', 'The channel is disabled')
  const { answer, failure } = await handleContent(ports, { row, open, content, trace: call.trace })
  await saveChannelHealth(ports.database, { orgId: row.orgId, id: row.id, now, failure })
  return answer
}

interface ReceivedHook {
  readonly row: ChannelRow
  readonly open: OpenChannel
  readonly content: Exclude<ChannelRequestResult, { readonly kind: 'unsigned' | 'challenge' }>
  readonly trace: string | null
}

interface HookResult {
  readonly answer: HookAnswer
  /** The error to show for the channel, if any. */
  readonly failure: string | null
}

const healthy = (answer: HookAnswer): HookResult => ({ answer, failure: null })

async function handleContent(ports: Ports, { row, open, content, trace }: ReceivedHook): Promise<HookResult> {
  if (content.kind === 'ignored') return healthy(IGNORED)
  if (content.kind === 'message') return handleChatMessage(ports, open, { row, message: content.message, trace })
  const { session, text } = row.settings
  const read = readHookBody(content.body, { id: content.id, session: session ?? 'main', text })
  if (!read.ok) throw invalid(read.flaws)
  const outcome = await receiveMessage(ports, { row, heard: read.value, body: content.body, trace })
  if (outcome.kind !== 'accepted') return healthy(IGNORED)
  const receipt = { run_id: outcome.runId, outcome: 'accepted' } as const
  return healthy(
    outcome.duplicate ? { kind: 'done', receipt: { ...receipt, duplicate: true } } : { kind: 'accepted', receipt },
  )
}

/** The response to a chat service, which only needs to know that the message was received. */
async function handleChatMessage(
  ports: Ports,
  open: OpenChannel,
  of: { readonly row: ChannelRow; readonly message: ReceivedChannelMessage; readonly trace: string | null },
): Promise<HookResult> {
  const { row, message, trace } = of
  const outcome = await receiveChatMessage(ports, open, { row, heard: message, body: message.eventId, trace })
  if (outcome.kind === 'refused') return { answer: IGNORED, failure: outcome.failure }
  const runId = outcome.kind === 'accepted' ? outcome.runId : null
  return healthy({ kind: 'done', receipt: { run_id: runId, outcome: outcome.kind } })
}
