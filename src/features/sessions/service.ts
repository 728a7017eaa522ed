import { createHash } from 'node:crypto'
import { ErrQueueFull, invalid, Refusal } from '../../api/refusals.ts'
import { breach } from '../../domain/access/restrictions.ts'
import {
  agentId,
  type AgentId,
  laneName,
  messageId,
  type OrgId,
  type RunId,
  runId,
  type SessionKey,
  sessionKey,
} from '../../domain/ids.ts'
import { parseSessionKey } from '../../domain/input-fields.ts'
import type { Parsed } from '../../domain/input.ts'
import { type Instant, storedInstant } from '../../domain/instant.ts'
import type { MessageContent } from '../../domain/session/debounce.ts'
import { parseSessionCommand } from '../../domain/session/stop.ts'
import type { Command } from '../../engine/commands-port.ts'
import { stopSession } from '../../engine/commands/cancel.ts'
import { agentInState } from '../../engine/commands/runs.ts'
import { runToJoin, type Submission, submissionFor, submit, type SubmitResult } from '../../engine/commands/submit.ts'
import { executeOnce, type IdempotentRequest } from '../../engine/idempotency.ts'
import { type LiveRuns, positionOf } from '../../engine/live-port.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import type { Ports } from '../../engine/ports.ts'
import { ensureSession } from '../../engine/transaction/transaction.ts'
import type { ChatExchange } from '../../executors/chat/conversation.ts'
import type { Caller } from '../access/caller.ts'
import { restrictMessage } from '../access/restricted-input.ts'
import {
  type Provenance,
  provenanceOf,
  restrictCommand,
  restrictionRefusal,
  refuseCommandExecutor,
  refuseOthersSession,
} from '../access/restrictions.ts'
import { acted, actorOf } from '../audit/entry.ts'
import { budgetError, dailyLimitError } from '../budgets/limits.ts'
import { loadRun } from '../runs/read-store.ts'
import type { MessageInput, MessageReceipt, StopAnswer } from './schema.ts'
import { loadAddedExchanges, loadExchanges, loadRunInConversation } from './store.ts'

type ConversationPorts = Pick<Ports, 'database'>

/** Maximum number of exchanges in a conversation, however short they are. */
const MAX_CONVERSATION_EXCHANGES = 500
/** Maximum number of heartbeat news in a conversation. */
const MAX_HEARTBEAT_NEWS = 20
/** An upper bound of bytes per token, so that the byte limit never excludes what the token limit would allow. */
const MAX_BYTES_PER_TOKEN = 8

/** The earlier exchanges in the session of a run, and the sender of its own message. */
export async function findConversation(
  { database }: ConversationPorts,
  request: {
    readonly orgId: OrgId
    readonly runId: RunId
    readonly sessionKey: SessionKey
    readonly mostTokens: number
  },
): Promise<{
  readonly sender: string | null
  readonly retryOf: RunId | null
  readonly exchanges: readonly ChatExchange[]
}> {
  const { orgId, runId, sessionKey } = request
  const run = await loadRunInConversation(database, { orgId, id: runId })
  if (run === undefined) return { sender: null, retryOf: null, exchanges: [] }
  const exchanges = await loadExchanges(database, {
    ...{ orgId, sessionKey, generation: run.generation, without: runId },
    ...{ limit: MAX_CONVERSATION_EXCHANGES, maxBytes: request.mostTokens * MAX_BYTES_PER_TOKEN },
  })
  const added = await loadAddedExchanges(database, {
    ...{ orgId, sessionKey, generation: run.generation, limit: MAX_HEARTBEAT_NEWS },
  })
  return { sender: run.sender, retryOf: run.retryOf, exchanges: [...exchanges, ...added] }
}

/** The outcome of a sent message, and its message id. */
export interface SentMessage {
  readonly submitted: SubmitResult
  readonly messageId: string
  /** The message was sent before; `submitted` is the outcome of the first time. */
  readonly duplicate?: true
}

