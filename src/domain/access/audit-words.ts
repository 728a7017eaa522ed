const KEPT = ['create', 'update', 'delete'] as const

/** Everything that is on record for good: what can be done to which kind of thing. */
export const AUDITED = {
  agent: KEPT,
  budget: [...KEPT, 'resume'],
  channel: [...KEPT, 'enable', 'disable', 'test'],
  config: ['update', 'reload'],
  delivery: ['retry'],
  heartbeat: ['update', 'test'],
  key: ['create', 'revoke', 'revive', 'sign_in'],
  lane: ['create', 'update'],
  member: [...KEPT, 'sign_in', 'sign_in_link'],
  org: KEPT,
  provider: KEPT,
  run: ['cancel', 'retry'],
  schedule: [
    ...KEPT,
    ...(['enable', 'disable', 'run_now', 'probe', 'backfill', 'backfill_cancel', 'approve', 'reject'] as const),
  ],
  sealing_key: ['rotate', 'recover'],
  secret: KEPT,
  session: ['update', 'reset', 'stop', 'stopall'],
  signing_secret: ['rotate'],
  target: [...KEPT, 'enable', 'test'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type AuditedKind = keyof typeof AUDITED
export type AuditVerb<Kind extends AuditedKind> = (typeof AUDITED)[Kind][number]
export type AuditAction = { [Kind in AuditedKind]: `${Kind}.${AuditVerb<Kind>}` }[AuditedKind]

export const AUDITED_KINDS = Object.keys(AUDITED) as readonly AuditedKind[]

/** Every action, as it is on record: `schedule.update`, `run.cancel`. */
export const AUDIT_ACTIONS = Object.entries(AUDITED).flatMap(([kind, verbs]) =>
  verbs.map((verb) => `${kind}.${verb}`),
) as readonly AuditAction[]
