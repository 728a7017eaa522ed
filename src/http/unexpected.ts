import { Refusal, type RefusalCode } from '../api/refusals.ts'
import { readFailure } from '../service/turn/failures.ts'

/** The refusals that Fastify itself makes, by its codes. What is not here and is a mistake of the client is malformed. */
const BY_CODE: Readonly<Record<string, readonly [RefusalCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'Send the body as JSON, with the header "Content-Type: application/json"',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: ['BODY_TOO_LARGE', 'A body may have 1 MiB; send less at a time'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['MALFORMED', 'The body is not as long as Content-Length says'],
  FST_ERR_BAD_URL: ['MALFORMED', 'The address cannot be decoded'],
  FST_ERR_MAX_PARAM_LENGTH: ['URL_TOO_LONG', 'A part of the address is too long'],
  FST_ERR_PARAM_TOO_LONG: ['URL_TOO_LONG', 'A part of the address is too long'],
}

/** How soon it is worth trying again when the database is away. */
const AWAY_RETRY_MS = 2_000

/** The refusal that an error means; null when nobody expected it, so that it has to be looked at. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown }
  const known = typeof code === 'string' ? BY_CODE[code] : undefined
  if (known !== undefined) return new Refusal(...known)
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new Refusal('MALFORMED', error instanceof Error ? error.message : 'The request cannot be read')
  if (readFailure(error) !== 'broken')
    return new Refusal('DATABASE_AWAY', 'The database is away or busy; nothing is known to have changed. Try again.', {
      retryAfterMs: AWAY_RETRY_MS,
      cause: error,
    })
  return null
}

/** What is told of an error that nobody expected: that there was one, and how to find it. */
export const internal = (requestId: string): Refusal =>
  new Refusal('INTERNAL', `Something went wrong here; it is in the log under ${requestId}`)
