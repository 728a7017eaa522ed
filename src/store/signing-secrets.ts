import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** What webhooks of an org are signed with. */
export interface SigningSecret {
  readonly secret: string
  readonly createdAt: Instant
  /** The one before, which signs too until a moment. */
  readonly previous: { readonly secret: string; readonly until: Instant } | null
}

const COLUMNS = 'secret, created_at, previous, previous_until'

/** The secret of the org; `fresh` becomes it if there is none. */
export async function ensureSigningSecret(
  connection: Connection,
  made: { readonly orgId: OrgId; readonly fresh: string; readonly now: Instant },
): Promise<SigningSecret> {
  const known = await loadSigningSecret(connection, made.orgId)
  if (known !== undefined) return known
  await connection.query(
    `insert into signing_secret (org_id, secret, created_at) values ($1, $2, $3::timestamptz)
     on conflict (org_id) do nothing`,
    [made.orgId, made.fresh, toTimestamp(made.now)],
  )
  const found = await loadSigningSecret(connection, made.orgId)
  if (found === undefined) throw new Error(`org ${made.orgId} has no signing secret`)
  return found
}

async function loadSigningSecret(connection: Connection, org: OrgId): Promise<SigningSecret | undefined> {
  const [row] = await connection.query(`select ${COLUMNS} from signing_secret where org_id = $1`, [org])
  return row === undefined ? undefined : secretOf(row)
}

/** Puts another secret in its place; the one before signs too until a moment. */
export async function rotateSigningSecret(
  tx: Transaction,
  made: { readonly orgId: OrgId; readonly fresh: string; readonly now: Instant; readonly previousUntil: Instant },
): Promise<SigningSecret> {
  const [row] = await tx.query(
    `insert into signing_secret as s (org_id, secret, created_at) values ($1, $2, $3::timestamptz)
     on conflict (org_id) do update set secret = excluded.secret, created_at = excluded.created_at,
       previous = s.secret, previous_until = $4::timestamptz
     returning ${COLUMNS}`,
    [made.orgId, made.fresh, toTimestamp(made.now), toTimestamp(made.previousUntil)],
  )
  if (row === undefined) throw new Error(`the signing secret of ${made.orgId} was not kept`)
  return secretOf(row)
}

function secretOf(row: Row): SigningSecret {
  const previous = row['previous'] as string | null
  return {
    secret: row['secret'] as string,
    createdAt: row['created_at'] as Instant,
    previous: previous === null ? null : { secret: previous, until: row['previous_until'] as Instant },
  }
}
