import type { AttemptApiAccess } from '../domain/access/restrictions.ts'
import { formatInstant } from '../domain/instant.ts'
import type { MessageContent } from '../domain/session/debounce.ts'
import type { Attempt } from './executor.ts'

/** How a result can be reported later. */
export interface CallbackTarget {
  readonly token: string
  /** Null when this process does not listen; then there is only the token. */
  readonly url: string | null
}

/** The request body that an HTTP agent receives. */
export type Dispatch = Readonly<ReturnType<typeof buildDispatch>>

/** Creates the dispatch of an attempt. Invitations are only for agents with `self_service`. */
export const dispatchOf: (...about: Parameters<typeof buildDispatch>) => Dispatch = buildDispatch

function buildDispatch(attempt: Attempt, callback: CallbackTarget | null, invitation: AttemptApiAccess | null = null) {
  const { trigger } = attempt
  const payload = payloadOf(attempt.payload)
  return {
    // Every run of a schedule counts as scheduled for the runtime, even a manual one.
    trigger_type: attempt.scheduleId === null ? trigger : ('scheduled' as const),
    manual: trigger === 'manual' || trigger === 'retry',
    schedule_id: attempt.scheduleId,
    job_run_id: attempt.jobRunId,
    run_id: attempt.runId,
    attempt: attempt.attempt,
    attempt_id: attempt.attemptId,
    nominal_time: attempt.nominalTime === null ? null : formatInstant(attempt.nominalTime),
    session_id: attempt.sessionKey,
    message: textForAgent(payload),
    ...{ schedule_payload: payload, payload },
    deadline: attempt.deadline === null ? null : formatInstant(attempt.deadline),
    ...(callback === null ? {} : { callback_token: callback.token }),
    ...(callback === null || callback.url === null ? {} : { callback_url: callback.url }),
    ...(invitation === null ? {} : { escapement: invitation }),
  }
}

/** The payload of the run, with the field names of the dispatch. */
export function payloadOf(payload: unknown): unknown {
  if (!isMessage(payload)) return payload
  const { messageIds, ...content } = payload
  return { ...content, message_ids: messageIds }
}

const isMessage = (payload: unknown): payload is MessageContent =>
  typeof payload === 'object' && payload !== null && 'messageIds' in payload && 'fields' in payload

/** The text for the agent: the text of a message, or the prompt of a schedule. */
function textForAgent(payload: unknown): string | null {
  if (typeof payload === 'string') return payload
  if (typeof payload !== 'object' || payload === null) return null
  const text = 'prompt' in payload ? payload.prompt : 'text' in payload ? payload.text : null
  return typeof text === 'string' ? text : null
}
