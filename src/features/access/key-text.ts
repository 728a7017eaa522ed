import { hash, randomBytes } from 'node:crypto'

/** The prefix of keys, so that users and secret scanners recognize a leaked one. */
const KEY_PREFIX = 'esc_'

/** A new secret of 256 bits, as text that is safe in a header, a URL and a cookie. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** The text of a new key. */
export const newKeyText = (): string => `${KEY_PREFIX}${newSecret()}`

/** The stored form of a key, a link, a cookie or a callback token; the secret cannot be recovered from it. */
export const hashSecret = (text: string): Uint8Array => hash('sha256', text, 'buffer')

/** The hash as a string, for use as a map key. */
export const secretName = (text: string): string => hash('sha256', text, 'base64')

/** The first characters of a key, to tell keys apart: the prefix and 18 of 256 bits. */
export const hintOf = (text: string): string => `${text.slice(0, text.startsWith(KEY_PREFIX) ? 7 : 3)}…`

/** Whether a text can be a key at all. Other texts are not looked up. */
export const isKeyText = (text: string): boolean => KEY_TEXT.test(text)

/** Printable characters without spaces. The environment may set a key that was not generated here. */
const KEY_TEXT = /^[\x21-\x7e]{24,512}$/

/** The format of a key that a user chooses. */
export const KEY_TEXT_ALLOWED = '24 to 512 printable characters without spaces'
