import type { Permission } from '../../domain/access/access.ts'

/** The kinds of things that a document holds, in the order in which they are made: what is named comes first. */
export const AS_CODE_KINDS = ['agents', 'targets', 'schedules', 'budgets'] as const
export type AsCodeKind = (typeof AS_CODE_KINDS)[number]

/** One thing of each kind. */
export const AS_CODE_THINGS = ['agent', 'target', 'schedule', 'budget'] as const
export type AsCodeThing = (typeof AS_CODE_THINGS)[number]

/** What becomes of a thing: `unmanaged` is stored, not in the document, and kept. */
export const AS_CODE_ACTIONS = ['create', 'update', 'delete', 'unchanged', 'unmanaged'] as const
export type AsCodeAction = (typeof AS_CODE_ACTIONS)[number]

/** What one thing of a kind is called, and what somebody must be permitted to see, write and delete it. */
export const KIND_FACTS: {
  readonly [Kind in AsCodeKind]: {
    readonly thing: AsCodeThing
    readonly read: Permission
    readonly write: Permission
    readonly remove: Permission
  }
} = {
  agents: { thing: 'agent', read: 'agents:read', write: 'agents:write', remove: 'agents:write' },
  targets: { thing: 'target', read: 'targets:read', write: 'targets:write', remove: 'targets:write' },
  schedules: { thing: 'schedule', read: 'schedules:read', write: 'schedules:write', remove: 'schedules:delete' },
  budgets: { thing: 'budget', read: 'budgets:read', write: 'budgets:write', remove: 'budgets:write' },
}

/** Names that only the API knows a field of a schedule by; a document has one name for each. */
export const SCHEDULE_SYNONYMS = [
  'kind',
  'schedule_type',
  'cron_expr',
  'expr',
  'interval_seconds',
  'run_at',
  'atMs',
  'tz',
  'status',
] as const
