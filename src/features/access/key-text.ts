import { hash, randomBytes } from 'node:crypto'

/** What the texts of keys begin with, so that people and scanners recognise one that lies around. */
const KEY_PREFIX = 'esc_'

/** A new secret of 256 bits, as text that fits into a header, an address and a cookie. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** The text of a new key. */
export const newKeyText = (): string => `${KEY_PREFIX}${newSecret()}`

/** What is stored of a key, a link, a cookie or the token of a callback: whoever reads the table can do nothing with it. */
export const hashSecret = (text: string): Uint8Array => hash('sha256', text, 'buffer')

/** The same as a name under which something can be remembered for a while. */
export const secretName = (text: string): string => hash('sha256', text, 'base64')

/** The beginning of a key, which tells it from others and gives nothing away: 18 of 256 bits and the prefix. */
export const hintOf = (text: string): string => `${text.slice(0, text.startsWith(KEY_PREFIX) ? 7 : 3)}…`

/** Whether a text can be a key at all. What cannot be is not looked up. */
export const isKeyText = (text: string): boolean => KEY_TEXT.test(text)

/** Printable, no spaces. The environment may name a key that we have not made. */
const KEY_TEXT = /^[\x21-\x7e]{24,512}$/

/** What a key of one's own must look like. */
export const KEY_TEXT_ALLOWED = '24 to 512 printable characters without spaces'
