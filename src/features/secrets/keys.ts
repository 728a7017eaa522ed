import { createHmac, randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { Refusal } from '../../api/refusals.ts'
import { createPrivateFile, readPrivateFile, writePrivateFile } from '../../platform/private-file.ts'

/** An encryption key and its fingerprint. */
export interface SecretKey {
  readonly id: string
  readonly bytes: Buffer
}

/** The places keys are read from. */
export interface KeySource {
  /** Value of `ESCAPEMENT_SECRET_KEY`, which takes precedence over the file. Null: not set. */
  readonly environment: string | null
  /** `<data>/secret.key`. Null: there is no data directory. */
  readonly file: string | null
}

const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/
const KEY_BYTES = 32
const KEY_FORMATS = '32 bytes as 64 hexadecimal digits or as Base64 (openssl rand -hex 32)'

/** A refusal with code `SECRET_KEY`. Its message must name the remedy. */
export const keyRefusal = (message: string, details: Readonly<Record<string, unknown>> = {}): Refusal =>
  new Refusal('SECRET_KEY', message, { details })

/** The configured keys: the first one seals, the others open what they have sealed earlier. */
export async function readKeys({ environment, file }: KeySource): Promise<readonly SecretKey[]> {
  if (environment !== null) return parseKeys(environment, 'ESCAPEMENT_SECRET_KEY')
  if (file === null) return []
  const text = await readPrivateFile(file)
  if (text === null) return []
  await refuseReadableFile(file)
  return parseKeys(text, file)
}

/** Reads keys separated by commas, whitespace or newlines; # starts a comment. Errors never contain the text itself. */
function parseKeys(text: string, from: string): readonly SecretKey[] {
  const words = text
    .split(/\r?\n/)
    .flatMap((line) => line.replace(/#.*/, '').split(/[\s,]+/))
    .filter((word) => word !== '')
  if (words.length === 0) throw keyRefusal(`${from} contains no key; allowed: ${KEY_FORMATS}, the newest first`)
  return words.map((word, index) => {
    if (HEX.test(word)) return secretKeyOf(Buffer.from(word, 'hex'))
    const bytes = BASE64.test(word) ? Buffer.from(word, 'base64') : null
    if (bytes?.length !== KEY_BYTES)
      throw keyRefusal(`Key ${index + 1} of ${from} is not valid; allowed: ${KEY_FORMATS}`)
    return secretKeyOf(bytes)
  })
}

/** Refuses a file that other users can read, because its key opens every secret. */
async function refuseReadableFile(file: string): Promise<void> {
  const { mode } = await stat(file)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw keyRefusal(`Other users can read ${file} and with it every secret; run: chmod 600 ${file}`)
}

const secretKeyOf = (bytes: Buffer): SecretKey => ({
  bytes,
  id: createHmac('sha256', bytes).update('escapement sealing key').digest('hex').slice(0, 16),
})

/** Creates the file with its first key. Null: another process has created the file meanwhile. */
export async function createFirstKey(file: string): Promise<SecretKey | null> {
  const bytes = randomBytes(KEY_BYTES)
  return (await createPrivateFile(file, `${bytes.toString('hex')}\n`)) ? secretKeyOf(bytes) : null
}

/**
 * Creates a key and writes it to the first line of its file. Existing keys stay, because backups may need them. The
 * caller holds the lock of the sealing key, because of two concurrent writes one would be lost.
 */
export async function addKeyToFile(file: string): Promise<SecretKey> {
  const bytes = randomBytes(KEY_BYTES)
  const before = await readPrivateFile(file)
  await writePrivateFile(file, `${bytes.toString('hex')}\n${before === null ? '' : `${before}\n`}`)
  return secretKeyOf(bytes)
}
