import { DAY_MS, earlier, HOUR_MS, instant, MINUTE_MS, type Instant } from '../../domain/instant.ts'
import { LOCK_SPACE } from '../../platform/db/advisory-locks.ts'
import type { Connection } from '../../platform/db/database.ts'
import { DatabaseError, type DatabaseErrorCode } from '../../platform/db/database-error.ts'
import { column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

/**
 * The history in partitions by hour. They are created ahead and dropped whole; a row outside of all of them is in the
 * default partition. No statement here waits long for a lock: what cannot be done now is done in the next pass.
 */

const PARTITION_BOUND_SQL = `pg_get_expr(c.relpartbound, c.oid)`

/** A partition of `turn`, from `from` until before `until`. The first partition may begin at -Infinity. */
const partitions = columns({
  name: column.text('c.relname::text'),
  from: column.instant(
    `coalesce(substring(${PARTITION_BOUND_SQL} from 'FROM \\(''(.+?)''\\)')::timestamptz, '-infinity')`,
  ),
  until: column.instant(`substring(${PARTITION_BOUND_SQL} from 'TO \\(''(.+?)''\\)')::timestamptz`),
})
type Partition = RowOf<typeof partitions>

const DEFAULT_PARTITION = 'turn_default'

/** Hours created ahead, so that partitions exist even if pruning pauses for a while. */
const HOURS_AHEAD = 3

/** Short, because transactions wait while a partition waits for its lock. */
const LOCK_TIMEOUT = '50ms'

/** Errors after which the next pass tries again: a lock was held, or the default partition has rows of the hour. */
const POSTPONING_CODES: ReadonlySet<DatabaseErrorCode> = new Set(['timed_out', 'conflict', 'constraint_violated'])

/** Loads the partitions of the history, oldest first, without the default one. */
async function loadPartitions(connection: Connection): Promise<readonly Partition[]> {
  const rows = await connection.query(
    `select ${partitions.list}
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = to_regclass('turn') and ${PARTITION_BOUND_SQL} <> 'DEFAULT' order by until`,
    [],
  )
  return partitions.read(rows)
}

/**
 * Creates the missing partitions of this hour and the next ones. A partition begins at least a minute from now: a
 * transaction that is writing to the default partition would fail if a new partition covered its time.
 */
export async function createHistoryPartitions(connection: Connection, now: Instant): Promise<void> {
  const existing = await loadPartitions(connection)
  const soon = Math.ceil((now + MINUTE_MS) / MINUTE_MS) * MINUTE_MS
  const thisHour = Math.floor(now / HOUR_MS) * HOUR_MS
  for (let ahead = 0; ahead <= HOURS_AHEAD; ahead += 1) {
    const hour = thisHour + ahead * HOUR_MS
    const [from, until] = [instant(Math.max(hour, soon)), instant(hour + HOUR_MS)]
    const isTaken = existing.some((one) => one.from < until && one.until > from)
    if (from < until && !isTaken) await isDone(createPartition(connection, from, until))
  }
}

/** Creates a partition as a table and attaches it, which does not block writes to other partitions. */
async function createPartition(connection: Connection, from: Instant, until: Instant): Promise<void> {
  const name = `turn_${new Date(from).toISOString().replaceAll(/\D/g, '').slice(0, 12)}`
  await connection.query(`do $$ begin
    perform set_config('lock_timeout', '${LOCK_TIMEOUT}', true);
    if not pg_try_advisory_xact_lock(${LOCK_SPACE.history}, hashtext(current_schema())) then return; end if;
    if to_regclass('${name}') is not null then return; end if;
    create table ${name} (like turn including storage, primary key (org_id, no))
      with (autovacuum_vacuum_insert_scale_factor = 0.1);
    create index ${name}_by_time on ${name} (at);
    alter table turn attach partition ${name}
      for values from ('${toTimestamp(from)}') to ('${toTimestamp(until)}');
  end $$`)
}

/**
 * Drops the partitions that ended before a time. Call it only after all of their rows have been added to the counts,
 * which are kept longer. Returns the number of dropped partitions.
 */
export async function dropOldPartitions(connection: Connection, before: Instant): Promise<number> {
  let dropped = 0
  for (const { name, until } of await loadPartitions(connection))
    if (until <= before && (await isDone(dropPartition(connection, name)))) dropped += 1
  return dropped
}

const dropPartition = (connection: Connection, name: string): Promise<unknown> =>
  connection.query(`do $$ begin
    perform set_config('lock_timeout', '${LOCK_TIMEOUT}', true);
    drop table if exists ${name};
  end $$`)

async function isDone(statement: Promise<unknown>): Promise<boolean> {
  try {
    await statement
    return true
  } catch (error) {
    if (error instanceof DatabaseError && POSTPONING_CODES.has(error.code)) return false
    throw error
  }
}

/**
 * Deletes old rows that no dropped partition contains: those in the default partition, and in partitions that end far
 * in the future because a clock was wrong. Returns the number.
 */
export async function deleteUnpartitionedHistory(
  connection: Connection,
  old: { readonly before: Instant; readonly limit: number },
): Promise<number> {
  const farPartitions = (await loadPartitions(connection)).filter(
    ({ until }) => earlier(until, 3 * DAY_MS) > old.before,
  )
  let removed = 0
  for (const name of [DEFAULT_PARTITION, ...farPartitions.map((one) => one.name)]) {
    const rows = await connection.query(
      `delete from ${name} where ctid = any (array(
         select ctid from ${name} where at < $1::timestamptz order by at limit $2)) returning 1`,
      [toTimestamp(old.before), old.limit],
    )
    removed += rows.length
  }
  return removed
}
