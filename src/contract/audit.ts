/** Something that was changed, by whom, and what it was before and after. */
export interface AuditView {
  /** Counted per org, without gaps. */
  readonly no: number
  readonly org_id: string
  readonly at: string
  /** Who did it: a key, a member, or the program itself (`library`, `system`, `signal`). */
  readonly actor: string
  /** `schedule.update`, `run.cancel`, … */
  readonly action: string
  readonly object: { readonly kind: string; readonly id: string }
  readonly before: unknown
  readonly after: unknown
  /** SHA-256 over the hash of the record before and this record, in hexadecimal. */
  readonly hash: string
}

export interface AuditFilter {
  readonly actor?: string
  readonly action?: string
  readonly object_kind?: string
  readonly object_id?: string
  readonly from?: string
  readonly to?: string
  readonly limit?: number
  readonly cursor?: string
}

/** What verifying a chain has found. */
export interface AuditVerdict {
  readonly ok: boolean
  readonly org_id: string
  /** Records that were looked at. */
  readonly records: number
  /** The newest record and its hash: keep the hash elsewhere, and use it as an anchor next time. */
  readonly head: { readonly no: number; readonly hash: string } | null
  readonly faults: readonly AuditFault[]
}

export interface AuditFault {
  readonly kind: 'changed' | 'gap' | 'truncated' | 'anchor_missing'
  /** The first record it concerns; null when it concerns none that is there. */
  readonly no: number | null
  readonly message: string
}
