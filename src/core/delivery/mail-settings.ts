import { flawed, parsed, parseFields, type Parsed } from '../../domain/input.ts'

/** Where mail goes, and what its subjects begin with. */
export interface MailSettings {
  readonly to: readonly string[]
  readonly subject_prefix?: string
}

/** The server that mail is handed to, as the operator has set it up. */
export interface MailServer {
  readonly host: string
  readonly port: number
  /** TLS from the beginning; otherwise it begins when the server offers it. */
  readonly secure: boolean
  readonly user: string | null
  readonly password: string | null
  readonly from: string
}

const MOST_RECEIVERS = 20
const LONGEST_ADDRESS = 254
const TO_FORM = `one address, or a list of 1 to ${MOST_RECEIVERS}`

/**
 * One mailbox as people write it. What could end a header or name a second receiver is refused; whether the mailbox
 * exists only its server knows.
 */
const ADDRESS = /^[^\s\p{Cc}@<>(),;:\\"[\]]{1,64}@[^\s\p{Cc}@<>(),;:\\"[\]]+$/u

/** Reads `{to, subject_prefix}` of a target for mail. */
export function parseMailSettings(field: string, value: unknown): Parsed<MailSettings & Record<string, unknown>> {
  if (value === undefined) return flawed({ field: `${field}.to`, value, message: 'is missing', allowed: TO_FORM })
  const read = parseFields(field, value, { to: parseReceivers, subject_prefix: parsePrefix })
  if (!read.ok) return read
  const { to, subject_prefix } = read.value
  if (to === undefined)
    return flawed({ field: `${field}.to`, value: undefined, message: 'is missing', allowed: TO_FORM })
  return parsed({ to, ...(subject_prefix === undefined ? {} : { subject_prefix }) })
}

function parseReceivers(field: string, value: unknown): Parsed<readonly string[]> {
  const given: unknown = typeof value === 'string' ? [value] : value
  if (!Array.isArray(given) || given.length === 0 || given.length > MOST_RECEIVERS)
    return flawed({ field, value, message: 'must name who gets the mail', allowed: TO_FORM })
  const wrong = given.findIndex((one) => typeof one !== 'string' || !isAddress(one))
  if (wrong !== -1)
    return flawed({
      ...{ field: typeof value === 'string' ? field : `${field}.${wrong}`, value: given[wrong] as unknown },
      ...{ message: 'is no mail address', allowed: 'an address like ops@example.com' },
    })
  return parsed(given as readonly string[])
}

const isAddress = (text: string): boolean => text.length <= LONGEST_ADDRESS && ADDRESS.test(text)

const LONGEST_PREFIX = 60

function parsePrefix(field: string, value: unknown): Parsed<string> {
  const allowed = `a text of at most ${LONGEST_PREFIX} characters in one line`
  return typeof value === 'string' && value.length <= LONGEST_PREFIX && !/[\p{Cc}\p{Surrogate}]/u.test(value)
    ? parsed(value)
    : flawed({ field, value, message: 'cannot stand at the beginning of a subject', allowed })
}
