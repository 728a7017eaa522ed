import { readShape } from '../../api/read-input.ts'
import { ErrGatewayDraining, ErrQueueFull, invalid, orRefusal, Refusal } from '../../api/refusals.ts'
import { fieldAt } from '../../api/schema-flaws.ts'
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
import { type Instant, storedInstant } from '../../domain/instant.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { parseSessionCommand } from '../../domain/session/stop.ts'
import { type Command, eachOf, type Outcome, type PlainCommand, refusedOutcome } from '../../engine/commands-port.ts'
import { type Submission, submissionFor, type SubmitResult } from '../../engine/commands/submit.ts'
import { bindToKey, executeOnce, type IdempotentRequest } from '../../engine/idempotency.ts'
import { type LiveRuns, positionOf } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Caller } from '../access/caller.ts'
import { restrictMessages } from '../access/restricted-input.ts'
import { type Provenance, provenanceOf, restrictionRefusal, refuseOthersSession } from '../access/restrictions.ts'
import { budgetError, dailyLimitError } from '../budgets/limits.ts'
import { loadRunStates } from '../runs/read-store.ts'
import {
  type MessageInput,
  type MessageOutcome,
  type MessageReceipt,
  sessionMessageInput,
  type StopAnswer,
} from './schema.ts'
import {
  isMessageAccepted,
  messageBindingOf,
  type MessageSubmission,
  oncePerBinding,
  parsedOrRefuse,
  readSessionKey,
  sendMessageCommand,
  type SentMessage,
  stopSessionCommand,
} from './service.ts'

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

/** A message to a session, as it was sent. */
interface AddressedMessage {
  readonly key: SessionKey
  readonly input: MessageInput
  /** Where it is in the request, for errors. Left out: it is the request. */
  readonly at?: string
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
  const { input, once: bound } = message
  const addressed = { key: readSessionKey(message.key), input }
  refuseSession(ctx, addressed)
  const stop = stopCommandIn(ctx, addressed)
  if (stop !== null) return ports.commands.execute(stop)
  const unboundCommand = restrictMessages(submissionCommand(ports, ctx, addressed), ctx)
  const orgCommand = boundToMessageId(unboundCommand, ctx, addressed)
  const sent = await ports.commands.execute(
    bound === undefined ? orgCommand : executeOnce(orgCommand, bound, isMessageAccepted),
  )
  return sent.duplicate === true ? duplicateReceipt(ports, ctx, sent) : receiptOf(ports, ctx, sent)
}

function refuseSession({ restricted }: MessageContext, { key }: AddressedMessage): void {
  if (restricted !== undefined) refuseOthersSession(restricted, key)
}

/** The command that a message contains; null: it is an ordinary message. */
function stopCommandIn(ctx: MessageContext, { key, input }: AddressedMessage): Command<StopAnswer> | null {
  const how = parseSessionCommand(input.text)
  if (how === null) return null
  return stopSessionCommand(ctx, key, { how, sentAt: messageTimesOf(input).sentAt, sender: input.sender ?? null })
}

/** The command that submits a valid message, without the restrictions of its caller. */
function submissionCommand(ports: Ports, ctx: MessageContext, message: AddressedMessage): Command<SentMessage> {
  const { restricted } = ctx
  const { input, key, at = '' } = message
  const times = messageTimesOf(input)
  if (restricted !== undefined && input.parent_run_id !== undefined)
    throw restrictionRefusal(breach('lineage', 'This key determines the parent run; omit parent_run_id'))
  refusePastDeadline(times, { at, now: ports.clock.now() })
  const submission = messageSubmissionOf(ports, {
    ...{ input, times, key, agent: agentOfSession(ctx, key), trace: ctx.trace },
    making: restricted === undefined ? null : provenanceOf(restricted),
  })
  return sendMessageCommand(ctx, submission)
}

function boundToMessageId(
  command: Command<SentMessage>,
  { principal }: MessageContext,
  { key, input: { message_id: id } }: AddressedMessage,
): Command<SentMessage> {
  if (id === undefined) return command
  const named = { principal: principal ?? 'library', session: key, messageId: id }
  return oncePerBinding(command, [messageBindingOf(named)])
}

type SentOutcome = Outcome<SentMessage | StopAnswer>

const isOutcomeAccepted = (outcome: SentOutcome): boolean =>
  outcome.ok && ('stopped' in outcome.answer || isMessageAccepted(outcome.answer))

/**
 * Sends messages to sessions in order and in one transaction. Each is decided on its own; one that is refused does not
 * affect the others. If none can be decided, the call is refused.
 */
export async function sendMessages(
  ports: Ports,
  ctx: MessageContext & { readonly isDraining: boolean; readonly once: Caller['once'] },
  messages: readonly unknown[],
): Promise<readonly MessageOutcome[]> {
  let submissions = 0
  // The call as a whole is restricted.
  const unrestricted = { ...ctx, restricted: undefined }
  const commandOf = (given: unknown, index: number): PlainCommand<SentMessage | StopAnswer> => {
    const at = `messages.${index}`
    const { session, ...input } = parsedOrRefuse(readShape(sessionMessageInput, given, at))
    const message = { key: sessionKey(session), input, at }
    refuseSession(ctx, message)
    const stop = stopCommandIn(unrestricted, message)
    if (stop !== null) return stop
    if (ctx.isDraining) throw new ErrGatewayDraining()
    const command = boundToMessageId(submissionCommand(ports, ctx, message), ctx, message)
    submissions += 1
    return command
  }
  const read = messages.map((given, index) => orRefusal(() => commandOf(given, index)))
  const commands = read.filter(isNotRefusal)
  if (commands.length === 0) throw refusalOfAll(read.filter((one) => one instanceof Refusal))
  const command = bindToKey(restrictMessages(eachOf(ctx.orgId, commands), ctx, submissions), ctx, (outcomes) =>
    outcomes.some(isOutcomeAccepted),
  )
  const decided = await ports.commands.execute(command)
  const states = await statesOfDuplicates(ports, ctx, decided)
  let next = 0
  return read.map((one) => viewOutcome(ctx, one instanceof Refusal ? refusedOutcome(one) : decided[next++], states))
}

