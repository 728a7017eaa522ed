import { invalid } from '../../api/refusals.ts'
import { visibleOwner } from '../../domain/access/restrictions.ts'
import { splitPeer } from '../../domain/channel/channel.ts'
import { type Requirement, requirementsOf } from '../../domain/draft/requirements.ts'
import { type ConversationMessage, type Thread, threadOf } from '../../domain/draft/thread.ts'
import type { SessionKey } from '../../domain/ids.ts'
import { durationOf } from '../../domain/run/run.ts'
import { DEFAULT_ATTEMPT_TIMEOUT_SECONDS } from '../../domain/run/timeouts.ts'
import type { Zone } from '../../domain/time/zone.ts'
import { understandWords } from '../../domain/words/understand.ts'
import type { Ports } from '../../engine/ports.ts'
import type { ExecutorKind } from '../../executors/kinds.ts'
import { type AgentRow, loadAgents } from '../agents/store.ts'
import { loadChannelNamed } from '../channels/store.ts'
import type { ExplainCaller } from '../explain/occurrence.ts'
import type { RunRecord } from '../runs/record-store.ts'
import { readRun } from '../runs/service.ts'
import { viewUsage } from '../runs/view.ts'
import { previewSchedule, zoneOrOrgDefault } from './preview.ts'
import type {
  DraftInput,
  ProposedConversation,
  ProposedTiming,
  ScheduleDraft,
  ScheduleProposal,
} from './views-schema.ts'
import { loadExchanges, loadRunInConversation } from '../sessions/store.ts'
import { inputTextOf } from '../sessions/view.ts'
import { listTargets, type TargetRow } from '../targets/store.ts'

type DraftPorts = Pick<Ports, 'database' | 'clock'>

/** The caller, with the permissions that decide how much of a conversation is visible. */
type DraftCaller = Pick<ExplainCaller, 'orgId' | 'restricted' | 'may'>

/** A run as part of its conversation. */
interface RunConversation {
  /** Null: the run has no message. */
  readonly thread: Thread | null
  readonly conversation: ProposedConversation | null
  readonly target: TargetRow | null
  /** Attachments of the messages that the prompt and the requirements come from. */
  readonly attachments: readonly unknown[]
}

/** Bounds how much of a conversation is loaded for one draft. */
const MAX_DRAFT_EXCHANGES = 200
const MAX_EXCHANGE_BYTES = 1_048_576

/** A retry of a message run has the payload of the message. */
const isMessageRun = ({ payload, trigger }: Pick<RunRecord, 'payload' | 'trigger'>): boolean =>
  trigger === 'message' || (typeof payload === 'object' && payload !== null && 'messageIds' in payload)

/** Loads the message of a run and the messages of the same conversation around it. */
async function loadRunConversation(
  ports: DraftPorts,
  caller: DraftCaller,
  { run, zone }: { readonly run: RunRecord; readonly zone: Zone },
): Promise<RunConversation> {
  const canReadAll = caller.may('sessions:read') && visibleOwner(caller.restricted) === null
  const said = isMessageRun(run) ? await loadConversationMessages(ports, run, canReadAll) : []
  const context = { now: ports.clock.now(), zone }
  const thread = threadOf(
    said.map(({ message }) => message),
    run.id,
    context,
  )
  const conversation = canReadAll ? await proposedConversation(ports, run, thread) : null
  const surroundings = new Set(thread === null ? [] : [thread.question, ...thread.before.map(({ message }) => message)])
  return {
    ...{ thread, conversation },
    attachments: said.flatMap(({ message, attachments }) => (surroundings.has(message) ? attachments : [])),
    target:
      conversation === null || !caller.may('targets:read') ? null : await conversationTarget(ports, run, conversation),
  }
}

interface DraftMessage {
  readonly message: ConversationMessage
  readonly attachments: readonly unknown[]
}

