import type { RefusalCode } from '../../api/refusals.ts'

/** The codes of JSON-RPC 2.0 itself. */
export const PARSE_ERROR = -32_700
export const INVALID_REQUEST = -32_600
export const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602
const INTERNAL_ERROR = -32_603

/** Our own, from the range that JSON-RPC leaves to servers: the last digits are those of the HTTP status. */
const UNAUTHENTICATED = -32_001
const FORBIDDEN = -32_003
const NOT_FOUND = -32_004
const CONFLICT = -32_009
const TOO_MANY = -32_029
const UNAVAILABLE = -32_053
const REFUSED = -32_000

/** What each code means, for the documents. */
export const RPC_ERRORS: Readonly<Record<number, string>> = {
  [PARSE_ERROR]: 'What was sent is not JSON.',
  [INVALID_REQUEST]:
    'It is JSON, but no request: `jsonrpc`, `method` or `id` is wrong, or the batch is empty or too long.',
  [METHOD_NOT_FOUND]:
    'There is no such method, or it is not available yet. `data.did_you_mean` may know which was meant.',
  [INVALID_PARAMS]: 'The params are wrong; `data.errors` says which and why.',
  [INTERNAL_ERROR]: 'Something went wrong here; it is in the log under `data.request_id`.',
  [UNAUTHENTICATED]: 'The key is not good any more.',
  [FORBIDDEN]: 'The permission is missing.',
  [NOT_FOUND]: 'There is no such thing.',
  [CONFLICT]: 'It does not fit the present state.',
  [TOO_MANY]: 'A limit is reached; `data.retry_after_ms` says when to try again, if that is known.',
  [UNAVAILABLE]: 'The node goes down, or the database is away. Try again.',
  [REFUSED]: 'Refused for another reason; see `data.code`.',
}

const BY_STATUS: Readonly<Record<number, number>> = {
  400: INVALID_PARAMS,
  401: UNAUTHENTICATED,
  403: FORBIDDEN,
  404: NOT_FOUND,
  409: CONFLICT,
  412: CONFLICT,
  422: CONFLICT,
  429: TOO_MANY,
  500: INTERNAL_ERROR,
  503: UNAVAILABLE,
}

/** The code of an error for something that REST would refuse. */
export const rpcCodeOf = ({ status }: { readonly code: RefusalCode; readonly status: number }): number =>
  BY_STATUS[status] ?? REFUSED
