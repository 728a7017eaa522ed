import type { StoredQuietHours } from '../../domain/delivery/quiet-hours.ts'
import type { TargetKind, TargetSettings } from '../../domain/delivery/target-kinds.ts'
import type { OrgId, ScheduleId, TargetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import type { OrgPage } from '../../platform/db/page.ts'
import { column, columns, counted, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const targets = table('target', {
  orgId: column.text<OrgId>(),
  id: column.text<TargetId>(),
  name: column.text(),
  kind: column.text<TargetKind>(),
  /** Empty for kinds without a URL. */
  url: column.text(),
  /** The full URL, if `url` contains only its truncated form. */
  sealedUrl: column.text<string | null>(),
  settings: column.json<TargetSettings>(),
  quietHours: column.json<StoredQuietHours | null>(),
  /** Whether it receives the alerts of the org. */
  alerts: column.boolean(),
  failuresInARow: column.int(),
  /** Set while it is disabled. The reason is null if a user disabled it. */
  disabledAt: column.instant<Instant | null>(),
  disabledWhy: column.json<Why | null>(),
  deliveredAt: column.instant<Instant | null>(),
  failedAt: column.instant<Instant | null>(),
  createdBy: column.text<string | null>(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
})

/** A row of `target`. */
export type TargetRow = RowOf<typeof targets>

const INSERTED_TARGET = targets.omit('failuresInARow', 'disabledWhy', 'deliveredAt', 'failedAt')

/** Inserts a new target. */
export async function insertTarget(tx: Transaction, row: TargetRow): Promise<void> {
  await tx.query(INSERTED_TARGET.insert, INSERTED_TARGET.values(row))
}

const TARGET_SETTINGS_COLUMNS = targets.pick(
  'name',
  'url',
  'failuresInARow',
  'disabledAt',
  'disabledWhy',
  'updatedAt',
  'settings',
  'quietHours',
  'alerts',
  'sealedUrl',
)

/** Updates the settings of a target. */
export async function updateTargetRow(tx: Transaction, row: TargetRow): Promise<void> {
  await tx.query(`update target set ${TARGET_SETTINGS_COLUMNS.assigned(3)} where org_id = $1 and id = $2`, [
    row.orgId,
    row.id,
    ...TARGET_SETTINGS_COLUMNS.values(row),
  ])
}

const TARGET_HEALTH_COLUMNS = targets.pick(
  'id',
  'failuresInARow',
  'disabledAt',
  'disabledWhy',
  'deliveredAt',
  'failedAt',
)

/** Updates the delivery state of targets. Their settings stay unchanged. */
export function saveTargetHealth(tx: Transaction, org: OrgId, rows: readonly TargetRow[]): void {
  tx.send(
    `update target t set ${TARGET_HEALTH_COLUMNS.assignedFrom('i')} from unnest(${TARGET_HEALTH_COLUMNS.arrays(2)}) as i (${TARGET_HEALTH_COLUMNS.names})
     where t.org_id = $1 and t.id = i.id`,
    [org, ...TARGET_HEALTH_COLUMNS.lists(rows)],
  )
}

/** Deletes a target. */
export async function deleteTargetRow(
  tx: Transaction,
  ref: { readonly orgId: OrgId; readonly id: TargetId },
): Promise<void> {
  await tx.query('delete from target where org_id = $1 and id = $2', [ref.orgId, ref.id])
}

/** The targets of the org among the ids. */
export async function loadTargets(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly ids: readonly TargetId[] },
): Promise<readonly TargetRow[]> {
  return targets.read(
    await connection.query(`select ${targets.list} from target where org_id = $1 and id = any($2::text[])`, [
      query.orgId,
      query.ids,
    ]),
  )
}

/** A page of the targets of the org, newest first. */
export async function listTargets(connection: Connection, page: OrgPage): Promise<readonly TargetRow[]> {
  return targets.read(
    await connection.query(
      `select ${targets.list} from target
      where org_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2::timestamptz, $3::text))
      order by created_at desc, id desc limit $4`,
      [page.orgId, timestampOrNull(page.after?.createdAt ?? null), page.after?.id ?? '', page.limit],
    ),
  )
}

const heldCountColumns = columns({ targetId: column.text<TargetId>(), count: column.bigint('count(*)') })

/** Number of held messages per target; targets without any are omitted. */
export async function countHeldMessages(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly ids: readonly TargetId[] },
): Promise<ReadonlyMap<TargetId, number>> {
  const rows = await connection.query(
    `select ${heldCountColumns.list} from delivery
      where org_id = $1 and target_id = any($2::text[]) and state = 'held' group by target_id`,
    [query.orgId, query.ids],
  )
  return new Map(heldCountColumns.read(rows).map(({ targetId, count }) => [targetId, count]))
}

const scheduleIdColumns = columns({ id: column.text<ScheduleId>() })

/** Some of the schedules that deliver to a target. */
export async function loadSchedulesOfTarget(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly id: TargetId; readonly limit: number },
): Promise<readonly ScheduleId[]> {
  const rows = await connection.query(
    `select ${scheduleIdColumns.list} from schedule where org_id = $1 and input ? 'delivery' and input -> 'delivery' ->> 'target_id' = $2
      order by id limit $3`,
    [query.orgId, query.id, query.limit],
  )
  return scheduleIdColumns.read(rows).map(({ id }) => id)
}

