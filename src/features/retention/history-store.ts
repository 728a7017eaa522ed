import { DAY_MS, earlier, HOUR_MS, instant, MINUTE_MS, type Instant } from '../../domain/instant.ts'
import { LOCK_SPACE } from '../../store/advisory-locks.ts'
import type { Connection } from '../../store/database.ts'
import { DatabaseError, type RefusalCode } from '../../platform/db/database-error.ts'
import { column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

/**
 * The history in partitions by hour. They are created ahead and dropped whole; a turn outside of all of them is in the
 * default partition. Nothing here waits for long: what cannot be done now is done in the next pass.
 */

const BOUND = `pg_get_expr(c.relpartbound, c.oid)`

/** A partition of `turn`: from, and before, these times. The one with everything before the others begins at -Infinity. */
const partitions = columns({
  name: column.text('c.relname::text'),
  from: column.instant(`coalesce(substring(${BOUND} from 'FROM \\(''(.+?)''\\)')::timestamptz, '-infinity')`),
  until: column.instant(`substring(${BOUND} from 'TO \\(''(.+?)''\\)')::timestamptz`),
})
type Partition = RowOf<typeof partitions>

const DEFAULT_PARTITION = 'turn_default'

/** Hours that are created ahead, so that a deployment that prunes nothing for a while still has them. */
const HOURS_AHEAD = 3

/** Turns wait while a partition waits for its lock, so it gives up soon. */
const LOCK_TIMEOUT = '50ms'

/** What was not done because others were in the way, or because turns of the hour are in the default partition. */
const POSTPONED: ReadonlySet<RefusalCode> = new Set(['timed_out', 'conflict', 'constraint_violated'])

/** The partitions of the history, oldest first, without the default one. */
async function loadPartitions(connection: Connection): Promise<readonly Partition[]> {
  const rows = await connection.query(
    `select ${partitions.list}
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = to_regclass('turn') and ${BOUND} <> 'DEFAULT' order by until`,
    [],
  )
  return partitions.read(rows)
}

/**
 * Creates the partitions of this hour and the next ones, as far as they are missing. None takes what is written now: a
 * turn that is on its way into the default partition would be refused there once its hour has a partition of its own.
 */
export async function createHistoryPartitions(connection: Connection, now: Instant): Promise<void> {
  const known = await loadPartitions(connection)
  const soon = Math.ceil((now + MINUTE_MS) / MINUTE_MS) * MINUTE_MS
  const thisHour = Math.floor(now / HOUR_MS) * HOUR_MS
  for (let ahead = 0; ahead <= HOURS_AHEAD; ahead += 1) {
    const hour = thisHour + ahead * HOUR_MS
    const [from, until] = [instant(Math.max(hour, soon)), instant(hour + HOUR_MS)]
    const isTaken = known.some((one) => one.from < until && one.until > from)
    if (from < until && !isTaken) await unlessPostponed(createPartition(connection, from, until))
  }
}

/** A partition is a table first and is then attached: that stops nobody who writes into another one. */
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
 * Drops the partitions that ended before a time. Only when all of their turns have been added up: counts outlive them.
 * Answers with how many were dropped.
 */
export async function dropOldPartitions(connection: Connection, before: Instant): Promise<number> {
  let dropped = 0
  for (const { name, until } of await loadPartitions(connection))
    if (until <= before && (await unlessPostponed(dropPartition(connection, name)))) dropped += 1
  return dropped
}

const dropPartition = (connection: Connection, name: string): Promise<unknown> =>
  connection.query(`do $$ begin
    perform set_config('lock_timeout', '${LOCK_TIMEOUT}', true);
    drop table if exists ${name};
  end $$`)

async function unlessPostponed(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof DatabaseError && POSTPONED.has(error.code)) return false
    throw error
  }
}

/**
 * Removes turns from before a time that no partition will take along: those of the default partition, and of one that
 * ends far in the future because a clock was wrong. Answers with how many.
 */
export async function deleteLooseTurns(
  connection: Connection,
  old: { readonly before: Instant; readonly limit: number },
): Promise<number> {
  const endless = (await loadPartitions(connection)).filter(({ until }) => earlier(until, 3 * DAY_MS) > old.before)
  let removed = 0
  for (const name of [DEFAULT_PARTITION, ...endless.map((one) => one.name)]) {
    const rows = await connection.query(
      `delete from ${name} where ctid = any (array(
         select ctid from ${name} where at < $1::timestamptz order by at limit $2)) returning 1`,
      [toTimestamp(old.before), old.limit],
    )
    removed += rows.length
  }
  return removed
}
