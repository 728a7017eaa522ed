import type { IncomingHttpHeaders } from 'node:http'
import { REFUSAL_TITLES, type Refusal } from '../../api/refusals.ts'
import { facadeCodeOf } from '../../contract/task-errors.ts'
import type { TaskError } from '../../features/tasks/schema.ts'
import { problemOf } from '../problem.ts'

/** The media type of everything the façade says, refusals included. */
export const TASK_ERROR_TYPE = 'application/json; charset=utf-8'

/** What was asked, as far as a refusal tells of it. */
export interface Refused {
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

/** What a refusal looks like to clients of the façade. */
export function taskErrorOf(refusal: Refusal, { headers, body }: Refused): TaskError {
  const { detail, errors, details, run_id: taskId } = problemOf(refusal, '', body)
  const told = {
    ...details,
    ...(errors === undefined ? {} : { errors }),
    ...(taskId === undefined ? {} : { taskId }),
  }
  return {
    error: detail === '' ? REFUSAL_TITLES[refusal.code] : detail,
    code: isSilent(refusal, headers) ? 'missing_token' : facadeCodeOf(refusal.code),
    ...(isRetryable(refusal) ? { retryable: true } : {}),
    ...(Object.keys(told).length === 0 ? {} : { details: told }),
  }
}

const isSilent = ({ code }: Refusal, { authorization, cookie }: IncomingHttpHeaders): boolean =>
  code === 'UNAUTHENTICATED' && authorization === undefined && cookie === undefined

/** Too many, or not now: the same may go through later. */
const isRetryable = ({ status }: Refusal): boolean => status === 429 || status === 503
