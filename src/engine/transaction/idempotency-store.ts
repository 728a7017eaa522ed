import type { OrgId } from '../../domain/ids.ts'
import { DAY_MS, type Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { column, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

const keyColumns = table('idempotency', { principal: column.text(), route: column.text(), key: column.text() })

const bindingColumns = table('idempotency', {
  orgId: column.text<OrgId>(),
  ...keyColumns.definitions,
  bodyHash: column.bytes(),
  answer: column.json(),
  createdAt: column.instant(),
})

/** A row of `idempotency`: a key that was bound by an accepted command, and the answer that repeats get. */
export type IdempotencyRow = RowOf<typeof bindingColumns>

/** The scope of a key: the same text of another principal, or on another route, is another key. */
export type IdempotencyKey = Pick<IdempotencyRow, 'orgId' | 'principal' | 'route' | 'key'>

/** A binding is valid for this long; afterwards the key can be bound again. */
export const BINDING_MS = DAY_MS

/** Binds keys. A valid binding stays; an expired one is replaced, also before it is deleted. */
export function insertIdempotencies(tx: Transaction, rows: readonly IdempotencyRow[]): void {
  tx.send(
    `insert into idempotency (${bindingColumns.names})
     select org_id, principal, route, key, body_hash, coalesce(answer, 'null'), created_at
       from unnest(${bindingColumns.arrays(1)}) as given (${bindingColumns.names})
     on conflict (org_id, principal, route, key) do update
       set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at
       where idempotency.created_at < excluded.created_at - interval '${BINDING_MS} milliseconds'`,
    bindingColumns.lists(rows),
  )
}

/** The bindings of keys of an org. Bindings older than `since` have expired, also before they are deleted. */
export async function loadIdempotencies(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly keys: readonly Omit<IdempotencyKey, 'orgId'>[]; readonly since: Instant },
): Promise<readonly IdempotencyRow[]> {
  const rows = await connection.query(
    `select ${bindingColumns.of('i')}
       from unnest(${keyColumns.arrays(2)}) as wanted (${keyColumns.names})
       join idempotency i on i.org_id = $1 and i.principal = wanted.principal and i.route = wanted.route
         and i.key = wanted.key and i.created_at >= $5::timestamptz`,
    [wanted.orgId, ...keyColumns.lists(wanted.keys), toTimestamp(wanted.since)],
  )
  return bindingColumns.read(rows)
}