/** Messages of the same sender since the conversation was last reset, oldest first. */
async function loadConversationMessages(
  { database }: DraftPorts,
  run: RunRecord,
  canReadAll: boolean,
): Promise<readonly DraftMessage[]> {
  const { orgId, id, sessionKey } = run
  const own = conversationMessagesOf(id, run.payload, run.state === 'success' ? run.output : null)
  const conversationRun =
    canReadAll && sessionKey !== null ? await loadRunInConversation(database, { orgId, id }) : undefined
  if (conversationRun === undefined || sessionKey === null) return own
  const exchanges = await loadExchanges(database, {
    ...{ orgId, sessionKey, generation: conversationRun.generation, without: id },
    ...{ limit: MAX_DRAFT_EXCHANGES, maxBytes: MAX_EXCHANGE_BYTES },
  })
  const runStartedAt = run.startedAt ?? run.createdAt
  const others = exchanges.filter((one) => one.sender === run.sender && isMessageRun(one)).reverse()
  const said = (rows: typeof others): readonly DraftMessage[] =>
    rows.flatMap(({ runId, payload, reply }) => conversationMessagesOf(runId, payload, reply))
  return [
    ...said(others.filter(({ startedAt }) => startedAt < runStartedAt)),
    ...own,
    ...said(others.filter(({ startedAt }) => startedAt >= runStartedAt)),
  ]
}

function conversationMessagesOf(runId: string, payload: unknown, answer: unknown): readonly DraftMessage[] {
  const text = inputTextOf(payload)
  if (text === null) return []
  const { attachments } = payload as { readonly attachments?: readonly unknown[] }
  return [{ message: { runId, text, answer }, attachments: attachments ?? [] }]
}

/** The channel and the peer in the key of a session that a channel created; null: the key has another form. */
function sessionKeyParts(key: SessionKey, agent: string): { readonly channel: string; readonly peer: string } | null {
  const begin = `agent:${agent}:`
  if (!key.startsWith(begin)) return null
  const [channel = '', kind = '', ...peer] = key.slice(begin.length).split(':')
  return channel === '' || kind === '' || peer.length === 0 ? null : { channel, peer: peer.join(':') }
}

async function proposedConversation(
  { database }: DraftPorts,
  { orgId, sessionKey: key, agentId }: RunRecord,
  thread: Thread | null,
): Promise<ProposedConversation | null> {
  if (key === null) return null
  const parts = sessionKeyParts(key, agentId)
  const channel = parts === null ? undefined : await loadChannelNamed(database, { orgId, name: parts.channel })
  const isChat = channel !== undefined && channel.kind !== 'hook'
  return { key, earlier: thread?.earlier ?? 0, channel: isChat ? channel.name : null }
}

const MAX_SEARCHED_TARGETS = 200

/** The target that delivers to the conversation: to the session itself, or to the same chat of its channel. */
async function conversationTarget(
  { database }: DraftPorts,
  { orgId, agentId }: RunRecord,
  { key, channel }: ProposedConversation,
): Promise<TargetRow | null> {
  const targets = await listTargets(database, { orgId, after: null, limit: MAX_SEARCHED_TARGETS })
  const parts = channel === null ? null : sessionKeyParts(key as SessionKey, agentId)
  const chat = parts === null ? null : splitPeer(parts.peer).chat
  const leadsBack = ({ settings, disabledAt }: TargetRow): boolean => {
    if (disabledAt !== null) return false
    if (settings['session'] !== undefined) return settings['session'] === key
    return chat !== null && settings['channel'] === channel && (settings['chat_id'] ?? settings['to']) === chat
  }
  return targets.find(leadsBack) ?? null
}

/** Longest proposed name, because lists cut longer ones. */
const MAX_DRAFT_NAME_LENGTH = 60

/**
 * Drafts a schedule that repeats a run. Nothing is saved: the client adds a timing if the conversation has none, and
 * creates the schedule from the draft.
 */
