import {
  agentId,
  laneName,
  messageId,
  runId,
  sessionKey,
  type AgentId,
  type OrgId,
  type SessionKey,
} from '../domain/ids.ts'
import type { Parsed } from '../domain/input.ts'
import { readMoment, type Instant } from '../domain/instant.ts'
import { breach } from '../core/rails/breach.ts'
import type { MessageContent } from '../domain/session/debounce.ts'
import { parseSessionCommand } from '../domain/session/stop.ts'
import type { MessageInput, MessageReceipt, StopAnswer } from '../features/sessions/schema.ts'
import { ErrQueueFull, invalid, Refusal } from '../api/refusals.ts'
import { loadRun } from '../store/run-reads.ts'
import { acted, actorOf } from '../features/audit/entry.ts'
import type { Caller } from './caller.ts'
import { stopSession } from './desk/cancel.ts'
import type { Desk } from './desk/desk.ts'
import { runToJoin } from './desk/run-session.ts'
import { agentOn } from './desk/runs.ts'
import { submissionFor, submit, type Submission } from './desk/submit.ts'
import { parseSessionKey } from '../domain/input-fields.ts'
import { overDailyLimit } from './daily-limit.ts'
import { once, type Once } from './idempotent.ts'
import type { Live } from './live-port.ts'
import { bindingOf, isAccepted, onceMarked, type Sent } from './message-once.ts'
import { overBudget } from './over-budget.ts'
import type { Ports } from './ports.ts'
import { makingOf, railedWork, refuseCommand, type Making } from './rails/making.ts'
import { refuseOthersSession } from './rails/own.ts'
import { railRefusal } from './rails/refusals.ts'
import { railedMessage } from './rails/tasks.ts'
import { sessionFor } from './turn/turn.ts'
import type { Work } from './turn-port.ts'

export interface MessageContext extends Pick<Caller, 'railed' | 'through'> {
  readonly orgId: OrgId
  /** Whom messages wake whose session names no agent. */
  readonly defaultAgent: () => AgentId | null
  readonly live: Live
  /** Who speaks; null when the program that embeds us does. */
  readonly principal: string | null
  /** The trace that the message belongs to. */
  readonly trace?: string | null | undefined
}

/**
 * Sends a message into a session, or carries out the command it is. Bad input is refused whole; a full session that
 * drops newcomers throws `ErrQueueFull`, and the rejected run keeps the record.
 */
export async function sendMessage(
  ports: Ports,
  ctx: MessageContext,
  message: { readonly key: string; readonly input: MessageInput; readonly once?: Once | undefined },
): Promise<MessageReceipt | StopAnswer> {
  const key = readSessionKey(message.key)
  const { input } = message
  const { railed } = ctx
  if (railed !== undefined) refuseOthersSession(railed, key)
  const times = timesIn(input)
  const command = parseSessionCommand(input.text)
  if (command !== null)
    return ports.turns.take(stopWork(ctx, key, { how: command, sentAt: times.sentAt, sender: input.sender ?? null }))
  if (railed !== undefined && input.parent_run_id !== undefined) throw saidLineage()
  refuseDeadline(times, ports.clock.now())
  const submission = submissionOf(ports, {
    ...{ input, times, key, agent: agentFor(ctx, key), trace: ctx.trace },
    making: railed === undefined ? null : makingOf(railed),
  })
  const plain = railedMessage(messageWork(ctx, submission), ctx)
  const named = { principal: ctx.principal ?? 'library', session: key, messageId: input.message_id }
  const work =
    named.messageId === undefined ? plain : onceMarked(plain, [bindingOf({ ...named, messageId: named.messageId })])
  const { once: bound } = message
  const sent = await ports.turns.take(bound === undefined ? work : once(work, bound, isAccepted))
  return sent.duplicate === true ? duplicateReceipt(ports, ctx, sent) : receipt(ctx, sent)
}

const saidLineage = (): Refusal =>
  railRefusal(breach('lineage', 'Which run this comes from is known by the key; leave parent_run_id out'))

/** Whether a message is a command: commands only end work, so a draining node still accepts them. */
export const isCommand = ({ text }: MessageInput): boolean => parseSessionCommand(text) !== null

/** /stop, /stopall and reset. A session that does not exist has nothing to stop. */
export const stopByKey = (
  ports: Pick<Ports, 'turns'>,
  caller: Caller,
  asked: { readonly key: string; readonly how: 'stop' | 'stopall' | 'reset' },
): Promise<StopAnswer> => ports.turns.take(stopWork(caller, readSessionKey(asked.key), { how: asked.how }))

/** The same as work of a turn. */
export const stopWork = (
  caller: Caller,
  key: SessionKey,
  command: {
    readonly how: 'stop' | 'stopall' | 'reset'
    readonly sentAt?: Instant | null
    /** Who said so in the conversation, when it was said there. */
    readonly sender?: string | null
  },
): Work<StopAnswer> =>
  railedWork(
    {
      orgId: caller.orgId,
      needs: { sessions: [key] },
      apply: (desk) => {
        // What is sent later but stamped before must still find the cutoff.
        if (command.how !== 'stop' || runToJoin(desk, key) !== undefined) sessionFor({ desk }, key)
        const stopped = stopSession(desk, key, command)
        const after =
          command.sender === null || command.sender === undefined ? stopped : { ...stopped, sender: command.sender }
        desk.changes.audits.push(acted(actorOf(caller), { kind: 'session', id: key }, { verb: command.how, after }))
        return stopped
      },
    },
    caller,
    UNCOUNTED,
  )

