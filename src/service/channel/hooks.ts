import type { HookReceipt } from '../../features/channels/schema.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { HeardMessage } from '../../core/channel/channel.ts'
import { readHookBody } from '../../domain/channel/hook-body.ts'
import type { ChannelHeard, ChannelRequest, OpenChannel } from '../../domain/channel/services.ts'
import { loadChannelAnywhere, saveChannelHealth, type ChannelRow } from '../../features/channels/store.ts'
import { openChannel } from './credentials.ts'
import { takeInChat, takeSaid } from './inbound.ts'
import type { Ports } from '../ports.ts'

/** A request to a channel, and how its bytes are read. */
export interface HookCall {
  readonly id: string
  readonly headers: ChannelRequest['headers']
  readonly body: Uint8Array
  readonly parse: (bytes: Uint8Array) => unknown
  readonly trace: string | null
}

/** What a request is answered with: something of the service's own, or what became of it. */
export type HookAnswer =
  | { readonly kind: 'challenge'; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly kind: 'done'; readonly receipt: HookReceipt }
  | { readonly kind: 'accepted'; readonly receipt: HookReceipt }

const IGNORED: HookAnswer = { kind: 'done', receipt: { run_id: null, outcome: 'ignored' } }

/** Hears a request to a channel. What is not signed is refused before anything else is said about the channel. */
export async function receiveHook(ports: Ports, call: HookCall): Promise<HookAnswer> {
  const row = call.id.includes('\u0000') ? undefined : await loadChannelAnywhere(ports.database, call.id)
  if (row === undefined) throw new Refusal('NOT_FOUND', `There is no channel ${call.id}`)
  const open = await openChannel(ports, row)
  const now = ports.clock.now()
  const heard = ports.channels.hear(open, { headers: call.headers, body: call.body, now }, call.parse)
  if (heard.kind === 'unsigned') throw new Refusal('BAD_SIGNATURE', heard.message)
  if (heard.kind === 'challenge') return heard
  if (!row.enabled) throw new Refusal('CONFLICT', 'The channel is switched off')
  const { answer, failure } = await answerTo(ports, { row, open, heard, trace: call.trace })
  await saveChannelHealth(ports.database, { orgId: row.orgId, id: row.id, now, failure })
  return answer
}

interface Hearing {
  readonly row: ChannelRow
  readonly open: OpenChannel
  readonly heard: Exclude<ChannelHeard, { readonly kind: 'unsigned' | 'challenge' }>
  readonly trace: string | null
}

interface Answered {
  readonly answer: HookAnswer
  /** What is wrong with the channel. */
  readonly failure: string | null
}

const fine = (answer: HookAnswer): Answered => ({ answer, failure: null })

async function answerTo(ports: Ports, { row, open, heard, trace }: Hearing): Promise<Answered> {
  if (heard.kind === 'ignored') return fine(IGNORED)
  if (heard.kind === 'message') return answerChat(ports, open, { row, message: heard.message, trace })
  const { session, text } = row.settings
  const read = readHookBody(heard.body, { id: heard.id, session: session ?? 'main', text })
  if (!read.ok) throw invalid(read.flaws)
  const taken = await takeSaid(ports, { row, heard: read.value, body: heard.body, trace })
  if (taken.kind !== 'accepted') return fine(IGNORED)
  const receipt = { run_id: taken.runId, outcome: 'accepted' } as const
  return fine(
    taken.duplicate ? { kind: 'done', receipt: { ...receipt, duplicate: true } } : { kind: 'accepted', receipt },
  )
}

/** A messenger only wants to know that it need not say it again. */
async function answerChat(
  ports: Ports,
  open: OpenChannel,
  of: { readonly row: ChannelRow; readonly message: HeardMessage; readonly trace: string | null },
): Promise<Answered> {
  const { row, message, trace } = of
  const taken = await takeInChat(ports, open, { row, heard: message, body: message.eventId, trace })
  if (taken.kind === 'refused') return { answer: IGNORED, failure: taken.failure }
  const runId = taken.kind === 'accepted' ? taken.runId : null
  return fine({ kind: 'done', receipt: { run_id: runId, outcome: taken.kind } })
}