/** Holds the pending deliveries of targets. A delivery that is being sent keeps its claim. */
export function holdDeliveries(
  tx: Transaction,
  held: { readonly orgId: OrgId; readonly ids: readonly TargetId[] },
): void {
  tx.send(
    `update delivery d set state = 'held', next_try_at = null,
       why = coalesce(t.disabled_why, jsonb_build_object('reason', 'target_off', 'rule', 'target.enabled',
         'evidence', jsonb_build_object('target', t.name)))
       from target t
      where d.org_id = $1 and d.target_id = any($2::text[]) and d.state = 'pending'
        and t.org_id = d.org_id and t.id = d.target_id`,
    [held.orgId, held.ids],
  )
}

/** Releases the held deliveries of a target. Returns their number. */
export async function releaseHeldDeliveries(
  tx: Transaction,
  query: { readonly orgId: OrgId; readonly id: TargetId; readonly now: Instant; readonly why: Why },
): Promise<number> {
  const rows = await tx.query(
    `with gone as (
       update delivery set state = 'pending', tries = 0, next_try_at = $3::timestamptz, why = $4::jsonb
        where org_id = $1 and target_id = $2 and state = 'held' and digest_id is null returning 1)
     select ${counted.list} from gone`,
    [query.orgId, query.id, toTimestamp(query.now), JSON.stringify(query.why)],
  )
  return counted.only(rows).count
}

/** Fails the pending and held deliveries of a target that is deleted. */
export async function failDeliveries(
  tx: Transaction,
  query: { readonly orgId: OrgId; readonly id: TargetId; readonly now: Instant; readonly why: Why },
): Promise<void> {
  await tx.query(
    `update delivery set state = 'failed', next_try_at = null, claim = null, claimed_until = null, why = $4::jsonb,
       finished_at = $3::timestamptz
      where org_id = $1 and target_id = $2 and state in ('pending', 'held')`,
    [query.orgId, query.id, toTimestamp(query.now), JSON.stringify(query.why)],
  )
}

/** A stored text: sealed, or in clear as long as some node could not open it. */
export type StoredText = { readonly sealed: string } | { readonly clear: string }

/** The signing secret for webhooks of an org. */
export interface SigningSecret {
  readonly orgId: OrgId
  readonly secret: StoredText
  readonly createdAt: Instant
  /** The previous secret, which also signs until a given time. */
  readonly previous: { readonly secret: StoredText; readonly until: Instant } | null
}

const signingSecretTable = table('signing_secret', {
  orgId: column.text<OrgId>(),
  secret: column.text<string | null>(),
  sealed: column.text<string | null>(),
  createdAt: column.instant(),
  previous: column.text<string | null>(),
  previousSealed: column.text<string | null>(),
  previousUntil: column.instant<Instant | null>(),
})

