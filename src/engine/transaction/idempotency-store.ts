import type { OrgId } from '../../domain/ids.ts'
import { DAY_MS, type Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { column, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

const keys = table('idempotency', { principal: column.text(), route: column.text(), key: column.text() })

const bindings = table('idempotency', {
  orgId: column.text<OrgId>(),
  ...keys.definitions,
  bodyHash: column.bytes(),
  answer: column.json(),
  createdAt: column.instant(),
})

/** A row of `idempotency`: a key that was bound by accepted work, and the answer that repeats get. */
export type IdempotencyRow = RowOf<typeof bindings>

/** Whose key it is: the same text of another principal, or on another route, is another key. */
export type IdempotencyKey = Pick<IdempotencyRow, 'orgId' | 'principal' | 'route' | 'key'>

/** A binding counts for this long; afterwards the key can be bound again. */
export const BINDING_MS = DAY_MS

/** Binds keys. One that is bound stays as it is; a binding that is over is replaced, also before it is removed. */
export function insertIdempotencies(tx: Transaction, rows: readonly IdempotencyRow[]): void {
  tx.send(
    `insert into idempotency (${bindings.names})
     select org_id, principal, route, key, body_hash, coalesce(answer, 'null'), created_at
       from unnest(${bindings.arrays(1)}) as given (${bindings.names})
     on conflict (org_id, principal, route, key) do update
       set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at
       where idempotency.created_at < excluded.created_at - interval '${BINDING_MS} milliseconds'`,
    bindings.lists(rows),
  )
}

/** What keys of an org are bound to, as far as they are. Bindings older than `since` are over, also before they are removed. */
export async function loadIdempotencies(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly keys: readonly Omit<IdempotencyKey, 'orgId'>[]; readonly since: Instant },
): Promise<readonly IdempotencyRow[]> {
  const rows = await connection.query(
    `select ${bindings.of('i')}
       from unnest(${keys.arrays(2)}) as wanted (${keys.names})
       join idempotency i on i.org_id = $1 and i.principal = wanted.principal and i.route = wanted.route
         and i.key = wanted.key and i.created_at >= $5::timestamptz`,
    [wanted.orgId, ...keys.lists(wanted.keys), toTimestamp(wanted.since)],
  )
  return bindings.read(rows)
}
