import type { ProposedConversation } from '../contract/schedule-draft.ts'
import { confinedTo } from '../core/rails/railed.ts'
import { threadOf, type SaidMessage, type Thread } from '../core/draft/thread.ts'
import type { Zone } from '../core/time/zone.ts'
import { splitPeer } from '../core/channel/channel.ts'
import type { SessionKey } from '../domain/ids.ts'
import { loadChannelNamed } from '../features/channels/store.ts'
import { loadExchanges, loadRunInConversation } from '../store/conversation.ts'
import type { RunRecord } from '../store/run-record.ts'
import { listTargets, type TargetRow } from '../store/targets.ts'
import type { Asker } from '../features/explain/occurrence.ts'
import type { Ports } from './ports.ts'
import { textOf } from './session-messages.ts'

type Reading = Pick<Ports, 'database' | 'clock'>

/** Who asks, and how much of a conversation they may see. */
export type Drafter = Pick<Asker, 'orgId' | 'railed' | 'may'>

/** A run as part of its conversation. */
export interface RunInThread {
  /** Null: it was not said by anybody. */
  readonly thread: Thread | null
  readonly conversation: ProposedConversation | null
  readonly target: TargetRow | null
  /** What came with the messages that the prompt and its wishes are in. */
  readonly attachments: readonly unknown[]
}

/** Nobody looks further back for what an answer was about, nor reads more to find it. */
const MOST_EXCHANGES = 200
const MOST_BYTES = 1_048_576

/** The retry of a message carries what the message carried. */
const isMessage = ({ payload, trigger }: Pick<RunRecord, 'payload' | 'trigger'>): boolean =>
  trigger === 'message' || (typeof payload === 'object' && payload !== null && 'messageIds' in payload)

/** Reads what a run is about: its message, and what was said around it by whom. */
export async function readThread(
  ports: Reading,
  drafter: Drafter,
  { run, zone }: { readonly run: RunRecord; readonly zone: Zone },
): Promise<RunInThread> {
  const seesAll = drafter.may('sessions:read') && confinedTo(drafter.railed) === null
  const said = isMessage(run) ? await messagesAround(ports, run, seesAll) : []
  const context = { now: ports.clock.now(), zone }
  const thread = threadOf(
    said.map(({ message }) => message),
    run.id,
    context,
  )
  const conversation = seesAll ? await conversationOf(ports, run, thread) : null
  const around = new Set(thread === null ? [] : [thread.asked, ...thread.before.map(({ message }) => message)])
  return {
    ...{ thread, conversation },
    attachments: said.flatMap(({ message, attachments }) => (around.has(message) ? attachments : [])),
    target: conversation === null || !drafter.may('targets:read') ? null : await targetOf(ports, run, conversation),
  }
}

interface Said {
  readonly message: SaidMessage
  readonly attachments: readonly unknown[]
}

/** What the same person has said in the conversation since it last began anew, oldest first. */
async function messagesAround({ database }: Reading, run: RunRecord, seesAll: boolean): Promise<readonly Said[]> {
  const { orgId, id, sessionKey } = run
  const own = saidIn(id, run.payload, run.state === 'success' ? run.output : null)
  const place = seesAll && sessionKey !== null ? await loadRunInConversation(database, { orgId, id }) : undefined
  if (place === undefined || sessionKey === null) return own
  const exchanges = await loadExchanges(database, {
    ...{ orgId, sessionKey, generation: place.generation, without: id },
    ...{ limit: MOST_EXCHANGES, mostBytes: MOST_BYTES },
  })
  const began = run.startedAt ?? run.createdAt
  const others = exchanges.filter((one) => one.sender === run.sender && isMessage(one)).reverse()
  const said = (these: typeof others): readonly Said[] =>
    these.flatMap(({ runId, payload, reply }) => saidIn(runId, payload, reply))
  return [
    ...said(others.filter(({ startedAt }) => startedAt < began)),
    ...own,
    ...said(others.filter(({ startedAt }) => startedAt >= began)),
  ]
}

function saidIn(runId: string, payload: unknown, answer: unknown): readonly Said[] {
  const text = textOf(payload)
  if (text === null) return []
  const { attachments } = payload as { readonly attachments?: readonly unknown[] }
  return [{ message: { runId, text, answer }, attachments: attachments ?? [] }]
}

/** The channel, the kind of chat and the peer in the key of a session that a channel has made. */
function partsOf(key: SessionKey, agent: string): { readonly channel: string; readonly peer: string } | null {
  const begin = `agent:${agent}:`
  if (!key.startsWith(begin)) return null
  const [channel = '', kind = '', ...peer] = key.slice(begin.length).split(':')
  return channel === '' || kind === '' || peer.length === 0 ? null : { channel, peer: peer.join(':') }
}

async function conversationOf(
  { database }: Reading,
  { orgId, sessionKey: key, agentId }: RunRecord,
  thread: Thread | null,
): Promise<ProposedConversation | null> {
  if (key === null) return null
  const parts = partsOf(key, agentId)
  const channel = parts === null ? undefined : await loadChannelNamed(database, { orgId, name: parts.channel })
  const speaks = channel !== undefined && channel.kind !== 'hook'
  return { key, earlier: thread?.earlier ?? 0, channel: speaks ? channel.name : null }
}

const MOST_TARGETS = 200

/** The target that leads back to where the conversation is held: the session itself, or the same chat of its channel. */
async function targetOf(
  { database }: Reading,
  { orgId, agentId }: RunRecord,
  { key, channel }: ProposedConversation,
): Promise<TargetRow | null> {
  const targets = await listTargets(database, { orgId, after: null, limit: MOST_TARGETS })
  const parts = channel === null ? null : partsOf(key as SessionKey, agentId)
  const chat = parts === null ? null : splitPeer(parts.peer).chat
  const leadsBack = ({ settings, disabledAt }: TargetRow): boolean => {
    if (disabledAt !== null) return false
    if (settings['session'] !== undefined) return settings['session'] === key
    return chat !== null && settings['channel'] === channel && (settings['chat_id'] ?? settings['to']) === chat
  }
  return targets.find(leadsBack) ?? null
}
