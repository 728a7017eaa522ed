import type { OrgId } from '../../../src/domain/ids.ts'
import { verifyAudit } from '../../../src/features/audit/service.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import type { Complaint } from './check.ts'

/** What no request may ever make true, each as a question that must find nothing. Asked without the code that wrote it. */
const NEVER: readonly (readonly [what: string, statement: string])[] = [
  [
    'pending without a run',
    `select p.org_id, p.id from pending p left join run r using (org_id, id) where r.id is null`,
  ],
  ['pending and ended', `select org_id, id from pending join run r using (org_id, id) where r.state is not null`],
  [
    'neither pending nor ended',
    `select r.org_id, r.id from run r left join pending p using (org_id, id) where r.state is null and p.id is null`,
  ],
  [
    'an occurrence without its run',
    `select o.org_id, o.run_id as id from occurrence o left join run r on r.org_id = o.org_id and r.id = o.run_id
      where o.run_id is not null and r.id is null`,
  ],
  [
    'two runs of one occurrence',
    `select org_id, schedule_id as id from run where nominal_at is not null and retry_of is null
      group by org_id, schedule_id, nominal_at having count(*) > 1`,
  ],
  [
    'a gap in the history',
    `select org_id, no::text as id
       from (select org_id, no, lag(no) over (partition by org_id order by no) as last from turn) t
      where no <> last + 1`,
  ],
  [
    'of an org that is not there',
    ['run', 'pending', 'schedule', 'agent', 'budget', 'target', 'channel', 'member', 'secret', 'delivery']
      .map((table) => `select t.org_id, '${table}' as id from ${table} t where t.org_id not in (select id from org)`)
      .join(' union all '),
  ],
]

/** What does not hold of a database after everything that was asked of it. */
export async function complaintsAtRest(database: Database): Promise<readonly Complaint[]> {
  const complaints: Complaint[] = []
  for (const [what, statement] of NEVER) {
    const rows = await database.query(statement, [])
    const named = rows.slice(0, 5).map((row) => `${String(row['org_id'])}/${String(row['id'])}`)
    if (rows.length > 0) complaints.push({ kind: 'wrong', message: `at the end, ${what}: ${named.join(', ')}` })
  }
  for (const { id } of await database.query('select id from org', [])) {
    const verdict = await verifyAudit({ database }, id as OrgId)
    const faults = verdict.faults.map(({ message }) => message).join('; ')
    if (!verdict.ok) complaints.push({ kind: 'wrong', message: `at the end, the audit of ${String(id)}: ${faults}` })
  }
  return complaints
}