/** Identifies a message by the id its sender gave it. */
interface MessageRef {
  /** The sender: a key, a member, a channel, or the embedding program. */
  readonly principal: string
  readonly session: SessionKey
  readonly messageId: string
}

const isMessageAccepted = ({ submitted }: SentMessage): boolean => submitted.kind !== 'rejected'

/** The idempotency binding of a message id. Hashed, because index rows are limited in size and ids may be long. */
export const messageBindingOf = ({ principal, session, messageId }: MessageRef): IdempotentRequest => ({
  ...{ principal, route: 'message_id' },
  key: createHash('sha256')
    .update(JSON.stringify([session, messageId]))
    .digest('hex'),
  body: undefined,
})

/** A command that is applied once per binding; a repetition changes nothing and is marked as duplicate. */
export function oncePerBinding(
  orgCommand: Command<SentMessage>,
  bindings: readonly IdempotentRequest[],
): Command<SentMessage> {
  let applied = 0
  const countingCommand: Command<SentMessage> = {
    ...orgCommand,
    apply: (orgState, prepared) => {
      applied += 1
      return orgCommand.apply(orgState, prepared)
    },
  }
  const bound = bindings.reduce<Command<SentMessage>>(
    (inner, binding) => executeOnce(inner, binding, isMessageAccepted),
    countingCommand,
  )
  return {
    ...bound,
    apply: (orgState, prepared) => {
      const before = applied
      const sent = bound.apply(orgState, prepared)
      return applied > before ? sent : { ...sent, duplicate: true }
    },
  }
}

export interface MessageContext extends Pick<Caller, 'restricted' | 'through'> {
  readonly orgId: OrgId
  /** The agent of sessions whose key names none. */
  readonly defaultAgent: () => AgentId | null
  readonly live: LiveRuns
  /** The caller. Null: the embedding program. */
  readonly principal: string | null
  /** The trace that the message belongs to. */
  readonly trace?: string | null | undefined
}

/**
 * Sends a message to a session, or executes the command it contains. Invalid input stores nothing. A full session that
 * drops new messages throws `ErrQueueFull`; the rejected run is stored.
 */
export async function sendMessage(
  ports: Ports,
  ctx: MessageContext,
  message: { readonly key: string; readonly input: MessageInput; readonly once?: IdempotentRequest | undefined },
): Promise<MessageReceipt | StopAnswer> {
  const key = readSessionKey(message.key)
  const { input } = message
  const { restricted } = ctx
  if (restricted !== undefined) refuseOthersSession(restricted, key)
  const times = messageTimesOf(input)
  const command = parseSessionCommand(input.text)
  if (command !== null)
    return ports.commands.execute(
      stopSessionCommand(ctx, key, { how: command, sentAt: times.sentAt, sender: input.sender ?? null }),
    )
  if (restricted !== undefined && input.parent_run_id !== undefined) throw parentRunRefusal()
  refusePastDeadline(times, ports.clock.now())
  const submission = messageSubmissionOf(ports, {
    ...{ input, times, key, agent: agentOfSession(ctx, key), trace: ctx.trace },
    making: restricted === undefined ? null : provenanceOf(restricted),
  })
  const unboundCommand = restrictMessage(sendMessageCommand(ctx, submission), ctx)
  const named = { principal: ctx.principal ?? 'library', session: key, messageId: input.message_id }
  const orgCommand =
    named.messageId === undefined
      ? unboundCommand
      : oncePerBinding(unboundCommand, [messageBindingOf({ ...named, messageId: named.messageId })])
  const { once: bound } = message
  const sent = await ports.commands.execute(
    bound === undefined ? orgCommand : executeOnce(orgCommand, bound, isMessageAccepted),
  )
  return sent.duplicate === true ? duplicateReceipt(ports, ctx, sent) : receiptOf(ports, ctx, sent)
}

const parentRunRefusal = (): Refusal =>
  restrictionRefusal(breach('lineage', 'This key determines the parent run; omit parent_run_id'))

