import type { Invitation } from '../core/rails/invitation.ts'
import { formatInstant } from '../domain/instant.ts'
import type { MessageContent } from '../domain/session/debounce.ts'
import type { Attempt } from './executor.ts'

/** How somebody reports later. */
export interface CallbackPlace {
  readonly token: string
  /** Null: nobody listens, and the token is all there is. */
  readonly url: string | null
}

/** What an agent is told over HTTP: start a session and say this in it, in one. */
export type Dispatch = Readonly<ReturnType<typeof described>>

/** The dispatch of an attempt. Invitations are for agents with `self_service` only: the API and the key of this attempt. */
export const dispatchOf: (...about: Parameters<typeof described>) => Dispatch = described

function described(attempt: Attempt, callback: CallbackPlace | null, invitation: Invitation | null = null) {
  const { trigger } = attempt
  const payload = payloadOf(attempt.payload)
  return {
    // Every run of a schedule is scheduled work to the runtime, also one that was asked for by hand.
    trigger_type: attempt.scheduleId === null ? trigger : ('scheduled' as const),
    manual: trigger === 'manual' || trigger === 'retry',
    schedule_id: attempt.scheduleId,
    job_run_id: attempt.jobRunId,
    run_id: attempt.runId,
    attempt: attempt.attempt,
    attempt_id: attempt.attemptId,
    nominal_time: attempt.nominalTime === null ? null : formatInstant(attempt.nominalTime),
    session_id: attempt.sessionKey,
    message: messageOf(payload),
    ...{ schedule_payload: payload, payload },
    deadline: attempt.deadline === null ? null : formatInstant(attempt.deadline),
    ...(callback === null ? {} : { callback_token: callback.token }),
    ...(callback === null || callback.url === null ? {} : { callback_url: callback.url }),
    ...(invitation === null ? {} : { escapement: invitation }),
  }
}

/** What the run carries, in the spelling of the rest of the dispatch. */
export function payloadOf(payload: unknown): unknown {
  if (!isMessage(payload)) return payload
  const { messageIds, ...content } = payload
  return { ...content, message_ids: messageIds }
}

const isMessage = (payload: unknown): payload is MessageContent =>
  typeof payload === 'object' && payload !== null && 'messageIds' in payload && 'fields' in payload

/** What is said to the agent: the text of a message, or the prompt of a schedule. */
function messageOf(payload: unknown): string | null {
  if (typeof payload === 'string') return payload
  if (typeof payload !== 'object' || payload === null) return null
  const said = 'prompt' in payload ? payload.prompt : 'text' in payload ? payload.text : null
  return typeof said === 'string' ? said : null
}
