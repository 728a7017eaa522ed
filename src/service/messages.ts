import {
  agentId,
  laneName,
  messageId,
  runId,
  sessionKey,
  type AgentId,
  type OrgId,
  type SessionKey,
} from '../core/ids.ts'
import { flawed, integerField, parsed, parseFields, wordField, type Flaw, type Parsed } from '../core/input.ts'
import { parseMoment, type Instant } from '../core/instant.ts'
import { breach } from '../core/rails/breach.ts'
import type { MessageContent } from '../core/session/debounce.ts'
import { SESSION_MODES } from '../core/session/session-rules.ts'
import { parseSessionCommand } from '../core/session/stop.ts'
import type { MessageInput, MessageReceipt, StopAnswer } from '../contract/session.ts'
import { ErrQueueFull, invalid, Refusal } from '../contract/refusals.ts'
import { loadRun } from '../store/run-reads.ts'
import { acted, actorOf } from './audit-entry.ts'
import type { Caller } from './caller.ts'
import { stopSession } from './desk/cancel.ts'
import { runToJoin } from './desk/run-session.ts'
import { agentOn } from './desk/runs.ts'
import { submit, type Submission } from './desk/submit.ts'
import { parseJson, parseSessionKey, textField } from '../core/input-fields.ts'
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

/** Texts above this are not messages but files; they belong into attachments by reference. */
const MOST_TEXT = 1_000_000

/** More tokens no model writes. */
const MAX_TOKENS = 1_000_000_000

const FIELDS = {
  text: textField({ min: 0, max: MOST_TEXT }),
  sender: textField({ min: 1, max: 512 }),
  attachments: parseList,
  message_id: textField({ min: 1, max: 512 }),
  sent_at: parseMoment,
  lane: textField({ min: 1, max: 100 }),
  mode: wordField(SESSION_MODES),
  max_concurrent: integerField({ min: 1, max: 10_000 }),
  debounce_ms: integerField({ min: 0, max: 60_000 }),
  not_before: parseMoment,
  deadline: parseMoment,
  parent_run_id: textField({ min: 1, max: 100 }),
  max_tokens: integerField({ min: 1, max: MAX_TOKENS }),
}

function parseList(field: string, value: unknown): Parsed<readonly unknown[]> {
  if (!Array.isArray(value)) return flawed({ field, value, message: 'must be a list' })
  const read = parseJson(field, value)
  return read.ok ? parsed(read.value as readonly unknown[]) : read
}

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
  message: { readonly key: string; readonly input: MessageInput | string; readonly once?: Once | undefined },
): Promise<MessageReceipt | StopAnswer> {
  const key = read(parseSessionKey('session', message.key)) as SessionKey
  const input: MessageInput = typeof message.input === 'string' ? { text: message.input } : message.input
  const fields = read(parseFields('', input, FIELDS))
  if (fields.text === undefined) throw invalid([{ field: 'text', value: undefined, message: 'is missing' }])
  const { railed } = ctx
  if (railed !== undefined) refuseOthersSession(railed, key)
  const command = parseSessionCommand(fields.text)
  if (command !== null)
    return ports.turns.take(
      stopWork(ctx, key, { how: command, sentAt: fields.sent_at ?? null, sender: fields.sender ?? null }),
    )
  if (railed !== undefined && fields.parent_run_id !== undefined) throw saidLineage()
  refuseFlaws(fields, ports.clock.now())
  const submission = submissionOf(ports, {
    ...{ fields: { ...fields, text: fields.text }, key, agent: agentFor(ctx, key), trace: ctx.trace },
    making: railed === undefined ? null : makingOf(railed),
  })
  const plain = railedMessage(messageWork(ctx, submission), ctx)
  const named = { principal: ctx.principal ?? 'library', session: key, messageId: fields.message_id }
  const work =
    named.messageId === undefined ? plain : onceMarked(plain, [bindingOf({ ...named, messageId: named.messageId })])
  const { once: bound } = message
  const sent = await ports.turns.take(bound === undefined ? work : once(work, bound, isAccepted))
  return sent.duplicate === true ? duplicateReceipt(ports, ctx, sent) : receipt(ctx, sent)
}

