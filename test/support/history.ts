import type { Connection } from '../../src/platform/db/database.ts'

/** Lets all of history be three days older. Rows that change their partition are not numbered again. */
export const ageHistory = (connection: Connection): Promise<unknown> =>
  connection.query(`alter table turn disable trigger user;
    update turn set at = at - interval '3 days';
    alter table turn enable trigger user`)