const clearIn = (value: StoredText): string | null => ('clear' in value ? value.clear : null)
const sealedIn = (value: StoredText): string | null => ('sealed' in value ? value.sealed : null)

/** The signing secret of the org. Undefined: it has none. */
export async function loadSigningSecret(connection: Connection, org: OrgId): Promise<SigningSecret | undefined> {
  const row = signingSecretTable.first(
    await connection.query(`select ${signingSecretTable.list} from signing_secret where org_id = $1`, [org]),
  )
  return row === undefined ? undefined : signingSecretFromRow(row)
}

/** Inserts the first signing secret of an org unless it has one. Returns the stored one. */
export async function insertSigningSecret(
  connection: Connection,
  input: { readonly orgId: OrgId; readonly fresh: StoredText; readonly now: Instant },
): Promise<SigningSecret> {
  await connection.query(
    `insert into signing_secret (org_id, secret, sealed, created_at) values ($1, $2, $3, $4::timestamptz)
     on conflict (org_id) do nothing`,
    [input.orgId, clearIn(input.fresh), sealedIn(input.fresh), toTimestamp(input.now)],
  )
  const found = await loadSigningSecret(connection, input.orgId)
  if (found === undefined) throw new Error(`org ${input.orgId} has no signing secret`)
  return found
}

/** Replaces the signing secret. The previous one also signs until `previousUntil`. */
export async function rotateSigningSecret(
  tx: Transaction,
  input: { readonly orgId: OrgId; readonly fresh: StoredText; readonly now: Instant; readonly previousUntil: Instant },
): Promise<SigningSecret> {
  const rows = await tx.query(
    `insert into signing_secret as s (org_id, secret, sealed, created_at) values ($1, $2, $3, $4::timestamptz)
     on conflict (org_id) do update set secret = excluded.secret, sealed = excluded.sealed,
       created_at = excluded.created_at, previous = s.secret, previous_sealed = s.sealed,
       previous_until = $5::timestamptz
     returning ${signingSecretTable.list}`,
    [
      ...[input.orgId, clearIn(input.fresh), sealedIn(input.fresh)],
      ...[toTimestamp(input.now), toTimestamp(input.previousUntil)],
    ],
  )
  return signingSecretFromRow(signingSecretTable.only(rows))
}

/** Signing secrets that are not completely sealed yet. */
export async function loadClearSigningSecrets(
  connection: Connection,
  limit: number,
): Promise<readonly SigningSecret[]> {
  const rows = await connection.query(
    `select ${signingSecretTable.list} from signing_secret where secret is not null or previous is not null order by org_id limit $1`,
    [limit],
  )
  return signingSecretTable.read(rows).map(signingSecretFromRow)
}

/** Replaces a text by its sealed form, unless the text has changed since it was read. */
export async function sealSigningSecret(
  connection: Connection,
  column: 'secret' | 'previous',
  input: { readonly orgId: OrgId; readonly clear: string; readonly sealed: string },
): Promise<void> {
  const sealedColumn = column === 'secret' ? 'sealed' : 'previous_sealed'
  await connection.query(
    `update signing_secret set ${column} = null, ${sealedColumn} = $3 where org_id = $1 and ${column} = $2`,
    [input.orgId, input.clear, input.sealed],
  )
}

function storedTextFrom(clear: string | null, sealed: string | null): StoredText | null {
  if (sealed !== null) return { sealed }
  return clear === null ? null : { clear }
}

function signingSecretFromRow({
  orgId,
  createdAt,
  previousUntil,
  ...row
}: RowOf<typeof signingSecretTable>): SigningSecret {
  const previous = storedTextFrom(row.previous, row.previousSealed)
  return {
    orgId,
    secret: storedTextFrom(row.secret, row.sealed) ?? { clear: '' },
    createdAt,
    previous: previous === null || previousUntil === null ? null : { secret: previous, until: previousUntil },
  }
}
