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
    'attempt',
    'turn',
  ],
  ...['org_version', 'occurrence', 'decision', 'callback', 'node', 'lane', 'idempotency', 'alert', 'delivery'],
  ...['audit', 'audit_head'],
] as const