const isNotRefusal = <T>(one: T): one is Exclude<T, Refusal> => !(one instanceof Refusal)

/** The refusal of a call of which nothing can be decided. */
const refusalOfAll = (refusals: readonly Refusal[]): Refusal =>
  refusals.find(({ flaws }) => flaws.length === 0) ?? invalid(refusals.flatMap(({ flaws }) => flaws))

function viewOutcome(ctx: MessageContext, outcome: SentOutcome | undefined, states: RunStates): MessageOutcome {
  if (outcome === undefined) throw new Error('the command returned no outcome for a message')
  if (!outcome.ok) return viewRefusal(outcome)
  if ('stopped' in outcome.answer) return { ok: true, ...outcome.answer }
  const { answer } = outcome
  if (answer.submitted.kind === 'rejected') return viewRefusal(rejectionOf(answer.submitted))
  const id = answer.submitted.runId
  const receipt = receiptFieldsOf(ctx, answer)
  if (answer.duplicate !== true) return { ok: true, ...receipt }
  return { ok: true, ...receipt, state: states.get(id) ?? receipt.state, duplicate: true }
}

const viewRefusal = ({
  code,
  message,
  runId: id,
  retryAfterMs,
}: Omit<ReturnType<typeof refusedOutcome>, 'ok'>): MessageOutcome => ({
  ...{ ok: false, code, message },
  ...(id === null ? {} : { run_id: id }),
  ...(retryAfterMs === null ? {} : { retry_after_seconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)) }),
})

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

type RejectedMessage = Extract<SubmitResult, { kind: 'rejected' }>

const rejectionOf = (submitted: RejectedMessage): Refusal =>
  budgetError(submitted) ?? dailyLimitError(submitted) ?? new ErrQueueFull(submitted.runId)

async function receiptOf(
  { database }: Pick<Ports, 'database'>,
  ctx: MessageContext,
  sent: SentMessage,
): Promise<MessageReceipt> {
  const { submitted } = sent
  if (submitted.kind === 'rejected') throw rejectionOf(submitted)
  const position = (await positionOf({ database, live: ctx.live }, ctx.orgId, submitted.runId)) ?? null
  return { ...receiptFieldsOf(ctx, sent), position }
}

function receiptFieldsOf(
  ctx: MessageContext,
  { submitted, messageId: sentId }: SentMessage,
): Omit<MessageReceipt, 'position'> {
  const { runId: id, kind } = submitted
  const submittedState = kind === 'accepted' ? submitted.state : 'waiting'
  return {
    run_id: id,
    message_id: sentId,
    state: kind === 'stale' ? 'cancelled' : (ctx.live.stateOf(ctx.orgId, id) ?? submittedState),
    ...(kind === 'merged' ? { merged_into: id } : {}),
    ...(kind === 'accepted' && submitted.dropped !== null ? { dropped_run_id: submitted.dropped } : {}),
  }
}

/** The receipt of a repeated message, with the present state of its run. */
async function duplicateReceipt(ports: Ports, ctx: MessageContext, sent: SentMessage): Promise<MessageReceipt> {
  const states = await statesOfDuplicates(ports, ctx, [{ ok: true, answer: sent }])
  const receipt = await receiptOf(ports, ctx, sent)
  return { ...receipt, state: states.get(sent.submitted.runId) ?? receipt.state, duplicate: true }
}

type RunStates = ReadonlyMap<RunId, RunState>
const NO_STATES: RunStates = new Map()

/** The present states of runs whose messages were repeated, where this node does not know them. */
async function statesOfDuplicates(
  { database }: Pick<Ports, 'database'>,
  { orgId, live }: Pick<MessageContext, 'orgId' | 'live'>,
  outcomes: readonly SentOutcome[],
): Promise<RunStates> {
  const ids: RunId[] = []
  for (const outcome of outcomes) {
    if (!outcome.ok || !('submitted' in outcome.answer) || outcome.answer.duplicate !== true) continue
    const { runId: id } = outcome.answer.submitted
    if (live.stateOf(orgId, id) === undefined) ids.push(id)
  }
  return ids.length === 0 ? NO_STATES : loadRunStates(database, { orgId, ids })
}

/** Refuses a deadline that is over, or is before `not_before`. */
function refusePastDeadline(
  { deadline, notBefore }: MessageTimes,
  { at, now }: { readonly at: string; readonly now: Instant },
): void {
  if (deadline === null) return
  const message =
    deadline <= now ? 'is in the past' : notBefore !== null && deadline <= notBefore ? 'is before not_before' : null
  if (message === null) return
  throw invalid([{ field: fieldAt(at, 'deadline'), value: deadline, message, allowed: 'a later time' }])
}