/** Whether a message is a command. Commands only end runs, so a draining node still accepts them. */
export const isCommand = ({ text }: MessageInput): boolean => parseSessionCommand(text) !== null

/** Executes /stop, /stopall or reset. For a session that does not exist nothing is stopped. */
export const stopByKey = (
  ports: Pick<Ports, 'commands'>,
  caller: Caller,
  request: { readonly key: string; readonly how: 'stop' | 'stopall' | 'reset' },
): Promise<StopAnswer> =>
  ports.commands.execute(stopSessionCommand(caller, readSessionKey(request.key), { how: request.how }))

/** The command of `stopByKey`. */
export const stopSessionCommand = (
  caller: Caller,
  key: SessionKey,
  command: {
    readonly how: 'stop' | 'stopall' | 'reset'
    readonly sentAt?: Instant | null
    /** Sender of the message, if the command came as a message. */
    readonly sender?: string | null
  },
): Command<StopAnswer> =>
  restrictCommand(
    {
      orgId: caller.orgId,
      needs: { sessions: [key] },
      apply: (orgState) => {
        // The session must exist, so that a message that arrives later with an earlier timestamp finds the cutoff.
        if (command.how !== 'stop' || runToJoin(orgState, key) !== undefined) ensureSession({ state: orgState }, key)
        const stopped = stopSession(orgState, key, command)
        const after =
          command.sender === null || command.sender === undefined ? stopped : { ...stopped, sender: command.sender }
        orgState.changes.audits.push(acted(actorOf(caller), { kind: 'session', id: key }, { verb: command.how, after }))
        return stopped
      },
    },
    caller,
    UNCOUNTED_CHECKS,
  )

/** Stopping is always allowed and never counted; the owner of the session is checked before. */
const UNCOUNTED_CHECKS = { judge: () => Promise.resolve(), acts: () => [] }

/** A submission of a message, which always has a session. */
export type MessageSubmission = Submission & { readonly sessionKey: SessionKey }

/** The command that submits a message. `rulesOn` returns its own rules where they depend on the pending state. */
export function sendMessageCommand(
  caller: Pick<Caller, 'orgId' | 'restricted' | 'through'>,
  submission: MessageSubmission,
  rulesOn?: (orgState: OrgState) => Submission['rules'],
): Command<SentMessage> {
  return {
    orgId: caller.orgId,
    needs: { sessions: [submission.sessionKey], agents: [submission.agentId] },
    apply: (orgState) => {
      if (!orgState.agents.has(submission.agentId))
        throw new Refusal(
          'NOT_FOUND',
          `There is no agent ${submission.agentId}; create it, or name another in the session key`,
        )
      refuseCommandExecutor(caller, agentInState(orgState, submission.agentId).executorKind)
      ensureSession({ state: orgState }, submission.sessionKey)
      const [messageId = ''] = (submission.content as MessageContent).messageIds
      const request = rulesOn === undefined ? submission : { ...submission, rules: rulesOn(orgState) }
      return { submitted: submit(orgState, request), messageId }
    },
  }
}

/** The times of a message. Null: not given. */
type MessageTimes = Pick<Submission, 'sentAt' | 'notBefore' | 'deadline'>

function messageTimesOf({ sent_at: sentAt, not_before: notBefore, deadline }: MessageInput): MessageTimes {
  const time = (value: string | number | undefined): Instant | null =>
    value === undefined ? null : storedInstant(value)
  return { sentAt: time(sentAt), notBefore: time(notBefore), deadline: time(deadline) }
}

