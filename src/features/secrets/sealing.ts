import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { Refusal } from '../../api/refusals.ts'
import { orgId } from '../../domain/ids.ts'
import type { SecretKey } from './keys.ts'
import type { RotationFailure } from './schema.ts'
import { loadSealedByOtherKeys, replaceSealed, SEALED_COLUMNS, type SealedColumn, type SealedRow } from './store.ts'
import type { SealedRowRef, Vault } from './vault-port.ts'
import type { Database } from '../../platform/db/database.ts'

const RESEAL_BATCH_SIZE = 100

/** The dependencies for sealing texts again. */
interface ResealPorts {
  readonly database: Pick<Database, 'query'>
  readonly vault: Pick<Vault, 'seal' | 'open'>
}

/** The number of texts sealed again, and the texts that could not be opened and stay as they are. */
interface ResealResult {
  readonly count: number
  readonly failed: readonly RotationFailure[]
}

/** Seals all texts of other keys again, in batches. A repeated call skips the texts that are already done. */
export async function resealAll(ports: ResealPorts, keyId: string): Promise<ResealResult> {
  const failed: RotationFailure[] = []
  let count = 0
  for (const column of SEALED_COLUMNS) count += await resealColumn(ports, column, { keyId, failed })
  return { count, failed }
}

async function resealColumn(
  ports: ResealPorts,
  column: SealedColumn,
  { keyId, failed }: { readonly keyId: string; readonly failed: RotationFailure[] },
): Promise<number> {
  let resealedCount = 0
  let after: SealedRow | null = null
  for (;;) {
    const rows: readonly SealedRow[] = await loadSealedByOtherKeys(ports.database, column, {
      ...{ keyId, after, limit: RESEAL_BATCH_SIZE },
    })
    for (const row of rows) {
      const failureMessage = await reseal(ports, column, row)
      if (failureMessage === null) resealedCount += 1
      else failed.push({ org_id: row.orgId, kind: column.kind, name: row.name, message: failureMessage })
    }
    after = rows.at(-1) ?? null
    if (rows.length < RESEAL_BATCH_SIZE || after === null) return resealedCount
  }
}

/** Returns the error message. Null: it was sealed again, or another process has changed it meanwhile. */
async function reseal({ database, vault }: ResealPorts, column: SealedColumn, row: SealedRow): Promise<string | null> {
  const rowRef = { orgId: orgId(row.orgId), kind: column.kind, name: row.name }
  try {
    const sealed = await vault.seal(await vault.open(row.sealed, rowRef), rowRef)
    await replaceSealed(database, column, { row, sealed })
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SEALED_TEXT_PATTERN = /^v1\.([0-9a-f]{16})\.([A-Za-z0-9_-]+)$/

/** Associated data: binds a sealed text to its key and its row. */
const associatedData = (keyId: string, { orgId, kind, name }: SealedRowRef): Buffer =>
  Buffer.from(JSON.stringify(['escapement', 'v1', keyId, orgId, kind, name]))

/** Encrypts a text with AES-256-GCM and a random nonce. */
export function sealText(text: string, rowRef: SealedRowRef, key: SecretKey): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key.bytes, nonce).setAAD(associatedData(key.id, rowRef))
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `v1.${key.id}.${sealed.toString('base64url')}`
}

/** Signs a text with HMAC-SHA-256. Each purpose has its own key, derived from the sealing key. */
export function signText(content: string, purpose: string, key: SecretKey): string {
  const purposeKey = createHmac('sha256', key.bytes).update(`escapement ${purpose} v1`).digest()
  return createHmac('sha256', purposeKey).update(content).digest('base64url')
}

/** Id of the key that sealed a text. Null: the text is not sealed. */
export const keyIdOf = (sealed: string): string | null => SEALED_TEXT_PATTERN.exec(sealed)?.[1] ?? null

/** Decrypts a text. Null: it was changed, or belongs to another row. */
export function openText(sealed: string, rowRef: SealedRowRef, key: SecretKey): string | null {
  const bytes = Buffer.from(SEALED_TEXT_PATTERN.exec(sealed)?.[2] ?? '', 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null
  const end = bytes.length - TAG_BYTES
  const decipher = createDecipheriv(CIPHER, key.bytes, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(associatedData(key.id, rowRef))
    .setAuthTag(bytes.subarray(end))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}
