import { Api, GrammyError, HttpError } from 'grammy'
import type { TryError } from '../../domain/delivery/message.ts'
import type { OutboundResponse, OutboundRequest } from '../../platform/outbound/request.ts'

/** The credentials and base URL of a Telegram bot. */
export interface TelegramAccess {
  readonly token: string
  /** The base URL of the Bot API, without a trailing slash. */
  readonly root: string
}

/** The result of a call. Null: it was aborted, and its outcome is unknown. */
export type CallResult<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly statusCode: number | null
      readonly error: TryError
      readonly message: string
      readonly retryAfterMs?: number | undefined
    }

/** Calls the Bot API. Errors are returned, never thrown. */
export type CallTelegram = <T>(
  access: TelegramAccess,
  call: { readonly ask: (api: Api) => Promise<T>; readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<CallResult<T> | null>

const MAX_TELEGRAM_RESPONSE_BYTES = 8 * 1024 * 1024

/** Calls the Bot API with grammY, whose requests pass the same outbound guard as all others. */
export const createTelegramCalls =
  (send: (request: OutboundRequest) => Promise<OutboundResponse>): CallTelegram =>
  async (access, { ask, timeoutMs, signal }) => {
    const fetch = fetchBy(send, { timeoutMs, signal })
    try {
      const api = new Api(access.token, { apiRoot: access.root, timeoutSeconds: 600, fetch })
      return { ok: true, value: await ask(api) }
    } catch (error) {
      return telegramFailure(error)
    }
  }

class RequestFailed extends Error {
  readonly answer: Exclude<OutboundResponse, { readonly kind: 'answered' }>
  constructor(answer: Exclude<OutboundResponse, { readonly kind: 'answered' }>) {
    super(answer.message)
    this.answer = answer
  }
}

type Fetch = typeof globalThis.fetch

/** The part of `fetch` that grammY uses. */
function fetchBy(
  send: (request: OutboundRequest) => Promise<OutboundResponse>,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Fetch {
  const fetch = async (url: string, init: { readonly method?: string; readonly body?: string }): Promise<unknown> => {
    const answer = await send({
      ...{ url, method: init.method ?? 'POST', headers: { 'content-type': 'application/json' } },
      ...{ body: init.body ?? null, timeoutMs, signal, maxBytes: MAX_TELEGRAM_RESPONSE_BYTES, purpose: 'operator' },
    })
    if (answer.kind !== 'answered') throw new RequestFailed(answer)
    return { json: () => Promise.resolve(JSON.parse(answer.body.toString('utf8')) as unknown) }
  }
  return fetch as unknown as Fetch
}

function telegramFailure(error: unknown): Exclude<CallResult<never>, { readonly ok: true }> | null {
  if (error instanceof GrammyError) {
    const seconds = error.parameters.retry_after
    return {
      ...{ ok: false, statusCode: error.error_code, error: 'http' },
      message: `Telegram answered ${error.error_code}: ${error.description}`,
      retryAfterMs: seconds === undefined ? undefined : seconds * 1_000,
    }
  }
  const cause = error instanceof HttpError ? error.error : error
  if (!(cause instanceof RequestFailed))
    return {
      ok: false,
      statusCode: null,
      error: 'malformed',
      message: 'Telegram answered with invalid JSON',
    }
  const { answer } = cause
  if (answer.kind === 'aborted') return null
  return {
    ok: false,
    statusCode: null,
    error: answer.kind === 'too_large' ? 'malformed' : answer.kind,
    message: answer.message,
  }
}
