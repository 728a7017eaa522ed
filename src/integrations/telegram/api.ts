import { Api, GrammyError, HttpError } from 'grammy'
import type { TryError } from '../../domain/delivery/message.ts'
import type { OutboundAnswer, OutboundRequest } from '../../outbound/request.ts'

/** How a bot is spoken for. */
export interface TelegramAccess {
  readonly token: string
  /** Where the Bot API is, without a slash at the end. */
  readonly root: string
}

/** What came of a call. Null: it was stopped, and nobody knows what came of it. */
export type Called<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly statusCode: number | null
      readonly error: TryError
      readonly message: string
      readonly retryAfterMs?: number | undefined
    }

/** Calls the Bot API. Whatever the other side does is an answer; nothing is thrown. */
export type CallTelegram = <T>(
  access: TelegramAccess,
  call: { readonly ask: (api: Api) => Promise<T>; readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<Called<T> | null>

const MOST_ANSWER_BYTES = 8 * 1024 * 1024

/** Speaks the Bot API by grammY, whose requests go the same guarded way as all others. */
export const createTelegramCalls =
  (send: (request: OutboundRequest) => Promise<OutboundAnswer>): CallTelegram =>
  async (access, { ask, timeoutMs, signal }) => {
    const fetch = fetchBy(send, { timeoutMs, signal })
    try {
      const api = new Api(access.token, { apiRoot: access.root, timeoutSeconds: 600, fetch })
      return { ok: true, value: await ask(api) }
    } catch (error) {
      return failureOf(error)
    }
  }

class NotAnswered extends Error {
  readonly answer: Exclude<OutboundAnswer, { readonly kind: 'answered' }>
  constructor(answer: Exclude<OutboundAnswer, { readonly kind: 'answered' }>) {
    super(answer.message)
    this.answer = answer
  }
}

type Fetch = typeof globalThis.fetch

/** As much of `fetch` as grammY uses. */
function fetchBy(
  send: (request: OutboundRequest) => Promise<OutboundAnswer>,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Fetch {
  const fetch = async (url: string, init: { readonly method?: string; readonly body?: string }): Promise<unknown> => {
    const answer = await send({
      ...{ url, method: init.method ?? 'POST', headers: { 'content-type': 'application/json' } },
      ...{ body: init.body ?? null, timeoutMs, signal, maxBytes: MOST_ANSWER_BYTES, purpose: 'operator' },
    })
    if (answer.kind !== 'answered') throw new NotAnswered(answer)
    return { json: () => Promise.resolve(JSON.parse(answer.body.toString('utf8')) as unknown) }
  }
  return fetch as unknown as Fetch
}

function failureOf(error: unknown): Exclude<Called<never>, { readonly ok: true }> | null {
  if (error instanceof GrammyError) {
    const seconds = error.parameters.retry_after
    return {
      ...{ ok: false, statusCode: error.error_code, error: 'http' },
      message: `Telegram answered ${error.error_code}: ${error.description}`,
      retryAfterMs: seconds === undefined ? undefined : seconds * 1_000,
    }
  }
  const cause = error instanceof HttpError ? error.error : error
  if (!(cause instanceof NotAnswered))
    return {
      ok: false,
      statusCode: null,
      error: 'malformed',
      message: 'Telegram answered with something that is no JSON',
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