/** Stopping is always allowed, and never counted; whose the conversation is has been asked before. */
const UNCOUNTED = { judge: () => Promise.resolve(), acts: () => [] }

/** A submission of a message, which always has a session. */
export type MessageSubmission = Submission & { readonly sessionKey: SessionKey }

/** A message on its way into its session. `rulesOn`: what it wants for itself, where that depends on what is pending. */
export function messageWork(
  caller: Pick<Caller, 'orgId' | 'railed' | 'through'>,
  submission: MessageSubmission,
  rulesOn?: (desk: Desk) => Submission['rules'],
): Work<Sent> {
  return {
    orgId: caller.orgId,
    needs: { sessions: [submission.sessionKey], agents: [submission.agentId] },
    apply: (desk) => {
      if (!desk.agents.has(submission.agentId))
        throw new Refusal(
          'NOT_FOUND',
          `There is no agent ${submission.agentId}; create it, or name another in the session key`,
        )
      refuseCommand(caller, agentOn(desk, submission.agentId).executorKind)
      sessionFor({ desk }, submission.sessionKey)
      const [messageId = ''] = (submission.content as MessageContent).messageIds
      const asked = rulesOn === undefined ? submission : { ...submission, rules: rulesOn(desk) }
      return { submitted: submit(desk, asked), messageId }
    },
  }
}

/** The times of a message; null where it gives none. */
type Times = Pick<Submission, 'sentAt' | 'notBefore' | 'deadline'>

function timesIn({ sent_at: sentAt, not_before: notBefore, deadline }: MessageInput): Times {
  const time = (value: string | number | undefined): Instant | null => (value === undefined ? null : readMoment(value))
  return { sentAt: time(sentAt), notBefore: time(notBefore), deadline: time(deadline) }
}

function submissionOf(
  ports: Ports,
  of: {
    readonly input: MessageInput
    readonly times: Times
    readonly key: SessionKey
    readonly agent: AgentId
    readonly trace: MessageContext['trace']
    /** Whose it is, of those with guard rails. */
    readonly making: Making | null
  },
): MessageSubmission {
  const { input, times } = of
  const id = messageId(input.message_id ?? ports.newId('message', ports.clock.now()))
  return submissionFor({
    trigger: 'message',
    agentId: of.agent,
    sessionKey: of.key,
    // What a message states about itself is for budgets and its agent.
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
    rules: rulesIn(input),
  })
}

const NO_RULES: Submission['rules'] = {}

/** What the message wants for itself; nearly all want nothing. */
function rulesIn({ mode, max_concurrent: maxConcurrent, debounce_ms: debounceMs }: MessageInput): Submission['rules'] {
  if (mode === undefined && maxConcurrent === undefined && debounceMs === undefined) return NO_RULES
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    ...(debounceMs === undefined ? {} : { debounceMs }),
  }
}

/** `agent:<agent>:…` names the agent; any other key is a conversation with the default agent. */
function agentFor(ctx: MessageContext, key: SessionKey): AgentId {
  const named = /^agent:([^:]+)/.exec(key)?.[1]
  if (named !== undefined) return agentId(named)
  const agent = ctx.defaultAgent()
  if (agent === null)
    throw new Refusal('NOT_FOUND', 'The org has no default agent; name one in the session key: agent:<agent>:…')
  return agent
}

function receipt(ctx: MessageContext, { submitted, messageId: known }: Sent): MessageReceipt {
  const { runId: id } = submitted
  if (submitted.kind === 'rejected') throw overBudget(submitted) ?? overDailyLimit(submitted) ?? new ErrQueueFull(id)
  const state =
    submitted.kind === 'stale'
      ? 'cancelled'
      : (ctx.live.stateOf(ctx.orgId, id) ?? (submitted.kind === 'merged' ? 'waiting' : submitted.state))
  return {
    run_id: id,
    message_id: known,
    state,
    position: ctx.live.positionOf(ctx.orgId, id),
    ...(submitted.kind === 'merged' ? { merged_into: id } : {}),
    ...(submitted.kind === 'accepted' && submitted.dropped !== null ? { dropped_run_id: submitted.dropped } : {}),
  }
}

/** What became of a message that was sent before, as its run is now. */
async function duplicateReceipt(ports: Ports, ctx: MessageContext, sent: Sent): Promise<MessageReceipt> {
  const told = receipt(ctx, sent)
  const { runId: id } = sent.submitted
  const state =
    ctx.live.stateOf(ctx.orgId, id) ?? (await loadRun(ports.database, { orgId: ctx.orgId, id }))?.state ?? told.state
  return { ...told, state, duplicate: true }
}

/** A message whose time is over before it begins is a mistake of the sender. */
function refuseDeadline({ deadline, notBefore }: Times, now: Instant): void {
  if (deadline === null) return
  const message =
    deadline <= now ? 'is in the past' : notBefore !== null && deadline <= notBefore ? 'is before not_before' : null
  if (message !== null) throw invalid([{ field: 'deadline', value: deadline, message, allowed: 'a later time' }])
}

/** What was read, or a refusal with every flaw. */
export function read<T>(answer: Parsed<T>): T {
  if (!answer.ok) throw invalid(answer.flaws)
  return answer.value
}

/** A session key somebody handed in. */
export const readSessionKey = (key: string): SessionKey => sessionKey(read(parseSessionKey('session', key)))
