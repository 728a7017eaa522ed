/** What a world writes to. */
export const TABLES = [
  ...[
    'usage',
    'budget',
    'agent',
    'session',
    'schedule',
    'org',
    'run',
    'pending',
    'attempt',
    'turn',
    'org_version',
    'occurrence',
  ],
  ...['decision', 'callback', 'node', 'lane', 'idempotency', 'alert', 'delivery', 'audit', 'audit_head'],
] as const
