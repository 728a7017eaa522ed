/** What a world writes to, those that point to others first. */
export const TABLES = [
  ...[
    'usage',
    'budget',
    'agent',
    'session',
    'schedule',
    'clearing',
    'clock_step',
    'org',
    'run',
    'pending',
    'backlog',
    'backlog_line',
    'attempt',
    'turn',
  ],
  ...['org_version', 'occurrence', 'decision', 'callback', 'node', 'lane', 'idempotency', 'alert', 'delivery'],
  ...['audit', 'audit_head'],
] as const

/** The copy, as tables of another schema. */
export const COPY = [
  'create schema if not exists tail',
  ...TABLES.map((table) => `drop table if exists tail.${table}; create table tail.${table} as table ${table}`),
].join('; ')

/** The tables as they were when they were copied. */
export const REWIND = [
  // Without triggers: the audit can only be added to, and rows come back in any order.
  "begin; set local session_replication_role = 'replica'",
  ...TABLES.map((table) => `delete from ${table}; insert into ${table} select * from tail.${table}`),
  'commit',
].join('; ')