export async function draftSchedule(
  ports: DraftPorts,
  caller: DraftCaller,
  { id, choices }: { readonly id: string; readonly choices: DraftInput },
): Promise<ScheduleDraft> {
  const source = await loadDraftSource(ports, caller, { id, timezone: choices.timezone })
  const timing =
    choices.when === undefined ? timingFromConversation(source) : timingFromWords(ports, source, choices.when)
  return buildDraft(source, { choices, timing })
}

/** Proposes a schedule from a run, with all choices and what they are based on. */
export async function proposeSchedule(ports: DraftPorts, caller: DraftCaller, id: string): Promise<ScheduleProposal> {
  const source = await loadDraftSource(ports, caller, { id, timezone: undefined })
  const { run, surroundings, requirements } = source
  const { thread, conversation, target } = surroundings
  return {
    run_id: run.id,
    prompt_run_id: thread?.question.runId ?? run.id,
    draft: buildDraft(source, { choices: {}, timing: timingFromConversation(source) }),
    timing: await proposedTiming(ports, caller, source),
    requirements: requirements.map(({ runId, ...one }) => ({ ...one, run_id: runId })),
    conversation,
    target: target === null ? null : { id: target.id, name: target.name },
    observed: { duration_ms: durationOf(run), usage: viewUsage(run.usage) },
  }
}

/** Everything a draft is built from. */
interface DraftSource {
  readonly run: RunRecord
  readonly agent: AgentRow | undefined
  readonly zone: Zone
  readonly surroundings: RunConversation
  readonly requirements: readonly Requirement[]
}

async function loadDraftSource(
  ports: DraftPorts,
  caller: DraftCaller,
  { id, timezone }: { readonly id: string; readonly timezone: string | undefined },
): Promise<DraftSource> {
  const { orgId } = caller
  const run = await readRun(ports, orgId, id)
  const [agent] = await loadAgents(ports.database, { orgId, ids: [run.agentId] })
  const zone = await zoneOrOrgDefault(ports, orgId, timezone)
  const surroundings = await loadRunConversation(ports, caller, { run, zone })
  const requirements = surroundings.thread === null ? [] : requirementsOf(surroundings.thread)
  return { run, agent, zone, surroundings, requirements }
}

type TimingFields = Partial<ScheduleDraft>

/** The timing found in the conversation; empty if there is none. */
const timingFromConversation = ({ surroundings }: DraftSource): TimingFields =>
  surroundings.thread?.timing?.said.fields ?? {}

/** The timing that the caller gave in words. */
function timingFromWords(ports: DraftPorts, { zone }: DraftSource, when: string): TimingFields {
  const read = understandWords('when', when, { now: ports.clock.now(), zone })
  if (!read.ok) throw invalid(read.flaws)
  if (read.value.rest === null) return read.value.fields
  const message = 'must contain only a time, and contains a prompt after the colon'
  throw invalid([{ field: 'when', value: when, message, position: when.search(/[:：]/u) }])
}

async function proposedTiming(
  ports: DraftPorts,
  { orgId }: DraftCaller,
  { surroundings: { thread }, zone }: DraftSource,
): Promise<ProposedTiming | null> {
  const timing = thread?.timing ?? null
  if (timing === null) return null
  const { said, message } = timing
  const fields = { timezone: zone.name, ...said.fields }
  const { sentence, next, dst_notes } = await previewSchedule(ports, { orgId, principal: null }, fields)
  return { words: said.words, run_id: message.runId, notes: said.notes, sentence, next, dst_notes }
}

interface DraftDecisions {
  readonly choices: DraftInput
  readonly timing: TimingFields
}

function buildDraft(source: DraftSource, { choices, timing }: DraftDecisions): ScheduleDraft {
  const { run, agent, surroundings, zone } = source
  const session = draftSession(source, choices)
  const timeout = draftTimeout(run, agent)
  return {
    name: draftName(run, surroundings.thread?.prompt ?? inputTextOf(run.payload)),
    ...(agent === undefined ? {} : { agent_id: agent.id }),
    payload: draftPayload(source, choices),
    timezone: zone.name,
    ...timing,
    ...(session === null ? {} : { session }),
    ...(timeout === null ? {} : { timeout_seconds: timeout }),
    ...(surroundings.target === null ? {} : { delivery: { target_id: surroundings.target.id } }),
  }
}

