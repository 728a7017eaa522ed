import type { OrgId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Connection, Transaction } from './database.ts'
import { column, type RowOf, table, toTimestamp } from '../platform/db/table.ts'

/** A text as it is kept: sealed, or as it is while not every node could open it. */
export type KeptText = { readonly sealed: string } | { readonly clear: string }

/** What webhooks of an org are signed with. */
export interface SigningSecret {
  readonly orgId: OrgId
  readonly secret: KeptText
  readonly createdAt: Instant
  /** The one before, which signs too until a moment. */
  readonly previous: { readonly secret: KeptText; readonly until: Instant } | null
}

const stored = table('signing_secret', {
  orgId: column.text<OrgId>(),
  secret: column.text<string | null>(),
  sealed: column.text<string | null>(),
  createdAt: column.instant(),
  previous: column.text<string | null>(),
  previousSealed: column.text<string | null>(),
  previousUntil: column.instant<Instant | null>(),
})

const clearIn = (kept: KeptText): string | null => ('clear' in kept ? kept.clear : null)
const sealedIn = (kept: KeptText): string | null => ('sealed' in kept ? kept.sealed : null)

/** The secret of the org, if it has one. */
export async function loadSigningSecret(connection: Connection, org: OrgId): Promise<SigningSecret | undefined> {
  const row = stored.first(await connection.query(`select ${stored.list} from signing_secret where org_id = $1`, [org]))
  return row === undefined ? undefined : secretOf(row)
}

/** Keeps the first secret of an org; one that is there stays. Answers with the one that is kept. */
export async function keepSigningSecret(
  connection: Connection,
  made: { readonly orgId: OrgId; readonly fresh: KeptText; readonly now: Instant },
): Promise<SigningSecret> {
  await connection.query(
    `insert into signing_secret (org_id, secret, sealed, created_at) values ($1, $2, $3, $4::timestamptz)
     on conflict (org_id) do nothing`,
    [made.orgId, clearIn(made.fresh), sealedIn(made.fresh), toTimestamp(made.now)],
  )
  const found = await loadSigningSecret(connection, made.orgId)
  if (found === undefined) throw new Error(`org ${made.orgId} has no signing secret`)
  return found
}

/** Puts another secret in its place; the one before signs too until a moment. */
export async function rotateSigningSecret(
  tx: Transaction,
  made: { readonly orgId: OrgId; readonly fresh: KeptText; readonly now: Instant; readonly previousUntil: Instant },
): Promise<SigningSecret> {
  const rows = await tx.query(
    `insert into signing_secret as s (org_id, secret, sealed, created_at) values ($1, $2, $3, $4::timestamptz)
     on conflict (org_id) do update set secret = excluded.secret, sealed = excluded.sealed,
       created_at = excluded.created_at, previous = s.secret, previous_sealed = s.sealed,
       previous_until = $5::timestamptz
     returning ${stored.list}`,
    [
      ...[made.orgId, clearIn(made.fresh), sealedIn(made.fresh)],
      ...[toTimestamp(made.now), toTimestamp(made.previousUntil)],
    ],
  )
  return secretOf(stored.only(rows))
}

/** Secrets of which something is not sealed yet. */
export async function loadClearSigningSecrets(
  connection: Connection,
  limit: number,
): Promise<readonly SigningSecret[]> {
  const rows = await connection.query(
    `select ${stored.list} from signing_secret where secret is not null or previous is not null order by org_id limit $1`,
    [limit],
  )
  return stored.read(rows).map(secretOf)
}

/** Puts the sealed form in the place of a text, unless that has been changed since. */
export async function sealSigningSecret(
  connection: Connection,
  column: 'secret' | 'previous',
  made: { readonly orgId: OrgId; readonly clear: string; readonly sealed: string },
): Promise<void> {
  const sealedColumn = column === 'secret' ? 'sealed' : 'previous_sealed'
  await connection.query(
    `update signing_secret set ${column} = null, ${sealedColumn} = $3 where org_id = $1 and ${column} = $2`,
    [made.orgId, made.clear, made.sealed],
  )
}

function keptIn(clear: string | null, sealed: string | null): KeptText | null {
  if (sealed !== null) return { sealed }
  return clear === null ? null : { clear }
}

function secretOf({ orgId, createdAt, previousUntil, ...row }: RowOf<typeof stored>): SigningSecret {
  const previous = keptIn(row.previous, row.previousSealed)
  return {
    orgId,
    secret: keptIn(row.secret, row.sealed) ?? { clear: '' },
    createdAt,
    previous: previous === null || previousUntil === null ? null : { secret: previous, until: previousUntil },
  }
}
