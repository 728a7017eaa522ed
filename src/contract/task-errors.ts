import type { RefusalCode } from '../api/refusals.ts'

/**
 * What the façade calls a refusal, where its clients know a word for it. Without a token it says `missing_token` instead
 * of `bad_token`; everything else goes by our own code, in small letters.
 */
const FACADE_CODES: Readonly<Partial<Record<RefusalCode, string>>> = {
  VALIDATION: 'error',
  MALFORMED: 'error',
  BODY_TOO_LARGE: 'error',
  UNAUTHENTICATED: 'bad_token',
  ALREADY_ENDED: 'conflict',
}

/** The word of the façade for a refusal. */
export const facadeCodeOf = (code: RefusalCode): string => FACADE_CODES[code] ?? code.toLowerCase()
