import { z } from 'zod'
import type { AuditFault, AuditFilter, AuditVerdict, AuditView } from '../audit.ts'
import { anyJson, moment, pageOf, paging } from './common.ts'
import { named, shaped } from './shaped.ts'

const audit: z.ZodType<AuditView> = named(
  'AuditRecord',
  shaped<AuditView>()({
    no: z.int(),
    org_id: z.string(),
    at: moment,
    actor: z.string(),
    action: z.string(),
    object: z.strictObject({ kind: z.string(), id: z.string() }),
    before: anyJson,
    after: anyJson,
    hash: z.string(),
  }),
)

export const auditPage = pageOf('AuditPage', audit)

export const auditFilter = shaped<AuditFilter>()({
  actor: z.string().min(1).max(200).optional(),
  action: z.string().min(1).max(200).optional(),
  object_kind: z.string().min(1).max(200).optional(),
  object_id: z.string().min(1).max(512).optional(),
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  ...paging,
})

const fault = shaped<AuditFault>()({
  kind: z.enum(['changed', 'gap', 'truncated', 'anchor_missing']),
  no: z.int().nullable(),
  message: z.string(),
})

export const auditVerdict: z.ZodType<AuditVerdict> = named(
  'AuditVerdict',
  shaped<AuditVerdict>()({
    ok: z.boolean(),
    org_id: z.string(),
    records: z.int(),
    head: z.strictObject({ no: z.int(), hash: z.string() }).nullable(),
    faults: z.array(fault),
  }),
)
