import { ERROR_CODES, type ErrorCode } from '../../domain/run/error-codes.ts'

/** Names of the runtime's own for the session, the reply and the failure of an attempt. */
export interface Reported {
  readonly sessionId?: string
  readonly messageId?: string
  readonly errorCode?: string
}

/** Longer names are cut. */
const MAX_ID = 512
export const MAX_AGENT_ERROR_CODE = 100

/** Whether a code is one of the table; a runtime may use those too. */
export const isErrorCode = (code: string | undefined): code is ErrorCode =>
  code !== undefined && Object.hasOwn(ERROR_CODES, code)

/** What a runtime calls the session and the reply, and its error code unless that is one of the table. Null: nothing. */
export function reportedBy(said: {
  readonly sessionId?: string | undefined
  readonly messageId?: string | undefined
  readonly errorCode?: string | undefined
}): Reported | null {
  const reported = {
    ...named('sessionId', said.sessionId, MAX_ID),
    ...named('messageId', said.messageId, MAX_ID),
    ...(isErrorCode(said.errorCode) ? {} : named('errorCode', said.errorCode, MAX_AGENT_ERROR_CODE)),
  }
  return Object.keys(reported).length === 0 ? null : reported
}

const named = (name: keyof Reported, text: string | undefined, max: number): Reported =>
  text === undefined || text === '' ? {} : { [name]: shortText(text, max) }

/** At most so many characters, none of them cut in two, and without NUL, which no row can hold. */
function shortText(text: string, max: number): string {
  const clean = text.replaceAll('\0', '\u2400')
  return clean.length <= max ? clean : Array.from(clean).slice(0, max).join('')
}
