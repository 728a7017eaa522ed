import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import type { SecretKey } from '../../features/secrets/keys.ts'
import type { SealedPlace } from './vault-port.ts'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SEALED = /^v1\.([0-9a-f]{16})\.([A-Za-z0-9_-]+)$/

/** What a sealed text is bound to, its key included. */
const boundTo = (keyId: string, { orgId, kind, name }: SealedPlace): Buffer =>
  Buffer.from(JSON.stringify(['escapement', 'v1', keyId, orgId, kind, name]))

/** Seals a text: AES-256-GCM, a nonce of chance. */
export function sealText(text: string, place: SealedPlace, key: SecretKey): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key.bytes, nonce).setAAD(boundTo(key.id, place))
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `v1.${key.id}.${sealed.toString('base64url')}`
}

/** Proves that whoever has the key has said something. Each purpose has a key of its own, made from the one that seals. */
export function proofOf(said: string, purpose: string, key: SecretKey): string {
  const own = createHmac('sha256', key.bytes).update(`escapement ${purpose} v1`).digest()
  return createHmac('sha256', own).update(said).digest('base64url')
}

/** The key a text was sealed with; null: it is no sealed text. */
export const keyIdOf = (sealed: string): string | null => SEALED.exec(sealed)?.[1] ?? null

/** Opens a text; null: it was changed, or belongs elsewhere. */
export function openText(sealed: string, place: SealedPlace, key: SecretKey): string | null {
  const bytes = Buffer.from(SEALED.exec(sealed)?.[2] ?? '', 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null
  const end = bytes.length - TAG_BYTES
  const decipher = createDecipheriv(CIPHER, key.bytes, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(boundTo(key.id, place))
    .setAuthTag(bytes.subarray(end))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}
