import { createHmac, randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { Refusal } from '../../api/refusals.ts'
import { createPrivateFile, readPrivateFile, writePrivateFile } from '../../platform/private-file.ts'

/** A key that seals, and what tells it from others. */
export interface SecretKey {
  readonly id: string
  readonly bytes: Buffer
}

/** Where keys come from. */
export interface KeySource {
  /** What `ESCAPEMENT_SECRET_KEY` says; null: nothing. It wins. */
  readonly environment: string | null
  /** `<data>/secret.key`; null: there is no place for one. */
  readonly file: string | null
}

const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/
const KEY_BYTES = 32
const FORMATS = '32 bytes as 64 hexadecimal digits or as Base64 (openssl rand -hex 32)'

/** A refusal about keys: what is wrong, and what to do. */
export const keyRefusal = (message: string, details: Readonly<Record<string, unknown>> = {}): Refusal =>
  new Refusal('SECRET_KEY', message, { details })

/** The keys there are: the first is the one to seal with, the others open what they once sealed. */
export async function readKeys({ environment, file }: KeySource): Promise<readonly SecretKey[]> {
  if (environment !== null) return parseKeys(environment, 'ESCAPEMENT_SECRET_KEY')
  if (file === null) return []
  const text = await readPrivateFile(file)
  if (text === null) return []
  await refuseOpenFile(file)
  return parseKeys(text, file)
}

/** Keys with commas, spaces or lines between them; what follows a # is not one. The text itself is never shown. */
function parseKeys(text: string, from: string): readonly SecretKey[] {
  const words = text
    .split(/\r?\n/)
    .flatMap((line) => line.replace(/#.*/, '').split(/[\s,]+/))
    .filter((word) => word !== '')
  if (words.length === 0) throw keyRefusal(`${from} holds no key; it takes ${FORMATS}, the newest first`)
  return words.map((word, index) => {
    if (HEX.test(word)) return keyOf(Buffer.from(word, 'hex'))
    const bytes = BASE64.test(word) ? Buffer.from(word, 'base64') : null
    if (bytes?.length !== KEY_BYTES) throw keyRefusal(`Key ${index + 1} of ${from} is no key; allowed: ${FORMATS}`)
    return keyOf(bytes)
  })
}

/** Whoever else can read the file can read every secret. */
async function refuseOpenFile(file: string): Promise<void> {
  const { mode } = await stat(file)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw keyRefusal(`Others can read ${file}, and with it every secret: chmod 600 ${file}`)
}

const keyOf = (bytes: Buffer): SecretKey => ({
  bytes,
  id: createHmac('sha256', bytes).update('escapement sealing key').digest('hex').slice(0, 16),
})

/** Creates the first key of a file. Null: another process has created one, and that one stays. */
export async function createFirstKey(file: string): Promise<SecretKey | null> {
  const bytes = randomBytes(KEY_BYTES)
  return (await createPrivateFile(file, `${bytes.toString('hex')}\n`)) ? keyOf(bytes) : null
}

/**
 * Makes a key and puts it first into its file; those that are there stay, because backups may need them. Two at once would
 * lose one of them: the caller holds the lock of the sealing key.
 */
export async function makeKey(file: string): Promise<SecretKey> {
  const bytes = randomBytes(KEY_BYTES)
  const before = await readPrivateFile(file)
  await writePrivateFile(file, `${bytes.toString('hex')}\n${before === null ? '' : `${before}\n`}`)
  return keyOf(bytes)
}
