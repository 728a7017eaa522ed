import { orgId, type OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { toTimestamp } from './timestamp.ts'

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

const COLUMNS = 'org_id, secret, sealed, created_at, previous, previous_sealed, previous_until'

const clearIn = (kept: KeptText): string | null => ('clear' in kept ? kept.clear : null)
const sealedIn = (kept: KeptText): string | null => ('sealed' in kept ? kept.sealed : null)

/** The secret of the org, if it has one. */
export async function loadSigningSecret(connection: Connection, org: OrgId): Promise<SigningSecret | undefined> {
  const [row] = await connection.query(`select ${COLUMNS} from signing_secret where org_id = $1`, [org])
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
  const [row] = await tx.query(
    `insert into signing_secret as s (org_id, secret, sealed, created_at) values ($1, $2, $3, $4::timestamptz)
     on conflict (org_id) do update set secret = excluded.secret, sealed = excluded.sealed,
       created_at = excluded.created_at, previous = s.secret, previous_sealed = s.sealed,
       previous_until = $5::timestamptz
     returning ${COLUMNS}`,
    [
      ...[made.orgId, clearIn(made.fresh), sealedIn(made.fresh)],
      ...[toTimestamp(made.now), toTimestamp(made.previousUntil)],
    ],
  )
  if (row === undefined) throw new Error(`the signing secret of ${made.orgId} was not kept`)
  return secretOf(row)
}

/** Secrets of which something is not sealed yet. */
export async function loadClearSigningSecrets(
  connection: Connection,
  limit: number,
): Promise<readonly SigningSecret[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from signing_secret where secret is not null or previous is not null order by org_id limit $1`,
    [limit],
  )
  return rows.map(secretOf)
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

function keptIn(clear: unknown, sealed: unknown): KeptText | null {
  if (typeof sealed === 'string') return { sealed }
  return typeof clear === 'string' ? { clear } : null
}

function secretOf(row: Row): SigningSecret {
  const previous = keptIn(row['previous'], row['previous_sealed'])
  return {
    orgId: orgId(row['org_id'] as string),
    secret: keptIn(row['secret'], row['sealed']) ?? { clear: '' },
    createdAt: row['created_at'] as Instant,
    previous: previous === null ? null : { secret: previous, until: row['previous_until'] as Instant },
  }
}
