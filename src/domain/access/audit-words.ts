const CRUD_VERBS = ['create', 'update', 'delete'] as const

/** The actions that the audit log records, by kind of object. */
export const AUDITED = {
  agent: [...CRUD_VERBS, 'test'],
  alert: ['acknowledge', 'snooze', 'retry'],
  budget: [...CRUD_VERBS, 'resume'],
  channel: [...CRUD_VERBS, 'enable', 'disable', 'test'],
  config: ['update', 'reload'],
  delivery: ['retry'],
  heartbeat: ['update', 'test'],
  key: ['create', 'revoke', 'revive', 'sign_in'],
  lane: ['create', 'update'],
  member: [...CRUD_VERBS, 'sign_in', 'sign_in_link'],
  org: CRUD_VERBS,
  provider: CRUD_VERBS,
  run: ['cancel', 'retry'],
  schedule: [
    ...CRUD_VERBS,
    ...(['enable', 'disable', 'run_now', 'probe', 'backfill', 'backfill_cancel', 'approve', 'reject'] as const),
  ],
  sealing_key: ['rotate', 'recover'],
  secret: CRUD_VERBS,
  session: ['update', 'reset', 'stop', 'stopall'],
  signing_secret: ['rotate'],
  target: [...CRUD_VERBS, 'enable', 'test'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type AuditedKind = keyof typeof AUDITED
export type AuditVerb<Kind extends AuditedKind> = (typeof AUDITED)[Kind][number]
export type AuditAction = { [Kind in AuditedKind]: `${Kind}.${AuditVerb<Kind>}` }[AuditedKind]

export const AUDITED_KINDS = Object.keys(AUDITED) as readonly AuditedKind[]

/** Every action as the audit log stores it: `schedule.update`, `run.cancel`. */
export const AUDIT_ACTIONS = Object.entries(AUDITED).flatMap(([kind, verbs]) =>
  verbs.map((verb) => `${kind}.${verb}`),
) as readonly AuditAction[]
