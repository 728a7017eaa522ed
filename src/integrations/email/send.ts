import { createTransport } from 'nodemailer'
import { DELIVERY_TRIES } from '../../domain/delivery/delivery-retry.ts'
import { parseEnvelope, renderTextMessage } from '../../domain/delivery/email-message.ts'
import type { MailServer, MailSettings } from '../../domain/delivery/target-kinds.ts'
import type { OutgoingMessage, SendOnce, TryOutcome } from '../../domain/delivery/message.ts'
import { createMask } from '../../domain/secret/mask.ts'

/** The reason why no email can be sent. */
export const NO_MAIL =
  'cannot be sent, because the operator has not configured a mail server: smtp.host and smtp.from are not set'

/** Sends messages as email. Every try of a message has the same Message-ID, so that duplicates can be recognized. */
export function createMailSender(server: () => MailServer | null): SendOnce {
  return async (message, signal) => {
    const through = server()
    if (through === null) return { ok: false, statusCode: null, error: 'not_configured', message: `email ${NO_MAIL}` }
    if (signal.aborted) return null
    return await sendMail(through, message, signal)
  }
}

type Transport = ReturnType<typeof transportOf>

function transportOf({ host, port, secure, user, password }: MailServer) {
  const timeoutMs = DELIVERY_TRIES.timeoutMs
  return createTransport({
    ...{ host, port, secure },
    ...(user === null ? {} : { auth: { user, pass: password ?? '' } }),
    // A password is only sent over an encrypted connection, except to this machine.
    requireTLS: user !== null && !secure && !isLoopback(host),
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs, dnsTimeout: timeoutMs },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

async function sendMail(server: MailServer, message: OutgoingMessage, signal: AbortSignal): Promise<TryOutcome | null> {
  const transport = transportOf(server)
  const over = new AbortController()
  try {
    return await Promise.race([submitMail(transport, server, message), timeoutOrAbort(signal, over.signal)])
  } finally {
    over.abort()
    transport.close()
  }
}

/** Resolves when the try times out or is aborted. */
function timeoutOrAbort(signal: AbortSignal, over: AbortSignal): Promise<TryOutcome | null> {
  return new Promise((resolve) => {
    const late = `the mail server did not accept the message within ${DELIVERY_TRIES.timeoutMs / 1_000} s`
    const timer = setTimeout(() => {
      resolve({ ok: false, statusCode: null, error: 'timeout', message: late })
    }, DELIVERY_TRIES.timeoutMs)
    const abort = (): void => {
      resolve(null)
    }
    signal.addEventListener('abort', abort, { once: true })
    over.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      },
      { once: true },
    )
  })
}

async function submitMail(transport: Transport, server: MailServer, message: OutgoingMessage): Promise<TryOutcome> {
  try {
    const { response } = await transport.sendMail(mailOf(server, message))
    return { ok: true, statusCode: Number(/^\d{3}/.exec(response)?.[0] ?? 250) }
  } catch (error) {
    const failure = mailFailure(error)
    // Some servers repeat what was sent to them, and the operator's password must not appear in deliveries.
    const mask = createMask(server.password === null ? [] : [server.password])
    return failure.ok ? failure : { ...failure, message: mask.text(failure.message) }
  }
}

function mailOf({ from }: MailServer, message: OutgoingMessage): Parameters<Transport['sendMail']>[0] {
  const { to, subject_prefix } = message.settings as unknown as MailSettings
  const { subject, text, details } = renderTextMessage(parseEnvelope(message.body))
  return {
    from,
    to: [...to],
    subject: subject_prefix === undefined ? subject : `${subject_prefix} ${subject}`,
    text: `${text}\n\n-- \n${[...details, `message ${message.id}`].join('\n')}\n`,
    messageId: `<${message.id}@${domainOf(from)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All', 'X-Escapement-Id': message.id },
  }
}

const domainOf = (from: string): string => /@([^\s@<>]+)>?\s*$/.exec(from)?.[1] ?? 'escapement.invalid'

interface MailError {
  readonly code?: string
  readonly responseCode?: number
  readonly response?: string
  readonly message: string
}

/** A response code is a refusal by the server; any other error occurred on the way to it. */
function mailFailure(thrown: unknown): TryOutcome {
  const error = thrown as MailError
  const { responseCode } = error
  if (responseCode !== undefined)
    return {
      ok: false,
      statusCode: responseCode,
      error: 'smtp',
      message: `answered ${error.response ?? responseCode}`,
    }
  const kind = error.code === 'ETIMEDOUT' ? 'timeout' : 'network'
  return { ok: false, statusCode: null, error: kind, message: error.message }
}