/** The first line of the run's prompt. */
function draftName(run: RunRecord, text: string | null): string {
  const [line = ''] = (text ?? '').trim().split('\n', 1)
  const characters = Array.from(line.trim())
  if (characters.length === 0) return `Like ${run.id}`
  return characters.length <= MAX_DRAFT_NAME_LENGTH
    ? characters.join('')
    : `${characters
        .slice(0, MAX_DRAFT_NAME_LENGTH - 1)
        .join('')
        .trimEnd()}…`
}

/** A message becomes the prompt, its attachments the context, and the requirements the output. */
function draftPayload(source: DraftSource, choices: DraftInput): unknown {
  const { run, surroundings } = source
  const { thread, attachments } = surroundings
  const output = draftOutput(source, choices)
  if (thread === null) return choices.output === undefined ? run.payload : payloadWithOutput(run.payload, output)
  return {
    prompt: thread.prompt,
    ...(attachments.length === 0 ? {} : { context: { attachments } }),
    ...(output === '' ? {} : { output }),
  }
}

function payloadWithOutput(payload: unknown, output: string): unknown {
  if (typeof payload === 'string') return output === '' ? payload : { prompt: payload, output }
  if (typeof payload === 'object' && payload !== null && 'prompt' in payload) {
    const { output: _before, ...rest } = payload as Readonly<Record<string, unknown>>
    return output === '' ? rest : { ...rest, output }
  }
  const message = 'requires a prompt, and this run has none'
  throw invalid([{ field: 'output', value: output, message }])
}

function draftOutput({ requirements }: DraftSource, { output, requirements: chosen }: DraftInput): string {
  if (output !== undefined) return output.trim()
  const ids = requirements.map(({ id }) => id)
  const unknownIds = (chosen ?? []).flatMap((id, index) =>
    ids.includes(id)
      ? []
      : [
          {
            ...{ field: `requirements.${index}`, value: id, message: 'is not a proposed requirement' },
            allowed: ids.length === 0 ? 'none; no requirements were proposed' : ids.join(', '),
          },
        ],
  )
  if (unknownIds.length > 0) throw invalid(unknownIds)
  return requirements
    .filter(({ id, taken }) => (chosen === undefined ? taken : chosen.includes(id)))
    .map(({ text }) => text)
    .join(' ')
}

/** The session key if runs continue the conversation; null: each run has its own session. */
function draftSession({ surroundings: { conversation } }: DraftSource, { session }: DraftInput): string | null {
  if (session !== 'conversation') return null
  if (conversation !== null) return conversation.key
  const message = 'is not possible, because the run has no conversation, or one that the caller may not read'
  throw invalid([{ field: 'session', value: session, message, allowed: 'isolated' }])
}

/** The draft allows 3 times the observed duration, once the duration is more than half of the default timeout. */
const TIMEOUT_FACTOR = 3
const SAFE_TIMEOUT_RATIO = 2
const MINUTE_SECONDS = 60

/** A timeout in whole minutes for a run that came close to the default timeout; null: the default is enough. */
function draftTimeout(run: RunRecord, agent: AgentRow | undefined): number | null {
  const duration = durationOf(run)
  if (duration === null || agent === undefined || run.state !== 'success') return null
  const defaultTimeout = agent.timeoutSeconds ?? DEFAULT_ATTEMPT_TIMEOUT_SECONDS[agent.executor.kind as ExecutorKind]
  const seconds = duration / 1_000
  if (seconds * SAFE_TIMEOUT_RATIO <= defaultTimeout) return null
  return Math.ceil((seconds * TIMEOUT_FACTOR) / MINUTE_SECONDS) * MINUTE_SECONDS
}