function messageSubmissionOf(
  ports: Ports,
  of: {
    readonly input: MessageInput
    readonly times: MessageTimes
    readonly key: SessionKey
    readonly agent: AgentId
    readonly trace: MessageContext['trace']
    /** Owner and lineage, if a restricted key sends it. */
    readonly making: Provenance | null
  },
): MessageSubmission {
  const { input, times } = of
  const id = messageId(input.message_id ?? ports.newId('message', ports.clock.now()))
  return submissionFor({
    trigger: 'message',
    agentId: of.agent,
    sessionKey: of.key,
    // Budgets and the agent read the fields.
    content: {
      text: input.text,
      attachments: input.attachments ?? [],
      messageIds: [id],
      fields: input.max_tokens === undefined ? {} : { max_tokens: input.max_tokens },
    },
    sender: input.sender ?? null,
    sentAt: times.sentAt,
    lane: input.lane === undefined ? null : laneName(input.lane),
    notBefore: times.notBefore,
    deadline: times.deadline,
    parentRunId: of.making?.parentRunId ?? (input.parent_run_id === undefined ? null : runId(input.parent_run_id)),
    owner: of.making?.owner ?? null,
    lineage: of.making?.lineage ?? null,
    trace: of.trace,
    rules: messageRulesOf(input),
  })
}

const NO_RULES: Submission['rules'] = {}

/** Rules for this message only. Most messages have none and share one object. */
function messageRulesOf({
  mode,
  max_concurrent: maxConcurrent,
  debounce_ms: debounceMs,
}: MessageInput): Submission['rules'] {
  if (mode === undefined && maxConcurrent === undefined && debounceMs === undefined) return NO_RULES
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    ...(debounceMs === undefined ? {} : { debounceMs }),
  }
}

/** `agent:<agent>:…` names the agent; any other key is a conversation with the default agent. */
function agentOfSession(ctx: MessageContext, key: SessionKey): AgentId {
  const named = /^agent:([^:]+)/.exec(key)?.[1]
  if (named !== undefined) return agentId(named)
  const agent = ctx.defaultAgent()
  if (agent === null)
    throw new Refusal('NOT_FOUND', 'The org has no default agent; name one in the session key: agent:<agent>:…')
  return agent
}

async function receiptOf(
  { database }: Ports,
  { live, orgId }: MessageContext,
  { submitted, messageId: sentId }: SentMessage,
): Promise<MessageReceipt> {
  const { runId: id } = submitted
  if (submitted.kind === 'rejected') throw budgetError(submitted) ?? dailyLimitError(submitted) ?? new ErrQueueFull(id)
  const state =
    submitted.kind === 'stale'
      ? 'cancelled'
      : (live.stateOf(orgId, id) ?? (submitted.kind === 'merged' ? 'waiting' : submitted.state))
  return {
    run_id: id,
    message_id: sentId,
    state,
    position: (await positionOf({ database, live }, orgId, id)) ?? null,
    ...(submitted.kind === 'merged' ? { merged_into: id } : {}),
    ...(submitted.kind === 'accepted' && submitted.dropped !== null ? { dropped_run_id: submitted.dropped } : {}),
  }
}

/** The receipt of a repeated message, with the present state of its run. */
async function duplicateReceipt(ports: Ports, ctx: MessageContext, sent: SentMessage): Promise<MessageReceipt> {
  const firstReceipt = await receiptOf(ports, ctx, sent)
  const { runId: id } = sent.submitted
  const state =
    ctx.live.stateOf(ctx.orgId, id) ??
    (await loadRun(ports.database, { orgId: ctx.orgId, id }))?.state ??
    firstReceipt.state
  return { ...firstReceipt, state, duplicate: true }
}

/** Refuses a deadline that is over, or is before `not_before`. */
function refusePastDeadline({ deadline, notBefore }: MessageTimes, now: Instant): void {
  if (deadline === null) return
  const message =
    deadline <= now ? 'is in the past' : notBefore !== null && deadline <= notBefore ? 'is before not_before' : null
  if (message !== null) throw invalid([{ field: 'deadline', value: deadline, message, allowed: 'a later time' }])
}

/** The parsed value, or a refusal with every flaw. */
export function parsedOrRefuse<T>(answer: Parsed<T>): T {
  if (!answer.ok) throw invalid(answer.flaws)
  return answer.value
}

/** Parses a session key of a request. */
export const readSessionKey = (key: string): SessionKey => sessionKey(parsedOrRefuse(parseSessionKey('session', key)))
