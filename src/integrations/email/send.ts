import { createTransport } from 'nodemailer'
import { DELIVERY_TRIES } from '../../domain/delivery/delivery-retry.ts'
import { envelopeIn, writeLetter } from '../../core/delivery/letter.ts'
import type { MailServer, MailSettings } from '../../core/delivery/mail-settings.ts'
import type { OutMessage, Post, TryOutcome } from '../../domain/delivery/message.ts'
import { createMask } from '../../domain/secret/mask.ts'

/** Why no mail can be sent, for whoever wants to have some sent. */
export const NO_MAIL =
  'cannot be sent: the operator has set no mail server; smtp.host and smtp.from are missing in the configuration'

/** Sends messages as mail. Every try of a message has the same Message-ID, by which a repetition is recognised. */
export function createMailPost(server: () => MailServer | null): Post {
  return async (message, signal) => {
    const through = server()
    if (through === null) return { ok: false, statusCode: null, error: 'not_configured', message: `mail ${NO_MAIL}` }
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
    // A password never goes over a line that others can read, except inside this machine.
    requireTLS: user !== null && !secure && !isLoopback(host),
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs, dnsTimeout: timeoutMs },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

async function sendMail(server: MailServer, message: OutMessage, signal: AbortSignal): Promise<TryOutcome | null> {
  const transport = transportOf(server)
  const over = new AbortController()
  try {
    return await Promise.race([handOver(transport, server, message), endOf(signal, over.signal)])
  } finally {
    over.abort()
    transport.close()
  }
}

/** Resolves when the time of the try is up, or nobody waits for it any more. */
function endOf(signal: AbortSignal, over: AbortSignal): Promise<TryOutcome | null> {
  return new Promise((resolve) => {
    const late = `the mail server did not take it within ${DELIVERY_TRIES.timeoutMs / 1_000} s`
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

async function handOver(transport: Transport, server: MailServer, message: OutMessage): Promise<TryOutcome> {
  try {
    const { response } = await transport.sendMail(mailOf(server, message))
    return { ok: true, statusCode: Number(/^\d{3}/.exec(response)?.[0] ?? 250) }
  } catch (error) {
    const failure = failureOf(error)
    // Some servers repeat what they were told, and whoever reads deliveries must not read the operator's password.
    const mask = createMask(server.password === null ? [] : [server.password])
    return failure.ok ? failure : { ...failure, message: mask.text(failure.message) }
  }
}

function mailOf({ from }: MailServer, message: OutMessage): Parameters<Transport['sendMail']>[0] {
  const { to, subject_prefix } = message.settings as unknown as MailSettings
  const { subject, text, details } = writeLetter(envelopeIn(message.body))
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

/** A server that answered has refused; everything else happened on the way to it. */
function failureOf(thrown: unknown): TryOutcome {
  const error = thrown as MailError
  const { responseCode } = error
  if (responseCode !== undefined)
    return { ok: false, statusCode: responseCode, error: 'smtp', message: `answered ${error.response ?? responseCode}` }
  const kind = error.code === 'ETIMEDOUT' ? 'timeout' : 'network'
  return { ok: false, statusCode: null, error: kind, message: error.message }
}
