import { createHash } from 'node:crypto'
import type { OrgId } from '../domain/ids.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import { insertAudits, loadAuditHead, type AuditRow } from '../features/audit/store.ts'
import type { Transaction } from '../store/database.ts'
import type { AuditEntry } from '../features/audit/entry.ts'

/** What stands before the first record of every chain. */
export const GENESIS = new Uint8Array(32)

/** JSON with one way to write each value: names in order, no spaces. Takes what JSON can hold. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = value as Readonly<Record<string, unknown>>
  const names = Object.keys(fields).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(fields[name])}`).join(',')}}`
}

/** The hash of a record: over the hash of the one before it, and everything it says. */
export function hashOf(orgId: string, previous: Uint8Array, row: Omit<AuditRow, 'hash'>): Uint8Array {
  const record = {
    org_id: orgId,
    no: row.no,
    at: formatInstant(row.at),
    actor: row.actor,
    action: row.action,
    object: { kind: row.objectKind, id: row.objectId },
    before: row.before ?? null,
    after: row.after ?? null,
  }
  return createHash('sha256').update(previous).update(canonicalJson(record)).digest()
}

/** As it will be read back: no undefined, nothing with a way of its own to be written. */
const storable = (value: unknown): unknown =>
  value === undefined || value === null ? null : (JSON.parse(JSON.stringify(value)) as unknown)

/** Adds entries to the chain of an org. To be called under the org's lock. */
export async function appendAudits(
  tx: Transaction,
  orgId: OrgId,
  { entries, at }: { readonly entries: readonly AuditEntry[]; readonly at: Instant },
): Promise<void> {
  const head = await loadAuditHead(tx, orgId)
  let previous = head?.hash ?? GENESIS
  let no = head?.no ?? 0
  const rows = entries.map((entry): AuditRow => {
    no += 1
    const { actor, action, object } = entry
    const row = {
      ...{ no, at, actor, action, objectKind: object.kind, objectId: object.id },
      ...{ before: storable(entry.before), after: storable(entry.after) },
    }
    previous = hashOf(orgId, previous, row)
    return { ...row, hash: previous }
  })
  await insertAudits(tx, orgId, rows)
}
