import type { DispatchedAttempt } from '../core/executor/dispatch.ts'
import type { Invitation } from '../core/rails/invitation.ts'
import { formatInstant } from '../core/instant.ts'
import type { Attempt } from './executor.ts'

/** What an agent is told over HTTP: start a session and say this in it, in one. */
export interface Dispatch extends DispatchedAttempt {
  readonly callback_url?: string
  readonly callback_token?: string
  /** Only for agents with `self_service`: where to ask, and the key of this attempt. */
  readonly escapement?: Invitation
}

/** How somebody reports later. */
export interface CallbackPlace {
  readonly token: string
  /** Null: nobody listens, and the token is all there is. */
  readonly url: string | null
}

/** The dispatch of an attempt. */
export function dispatchOf(
  attempt: Attempt,
  callback: CallbackPlace | null,
  invitation: Invitation | null = null,
): Dispatch {
  const { trigger, payload } = attempt
  return {
    trigger_type: trigger === 'schedule' || trigger === 'catchup' ? 'scheduled' : trigger,
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

/** What is said to the agent: the text of a message, or the prompt of a schedule. */
function messageOf(payload: unknown): string | null {
  if (typeof payload === 'string') return payload
  if (typeof payload !== 'object' || payload === null) return null
  const said = 'prompt' in payload ? payload.prompt : 'text' in payload ? payload.text : null
  return typeof said === 'string' ? said : null
}
