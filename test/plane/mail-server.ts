import { SMTPServer } from 'smtp-server'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A mail as it arrived. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** A mail server on loopback that refuses while it is told to. */
export interface MailPeer {
  readonly port: number
  /** What it has accepted. */
  readonly mails: readonly ReceivedMail[]
  /** The Message-IDs of what it has refused. */
  readonly refused: readonly string[]
  /** Null: it takes everything again. */
  readonly refuseWith: (answer: { readonly code: number; readonly words: string } | null) => void
  readonly close: () => Promise<void>
}

/** Starts a real SMTP server. */
export async function startMailPeer(): Promise<MailPeer> {
  const mails: ReceivedMail[] = []
  const refused: string[] = []
  let refusal: { readonly code: number; readonly words: string } | null = null
  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'], logger: false },
    onData: (stream, session, done) => {
      void text(stream).then((raw) => {
        const mail = mailOf(raw, session.envelope)
        if (refusal === null) {
          mails.push(mail)
          done()
          return
        }
        refused.push(mail.headers['message-id'] ?? '')
        done(Object.assign(new Error(refusal.words), { responseCode: refusal.code }))
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.server.address() as AddressInfo).port,
    ...{ mails, refused },
    refuseWith: (answer) => {
      refusal = answer
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

interface Envelope {
  readonly mailFrom: false | { readonly address: string }
  readonly rcptTo: readonly { readonly address: string }[]
}

function mailOf(raw: string, { mailFrom, rcptTo }: Envelope): ReceivedMail {
  const at = raw.indexOf('\r\n\r\n')
  const lines = raw.slice(0, at).replaceAll(/\r\n[ \t]+/g, ' ')
  const headers = Object.fromEntries(
    lines.split('\r\n').map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const content = raw.slice(at + 4)
  const isQuoted = headers['content-transfer-encoding'] === 'quoted-printable'
  return {
    from: mailFrom === false ? '' : mailFrom.address,
    to: rcptTo.map(({ address }) => address),
    headers,
    text: (isQuoted ? unquoted(content) : content).replaceAll('\r\n', '\n'),
  }
}

function unquoted(content: string): string {
  const joined = content.replaceAll(/=\r\n/g, '')
  const bytes = joined.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