const saidLineage = (): Refusal =>
  railRefusal(breach('lineage', 'Which run this comes from is known by the key; leave parent_run_id out'))

/** Whether a message is a command: those end work, and a node that goes down is glad of them. */
export function isCommand(message: MessageInput | string): boolean {
  // A program in JavaScript may hand in nothing at all; what is wrong with that is said where messages are read.
  const text = typeof message === 'string' ? message : (message as MessageInput | null | undefined)?.text
  return typeof text === 'string' && parseSessionCommand(text) !== null
}

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

/** A message on its way into its session. */
export function messageWork(
  caller: Pick<Caller, 'orgId' | 'railed' | 'through'>,
  submission: Submission & { readonly sessionKey: SessionKey },
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
      return { submitted: submit(desk, submission), messageId }
    },
  }
}

type Fields = Extract<ReturnType<typeof parseFields<typeof FIELDS>>, { ok: true }>['value'] & { readonly text: string }

function submissionOf(
  ports: Ports,
  of: {
    readonly fields: Fields
    readonly key: SessionKey
    readonly agent: AgentId
    readonly trace: MessageContext['trace']
    /** Whose it is, of those with guard rails. */
    readonly making: Making | null
  },
): Submission & { readonly sessionKey: SessionKey } {
  const { fields } = of
  const id = messageId(fields.message_id ?? ports.newId('message', ports.clock.now()))
  return {
    trigger: 'message',
    agentId: of.agent,
    sessionKey: of.key,
    content: { text: fields.text, attachments: fields.attachments ?? [], messageIds: [id], fields: statedIn(fields) },
    sender: fields.sender ?? null,
    sentAt: fields.sent_at ?? null,
    lane: fields.lane === undefined ? null : laneName(fields.lane),
    priority: 0,
    notBefore: fields.not_before ?? null,
    deadline: fields.deadline ?? null,
    retryPolicy: null,
    trace: of.trace,
    parentRunId: fields.parent_run_id === undefined ? null : runId(fields.parent_run_id),
    ...of.making,
    rules: {
      ...(fields.mode === undefined ? {} : { mode: fields.mode }),
      ...(fields.max_concurrent === undefined ? {} : { maxConcurrent: fields.max_concurrent }),
      ...(fields.debounce_ms === undefined ? {} : { debounceMs: fields.debounce_ms }),
    },
  }
}

/** What a message states about itself for budgets and its agent. */
const statedIn = ({ max_tokens }: Fields): MessageContent['fields'] => (max_tokens === undefined ? {} : { max_tokens })

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

/** A message that says nothing, or whose time is over before it begins, is a mistake of the sender. */
function refuseFlaws({ text, attachments, deadline, not_before: notBefore }: Partial<Fields>, now: Instant): void {
  const flaws: Flaw[] = []
  if (text?.trim() === '' && (attachments ?? []).length === 0)
    flaws.push({ field: 'text', value: text, message: 'is empty', allowed: 'a text, or attachments' })
  if (deadline !== undefined && deadline <= now)
    flaws.push({ field: 'deadline', value: deadline, message: 'is in the past', allowed: 'a later time' })
  else if (deadline !== undefined && notBefore !== undefined && deadline <= notBefore)
    flaws.push({ field: 'deadline', value: deadline, message: 'is before not_before', allowed: 'a later time' })
  if (flaws.length > 0) throw invalid(flaws)
}

/** What was read, or a refusal with every flaw. */
export function read<T>(answer: Parsed<T>): T {
  if (!answer.ok) throw invalid(answer.flaws)
  return answer.value
}

/** A session key somebody handed in. */
export const readSessionKey = (key: string): SessionKey => sessionKey(read(parseSessionKey('session', key)))
