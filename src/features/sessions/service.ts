import { createHash } from 'node:crypto'
import { invalid, Refusal } from '../../api/refusals.ts'
import { type SessionKey, sessionKey } from '../../domain/ids.ts'
import { parseSessionKey } from '../../domain/input-fields.ts'
import type { Parsed } from '../../domain/input.ts'
import type { Instant } from '../../domain/instant.ts'
import type { MessageContent } from '../../domain/session/debounce.ts'
import { parseSessionCommand } from '../../domain/session/stop.ts'
import type { Command } from '../../engine/commands-port.ts'
import { stopSession } from '../../engine/commands/cancel.ts'
import { agentInState } from '../../engine/commands/runs.ts'
import { runToJoin, type Submission, submit, type SubmitResult } from '../../engine/commands/submit.ts'
import { executeOnce, type IdempotentRequest } from '../../engine/idempotency.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import type { Ports } from '../../engine/ports.ts'
import { ensureSession } from '../../engine/transaction/transaction.ts'
import type { Caller } from '../access/caller.ts'
import { restrictCommand, refuseCommandExecutor } from '../access/restrictions.ts'
import { acted, actorOf } from '../audit/entry.ts'
import type { MessageInput, StopAnswer } from './schema.ts'

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

/** Whether the message was accepted: only then is its answer stored for a repetition. */
export const isMessageAccepted = ({ submitted }: SentMessage): boolean => submitted.kind !== 'rejected'

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

/** The parsed value, or a refusal with every flaw. */
export function parsedOrRefuse<T>(answer: Parsed<T>): T {
  if (!answer.ok) throw invalid(answer.flaws)
  return answer.value
}

/** Parses a session key of a request. */
export const readSessionKey = (key: string): SessionKey => sessionKey(parsedOrRefuse(parseSessionKey('session', key)))
