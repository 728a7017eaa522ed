import { z } from 'zod'
import { AUDIT_ACTIONS, AUDITED_KINDS } from '../../domain/access/audit-words.ts'
import { anyJson, isoTime, pageOf, paging } from '../../api/common.ts'
import { named, type Shape } from '../../api/fields.ts'

const kind = named('AuditedKind', z.enum(AUDITED_KINDS), 'The kind of the changed object.')
const action = named('AuditAction', z.enum(AUDIT_ACTIONS), 'The kind of the object, and what was done to it.')

const audit = named(
  'AuditRecord',
  z.strictObject({
    no: z.int().describe('Sequence number within the org, without gaps.'),
    org_id: z.string(),
    at: isoTime,
    actor: z.string().describe('A key, a member, or the program itself (`library`, `system`, `signal`).'),
    action: action.describe('`schedule.update`, `run.cancel`, …'),
    object: z.strictObject({ kind, id: z.string() }),
    before: anyJson,
    after: anyJson,
    hash: z.string().describe('SHA-256 of the previous hash and this record, in hexadecimal.'),
  }),
  'A change: who made it, and the values before and after.',
)
export type AuditView = Shape<typeof audit>

export const auditPage = pageOf('AuditPage', audit)

export const auditFilter = z.strictObject({
  actor: z.string().min(1).max(200).optional().describe('Changes by this key or member.'),
  action: z.string().min(1).max(200).optional().describe('Action, such as `schedule.update`.'),
  object_kind: z.string().min(1).max(200).optional().describe('Kind of the changed object.'),
  object_id: z.string().min(1).max(512).optional().describe('Id of the changed object.'),
  from: z.iso.datetime({ offset: true }).optional().describe('Changed at or after this time.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Changed before this time.'),
  ...paging,
})
export type AuditFilter = Shape<typeof auditFilter>

const fault = z.strictObject({
  kind: z.enum(['changed', 'gap', 'truncated', 'anchor_missing']),
  no: z.int().nullable().describe('The first record affected. Null: no stored record is.'),
  message: z.string(),
})
export type AuditFault = Shape<typeof fault>

export const auditVerdict = named(
  'AuditVerdict',
  z.strictObject({
    ok: z.boolean(),
    org_id: z.string(),
    records: z.int().describe('Records checked.'),
    head: z
      .strictObject({ no: z.int(), hash: z.string() })
      .nullable()
      .describe('The newest record and its hash. Store the hash elsewhere and pass it as an anchor next time.'),
    faults: z.array(fault),
  }),
  'Result of verifying the audit chain.',
)
export type AuditVerdict = Shape<typeof auditVerdict>
